"""Arrays of the host as arguments on the simulator and the interpreter, which have memory of their own."""
import ctypes
import math
import re
import warnings

from ._arrays import address_of, broadcast_shape, dense, is_on_host, layout_of, memory_of
from ._dtypes import DTYPES
from . import _unwritten as unwritten
from ._fresh import written
from ._views import Warning, caller, outside, told, watch

# An array keeps its address modulo this, the alignment that variants are compiled for. The device allocates with more,
# so most arrays begin where their memory does, and an access before one is found.
_ALIGN = 16


class Range:
    """Host memory that arguments reach: overlapping views share one copy on the device."""

    __slots__ = ("begin", "end", "writable", "owners", "address")

    def __init__(self, begin, end, writable, owner):
        self.begin, self.end, self.writable, self.owners = begin, end, writable, [owner]

    def take(self, other):
        self.begin, self.end = min(self.begin, other.begin), max(self.end, other.end)
        self.writable = self.writable or other.writable
        self.owners += other.owners


class HostMemory:
    """What one launch needs of the host's memory: copied in when it begins, and back when it has ended.

    Only what the launch changed is written back: another thread may use the rest.
    """

    def __init__(self, device, arguments):
        """arguments: (name, array) of each array that lies on the host."""
        self.device, self.ranges, self.before, self.allocated = device, [], [], []
        arguments = self.arguments = list(arguments)
        self.arrays = dict(arguments)
        self.fresh = {}   # the arguments of which something has never been written: what
        for r in sorted((_range(name, value) for name, value in arguments), key=lambda r: r.begin):
            if self.ranges and r.begin < self.ranges[-1].end:
                self.ranges[-1].take(r)
            elif r.begin < r.end:
                self.ranges.append(r)
        # PyTorch's have no memory; one of NumPy has an address, which the device does not know.
        self.empty = {name: shape for name, shape in ((n, layout_of(v)[0]) for n, v in arguments
                                                      if not any(r.begin <= _named(n, address_of, v)[0] < r.end
                                                                 for r in self.ranges))
                      if shape is not None and 0 in shape}
        self.broadcasts = {name: shape for name, shape in ((n, broadcast_shape(v)) for n, v in arguments) if shape}

    def __enter__(self):
        try:
            for r in self.ranges:
                shift, size = r.begin % _ALIGN, r.end - r.begin
                memory = self.device.alloc(shift + size)
                self.allocated.append(memory)
                r.address = memory + shift
                data = bytes((ctypes.c_char * size).from_address(r.begin))   # string_at: of 2 GB at most
                self.before.append(data)
                self._copy_in(r, data)
        except BaseException:
            self.__exit__(True)
            raise
        return self

    def _copy_in(self, r, data):
        parts = written(data, r.begin) if self.device.kind == "sim" else [(0, len(data))]
        copied, gaps = 0, []
        for begin, end in parts:
            self.device.copy_in(r.address + begin, data[begin:end], end - begin)
            gaps.append((r.begin + copied, r.begin + begin))
            copied = end
        gaps.append((r.begin + copied, r.end))
        gaps = [(begin, end) for begin, end in gaps if begin < end]
        for name in set(r.owners) if gaps else ():
            self.fresh[name] = _unset(name, self.arrays[name], *gaps[0])

    def place(self, value):
        """Returns an array's address on the device and the code of its type."""
        address, code = address_of(value)
        if is_on_host(value):
            for r in self.ranges:
                if r.begin <= address < r.end:
                    return r.address + address - r.begin, code
            shape = layout_of(value)[0]
            if shape is not None and 0 in shape:
                return 0, code
        return address, code

    def copy_back(self, kernel):
        for r, before in zip(self.ranges, self.before):
            size = r.end - r.begin
            after = self.device.download(r.address, size)
            if after != before:
                self._refuse_to_write(r, kernel.__name__)
                _write_changes(r.begin, before, after)
                self._look_at(r, kernel.__name__, before, after)
            if self.device.kind == "sim":
                unwritten.launched(kernel, self.arguments, r.begin, before, after)

    def _refuse_to_write(self, r, kernel):
        if r.writable:
            return
        names = " and ".join(sorted(set(r.owners)))
        if set(r.owners) & set(self.broadcasts):
            raise ValueError(f"{kernel} wrote to '{names}', a broadcast view: its elements share memory, and it is "
                             "read-only; pass a copy")
        raise ValueError(f"{kernel} wrote to '{names}', an array that is read-only")

    def _look_at(self, r, kernel, before, after):
        """Warns of what the launch wrote and the program cannot mean."""
        place, names = caller(), sorted(set(r.owners))
        at = outside(r.begin, r.end - r.begin, before, after, [self.arrays[name] for name in names])
        if at is not None:
            _, strides = layout_of(self.arrays[names[0]])
            warnings.warn_explicit(f"{kernel} wrote beside the elements of '{' and '.join(names)}', a view with the "
                                   f"strides {tuple(strides)}: multiply the offsets by them in the kernel, or pass a "
                                   "contiguous tensor and copy it back", Warning, *place[2:], registry=told)
        if len(names) == 1 and not self.fresh.get(names[0]) and before.count(0) < len(before):
            watch(kernel, names[0], self.arrays[names[0]], place)

    def explain(self, error):
        """Adds to an error of the launch that an array which an access leaves has less memory than elements, or that
        one has never been written."""
        waits = "programs of one launch do not wait" in str(error)
        if self.fresh and "has never been set" in str(error) and not waits:
            loaded = re.search(r": (?:note: this loads )?\w+ \d+ of (\w+), which (?:nothing has written$|this atomic op)",
                               str(error), re.M)
            names = {loaded[1]} & set(self.fresh) if loaded else set()
            what = ", ".join(self.fresh[name] for name in sorted(names or self.fresh))
            error.args = (f"{str(error).rstrip()}\nnote: never written, as torch.empty leaves it: {what}; torch.zeros "
                          "sets it, and a load with mask= and other= leaves it out", *error.args[1:])
        for name, shape in self.empty.items():
            null = f"{name} is a null pointer"
            if null in str(error):
                note = (f"note: {name} has no elements, its shape is {tuple(shape)}: for no tensor pass None and test "
                        f"`if {name} is not None:` in the kernel, or mask the access")
                text = str(error).rstrip().replace(null, f"{name} has no elements")
                error.args = (f"{text}\n{note}", *error.args[1:])
        for name, shape in self.broadcasts.items():
            if f" of {name}, which has " in str(error):
                note = f"note: {name} is a broadcast view of shape {shape}: its elements share memory; pass a copy"
                text = re.sub(r"^note: ((this|the mask of this) [\w ]+ (has no mask|lets it through)|all of the block is "
                              r"outside|`.*` grows with program_id).*\n", "", str(error),
                              flags=re.MULTILINE)   # a mask is not what is missing
                error.args = (f"{text.rstrip()}\n{note}", *error.args[1:])

    def __exit__(self, *exception):
        for memory in self.allocated:
            self.device.free(memory)
        self.allocated = []


