#!/usr/bin/env python3
"""Launches into a CUDA graph that PyTorch captures: prepared ones are replayed, others are refused and leave the capture whole.
    PYTHONPATH=runtime/python TILE_LIBRARY=build/libtile.so python3 tests/gpu/graph.py"""
import torch

import tile

SOURCE = """import triton
import triton.language as tl

@triton.jit
def add(x, n, v, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + o, tl.load(x + o, mask=o < n) + v, mask=o < n)
"""
add = tile.loads(SOURCE, name="add.py", device="gpu").add
x = torch.zeros(1000, device="cuda")
add.warmup(x, 1000, 2.0, B=256)
torch.cuda.synchronize()
graph, refused = torch.cuda.CUDAGraph(), None
with torch.cuda.graph(graph):
    for again in range(2):
        add[(4,)](x, 1000, 2.0, B=256)
    try:
        add[(2,)](x, 1000, 2.0, B=512)
    except tile.Error as error:
        refused = str(error)
for again in range(3):
    graph.replay()
torch.cuda.synchronize()
assert refused and "being captured" in refused, refused
assert torch.equal(x, torch.full_like(x, 12.0)), x
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    add[(4,)](x, 1000, 2.0, B=256)
side.synchronize()
assert torch.equal(x, torch.full_like(x, 14.0)), x
print("graph: 2 launches replayed 3 times are right; an unprepared one was refused:", refused)
