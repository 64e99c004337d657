"""Runs many `tilec run` commands at a time and reports those that fail. For the scripts beside it."""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Worker:
    """One `tilec run --commands=-`, which keeps the device open between commands: opening a GPU takes longer than most of them.
    After a run that failed on the device a new one is started, for an error may have spoilt the context; and where the environment
    is to be another, as a device reads it when it is opened."""
    own = threading.local()
    LIMIT = 120   # seconds for a command

    def __init__(self, tilec, device, env):
        self.env = env
        self.process = subprocess.Popen([tilec, "run", "--commands=-", f"--device={device}"], cwd=ROOT, env=dict(os.environ, **(env or {})),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    @classmethod
    def of_this_thread(cls, tilec, device, env=None):
        worker = getattr(cls.own, "worker", None)
        if worker and worker.env != env:
            worker.stop()
        if not worker or worker.process.poll() is not None:
            worker = cls.own.worker = cls(tilec, device, env)
        return worker

    def stop(self):
        self.process.kill()
        self.process.wait()

    def run(self, words):
        """What it said, and its exit status: None where it did not end."""
        clock = threading.Timer(self.LIMIT, self.process.kill)
        clock.start()
        lines, status = [], None
        try:
            self.process.stdin.write((shlex.join(words).replace("\n", " ") + "\n").encode())
            self.process.stdin.flush()
            for line in self.process.stdout:
                text = line.decode(errors="replace")
                end = re.search(r"tilec: line \d+: exit status (\d+)$", text.rstrip("\n"))
                if end:
                    lines.append(text[:end.start()])
                    status = int(end.group(1))
                    break
                lines.append(text)
        except BrokenPipeError:
            pass
        clock.cancel()
        if status is None or status >= 4:
            self.stop()
        return "".join(lines), status


def run(tilec, device, words, schedule=None):
    """Exit status and output of `tilec run WORDS --device=DEVICE`; None and what there is where it did not end. schedule: the
    environment that says the simulator which."""
    said, status = Worker.of_this_thread(tilec, device, schedule if device == "sim" else None).run([*words, f"--device={device}"])
    return status, said


def pasted(tilec, device, words, schedule=None):
    """The same as a line for a shell."""
    return " ".join([*(f"{k}={v}" for k, v in (schedule or {}).items() if device == "sim"), shlex.join([tilec, "run", *words, f"--device={device}"])])


def check(label, tilec, device, todo, jobs, schedule=None):
    """Runs each of todo's words, prints those that fail as they can be pasted, and the count. The exit status of the script."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for words, (status, text) in zip(todo, pool.map(lambda w: run(tilec, device, w, schedule), todo)):
            if status != 0:
                failed += 1
                print(pasted(tilec, device, words, schedule))
                print("\n".join("    " + line for line in text.strip().splitlines()[-6:]))
    print(f"{label}, {device}: {len(todo) - failed} of {len(todo)} passed")
    return 1 if failed or not todo else 0


def arguments():
    """A parser with what the scripts have in common."""
    ap = argparse.ArgumentParser()
    ap.add_argument("tilec", type=os.path.abspath)
    ap.add_argument("--device", default="sim", choices=["sim", "gpu"])
    ap.add_argument("-j", type=int, default=os.cpu_count())
    return ap


def case_arguments():
    """The same, where cases are listed rather than made at random."""
    ap = arguments()
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--only", default="", help="cases whose words contain this text")
    return ap
