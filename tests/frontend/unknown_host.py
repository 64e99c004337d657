# What the host would decide and the compiler cannot is tried out as far as kernels need it.
# RUN: %tilec %s -k guarded -s "*fp32" --emit=tile -o - | FileCheck %s
# RUN: %tilec %s -k option -s "*fp32, i32" --emit=tile -o - | FileCheck %s --check-prefix=OPTION
# RUN: %tilec %s -k run_time -s "*i32, i32" --emit=tile -o - | FileCheck %s --check-prefix=RUNTIME
# RUN: not %tilec %s -k chosen -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=CHOSEN
# RUN: not %tilec %s -k changed -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=CHANGED
# RUN: not %tilec %s -k decorated -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=DECORATED
# RUN: not %tilec %s -k aliased -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=ALIAS
# RUN: not %tilec %s -k caller -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=REGISTERED
import torch
import triton
import triton.language as tl

try:
    import package_that_is_not_here
except ImportError:
    raise ImportError("pip install package_that_is_not_here")

BEFORE = tl.constexpr(1)

if torch.has("it"):
    INSIDE = tl.constexpr(7.0)
    BEFORE = tl.constexpr(2)

    @torch.library.custom_op("a::b")
    def host():
        pass

    @host.register_fake
    def _(x):
        pass

    torch.do_something()

    # CHECK: constant {value = 7.0}
    @triton.jit
    def guarded(x):
        tl.store(x, INSIDE)
        if torch.version.hip is not None:
            tl.no_such_thing()


if torch.has("more"):
    EITHER = tl.constexpr(1.0)
else:
    EITHER = tl.constexpr(2.0)


@triton.jit
def chosen(x):
    tl.store(x, EITHER)  # CHOSEN: [[#@LINE]]:17: error: 'EITHER' is not known at compile time


@triton.jit
def changed(x):
    tl.store(x, BEFORE)  # CHANGED: [[#@LINE]]:17: error: 'BEFORE' is not known at compile time


# An option of the host's that is not known does not take the kernel away.
# OPTION: func @option
@triton.jit(do_not_specialize=["n"] if torch.is_hopper() else [])
def option(x, n):
    tl.store(x, n)


# DECORATED: error: there is no kernel `decorated`
# DECORATED: note: `decorated` could not be made: 'torch' belongs to the host
@torch.compile
def decorated(x):
    pass


# Triton does not hold a caller to a constant either.
@triton.jit
def twice(X: tl.constexpr):
    return X + X


# RUNTIME: func @run_time
# RUNTIME: addi
@triton.jit
def run_time(x, n):
    tl.store(x, twice(n))


# A decorator that fails takes a host function away, not the file.
@registry.add("a")
def registered():
    pass


@triton.jit
def caller(x):
    tl.store(x, registered())
    # REGISTERED: [[#@LINE-1]]:17: error: 'registered' is not known at compile time
    # REGISTERED: [[#@LINE-9]]:2: note: this fails at compile time: NameError: name 'registry' is not defined


# What a type alias stands for is left alone: Python asks for it when something uses it.
type Alias[T] = undefined[T]


@triton.jit
def aliased(x: Alias):
    tl.store(x, Alias)
    # ALIAS: [[#@LINE-1]]:17: error: 'Alias' is not known at compile time
    # ALIAS: note: it is a type alias
