# Numbers in a tuple at the launch, where the kernel means an array.
# RUN: not %tilec run %s -k added --device=interp --grid 1 --arg "gains=(0.5, 1.0)" --arg y=fp32[4]=zeros --arg row=2 2>&1 | FileCheck %s --check-prefix=ADDED --implicit-check-not=error:
# RUN: not %tilec run %s -k indexed --device=interp --grid 1 --arg "gains=(0.5, 1.0)" --arg y=fp32[4]=zeros --arg row=2 2>&1 | FileCheck %s --check-prefix=INDEXED --implicit-check-not=error:
# RUN: not %tilec run %s -k loaded --device=interp --grid 1 --arg "gains=(0.5, 1.0)" --arg y=fp32[4]=zeros --arg row=2 2>&1 | FileCheck %s --check-prefix=LOADED --implicit-check-not=error:
# RUN: not %tilec run %s -k own --device=interp --grid 1 --arg "gains=(0.5, 1.0)" --arg y=fp32[4]=zeros --arg row=2 2>&1 | FileCheck %s --check-prefix=OWN --implicit-check-not=array
import triton
import triton.language as tl


@triton.jit
def added(gains, y, row):
    # ADDED: error: `+` does not combine a tuple of 2 and a scalar i32
    # ADDED: listed_numbers.py:[[#@LINE-2]]:11: note: `gains` is a tuple or list of 2 numbers at the launch; a number is one of them, gains[0], and a pointer needs an array: np.array(gains), or a tensor
    tl.store(y, tl.load(gains + row))


@triton.jit
def indexed(gains, y, row):
    # INDEXED: error: a tuple is indexed by a constant, not by a scalar i32
    # INDEXED: note: `gains` is a tuple or list of 2 numbers at the launch
    tl.store(y, gains[row])


@triton.jit
def loaded(gains, y, row):
    # LOADED: error: `load` needs a pointer, this is a tuple
    # LOADED: note: `gains` is a tuple or list of 2 numbers at the launch
    tl.store(y, tl.load(gains))


@triton.jit
def own(gains, y, row):
    t = (gains[0], 2)
    # OWN: error: a tuple is indexed by a constant, not by a scalar i32
    # OWN: note: loop with tl.static_range to have constant indices
    tl.store(y, t[row])
