"""lmdeploy's kernels that know sequences: paged caches, attention, DeepSeek's indices and compressed caches."""

import torch

from packages.common import BF16, D, FP32, fp8, ints, rand, scale

PAGE = 64
PROMPTS = (4096, 1536, 1024, 640, 512, 256, 96, 32)  # 8,192 tokens


class Batch:
    """Sequences: `new` tokens each now, `seen` tokens each before, and a table of their pages."""

    def __init__(self, new, seen, page=PAGE):
        self.count, self.tokens, self.longest = len(new), sum(new), max(new)
        self.q = torch.tensor(new, device=D, dtype=torch.int32)
        self.seen = torch.tensor(seen, device=D, dtype=torch.int32)
        self.kv = self.q + self.seen
        self.total, self.most = sum(new) + sum(seen), max(a + b for a, b in zip(new, seen))
        columns = -(-self.most // page)
        self.pages = self.count * columns
        self.table = torch.randperm(self.pages, device=D).to(torch.int32).view(self.count, columns)
        self.starts, self.kv_starts = self.ends(self.q), self.ends(self.kv)

    @staticmethod
    def ends(lengths):
        """0 and the sums of the lengths so far."""
        return torch.cat((lengths.new_zeros(1), lengths.cumsum(0).to(torch.int32)))

    def owners(self):
        """The sequence of each new token, and its position in that."""
        owner = torch.repeat_interleave(torch.arange(self.count, device=D), self.q, output_size=self.tokens)
        return owner, torch.arange(self.tokens, device=D) - self.starts[owner]


def prompts(page=PAGE, seen=0):
    return Batch(PROMPTS, (seen,) * len(PROMPTS), page)


def decoding(count=128, longest=4096, page=PAGE):
    """One new token of each sequence; their lengths are spread between an eighth and all of the longest."""
    return Batch((1,) * count, [longest // 8 + i * 7 * longest // (8 * count) - 1 for i in range(count)], page)


def cache(batch, policy, heads=8, width=128):
    """Pages of keys and of values, and what a policy says of their factors."""
    shape = lambda last: (batch.pages, PAGE, heads, last)
    pair = torch.tensor([0.02, 128.0], device=D, dtype=BF16)
    factors = lambda n: pair[:n].repeat(*shape(1))
    if policy.name == "NONE":
        return (rand(*shape(width)), rand(*shape(width))), {}
    if policy.name == "FP8":
        scales = dict(k_scales_zeros=scale(1), v_scales_zeros=scale(1))
        return (fp8(*shape(width)), fp8(*shape(width))), dict(scales, quant_policy=policy)
    turbo = policy.name == "TURBO_QUANT"
    wide = {"INT8": width, "INT4": width // 2, "TURBO_QUANT": width // 2}[policy.name]
    pages = [ints(256, *shape(n), dtype=torch.uint8) for n in (wide, width // 4 if turbo else wide)]
    scales = dict(k_scales_zeros=factors(2), v_scales_zeros=factors(1 if turbo else 2))
    return pages, dict(scales, quant_policy=policy)


def fill(k, batch, key, value, pages, quantised):
    k("fill_kv_cache").fill_kv_cache(
        key,
        value,
        *pages,
        batch.starts[:-1],
        batch.q,
        kv_seq_length=batch.kv,
        max_q_seq_length=batch.longest,
        block_offsets=batch.table,
        **quantised,
    )


def attend(k, batch, query, key, value, **more):
    return k("flashattention").flash_attn_varlen_func(
        query,
        key,
        value,
        cu_seqlens_q=batch.starts,
        cu_seqlens_k=batch.kv_starts,
        max_seqlen_q=batch.longest,
        max_seqlen_k=batch.most,
        causal=True,
        **more,
    )


def prefill(name, heads=32, kv=8, width=128, seen=0, **more):
    """Keys and values go to their pages, come back in one piece, and are attended to."""

    def case(k, policies):
        batch, policy = prompts(seen=seen), policies(name)
        pages, quantised = cache(batch, policy, kv, width)
        fill(k, batch, rand(batch.tokens, kv, width), rand(batch.tokens, kv, width), pages, quantised)
        key, value = k("flatten_kv_cache").flatten_kv_cache(
            *pages,
            batch.kv,
            batch.table,
            start_loc=batch.kv_starts[:-1],
            out_size=batch.total,
            out_dtype=BF16,
            flatten_kv_layout="hsd",
            **quantised,
        )
        attend(k, batch, rand(batch.tokens, heads, width), key, value, **more)

    return case


def decode(name, heads=32, kv=8, width=128, **more):
    def case(k, policies):
        batch, policy = decoding(), policies(name)
        pages, quantised = cache(batch, policy, kv, width)
        fill(k, batch, rand(batch.tokens, kv, width), rand(batch.tokens, kv, width), pages, quantised)
        k("pagedattention").flash_attn_with_kvcache(
            rand(batch.tokens, heads, width), *pages, batch.kv, batch.table, **quantised, **more
        )

    return case


def latent_decode(k, _):
    """DeepSeek-V3's attention, 16 of its heads: keys and values share their pages."""
    batch = decoding()
    pages = rand(batch.pages, PAGE, 1, 576)
    fill(k, batch, rand(batch.tokens, 1, 576), None, (pages, pages[..., :512]), {})
    k("pagedattention").flash_attn_with_kvcache(
        rand(batch.tokens, 16, 576), pages, pages[..., :512], batch.kv, batch.table, softmax_scale=192**-0.5
    )


def latent_prefill(k, _):
    """The same for prompts, whose pages hold fp8."""
    batch = prompts()
    pages = torch.zeros(batch.pages, PAGE, 1, 656, device=D, dtype=torch.float8_e4m3fn)
    key = rand(batch.tokens, 1, 576)
    k("fill_kv_cache").fill_kv_cache_blocked_fp8(
        key[..., :512],
        None,
        pages[..., :512],
        None,
        pages[..., 512:528].view(FP32),
        None,
        cu_seqlen_q=batch.starts,
        kv_seqlens=batch.kv,
        max_q_seqlen=batch.longest,
        block_offsets=batch.table,
        group_size=128,
        scale_fmt="ue8m0",
    )
    fill(k, batch, key[..., 512:], None, (pages[..., 528:].view(BF16), None), {})
    flat = k("flatten_kv_cache").flatten_kv_cache_mla_fp8(
        pages, batch.kv, batch.table, batch.kv_starts[:-1], batch.total, BF16, "hsd"
    )
    attend(k, batch, rand(batch.tokens, 16, 576), flat, flat[..., :512], softmax_scale=192**-0.5)


def angles(tokens, width=64):
    x = torch.rand(tokens, width, device=D) * 6.28
    return x.cos().to(BF16), x.sin().to(BF16)


def index(new, top=512):
    """DeepSeek-V4's index: the best `top` keys of each token by 64 small heads in fp8."""

    def case(k, _):
        batch = decoding(64, 32768) if new == 1 else prompts(seen=2048)
        indexer, (cos, sin) = k("dsa_indexer_preprocess"), angles(batch.tokens)
        pages = torch.zeros(batch.pages, PAGE, 128, device=D, dtype=torch.float8_e4m3fn).copy_(rand(batch.pages, 1, 1))
        scales = scale(batch.pages, PAGE)
        q, q_scale = indexer.prepare_dsa_indexer_q(
            rand(batch.tokens, 64, 128), rand(batch.tokens, 64), cos, sin, 128**-0.5, torch.float8_e4m3fn, False
        )
        indexer.prepare_dsa_indexer_k_cache(
            rand(batch.tokens, 128),
            rand(128),
            rand(128),
            cos,
            sin,
            pages,
            scales,
            batch.starts,
            batch.kv,
            batch.table,
            batch.longest,
            1e-6,
            False,
        )
        if new != 1:
            indexer.flatten_dsa_indexer_k_cache(pages, scales, batch.kv_starts, batch.kv, batch.table, batch.total)
        scores, lengths = k("ds_index").fp8_index(
            q,
            q_scale,
            pages,
            scales,
            batch.starts,
            batch.kv,
            batch.table,
            max_q_seqlen=batch.longest,
            max_k_seqlen=batch.table.size(1) * PAGE,
            causal=True,
            return_row_k_seqlens=True,
        )
        k("bitonic_topk").bitonic_topk(scores, batch.q, lengths, top)

    return case


def compressed(new, ratio):
    """DeepSeek-V4's cache: `ratio` tokens become one, and a window of 128 tokens stays."""

    def case(k, _):
        batch = decoding(128, 8192, 256) if new == 1 else prompts(256, 512)
        overlap, compressor = ratio == 4, k("v4_compressor")
        width, rows = 512 * (1 + overlap), ratio * (1 + overlap)
        slots = torch.randperm(2 * batch.count, device=D)[: batch.count]
        state = rand(2 * batch.count, 2 * rows, width, dtype=FP32)
        small = torch.zeros(batch.tokens, 512, device=D, dtype=BF16)
        score_and_fill = "score_and_fill_state_decode" if new == 1 else "score_and_fill_state_prefill"
        getattr(compressor, score_and_fill)(
            rand(batch.tokens, width),
            rand(batch.tokens, width),
            rand(ratio, width, dtype=FP32),
            state[:, :rows],
            state[:, rows:],
            slots,
            batch.starts,
            batch.kv,
            small,
            overlap,
            *([] if new == 1 else [batch.longest]),
        )
        pages = torch.zeros(batch.pages, 256 // ratio, 584, device=D, dtype=torch.float8_e4m3fn)
        compressor.fill_compressed_kv(
            small, None, batch.starts, batch.kv, batch.table, ratio, 256, batch.longest, fp8_cache=pages
        )
        indices = k("v4_sparse_indices")
        count = batch.kv // ratio
        if new != 1:
            return window(k, indices, batch, ratio, slots, pages, count)
        indices.build_decode_window_sparse_indices(batch.kv, batch.seen, slots < 0, 128)
        best = ints(2048, batch.count, 1, 512).to(torch.int32)
        if overlap:
            indices.build_decode_compressed_sparse_indices(
                torch.where(best < count[:, None, None], best, -1), batch.table, 256, ratio
            )
        else:
            indices.build_decode_prefix_compressed_sparse_indices(count, batch.table, 256, ratio)

    return case


def window(k, indices, batch, ratio, slots, pages, count):
    """A prompt's tokens beside the compressed ones, and which of them each token sees."""
    states = torch.zeros(2 * batch.count, 128, 584, device=D, dtype=torch.float8_e4m3fn)
    raw, (owner, position) = rand(batch.tokens, 512), batch.owners()
    flat_lengths = batch.seen.clamp(max=128) + batch.q + count
    flat_starts = batch.ends(flat_lengths)
    k("v4_flatten_kv").flatten_v4_kv(
        states,
        batch.table,
        batch.kv,
        128,
        ratio,
        batch.total + batch.total // ratio,
        128 + batch.longest + batch.most // ratio,
        cu_seqlens_k=flat_starts,
        flat_kv_lens=flat_lengths,
        cu_q_seqlens=batch.starts,
        fp8_compressed_kv_cache=pages,
        slot=slots,
        raw_kv=raw,
        raw_kv_lens=batch.q,
        start_pos=batch.seen,
    )
    place = batch.seen[owner] + position
    late = place >= (batch.kv[owner] - 128).clamp(min=0)
    k("v4_pack_window").pack_window_tokens_fp8(raw, states, slots[owner], torch.where(late, place % 128, -1))
    best = None
    if ratio == 4:
        best = ints(1152, batch.tokens, 512).to(torch.int32)
        best = torch.where(best < ((place + 1) // ratio)[:, None], best, -1)
    indices.build_prefill_sparse_indices(
        batch.seen,
        batch.kv,
        owner,
        position,
        flat_starts,
        batch.seen.clamp(max=128) + batch.q,
        128,
        compress_ratio=ratio,
        compress_topk=best,
        compress_width=batch.most // ratio,
    )


ATTENTION = {
    "llama_prefill": prefill("NONE"),
    "llama_decode": decode("NONE"),
    "latent_decode": latent_decode,
    "latent_prefill": latent_prefill,
    "prefill_fp8": prefill("FP8", seen=1024),
    "decode_fp8": decode("FP8"),
    "prefill_int8": prefill("INT8"),
    "decode_int8": decode("INT8"),
    "decode_int4": decode("INT4"),
    "prefill_int4": prefill("INT4"),
    "prefill_turbo": prefill("TURBO_QUANT"),
    "decode_turbo": decode("TURBO_QUANT"),
    "index_decode": index(1),
    "index_prefill": index(4096),
    "compressed_prefill_4": compressed(4096, 4),
    "compressed_decode_4": compressed(1, 4),
    "compressed_prefill_128": compressed(4096, 128),
    "compressed_decode_128": compressed(1, 128),
}
