"""Launches of compiled kernels by position, over a driver that runs nothing: who does them, libtile or Python?"""
import triton
import triton.language as tl
from triton.compiler import ASTSource


class Tensor:
    dtype, is_cuda = tl.float32, True

    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        return self.address


class HostTensor(Tensor):
    is_cuda = False


@triton.jit
def fill(out, bias, n, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n)


source = ASTSource(fill, {"out": "*fp32", "bias": "constexpr", "n": "i32", "B": "constexpr"}, {"bias": None, "B": 32},
                   {(0,): [["tt.divisibility", 16]]})
compiled = triton.compile(source, options={"num_warps": 4, "num_stages": 1, "debug": True})
in_python, out = [], Tensor(4096)
go_on = fill.go_on
fill.go_on = lambda *args: in_python.append(args) or go_on(*args)
run = compiled.run


def said(what, *args):
    before = len(in_python)
    result = run(*args)
    print(f"{what}: {result}, {'Python' if len(in_python) > before else 'libtile'}")


plain = (2, 1, 1, None, compiled.function, compiled.packed_metadata, None, None, None)
said("first", *plain, out, None, 3, 32)
said("again", *plain, out, None, 4, 32)
said("without constants", *plain, out, 4)
said("a stream", 2, 1, 1, 4096, *plain[4:], out, None, 4, 32)
said("no program", 0, 1, 1, *plain[3:], out, None, 4, 32)
said("empty hooks", *plain[:7], triton.knobs.runtime.launch_enter_hook, triton.knobs.runtime.launch_exit_hook, out, 4)
seen = []
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append(metadata.get()["name"]))
said("a hook", *plain[:7], triton.knobs.runtime.launch_enter_hook, None, out, 4)
triton.knobs.runtime.launch_enter_hook.remove(triton.knobs.runtime.launch_enter_hook.calls[0])
print("hooked:", seen)
for what, args in (("a tensor of the host", (HostTensor(4096), 4)), ("one too many", (out, None, 4, 32, 5))):
    try:
        run(*plain, *args)
        print(what, "launched")
    except Exception as e:
        print(f"{what}: {type(e).__name__}: {e}")
compiled[(2,)](out, 4)
print("in Python:", len(in_python))
