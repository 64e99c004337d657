# What a message says after the reason: where a shape comes from, and the way out of common mistakes.
# RUN: not %tilec %s -n pointers -s *fp32,*fp32,i32,, --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=POINTERS
# RUN: not %tilec %s -n shapes -s *fp32,*fp32,i32,, --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=SHAPES
# RUN: not %tilec %s -n operators -s *fp32,*fp32,i32,, --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=OPERATORS
# RUN: not %tilec %s -n names -s *fp32,*fp32,i32,, --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=NAMES
# RUN: not %tilec %s -n statements -s *fp32,*fp32,i32,, --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=STATEMENTS
# RUN: not %tilec %s -n plain --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=PLAIN
# RUN: not %tilec %s -n star --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=STAR
import collections
import math
import triton
import triton.language as tl

Pair = collections.namedtuple("Pair", ["a", "b"])


@triton.jit
def pointers(p, q, n, d: "tensordesc<fp16[16, 16]>"):
    o = tl.arange(0, 8)
    p[o]
    p[0] = 1.0
    p[0:4, None]
    p[o, o] = 1.0
    p.shape[0]
    len(p)
    for i in p:
        pass
    for i, v in enumerate(p):
        pass
    p(o)
    tl.load(p + q)
    tl.load(o)
    tl.load(n + o)
    tl.store(tl.load(p), q)
    -p


@triton.jit
def shapes(p, q, n, d: "tensordesc<fp16[16, 16]>"):
    o, h = tl.arange(0, 8), tl.arange(0, 4)
    m = h < n
    x = tl.load(p + o)
    tl.load(p + o, m)
    tl.store(p + o, 1.0, m)
    x + tl.load(p + h)
    tl.store(p + o, x[:, None] + x[None, :])
    tl.reshape(x, (-1, 2))
    tl.reshape(x, (4, 4))
    tl.trans(x)
    x.T
    tl.sum(x, axis=1)
    x(0)
    for v in x:
        pass
    tl.maximum(x, x, 3)


@triton.jit
def operators(p, q, n, d: "tensordesc<fp16[16, 16]>"):
    x = tl.load(p + tl.arange(0, 8))
    i = 0
    ++i
    n // 0
    x << 2
    (x < 1) & x
    ~x
    x ** 2
    x ** n
    x + [1, 2]
    f"{n}" + 1
    (n, x) * 2
    "%d" % n
    None + x
    x + tl.float32
    x + tl.sum
    x + {"a": 1}
    x + Pair(n, n)
    x + f"{n}"
    d + x
    y = ...
    1j


@triton.jit
def names(p, q, n, d: "tensordesc<fp16[16, 16]>"):
    x = tl.load(p + tl.arange(0, 8))
    math.sqrt(n)
    x.device_print
    half(n)
    (n, x).count
    (n, x).to(tl.float16)
    sum(v for v in (n, x))
    x.to(flaot16)
    undefined(xx=1)
    np.exp(x)
    tl.fp16
    (n, x)[0] = 3
    t = (n, x)
    t[0] = 3


@triton.jit
def statements(p, q, n, d: "tensordesc<fp16[16, 16]>"):
    for i in range(n):
        pass
    else:
        pass
    with n:
        pass
    try:
        pass
    except ValueError:
        pass
    global z
    class A:
        pass
    {"a": n}
    yield n
    print(f"{n:04d}")


def plain(p):
    pass


@triton.jit
def gives(n):
    return n


@triton.jit
def star(*args):
    pass

