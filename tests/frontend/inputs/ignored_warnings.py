# What comments turn off: in their line, and from the line of a `def` in the whole function.
import triton
import triton.language as tl


@triton.jit
def helper(x):  # tilec: ignore[unused-variable]
    y = 1
    x + y  # tilec: ignore[unused-value]
    z = 2
    x * 2  # noqa: B018  # tilec: ignore[ unused-value , unused-variable]
    return x


@triton.jit
def kernel(out: "*fp32"):  # tilec: ignore[unused-variable, unreachable]
    a = 1
    tl.store(out, helper(2.0))
    return
    b = 2


@triton.jit
def nothing(out: "*fp32"):  #tilec:ignore[missing-store]
    _v = tl.load(out)


@triton.jit
def other(out: "*fp32"):
    unread = 1  # the comment "tilec: ignore[unused-variable]" begins with its sign
    tl.store(out, 1.0)
    v = "# tilec: ignore[unused-variable]"
    tl.static_print(v)
    tl.load(
        out,
    )  # tilec: ignore[unused-value]
