"""What Mamba, Mamba-2 and Mamba-3 models launch: training, prefill, and decoding token by token."""

import dataclasses

import torch
import torch.nn.functional as F

from packages.common import BF16, D, FP16, FP32, fb, leaf, rand

HEAD, STATE = 64, 128  # the width of a head, and of its state
TAPS = 4  # of the convolution


@dataclasses.dataclass(frozen=True)
class Model:
    """The sizes of a model, and the sequences of a step of its training."""

    width: int
    batch: int
    length: int
    groups: int = 1
    chunk: int = 256

    @property
    def inner(self):
        return 2 * self.width

    @property
    def heads(self):
        return self.inner // HEAD

    @property
    def convolved(self):
        """The channels of x, B and C."""
        return self.inner + 2 * self.groups * STATE

    @property
    def hidden(self):
        """The width of a gated MLP."""
        return (8 * self.width // 3 + 127) // 128 * 128


MODELS = {
    "130m": Model(768, 8, 2048),
    "370m": Model(1024, 8, 2048),
    "780m": Model(1536, 4, 2048),
    "1.3b": Model(2048, 4, 2048),
    "2.7b": Model(2560, 4, 2048),
    "8b": Model(4096, 2, 4096, groups=8, chunk=128),  # beside layers of attention
}


class Packed:
    """Sequences one after the other in a batch of one: where they start, and the number of each token's sequence."""

    def __init__(self, *lengths):
        self.length, self.count = sum(lengths), len(lengths)
        sizes = torch.tensor(lengths, device=D)
        self.starts = torch.cat((sizes.new_zeros(1), sizes.cumsum(0))).to(torch.int32)
        owners = torch.repeat_interleave(torch.arange(self.count, device=D), sizes, output_size=self.length)
        self.owners = owners.to(torch.int32)[None]


PROMPTS = (3072, 2048, 1280, 768, 512, 304, 128, 80)  # 8,192 tokens


def parameters(m, dtype=FP32):
    """A, D and the bias of dt, as training begins with them."""
    decay = (-1 - 15 * torch.rand(m.heads, device=D)).requires_grad_()
    return decay, leaf(m.heads, dtype=dtype), (rand(m.heads, dtype=dtype) - 4).detach().requires_grad_()


def layer(m, make, batch, length, dtype=BF16):
    """x, dt, B, C and z as a layer has them: of the convolution's output, and of the first projection."""
    x, b, c = make(batch, length, m.convolved, dtype=dtype).split([m.inner, m.groups * STATE, m.groups * STATE], -1)
    projected = make(batch, length, m.inner + m.convolved + m.heads, dtype=dtype)
    wide, states = (lambda t: t.unflatten(-1, (m.heads, HEAD))), (lambda t: t.unflatten(-1, (m.groups, STATE)))
    return wide(x), projected[..., -m.heads :], states(b), states(c), wide(projected[..., : m.inner])


def trained(name, norm=True, mlp=False):
    """A layer's training in mixed precision; beside its heads there may be an MLP."""

    def case(k):
        m = MODELS[name]
        decay, skip, bias = parameters(m)
        beside = m.hidden if mlp else 0
        out = k("ssd_combined").mamba_split_conv1d_scan_combined(
            leaf(m.batch, m.length, 2 * beside + m.inner + m.convolved + m.heads),
            leaf(m.convolved, TAPS, dtype=FP32, scale=0.3),
            leaf(m.convolved, dtype=FP32),
            bias,
            decay,
            skip,
            m.chunk,
            rmsnorm_weight=leaf(m.inner, dtype=FP32) if norm else None,
            outproj_weight=leaf(m.width, beside + m.inner, scale=0.02),
            headdim=HEAD,
            ngroups=m.groups,
            norm_before_gate=False,
        )
        fb(out)

    return case


def continued(name):
    """Training with packed sequences, gates in the scan, states from before and gradients of those after."""

    def case(k):
        m, packed = MODELS[name], Packed(*PROMPTS)
        x, dt, b, c, z = layer(m, leaf, 1, packed.length)
        decay, skip, bias = parameters(m)
        out = k("ssd_combined").mamba_chunk_scan_combined(
            x,
            dt,
            decay,
            b,
            c,
            m.chunk,
            D=skip,
            z=z,
            dt_bias=bias,
            initial_states=leaf(1, m.heads, HEAD, STATE),
            seq_idx=packed.owners,
            dt_softplus=True,
            return_final_states=True,
        )
        fb(out)

    return case


def prefilled(name, dtype, gated):
    """Prompts of different lengths, and the state after each of them."""

    def case(k):
        m, packed = MODELS[name], Packed(*PROMPTS)
        x, dt, b, c, z = layer(m, rand, 1, packed.length, dtype)
        decay, skip, bias = parameters(m, dtype)
        with torch.no_grad():
            k("ssd_combined").mamba_chunk_scan_combined(
                x,
                dt,
                decay,
                b,
                c,
                m.chunk,
                D=skip,
                z=z if gated else None,
                dt_bias=bias,
                seq_idx=packed.owners,
                cu_seqlens=packed.starts,
                dt_softplus=True,
                return_final_states=True,
                return_varlen_states=True,
            )

    return case


def apart(name, gated):
    """The scan in three steps, each with its own gradients."""

    def case(k):
        m = MODELS[name]
        x, dt, b, c, z = layer(m, leaf, m.batch, m.length)
        decay, skip, bias = parameters(m)
        scan = k("ssd_combined").mamba_chunk_scan
        fb(scan(x, dt, decay, b, c, m.chunk, D=skip, z=z if gated else None, dt_bias=bias, dt_softplus=True))

    return case


def pieces(name, packed):
    """Gradients of the decay by kernels of their own, and a scan with a block for each chunk."""

    def case(k):
        m, scan, state = MODELS[name], k("ssd_chunk_scan"), k("ssd_chunk_state")
        x, dt, b, c, _ = layer(m, rand, m.batch, m.length)
        decay, skip, bias = (p.detach() for p in parameters(m))
        owners = Packed(*[m.length // 4] * 4).owners.repeat(m.batch, 1) if packed else None
        sums, dt = state._chunk_cumsum_fwd(dt, decay, m.chunk, dt_bias=bias, dt_softplus=True)
        products = k("ssd_bmm")._bmm_chunk_fwd(c, b, m.chunk, seq_idx=owners, output_dtype=FP32)
        gradient = rand(m.batch, m.length, m.heads, HEAD)
        states = rand(m.batch, m.length // m.chunk, m.heads, HEAD, STATE)
        state._chunk_state_bwd_ddAcs_stable(b, x, dt, sums, states, seq_idx=owners)
        scan._chunk_scan_bwd_ddAcs_stable_old(x, dt, sums, gradient, products)
        scan._chunk_scan_bwd_ddAcs_prev(states, c, gradient, sums, seq_idx=owners)
        scan._chunk_scan_fwd_wip(products, x, dt, sums, c, b, states, D=skip, seq_idx=owners)

    return case


def normed(name, residual=True, rms=True, **more):
    """The norm before a layer, with the sum that it takes over."""

    def case(k):
        m = MODELS[name]
        rows = m.batch, m.length, m.width
        out = k("layer_norm").layer_norm_fn(
            leaf(*rows),
            leaf(m.width, dtype=FP32),
            None if rms else leaf(m.width, dtype=FP32),
            residual=leaf(*rows, dtype=FP32) if residual else None,
            eps=1e-5,
            prenorm=True,
            residual_in_fp32=True,
            is_rms_norm=rms,
            **more,
        )
        fb(out)

    return case


def parallel_norm(name):
    """Two norms of one sum, each part of which is dropped at random."""

    def case(k):
        m = MODELS[name]
        rows, weight = (m.batch, m.length, m.width), lambda: leaf(m.width)
        norm = k("layer_norm").layer_norm_fn
        fb(norm(leaf(*rows), weight(), weight(), leaf(*rows), leaf(*rows), weight(), weight(), dropout_p=0.1))

    return case


def gated_norm(name):
    """The norm after the heads: a group at a time, after the gate."""

    def case(k):
        m = MODELS[name]
        rows = m.batch * m.length, m.inner
        norm = k("layernorm_gated").rmsnorm_fn
        size = m.inner // m.groups
        fb(norm(leaf(*rows), leaf(m.inner), None, z=leaf(*rows), group_size=size, norm_before_gate=False))

    return case


def state_norm(k):
    """Mamba-3's norm of B and C."""
    m = MODELS["1.3b"]
    fb(k("layernorm_gated").rmsnorm_fn(leaf(m.batch, m.length, 1, 1, STATE), leaf(STATE), None, eps=1e-5))


def activated(name):
    def case(k):
        m = MODELS[name]
        fb(k("k_activations").swiglu(leaf(m.batch, m.length, 2 * m.hidden)))

    return case


def decoded(name, batch, dtype=BF16, slots=None):
    """A token of each sequence; the states may be some of many."""

    def case(k):
        m = MODELS[name]
        x, dt, b, c, _ = (t[:, 0] for t in layer(m, rand, batch, 1, dtype))
        decay, skip, bias = (p.detach() for p in parameters(m, dtype))
        of_head = lambda t: t[..., None].expand(*t.shape, HEAD)
        k("selective_state_update").selective_state_update(
            rand(slots or batch, m.heads, HEAD, STATE, dtype=dtype),
            x,
            of_head(dt),
            decay[:, None, None].expand(m.heads, HEAD, STATE),
            b,
            c,
            of_head(skip),
            dt_bias=of_head(bias),
            dt_softplus=True,
            state_batch_indices=torch.randperm(slots, device=D)[:batch].to(torch.int32) if slots else None,
        )

    return case


def decoded_first(name, batch, dtype=FP16):
    """A token of each sequence in Mamba's first version: 16 states for each channel."""

    def case(k):
        m, states = MODELS[name], 16
        rank = -(-m.width // 16)
        x, z = rand(batch, 2 * m.inner, dtype=dtype).chunk(2, -1)
        _, b, c = rand(batch, rank + 2 * states, dtype=dtype).split([rank, states, states], -1)
        decay = -torch.arange(1, states + 1, device=D, dtype=FP32).repeat(m.inner, 1)
        skip, bias = rand(m.inner, dtype=dtype), rand(m.inner, dtype=dtype) - 4
        state, dt = rand(batch, m.inner, states, dtype=dtype), rand(batch, m.inner, dtype=dtype)
        k("selective_state_update").selective_state_update(state, x, dt, decay, b, c, skip, z, bias, dt_softplus=True)

    return case


def third(name, gated, packed=None):
    """Mamba-3's training; packed sequences continue from states."""

    def case(k):
        m, rows = MODELS[name], Packed(*packed) if packed else None
        batch, length = (1, rows.length) if rows else (m.batch, m.length)
        count, angles = rows.count if rows else batch, STATE // 4
        wide, heads = (batch, length, m.heads, HEAD), (batch, m.heads, length)
        dt = F.softplus(rand(*heads, dtype=FP32) - 4)
        states = (
            leaf(count, m.heads, angles, dtype=FP32),
            leaf(count, m.heads, HEAD, STATE, dtype=FP32),
            leaf(count, m.heads, STATE),
            leaf(count, m.heads, HEAD),
        )
        out = k("mamba3.mamba3_siso_combined").mamba3_siso_combined(
            leaf(batch, length, 1, STATE),
            leaf(batch, length, 1, STATE),
            leaf(*wide),
            (-dt * F.softplus(rand(*heads, dtype=FP32))).requires_grad_(),
            dt.requires_grad_(),
            leaf(*heads),
            leaf(m.heads, STATE, dtype=FP32),
            leaf(m.heads, STATE, dtype=FP32),
            leaf(batch, length, m.heads, angles, dtype=FP32),
            leaf(m.heads, dtype=FP32),
            leaf(*wide) if gated else None,
            states if rows else None,
            return_final_states=bool(rows),
            cu_seqlens=rows.starts if rows else None,
        )
        fb(out)

    return case


def third_ranks(name, packed=None):
    """What Mamba-3 with four values for each head, in chunks of 16, computes of its decay beside other kernels."""

    def case(k):
        m, rows, chunk = MODELS[name], Packed(*packed) if packed else None, 16
        tools = k("mamba3.mamba3_mimo_utils")
        heads = (1, m.heads, rows.length) if rows else (m.batch, m.heads, m.length)
        more = (rows.starts,) if rows else ()
        numbers = lambda dtype=FP32: rand(*heads, dtype=dtype)
        decay = -F.softplus(numbers() - 4)
        if rows:
            sums, from_end, _ = tools.compute_dacs_segsum_triton_varlen(decay, chunk, rows.starts)
            blocks, *_ = tools._build_varlen_chunk_mapping(rows.starts, chunk)
            gradients, trapezoid = tools.bwd_dadt_fused_triton_varlen, tools.bwd_dtrap_ddt_triton_varlen
        else:
            sums, from_end, _ = tools.compute_dacs_segsum_triton(decay, chunk)
            blocks, gradients, trapezoid = m.length // chunk, tools.bwd_dadt_fused_triton, tools.bwd_dtrap_ddt_triton
        square = lambda: rand(*heads[:2], blocks, chunk, chunk, dtype=FP32)
        gradients(square(), square(), numbers(), numbers(), sums, from_end, chunk, *more)
        trapezoid(numbers(BF16), F.softplus(numbers() - 4), numbers(), numbers(), chunk, *more)

    return case


def third_decoded(name, batch):
    """A token of each sequence in Mamba-3: B and C turned, also those of four values a head; and a whole step."""

    def case(k):
        m, angles = MODELS[name], STATE // 4
        heads, dt = (batch, m.heads), F.softplus(rand(batch, m.heads, dtype=FP32) - 4)
        turned = lambda: rand(*heads, angles, dtype=FP32)
        turn = k("mamba3.mamba3_mimo_rotary_step").apply_rotary_qk_inference_fwd
        for ranks in (1, 4):
            shared = lambda: rand(batch, ranks, 1, STATE).expand(-1, -1, m.heads, -1)
            biases = rand(ranks, m.heads, STATE, dtype=FP32), rand(ranks, m.heads, STATE, dtype=FP32)
            turn(shared(), shared(), turned(), turned(), dt, *biases, rotate_pairwise=ranks == 1)
        k("mamba3.mamba3_siso_step").mamba3_siso_step(
            rand(batch, 1, STATE),
            rand(batch, 1, STATE),
            rand(*heads, HEAD),
            -dt,
            dt,
            rand(*heads),
            rand(m.heads, STATE, dtype=FP32),
            rand(m.heads, STATE, dtype=FP32),
            turned(),
            rand(m.heads, dtype=FP32),
            rand(*heads, HEAD),
            (turned(), rand(*heads, HEAD, STATE, dtype=FP32), rand(*heads, STATE, dtype=FP32), rand(*heads, HEAD)),
        )

    return case


CASES = {
    "prefilled_2.7b": prefilled("2.7b", FP16, gated=True),
    "trained_1.3b": trained("1.3b"),
    "continued_8b": continued("8b"),
    "third_1.3b": third("1.3b", gated=True),
    "third_packed_370m": third("370m", gated=False, packed=PROMPTS),
    "apart_780m": apart("780m", gated=False),
    "apart_370m": apart("370m", gated=True),
    "apart_130m": apart("130m", gated=False),
    "pieces_130m": pieces("130m", packed=False),
    "pieces_8b": pieces("8b", packed=True),
    "prefilled_8b": prefilled("8b", BF16, gated=False),
    "normed_2.7b": normed("2.7b"),
    "parallel_norm_130m": parallel_norm("130m"),
    "gated_norm_8b": gated_norm("8b"),
    "activated_2.7b": activated("2.7b"),
    "trained_mlp_2.7b": trained("2.7b", mlp=True),
    "decoded_8b": decoded("8b", 128, slots=512),
    "decoded_first_2.7b": decoded_first("2.7b", 64),
    "third_packed_8b": third("8b", gated=True, packed=PROMPTS[2:]),
    "third_ranks_1.3b": third_ranks("1.3b"),
    "third_ranks_370m": third_ranks("370m"),
    "third_ranks_packed_1.3b": third_ranks("1.3b", packed=PROMPTS),
    "third_ranks_packed_130m": third_ranks("130m", packed=PROMPTS[1:]),
    "third_decoded_1.3b": third_decoded("1.3b", 128),
    "third_decoded_130m": third_decoded("130m", 64),
    "normed_370m": normed("370m", residual=False),
    "normed_780m": normed("780m", rms=False, dropout_p=0.1),
    "state_norm": state_norm,
    "decoded_2.7b": decoded("2.7b", 64, FP16),
    "decoded_first_130m": decoded_first("130m", 128),
    "trained_130m": trained("130m"),
    "trained_370m": trained("370m"),
    "trained_780m": trained("780m", norm=False),
    "trained_2.7b": trained("2.7b"),
    "trained_8b": trained("8b"),
}
