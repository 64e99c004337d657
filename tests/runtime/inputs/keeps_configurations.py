"""How many configurations an autotuned kernel keeps if programs_pytest.py asks for one, and which."""
import triton

import programs_pytest

programs_pytest.keep_configurations(1)


@triton.autotune([triton.Config({}, num_warps=warps) for warps in (2, 4, 8)], key=[])
@triton.jit
def kernel():
    pass


print("keeps:", [config.num_warps for config in kernel.configs])