def _unset(name, value, begin, end):
    """Returns the text for an array in which nothing has written the memory from begin to end: which elements."""
    address, code = address_of(value)
    shape, strides = layout_of(value)
    size = max(DTYPES[code][2], 8) // 8
    if shape is None or strides is not None and list(strides) != dense(shape):
        return f"something of {name}"
    count = math.prod(shape)
    first, last = max((begin - address) // size, 0), min((end - 1 - address) // size, count - 1)
    if last < first:
        return f"something of {name}"
    if (first, last) == (0, count - 1):
        return f"all of {name}"
    if first == last:
        return f"{name}[{_index(first, shape)}]"
    return f"{name}[{_index(first, shape)}] to {name}[{_index(last, shape)}]"


def _index(at, shape):
    axes = []
    for n in reversed(shape):
        axes.append(str(at % n))
        at //= n
    return ", ".join(reversed(axes))


def _range(name, value):
    return Range(*_named(name, memory_of, value), name)


def _named(name, ask, value):
    """Asks something of an array; the error says which argument it is."""
    try:
        return ask(value)
    except (TypeError, ValueError) as e:
        raise type(e)(f"argument '{name}': {e}") from None


_BLOCK = 1 << 16


def _write_changes(address, before, after):
    for at in range(0, len(after), _BLOCK):
        part = after[at:at + _BLOCK]
        if part != before[at:at + _BLOCK]:
            ctypes.memmove(address + at, part, len(part))
