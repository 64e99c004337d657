"""Functions of constants that programs import from triton.language.standard."""
from ..runtime.jit import constexpr_function


@constexpr_function
def _log2(n):
    return n.bit_length() - 1 if n > 0 else 0


@constexpr_function
def _is_power_of_two(n):
    return n > 0 and (n & (n - 1)) == 0
