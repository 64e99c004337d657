import json
import locale
import struct
import sys

import tile

folder = sys.argv[1]
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
print("decimal point", locale.localeconv()["decimal_point"])
source = """
import triton
import triton.language as tl


@triton.jit
def f(x, y, C: tl.constexpr):
    tl.store(x, 0.5 + C)
    tl.store(x + 1, y * 1.5)


@triton.autotune(configs=[triton.Config({"C": c}, num_warps=w) for c, w in ((0.75, 1), (0.75, 2))], key=["y"])
@triton.jit
def tuned(x, y, C: tl.constexpr):
    tl.store(x, 0.5 + C)


@triton.jit
def says(y):
    tl.device_print("value", y)
"""
device = tile.open_device("sim")
memory = device.alloc(256)
x = tile.ptr(memory, "fp32")


def floats(n):
    device.synchronize()
    return " ".join(map(str, struct.unpack(f"<{n}f", device.download(memory, 4 * n))))


for how in ("compiled", "from the cache"):
    events = []
    tile.loads(source, device=device, on_event=lambda kind, *rest: events.append(kind)).f[1](x, 2.25, C=0.75)
    assert ("compile_end" in events) == (how == "compiled"), events
    print(how, floats(2))
device.upload(memory, bytes(256))
for again in range(2):
    tile.loads(source, device=device, tune="on", tune_file=f"{folder}/tuned.json").tuned[1](x, 2.5)
kept = json.load(open(f"{folder}/tuned.json"))
assert len(kept["results"]) == 1 and "y=2.5" in kept["results"][0]["key"], kept
print(f"tuned {floats(1)}, kept", kept["results"][0]["milliseconds"])
tile.loads(source, device=device).says[1](1.5)
device.synchronize()
print("the locale is the host's again:", locale.str(0.5))
sys.stdout.flush()   # what kernels print is in the C library's buffer
