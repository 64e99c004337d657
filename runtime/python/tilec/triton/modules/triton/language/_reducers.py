"""What triton.language.standard reduces by, for tl.reduce and tl.associative_scan of programs that name it."""
import triton
import triton.language as tl


@triton.jit
def _sum_combine(a, b):
    return a + b


@triton.jit
def _prod_combine(a, b):
    return a * b


@triton.jit
def _xor_combine(a, b):
    return a ^ b


@triton.jit
def _or_combine(a, b):
    return a | b


@triton.jit
def _elementwise_max(a, b):
    return tl.maximum(a, b)


@triton.jit
def _elementwise_min(a, b):
    return tl.minimum(a, b)


@triton.jit
def _first(value1, index1, value2, index2, wins, TIES: tl.constexpr):
    if TIES:
        wins = wins | (value1 == value2) & (index1 < index2)
    return tl.where(wins, value1, value2), tl.where(wins, index1, index2)


@triton.jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    return _first(value1, index1, value2, index2, value1 > value2, True)


@triton.jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    return _first(value1, index1, value2, index2, value1 > value2, False)


@triton.jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    return _first(value1, index1, value2, index2, value1 < value2, True)


@triton.jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    return _first(value1, index1, value2, index2, value1 < value2, False)
