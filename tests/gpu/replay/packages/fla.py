"""fla-core 0.6.0: chunked linear attention, forward and backward, 4 sequences of 4,096 tokens."""

import torch

from packages import stand_ins
from packages.common import BF16, D, FP32, fb, gate, leaf, normal, unit

PATHS = ["fla_core"]  # the other wheel has layers and models
B, T, H, K = 4, 4096, 16, 128


def qkv(n=3, k=K):
    return [leaf(B, T, H, k, scale=0.5) for _ in range(n)]


def cases():
    stand_ins.install()
    import fla.modules
    import fla.ops.attn
    import fla.ops.based
    import fla.ops.delta_rule
    import fla.ops.forgetting_attn
    import fla.ops.gated_delta_rule
    import fla.ops.gated_oja_rule
    import fla.ops.gla
    import fla.ops.gsa
    import fla.ops.hgrn
    import fla.ops.kda
    import fla.ops.lightning_attn
    import fla.ops.linear_attn
    import fla.ops.path_attn.parallel
    import fla.ops.retention
    import fla.ops.rwkv6
    import fla.ops.rwkv7
    import fla.ops.simple_gla

    ops = fla.ops
    narrow = lambda *shape: gate(*shape, dtype=BF16)
    beta = lambda: unit(B, T, H)

    def on(f, n=3, k=K):
        return lambda: fb(f(*qkv(n, k)))

    yield "gla", on(lambda q, k, v: ops.gla.chunk_gla(q, k, v, gate(B, T, H, K)))
    yield "delta", on(lambda q, k, v: ops.delta_rule.chunk_delta_rule(q, normal(k), v, beta()))
    yield "gated_delta", on(
        lambda q, k, v: ops.gated_delta_rule.chunk_gated_delta_rule(q, normal(k), v, gate(B, T, H), beta())
    )
    yield "simple_gla", on(lambda q, k, v: ops.simple_gla.chunk_simple_gla(q, k, v, gate(B, T, H)))
    yield "retention", on(ops.retention.chunk_retention)
    yield "linear", on(ops.linear_attn.chunk_linear_attn)
    yield "oja", on(lambda q, k, v: ops.gated_oja_rule.chunk_gated_oja_rule(q, k, v, gv=gate(B, T, H, K), beta=beta()))
    yield "path", on(
        lambda q, k, v: ops.path_attn.parallel.parallel_path_attention(
            q, k, v, normal(leaf(B, T, H, K, dtype=FP32)), unit(B, T, H, dtype=FP32)
        )[0]
    )
    yield "parallel_attn", on(ops.attn.parallel_attn)
    yield "forgetting", on(lambda q, k, v: ops.forgetting_attn.parallel_forgetting_attn(q, k, v, gate(B, T, H)))
    yield "kda", on(lambda q, k, v: ops.kda.chunk_kda(normal(q), normal(k), v, gate(B, T, H, K), beta()))
    yield "rwkv6", on(lambda r, k, v: ops.rwkv6.chunk_rwkv6(r, k, v, gate(B, T, H, 64), leaf(H, 64)), k=64)
    yield "rwkv7", on(
        lambda r, k, v, a: ops.rwkv7.chunk_rwkv7(r, narrow(B, T, H, 64), k, v, normal(a), normal(a)), 4, 64
    )
    yield "hgrn", lambda: fb(ops.hgrn.chunk_hgrn(leaf(B, T, 2048), narrow(B, T, 2048)))
    slots = lambda: torch.softmax(torch.randn(B, T, H, 64, device=D, dtype=BF16), -1).requires_grad_()
    yield "gsa", on(lambda q, k, v: ops.gsa.chunk_gsa(q, k, v, slots(), narrow(B, T, H, 64)), k=64)
    yield "lightning", on(lambda q, k, v: ops.lightning_attn.chunk_lightning_attn(q, k, v, 0, 24))
    yield "based", on(lambda q, k: ops.based.parallel_based(q, k, leaf(B, T, H, 128)), 2, 16)
    short = lambda x: x[:, :256].contiguous().detach().requires_grad_()
    yield "recurrent", on(lambda q, k, v: ops.gla.fused_recurrent_gla(short(q), short(k), short(v), gate(B, 256, H, K)))
    where = dict(device=D, dtype=BF16)
    yield "short_conv", lambda: fb(
        fla.modules.ShortConvolution(2048, 4, activation="silu", **where)(leaf(B, T, 2048))[0]
    )
    yield "norm_gate", lambda: fb(fla.modules.FusedRMSNormGated(128, **where)(leaf(B, T, H, 128), leaf(B, T, H, 128)))
    yield "l2norm", on(fla.modules.l2norm.l2_norm, 1)
    yield "rotary", on(lambda q, k: fla.modules.RotaryEmbedding(128).to(D)(q, k), 2)
