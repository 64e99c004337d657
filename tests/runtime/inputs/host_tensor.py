"""On a gpu (here: the stub), a tensor in the host's memory is refused by name, the first time and when its type is known."""
import tile

SOURCE = """import triton, triton.language as tl
@triton.jit
def fill(out, n, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n)
"""


class Tensor:
    dtype = "torch.float32"

    def __init__(self, is_cuda):
        self.is_cuda, self.device = is_cuda, "cuda:0" if is_cuda else "cpu"

    def data_ptr(self):
        return 4096


fill = tile.loads(SOURCE, name="fill.py", device="gpu", cache=False).fill
for is_cuda in (False, True, True, False, True):
    try:
        fill[1](Tensor(is_cuda), 16, 32)
        print("launched")
    except TypeError as e:
        print("refused:", e)
