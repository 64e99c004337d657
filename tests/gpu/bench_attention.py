"""Attention forward, also beside a peer that the command line names."""
import math

import torch
import triton

from bench_common import check, guarded, load_module, ours, plain, source


def suite_attention(bench, lib, options):
    peer = load_module(options.peer_attention) if options.peer_attention else None
    module, path = source("attention.tile")
    fn = plain(module.attention_fwd)
    for batch, heads, seq, dim in [(4, 16, 4096, 128), (1, 16, 16384, 128), (4, 32, 4096, 64)][: 1 if options.quick else 3]:
        for causal in (False, True):
            name = f"attention {batch}x{heads}x{seq}x{dim} {'causal' if causal else 'full'}"

            def run():
                q, k, v = (torch.randn(batch * heads, seq, dim, device="cuda", dtype=torch.float16) for _ in range(3))
                o = torch.empty_like(q)
                meta = {"BM": 128, "BN": 128, "D": dim, "CAUSAL": causal}
                grid = (triton.cdiv(seq, 128), batch * heads)
                args = (q, k, v, o, seq, dim ** -0.5 * math.log2(math.e))
                f = ours(lib, path, "attention_fwd", grid, args, meta, num_warps=8, num_stages=3)
                ref = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]
                o.fill_(float("nan")); f(); check(o, ref, 5e-3)
                flops = 4 * batch * heads * seq * seq * dim * (0.5 if causal else 1)
                fns = {"ours": f, "triton": lambda: fn[grid](*args, **meta, num_warps=8, num_stages=3)}
                if peer:
                    q4, k4, v4, o4 = (t.view(batch, heads, seq, dim) for t in (q, k, v, torch.empty_like(o)))
                    fns["peer"] = lambda: peer.attention_forward(q4, k4, v4, o4, causal, dim ** -0.5)
                    fns["peer"](); check(o4.view_as(o), ref, 5e-3)
                bench.compare(name, fns, "TFLOP/s", flops / 1e9)
            guarded(bench, name, run)
