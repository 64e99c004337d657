"""liger-kernel 0.8.5: training's row-wise kernels at the sizes of a model with 4,096 features and 32,768 tokens."""

import torch
import torch.nn.functional as F

from packages import stand_ins
from packages.common import FP32, fb, ints, leaf, rand

PATHS = ["liger_kernel"]
N, H, V, I = 8192, 4096, 32768, 11008


def cases():
    stand_ins.install()
    import liger_kernel.transformers.functional as L

    x = lambda: leaf(N, H)
    w = lambda k=H: leaf(k)
    log = lambda grad=True: F.log_softmax(rand(2048, V, dtype=FP32).requires_grad_(grad), -1)
    share = lambda grad=False: torch.softmax(rand(2048, V, dtype=FP32).requires_grad_(grad), -1)
    yield "rms_norm", lambda: fb(L.liger_rms_norm(x(), w(), 1e-6))
    yield "layer_norm", lambda: fb(L.liger_layer_norm(x(), w(), w(), 1e-6))
    yield "add_rms_norm", lambda: fb(L.liger_fused_add_rms_norm(x(), x(), w(), 1e-6))
    yield "cross_entropy", lambda: fb(L.liger_cross_entropy(leaf(N, V), ints(V, N)))
    yield "linear_cross_entropy", lambda: fb(
        L.liger_fused_linear_cross_entropy(leaf(4096, H, scale=0.05), leaf(V, H, scale=0.05), ints(V, 4096))
    )
    yield "geglu", lambda: fb(L.liger_geglu(leaf(N, I), leaf(N, I)))
    yield "swiglu", lambda: fb(L.liger_swiglu(leaf(N, I), leaf(N, I)))
    yield "softmax", lambda: fb(L.liger_softmax(leaf(N, 8192)))
    yield "kl_div", lambda: fb(L.liger_kl_div(log(), share()))
    yield "jsd", lambda: fb(L.liger_jsd(log(), log(False)))
    yield "tvd", lambda: fb(L.liger_tvd(share(True), share()))
    yield "group_norm", lambda: fb(L.liger_group_norm(leaf(32, 512, 4096), leaf(512), leaf(512), 512, 32, 1e-5))
    yield "dyt", lambda: fb(L.liger_dyt(x(), leaf(1, dtype=FP32), w(), w()))
    yield "poly_norm", lambda: fb(L.liger_poly_norm(x(), leaf(3), leaf(), 1e-6))
    yield "sparsemax", lambda: fb(L.liger_sparsemax(leaf(4096, 4096, dtype=FP32), -1))
    yield "relu_squared", lambda: fb(L.liger_relu_squared(leaf(N, I)))

    def rope():
        q, k = leaf(4, 32, 4096, 128), leaf(4, 8, 4096, 128)
        by_token = lambda t: t.transpose(1, 2).contiguous().transpose(1, 2)
        fb(L.liger_rope(by_token(q), by_token(k), rand(1, 4096, 128), rand(1, 4096, 128)))

    yield "rope", rope
