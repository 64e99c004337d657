"""Attention forward, beside Triton, cuDNN (through PyTorch) and a peer that the command line names."""
import math

import torch
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel

from bench_common import check, guarded, load_module, ours, plain, source


def suite_attention(bench, lib, options):
    peer = load_module(options.peer_attention) if options.peer_attention else None
    module, path = source("attention.tile")
    fn = plain(module.attention_fwd)
    # Heads of 64 leave registers for two blocks of one warpgroup on a multiprocessor, which overlap as two warpgroups of a block do.
    shapes = [(4, 16, 4096, 128, 128, 8), (1, 16, 16384, 128, 128, 8), (4, 32, 4096, 64, 128, 8), (4, 32, 4096, 64, 64, 4)]
    for batch, heads, seq, dim, rows, warps in shapes[: 1 if options.quick else 4]:
        for causal in (False, True):
            shape = f"attention {batch}x{heads}x{seq}x{dim} {'causal' if causal else 'full'}"
            name = f"{shape} {rows}x128 w{warps}"

            def run():
                q, k, v = (torch.randn(batch * heads, seq, dim, device="cuda", dtype=torch.float16) for _ in range(3))
                o = torch.empty_like(q)
                meta = {"BM": rows, "BN": 128, "D": dim, "CAUSAL": causal}
                grid = (triton.cdiv(seq, rows), batch * heads)
                args = (q, k, v, o, seq, dim ** -0.5 * math.log2(math.e))
                stages = 3 if warps == 8 else 2
                f = ours(lib, path, "attention_fwd", grid, args, meta, num_warps=warps, num_stages=stages)
                q4, k4, v4, o4 = (t.view(batch, heads, seq, dim) for t in (q, k, v, torch.empty_like(o)))

                def cudnn():
                    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                        return torch.nn.functional.scaled_dot_product_attention(q4, k4, v4, is_causal=causal)
                ref = cudnn().view_as(o)
                o.fill_(float("nan")); f(); check(o, ref, 5e-3)
                flops = 4 * batch * heads * seq * seq * dim * (0.5 if causal else 1)
                fns = {"ours": f, "triton": lambda: fn[grid](*args, **meta, num_warps=warps, num_stages=stages), "cudnn": cudnn}
                if peer:
                    fns["peer"] = lambda: peer.attention_forward(q4, k4, v4, o4, causal, dim ** -0.5)
                    fns["peer"](); check(o4.view_as(o), ref, 5e-3)
                bench.compare(name, fns, "TFLOP/s", flops / 1e9, shape, f"attention D={dim}")
            guarded(bench, name, run)
