"""Runs many commands at a time and reports those that fail. For the scripts beside it."""
import argparse
import concurrent.futures
import os
import shlex
import subprocess


def run(command, timeout=120, env=None):
    """Exit status and output; -1 when it takes too long."""
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=dict(os.environ, **(env or {})))
        return p.returncode, p.stdout + p.stderr
    except subprocess.TimeoutExpired:
        return -1, f"more than {timeout} s"


def check(label, commands, jobs, env=None):
    """Runs the commands, prints those that fail as they can be pasted, and the count. The exit status of the script."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for command, (status, text) in zip(commands, pool.map(lambda c: run(c, env=env), commands)):
            if status:
                failed += 1
                print(" ".join([*(f"{k}={v}" for k, v in (env or {}).items()), shlex.join(command)]))
                print("\n".join("    " + line for line in text.strip().splitlines()[-6:]))
    print(f"{label}: {len(commands) - failed} of {len(commands)} passed")
    return 1 if failed or not commands else 0


def arguments():
    """A parser with what the scripts have in common."""
    ap = argparse.ArgumentParser()
    ap.add_argument("tilec")
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--only", default="", help="cases whose command contains this text")
    ap.add_argument("-j", type=int, default=os.cpu_count())
    return ap
