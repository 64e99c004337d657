"""Types lines into an interactive zsh that has tilec's completions, presses TAB, and waits for what should appear:
complete_zsh.py FILE LINE WANTED [LINE WANTED]…   (FILE: named _tilec)"""
import os
import pty
import select
import sys
import time


def read(fd, until, seconds=10):
    """What appears until the text `until`, or in so many seconds."""
    said, end = "", time.time() + seconds
    while (until is None or until not in said) and time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            said += os.read(fd, 65536).decode(errors="replace").replace("\a", "")
    return said


folder = os.path.dirname(os.path.abspath(sys.argv[1]))
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", HOME=folder, ZDOTDIR=folder)
    os.execvp("zsh", ["zsh", "-f", "-i"])
os.write(fd, f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D;"
             "PS1=; print -r rea''dy\n".encode())
read(fd, "ready\r\n")
missing = 0
for line, wanted in zip(sys.argv[2::2], sys.argv[3::2]):
    # Zsh does not complete while more keys wait: ^U, which empties the line, comes after it is done.
    os.write(fd, line.encode() + b"\t")
    said = read(fd, wanted)
    if wanted not in said:
        missing += 1
        print(f"{line!r} completes to {said!r}, not to {wanted!r}")
    read(fd, None, 0.3)
    os.write(fd, b"\x15")
    read(fd, None, 0.1)
os.write(fd, b"exit\n")
print(f"{missing} missing")
sys.exit(missing > 0)
