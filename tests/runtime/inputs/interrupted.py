"""Ctrl-C ends a launch on the simulator and the interpreter, and the device goes on."""
import array
import os
import signal
import threading
import time

import tilec

SOURCE = """
@kernel
def slow(x: *i32, n: i32):
    v = load(x)
    for i in range(n):
        v = v * 3 + i
    store(x, v)
"""

signal.signal(signal.SIGINT, signal.default_int_handler)   # who starts a test in the background has it ignored
for name in ("interp", "sim"):
    kernel = tilec.loads(SOURCE, device=name, cache=False).slow
    x = array.array("i", [1])
    kernel[1](x, 2)
    assert list(x) == [10], list(x)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    timer.start()
    try:
        kernel[1](x, 1 << 26)
        print("it went through")
    except KeyboardInterrupt:
        print(name, "was interrupted", "soon" if time.monotonic() - begin < 20 else "late")
    assert list(x) == [10], "nothing is copied back"
    kernel[1](x, 1)
    assert list(x) == [30], list(x)