# POINTERS: ways_out.py:20:5: error: a scalar *fp32 is an address, which is not indexed
# POINTERS: note: write tl.load(p + o, mask)
# POINTERS: ways_out.py:21:5: error: a scalar *fp32 is an address, which is not assigned by index
# POINTERS: note: write tl.store(p + 0, 1.0, mask)
# POINTERS: ways_out.py:22:7: error: a tensor is indexed by `:` and `None` only
# POINTERS: note: load the part that you need from memory, or take elements with tl.gather, tl.split or a masked tl.sum
# POINTERS: ways_out.py:23:5: error: a scalar *fp32 is an address, which is not assigned by index
# POINTERS: note: write tl.store(p + row * stride + column, 1.0, mask)
# POINTERS: ways_out.py:24:5: error: a scalar *fp32 is an address and has no shape
# POINTERS: note: pass the extents to the kernel as parameters of their own
# POINTERS: ways_out.py:25:9: error: a scalar *fp32 has no len
# POINTERS: note: for several arrays its type is a tuple, (*fp32, *fp32); for the elements of one, pass their number as a parameter of its own
# POINTERS: ways_out.py:26:14: error: a kernel loops over range, tl.range, tl.static_range or a tuple, not over a scalar *fp32
# POINTERS: note: a tile has no loop over its elements: compute on the whole of it, or `for i in range(n):`
# POINTERS: ways_out.py:28:27: error: a scalar *fp32 does not iterate
# POINTERS: note: count with `for i in range(n):` and tl.load what each iteration needs
# POINTERS: ways_out.py:30:5: error: a scalar *fp32 cannot be called
# POINTERS: note: load from it: tl.load(p + offsets, mask)
# POINTERS: ways_out.py:31:13: error: cannot add two pointers
# POINTERS: note: add the values: tl.load(a + offsets) + tl.load(b + offsets)
# POINTERS: ways_out.py:32:13: error: `load` needs a pointer, this is i32[8]
# POINTERS: note: add offsets to a pointer: tl.load(pointer + offsets, …)
# POINTERS: ways_out.py:33:13: error: `load` needs a pointer, this is i32[8]
# POINTERS: ways_out.py:18:20: note: `n` is i32 by --signature; the type of an array is written *fp32
# POINTERS: note: add offsets to a pointer: tl.load(pointer + offsets, …)
# POINTERS: ways_out.py:34:14: error: `store` needs a pointer, this is a scalar fp32
# POINTERS: note: the pointer comes first: tl.store(pointer, …)
# POINTERS: ways_out.py:35:5: error: `-` does not work on pointers

# SHAPES: ways_out.py:43:5: error: shapes [8] and [4] do not broadcast: dimension 0 is 8 on the left and 4 on the right
# SHAPES: ways_out.py:40:12: note: shape [8] comes from here
# SHAPES: ways_out.py:40:29: note: shape [4] comes from here
# SHAPES: note: index with [:, None] or [None, :] to say which dimension a smaller tensor spans
# SHAPES: ways_out.py:44:26: error: cannot broadcast shape [4] to [8]: dimension 0 is 4, not 8 or 1
# SHAPES: ways_out.py:40:29: note: shape [4] comes from here
# SHAPES: note: make both of one shape: the offsets of one access, its mask and its value belong together
# SHAPES: ways_out.py:45:5: error: shapes [8] and [4] do not broadcast: dimension 0 is 8 on the left and 4 on the right
# SHAPES: ways_out.py:40:12: note: shape [8] comes from here
# SHAPES: ways_out.py:40:29: note: shape [4] comes from here
# SHAPES: note: index with [:, None] or [None, :] to say which dimension a smaller tensor spans
# SHAPES: ways_out.py:46:21: error: cannot broadcast shape [8, 8] to [8]: its rank is higher
# SHAPES: note: reduce this one, or give the other operand its 2 axes, as in p + rows[:, None] * stride + columns[None, :]
# SHAPES: ways_out.py:47:5: error: cannot reshape [8] (8 elements) to [-1, 2] (-2 elements)
# SHAPES: note: -1 stands for nothing here: write 4
# SHAPES: ways_out.py:48:5: error: cannot reshape [8] (8 elements) to [4, 4] (16 elements)
# SHAPES: ways_out.py:40:12: note: shape [8] comes from here
# SHAPES: note: a reshape keeps the number of elements; tl.broadcast_to repeats them
# SHAPES: ways_out.py:49:5: error: `trans` without dims swaps the last two axes, this is fp32[8]
# SHAPES: note: make a vector a column with x[:, None] or a row with x[None, :]
# SHAPES: ways_out.py:50:5: error: `.T` is for tensors of rank 2, this is fp32[8]
# SHAPES: note: make it a column with x[:, None]
# SHAPES: ways_out.py:51:5: error: axis 1 of `sum` is outside a tensor of rank 1
# SHAPES: note: inside `sum`, which is written in the language itself
# SHAPES: note: its only axis is 0
# SHAPES: ways_out.py:52:5: error: fp32[8] cannot be called
# SHAPES: note: a product needs its *
# SHAPES: ways_out.py:53:14: error: a kernel loops over range, tl.range, tl.static_range or a tuple, not over fp32[8]
# SHAPES: note: a tile has no loop over its elements: compute on the whole of it, or `for i in range(n):`
# SHAPES: ways_out.py:55:22: error: `propagate_nan` must be tl.PropagateNan.ALL or NONE, not 3
# SHAPES: note: of more than two operands write tl.maximum(a, tl.maximum(b, c))

