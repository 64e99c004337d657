"""Elements of an output that nothing writes: on the simulator, where memory of PyTorch's empty tensors holds a pattern
until something is written to it. An output is looked at when nothing refers to it any more, or when the program ends: until
then another launch, or the host, may write the rest."""
import atexit
import ctypes
import linecache
import math
import os
import re
import sys
import warnings
import weakref

from ._arrays import address_of, dense, layout_of, span
from ._device import Warning, users_place
from ._dtypes import DTYPES
from ._fresh import is_filled, written
from ._views import told

_NAME = "unwritten-output"
_WARNINGS = 16   # of TILE_SIM_CHECKS
_outputs = {}    # address of the library's object for a storage -> what launches did with it
_seen = set()    # kernel, argument, file and line of which is told


class _Output:
    """A storage that a kernel has stored to. This object holds it, so that its memory remains to be looked at."""

    def __init__(self, storage):
        self.storage, self.regions, self.watched = storage, {}, {}
        self.loads = set()   # who was passed some of it and left it as it was: kernel, argument, first and last address

    def holders(self):
        """How many objects have the storage, without this one."""
        return sys.modules["torch"]._C._storage_Use_Count(self.storage._cdata) - 1

    def is_loaded(self, region):
        """Whether it is for another kernel, of which the simulator says what it does with undefined elements."""
        end = region.address + math.prod(region.shape) * region.size
        return any(what != region.stored and first < end and last > region.address for what, first, last in self.loads)


class _Region:
    """An argument that a kernel stored to, or several with the same elements."""

    def __init__(self, value):
        shape, strides = layout_of(value)
        self.address, code = address_of(value)
        self.size = max(DTYPES[code][2], 8) // 8
        self.shape, self.strides = tuple(shape), tuple(dense(shape) if strides is None else strides)
        self.stored, self.place, self.text = None, None, ""   # by whom: kernel and argument; where; the kernel's source

    def key(self):
        return self.address, self.size, self.shape, self.strides

    def is_packed(self):
        """Whether the elements have no gaps, in any order of the axes."""
        expected = 1
        for stride, n in sorted((stride, n) for n, stride in zip(self.shape, self.strides) if n > 1):
            if stride != expected:
                return False
            expected *= n
        return True

    def gaps(self):
        """Returns (first, end) of the elements that nothing has written, as they lie in memory."""
        data = ctypes.string_at(self.address, math.prod(self.shape) * self.size)
        at, found = 0, []
        for begin, end in (*written(data, self.address), (len(data), len(data))):
            first, last = -(-at // self.size), begin // self.size
            found += [(first, last)] if first < last else []
            at = end
        return found

    def index(self, at):
        axes = [0] * len(self.shape)
        for stride, axis in sorted(((s, a) for a, s in enumerate(self.strides) if self.shape[a] > 1), reverse=True):
            axes[axis], at = divmod(at, stride)
        return ", ".join(map(str, axes))


def launched(kernel, arrays, begin, before, after):
    """Notes what a launch did with memory of the host. arrays: name and array of the arguments; before, after: the bytes
    from address begin on."""
    torch = sys.modules.get("torch")
    if not hasattr(getattr(torch, "_C", None), "_storage_Use_Count"):
        return
    for key, output in list(_outputs.items()):
        if output.holders() == 0:
            _end(key)
    for name, value in arrays:
        if not isinstance(value, torch.Tensor) or not is_filled(value.untyped_storage().data_ptr()):
            continue
        first, end = span(value)
        if begin <= first < end <= begin + len(after):
            storage, part = value.untyped_storage(), slice(first - begin, end - begin)
            if before[part] != after[part]:
                _note_store(_outputs.setdefault(storage._cdata, _Output(storage)), kernel, name, value)
            elif storage._cdata in _outputs:
                _outputs[storage._cdata].loads.add(((kernel.__name__, name), first, end))


def _note_store(output, kernel, name, value):
    region = _Region(value)
    region = output.regions.setdefault(region.key(), region)
    region.stored, region.place, region.text = (kernel.__name__, name), users_place(), kernel.text or ""
    key, base = output.storage._cdata, value if value._base is None else value._base
    if id(base) not in output.watched:
        output.watched[id(base)] = weakref.ref(base, lambda _, tensor=id(base): _died(key, tensor))


def _died(key, tensor):
    output = _outputs.get(key)
    if output is not None:
        output.watched.pop(tensor, None)
        if output.holders() <= 1:   # the tensor itself, which still has it
            _end(key)


def _end(key):
    """Warns of a storage that the program does not use any more."""
    output = _outputs.pop(key, None)
    for region in output.regions.values() if output else ():
        once = *region.stored, *region.place
        if once in _seen or output.is_loaded(region) or not region.is_packed():
            continue
        gaps = region.gaps()
        if gaps and not _is_quiet(region):
            _seen.add(once)
            warnings.warn_explicit(_text(region, gaps), Warning, *region.place, registry=told)


def _text(region, gaps):
    kernel, name = region.stored
    count = math.prod(region.shape)
    stored = count - sum(end - first for first, end in gaps)
    row = region.shape[-1] if region.shape and list(region.strides) == dense(region.shape) else count
    first, last = (f"{name}[{region.index(at)}]" for at in (gaps[0][0], gaps[-1][1] - 1))
    begin = gaps[0][0] % row
    if begin and row < count and gaps == [(at + begin, at + row) for at in range(0, count, row)]:
        which = (f"the others, those from {begin} on in each row of {row}: let blocks reach its end, by one block as long "
                 "as the row, triton.cdiv(n, BLOCK) programs, or a loop that advances its offset by BLOCK")
    elif stored + 1 == count:
        which = f"the other, {first}: let the programs of the grid and the loops reach it"
    elif len(gaps) == 1 and gaps[0][1] == count:
        which = (f"the others, {first} to {last}: let the grid have programs for them, triton.cdiv(n, BLOCK), each of "
                 "which begins where the one before ends, at tl.program_id(0) * BLOCK")
    else:
        which = (f"the others, of which {first} is the first: let the programs of the grid, and the offsets of loops, "
                 "reach each tile of it")
    return (f"{kernel} stored {stored} of the {count} elements of '{name}', and nothing has written {which}; torch.zeros "
            f"sets what no program shall store [-W{_NAME}]")


def _is_quiet(region):
    """Whether a comment in the line of the launch, or of the kernel's def, or TILE_SIM_CHECKS turns the warning off."""
    checks = os.environ.get("TILE_SIM_CHECKS", "")
    if checks.isdigit() and not int(checks) & _WARNINGS:
        return True
    of_def = re.search(rf"^\s*def {re.escape(region.stored[0])}\b.*", region.text, re.M)
    lines = linecache.getline(*region.place), of_def[0] if of_def else ""
    return any(re.search(rf"#\s*tilec:\s*ignore\[[^]]*\b{_NAME}\b", text) for text in lines)


def forget():
    """A launch has failed: what it, or a later one, would have written is missing."""
    _outputs.clear()


@atexit.register
def _at_end():
    """The program's variables still have their values. If an error ended it, it may not have come to what is missing; a
    failed comparison with the right result has."""
    error = getattr(sys, "last_value", None)
    if error is None or isinstance(error, AssertionError):
        for key in list(_outputs):
            _end(key)
