"""Runs a command at a pseudo-terminal, answers its prompts, and prints all that it says.
usage: at_terminal.py ANSWER,ANSWER,… COMMAND…"""
import os
import pty
import select
import sys

answers = [a.encode() + b"\n" for a in sys.argv[1].split(",")]
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
said, answered = b"", 0
while select.select([terminal], [], [], 20)[0]:
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    said += data
    if said.count(b"> ") > answered and said.endswith(b"> "):
        if answered == len(answers):
            os.close(terminal)
            break
        os.write(terminal, answers[answered])
        answered += 1
sys.stdout.write(said.decode().replace("\r", ""))
