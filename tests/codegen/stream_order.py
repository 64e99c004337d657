# Blocks whose loads are reordered: what exchanges data, waits or writes stays where it is (stream_loads.c). Each of these
# loads more than registers hold, so that the simulator would see another order as a race or another result.
# DEFINE: %{run} = %tilec run %s --device=sim --sim-seeds=1 --check --grid 1 -q
# RUN: %{run} -k scaled --arg a=fp32[16384]=randint:1:0:2 --arg b=fp32[16384]=randint:2:0:2 --arg out=fp32[4]=zeros -D N=16384
# RUN: %{run} -k below --arg a=fp32[65536]=randint:1:0:9 --arg b=fp32[65536]=randint:2:0:9 --arg out=fp32[4]=zeros -D N=65536
# RUN: %{run} -k reversed_rows --arg a=bf16[1024,128]=zeros --arg out=fp32[256]=zeros -D M=1024 -D K=128
import triton
import triton.language as tl


# The second sum takes the first one, which goes through shared memory.
@triton.jit
def scaled(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    y = tl.load(b + i)
    tl.store(out, tl.sum(y * tl.sum(x)))


@triton.jit
def below(a, b, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(a + i)
    y = tl.load(b + i)
    tl.store(out, tl.max(y - tl.max(x, 0), 0))


# The loads read what other warps store before the barrier.
@triton.jit
def reversed_rows(a, out, M: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    k = tl.arange(0, K)[None, :]
    old = tl.atomic_add(out + 128, 1.0)
    tl.store(a + i * K + k, ((i + k) % 7).to(tl.bfloat16))
    tl.debug_barrier()
    y = tl.load(a + (M - 1 - i) * K + k)
    tl.store(out + tl.arange(0, K), tl.sum(y.to(tl.float32) - old, 0))
