#!/usr/bin/env python3
"""What bounds the largest products: clock and power while ours, Triton's and cuBLAS's kernels run back to back for two seconds each.

usage: power.py [fp16|fp8]…      TILE_LIBRARY names libtile.so. Reads the card's own counters through nvidia-smi and changes nothing.

"of the peak" is the rate over what the tensor cores could do at the clock that was measured: 4096 fp16 or 8192 fp8 operations
per SM and cycle. A kernel near 1 there can only be faster on a card that clocks higher."""
import subprocess
import sys
import time

import torch
import triton

import bench_common as bench
from bench_report import results
import tile_ctypes
from triton.tools.tensor_descriptor import TensorDescriptor

SECONDS, SIZE = 2.0, 8192


def sustained(fn):
    """Rate in launches per second, median clock in MHz and power in W while fn runs back to back."""
    fn()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    sampler = subprocess.Popen([*results.sampler("clocks.sm", "power.draw"), "-lms", "100"], stdout=subprocess.PIPE, text=True)
    count, stop = 0, time.time() + SECONDS
    begin.record()
    while time.time() < stop:
        for _ in range(20):
            fn()
        count += 20
        torch.cuda.synchronize()
    end.record()
    torch.cuda.synchronize()
    sampler.terminate()
    samples = [tuple(map(float, line.split(","))) for line in sampler.stdout if line.count(",") == 1]
    samples = sorted(samples[len(samples) // 3:])   # the clock needs a moment to settle
    clock = samples[len(samples) // 2][0]
    watts = sorted(p for _, p in samples)[len(samples) // 2]
    return count / (begin.elapsed_time(end) / 1e3), clock, watts


def main():
    library = tile_ctypes.Library()
    module, path = bench.source("matmul_persistent.tile")
    theirs = bench.plain(module.matmul_persistent)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    for name in sys.argv[1:] or ["fp16", "fp8"]:
        dtype, bk, per_cycle = (torch.float16, 64, 4096) if name == "fp16" else (torch.float8_e4m3fn, 128, 8192)
        n = SIZE
        a, b = torch.randn(n, n, device="cuda").to(dtype), torch.randn(n, n, device="cuda").to(dtype)
        c = torch.empty(n, n, device="cuda", dtype=torch.float16)
        bm, bn, s, w = 128, 256, 3, 8
        meta = {"BM": bm, "BN": bn, "BK": bk, "GROUP": 8, "SUBTILE": True, "NUM_SMS": sms}
        one = torch.ones((), device="cuda")
        td = [TensorDescriptor.from_tensor(a, [bm, bk]), TensorDescriptor.from_tensor(b, [bn, bk]), TensorDescriptor.from_tensor(c, [bm, bn // 2])]
        fns = {"ours": bench.ours(library, path, "matmul_persistent", (sms,), (("desc", a, [bm, bk]), ("desc", b, [bn, bk]), ("desc", c, [bm, bn // 2]), n, n, n), meta,
                                  num_warps=w, num_stages=s),
               "triton": lambda: theirs[(sms,)](*td, n, n, n, **meta, num_warps=w, num_stages=s),
               "cublas": (lambda: torch.matmul(a, b.T, out=c)) if name == "fp16" else
                         (lambda: torch._scaled_mm(a, b.T, scale_a=one, scale_b=one, out_dtype=torch.float16, use_fast_accum=True))}
        for who, fn in list(fns.items()) + list(fns.items()):
            rate, clock, watts = sustained(fn)
            flops = rate * 2 * n ** 3
            print(f"{name} {n}^3 {who:8} {flops / 1e12:6.0f} TFLOP/s  {clock:5.0f} MHz  {watts:4.0f} W  {flops / (sms * per_cycle * clock * 1e6):.3f} of the peak at that clock", flush=True)


main()
