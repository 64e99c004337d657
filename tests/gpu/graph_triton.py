#!/usr/bin/env python3
"""A program of Triton's that PyTorch captures in a CUDA graph, on tilec.triton: plain, autotuned and with a descriptor.
    PYTHONPATH=runtime/python TILE_LIBRARY=build/libtile.so python3 -m tilec.triton tests/gpu/graph_triton.py
Without `-m tilec.triton` the same program runs on Triton."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def add(x, n, v, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + o, tl.load(x + o, mask=o < n) + v, mask=o < n)


@triton.autotune([triton.Config({"B": b}) for b in (128, 512)], key=["n"], restore_value=["x"])
@triton.jit
def tuned(x, n, v, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + o, tl.load(x + o, mask=o < n) + v, mask=o < n)


@triton.jit
def doubled(d):
    row = tl.program_id(0) * 16
    d.store([row, 0], d.load([row, 0]) * 2)


x, y = torch.zeros(1000, device="cuda"), torch.ones(64, 64, device="cuda")
described = TensorDescriptor.from_tensor(y, [16, 64])


def program():
    add[(4,)](x, 1000, 2.0, B=256)
    tuned[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, 1000, 3.0)
    doubled[(4,)](described)


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    program()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    program()
for again in range(3):
    graph.replay()
torch.cuda.synchronize()
assert torch.equal(x, torch.full_like(x, 20.0)), x
assert torch.equal(y, torch.full_like(y, 16.0)), y
print(f"graph: 3 launches replayed 3 times are right; {triton.__name__} {triton.__version__} from {triton.__file__}")