# OPERATORS: ways_out.py:62:5: error: `++i` changes nothing: there is no increment
# OPERATORS: note: write `i += 1`
# OPERATORS: ways_out.py:63:5: error: integer division by zero
# OPERATORS: note: the divisor is a constant of this compilation: where it may be 0, divide under an `if`
# OPERATORS: ways_out.py:64:5: error: `<<` works on integers, not on fp32 and i32
# OPERATORS: note: multiply by a power of two, or take the bits: x.to(tl.int32, bitcast=True)
# OPERATORS: ways_out.py:65:5: error: `&` works on integers, not on i1 and fp32
# OPERATORS: note: comparisons need parentheses next to `&`: (a < b) & (c < d); of bits take x.to(tl.int32, bitcast=True)
# OPERATORS: ways_out.py:66:5: error: `~` works on integers, not on fp32[8]
# OPERATORS: note: compare it: x == 0, or take its bits: x.to(tl.int32, bitcast=True)
# OPERATORS: ways_out.py:67:5: error: `**` works between constants only
# OPERATORS: note: write x * x
# OPERATORS: ways_out.py:68:5: error: `**` works between constants only
# OPERATORS: note: multiply, or call libdevice.pow(x, y) after `from triton.language.extra import libdevice`
# OPERATORS: ways_out.py:69:5: error: `+` does not combine fp32[8] and a list of 2
# OPERATORS: note: tl.arange makes a tile of numbers; a list is extended by a list: l + [x]
# OPERATORS: ways_out.py:70:5: error: `+` does not combine an f-string with run-time values and the constant 1
# OPERATORS: note: print values by tl.device_print("text", value)
# OPERATORS: ways_out.py:71:5: warning: the value of this statement is not used [-Wunused-value]
# OPERATORS: note: assign it, or remove the statement
# OPERATORS: ways_out.py:72:5: error: the left operand of `%` must be a tensor or a number, not the constant '%d'
# OPERATORS: note: a kernel has no texts at run time: print values by tl.device_print("text", value)
# OPERATORS: ways_out.py:73:5: error: the left operand of `+` must be a tensor or a number, not None
# OPERATORS: note: write a number in place of None, such as 0.0
# OPERATORS: ways_out.py:74:5: error: the right operand of `+` must be a tensor or a number, not the type fp32
# OPERATORS: note: a type is given as dtype=, or to x.to(…)
# OPERATORS: ways_out.py:75:5: error: the right operand of `+` must be a tensor or a number, not the builtin tl.sum
# OPERATORS: note: call it: tl.sum(input, …)
# OPERATORS: ways_out.py:76:5: error: the right operand of `+` must be a tensor or a number, not the constant {'a': 1}
# OPERATORS: note: take one of its values: d[key]
# OPERATORS: ways_out.py:77:5: error: `+` does not combine fp32[8] and Pair
# OPERATORS: note: tl.arange makes a tile of numbers; a list is extended by a list: l + [x]
# OPERATORS: ways_out.py:78:5: error: `+` does not combine fp32[8] and an f-string with run-time values
# OPERATORS: note: print values by tl.device_print("text", value)
# OPERATORS: ways_out.py:79:5: error: the left operand of `+` must be a tensor or a number, not a tensor descriptor from the launcher of fp16[16, 16]
# OPERATORS: note: load what it points to
# OPERATORS: ways_out.py:80:9: error: `...` is not supported in kernels
# OPERATORS: note: write the `:` of each axis: x[:, None]
# OPERATORS: ways_out.py:81:5: error: kernels have no complex numbers
# OPERATORS: note: keep the real and the imaginary part in two tiles

