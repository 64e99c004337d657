"""Sends each signal to tilec while its assembler runs, and says what is left of its temporary files and programs.

signalled.py FOLDER TILEC ARG…"""
import os
import shutil
import signal
import subprocess
import sys
import time

folder = os.path.abspath(sys.argv[1])
temporary, output, started, slow = (os.path.join(folder, name) for name in ("tmp", "out", "started", "slow"))


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def try_signal(number, handling):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(temporary)
    os.makedirs(output)
    with open(slow, "w") as f:   # an assembler that says its process's number, writes a part of the cubin and waits
        f.write('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho part >"$2"\n'
                f"echo $$ >{started}.new\nmv {started}.new {started}\nexec sleep 100\n")
    os.chmod(slow, 0o755)
    tilec = subprocess.Popen(sys.argv[2:] + ["-o", os.path.join(output, "x.cubin")],
                             env=os.environ | {"TMPDIR": temporary, "TILE_PTXAS": slow, "TILE_ASSEMBLER": "ptxas"},
                             preexec_fn=lambda: signal.signal(number, handling))
    if not wait_for(lambda: os.path.exists(started)):
        tilec.kill()
        sys.exit("the assembler was not started")
    with open(started) as f:
        assembler = int(f.read())
    tilec.send_signal(number)
    if handling == signal.SIG_IGN:
        time.sleep(0.2)
        print(f"{number.name} ignored:", "ended" if tilec.poll() is not None else "goes on")
        os.kill(assembler, signal.SIGKILL)
        tilec.wait()
        return
    status = tilec.wait()
    ended = wait_for(lambda: not is_running(assembler))
    if not ended:
        os.kill(assembler, signal.SIGKILL)
    print(f"{number.name}: status {status}, the assembler {'ended' if ended else 'runs'}, "
          f"left: {os.listdir(temporary) + os.listdir(output)}")


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    try_signal(number, signal.SIG_DFL)
try_signal(signal.SIGHUP, signal.SIG_IGN)