# NAMES: ways_out.py:87:15: error: `math.sqrt` runs at compile time, but this argument is a scalar i32
# NAMES: note: on run-time values write tl.sqrt(x.to(tl.float32))
# NAMES: ways_out.py:88:5: error: a tensor has no attribute `device_print`
# NAMES: note: it is a function: tl.device_print(…)
# NAMES: ways_out.py:89:5: error: `half` is not defined
# NAMES: note: write x.to(tl.float16)
# NAMES: ways_out.py:90:5: error: a tuple has no attribute `count`
# NAMES: note: index it by constants, or go over it with for or tl.static_range
# NAMES: ways_out.py:91:5: error: a tuple has no attribute `to`
# NAMES: note: this is not a tile: tl.join makes one of two tiles, a sum in a loop over tl.static_range adds the items
# NAMES: ways_out.py:92:5: error: `sum` works on tiles and numbers, not on a tuple of 2
# NAMES: note: inside `sum`, which is written in the language itself
# NAMES: note: add up or combine its items in a loop over tl.static_range
# NAMES: ways_out.py:93:10: error: `flaot16` is not defined
# NAMES: note: write tl.float16
# NAMES: ways_out.py:94:5: error: `undefined` is not defined
# NAMES: note: write None; a pointer that may be missing is tested by `x is None`
# NAMES: ways_out.py:95:5: error: `np` is not defined
# NAMES: note: write tl.exp
# NAMES: ways_out.py:96:5: error: there is no builtin `tl.fp16`
# NAMES: note: write tl.float16
# NAMES: ways_out.py:97:5: error: elements cannot be assigned in a kernel: values do not change
# NAMES: note: make a new tuple: t = t[:1] + (value,) + t[2:]
# NAMES: ways_out.py:99:5: error: elements cannot be assigned in a kernel: values do not change
# NAMES: note: make a new tuple: t = t[:1] + (value,) + t[2:]

# STATEMENTS: ways_out.py:106:5: error: `for … else` is not supported in kernels
# STATEMENTS: note: set a flag in the loop, and test it after the loop
# STATEMENTS: ways_out.py:108:10: error: `with` needs an object that has __enter__ and __exit__, not a scalar i32
# STATEMENTS: note: a kernel has no resources to close: write the body without `with`
# STATEMENTS: ways_out.py:110:5: error: kernels have no exceptions
# STATEMENTS: note: test before: a mask for accesses, `if` for numbers
# STATEMENTS: ways_out.py:114:5: error: kernels cannot change globals
# STATEMENTS: note: pass values in as parameters, and store results with tl.store(…)
# STATEMENTS: ways_out.py:115:5: error: a class cannot be defined inside a kernel
# STATEMENTS: note: define it at module level with @tl.core._aggregate, or use a tuple
# STATEMENTS: ways_out.py:117:5: error: a dict in a kernel holds constants only
# STATEMENTS: note: write a tuple, or a namedtuple of the module level
# STATEMENTS: ways_out.py:118:5: error: this expression (yield) is not supported in kernels
# STATEMENTS: note: a kernel runs from its first line to its last: store results with tl.store(…)
# STATEMENTS: ways_out.py:119:13: warning: the format of a run-time value has no effect: the device prints it in its own way [-Wformat]
# STATEMENTS: note: leave it out, or round the value before

# PLAIN: tilec: error: there is no kernel `plain` in {{.*}}ways_out.py
# PLAIN: ways_out.py:122:5: note: `plain` has no decorator: write @triton.jit on the line above
# PLAIN: note: the kernels are pointers, shapes, operators, names, statements, star

# STAR: ways_out.py:132:10: error: a kernel cannot have `*args`: its parameters are its binary interface
# STAR: note: name each parameter, constexprs as `NAME: tl.constexpr`; functions that the kernel calls may have `*args`

# RUN: not %tilec %s -n stores -s *fp32,i32,fp32 --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=STORES
@triton.jit
def stores(x, i, v):
    x[0] += 1
    # STORES: ways_out.py:[[#@LINE-1]]:5: error: a scalar *fp32 is an address, which is not assigned by index
    # STORES-NEXT: x[0] += 1
    # STORES-NEXT: {{\^}}
    # STORES-NEXT: note: write tl.store(x + 0, tl.load(x + 0, mask) + 1, mask)
    x[i] = v
    # STORES: ways_out.py:[[#@LINE-1]]:5: error: a scalar *fp32 is an address, which is not assigned by index
    # STORES: note: write tl.store(x + i, v, mask)
    x[i & 3] *= v + 1
    # STORES: note: write tl.store(x + (i & 3), tl.load(x + (i & 3), mask) * (v + 1), mask)
    a, x[i * 2 + 1] = 1, 2
    # STORES: note: write tl.store(x + i * 2 + 1, value, mask)
    y = tl.load(x + tl.arange(0, 4))
    y[0] += 1
    # STORES: ways_out.py:[[#@LINE-1]]:5: error: elements cannot be assigned in a kernel: values do not change
    # STORES-NOT: error:
