"""Memory that nothing has written. Where kernels run on the simulator, PyTorch's empty tensors hold a pattern, which no
tensor has by chance; a launch leaves such memory undefined, and the simulator says who uses it."""
import ctypes
import functools
import os
import sys
import weakref

# From each multiple of 16 on: NaN in floats of 16, 32 and 64 bits. runtime/sim/device.c fills fresh memory with it.
_PATTERN = bytes.fromhex("f5ff f9ff f3ff fdff f6ff fbff f2ff feff")
_LONG = _PATTERN * 4096
_MOST = 1 << 26   # bytes that are filled; the simulator leaves larger blocks zero
_FEWEST = 4      # bytes: fewer may hold the pattern by chance
_WORDS = [_PATTERN[at:at + _FEWEST] for at in range(0, len(_PATTERN), _FEWEST)]
_SMALL = 1 << 16   # bytes: in a larger part of a filled storage, single words may hold the pattern by chance
_filled = {}     # the storages that hold, or held, the pattern: address: size
_MAKERS = (("torch", "empty"), ("torch", "empty_like"), ("torch", "empty_strided"), ("torch.Tensor", "new_empty"),
           ("torch.Tensor", "new_empty_strided"))


def watch():
    """Lets PyTorch's functions that make empty tensors fill them, if TILE_DEVICE asks for the simulator."""
    torch = sys.modules.get("torch")
    if torch is None or not os.environ.get("TILE_DEVICE", "").startswith("sim"):
        return
    for owner, name in _MAKERS:
        owner = torch if owner == "torch" else getattr(torch, "Tensor", None)
        make = getattr(owner, name, None)
        if make is not None and not hasattr(make, "_tile_fills"):
            setattr(owner, name, _filling(torch, make))


def _filling(torch, make):
    @functools.wraps(make)
    def filled(*args, **kwargs):
        tensor = make(*args, **kwargs)
        if not torch.compiler.is_compiling() and type(tensor) is torch.Tensor and tensor.device.type == "cpu":
            if tensor.layout is torch.strided:
                try:
                    storage = tensor.untyped_storage()
                    storage.data_ptr()
                except (NotImplementedError, RuntimeError):   # torch.vmap's and those of tracing have no memory
                    return tensor
                _fill(storage)
        return tensor
    filled._tile_fills = True
    return filled


def _fill(storage):
    address, size = storage.data_ptr(), storage.nbytes()
    if address and 0 < size <= _MOST:
        shift = address % len(_PATTERN)
        ctypes.memmove(address, (_PATTERN * (size // len(_PATTERN) + 2))[shift:shift + size], size)
        _filled[address] = size
        weakref.finalize(storage, _filled.pop, address, None).atexit = False


def is_filled(address):
    """Whether a storage that begins there was made without values."""
    return address in _filled


def written(data, address):
    """Yields (begin, end) of the parts of the bytes that are no such memory; address: where the bytes lie."""
    if len(data) <= _SMALL and any(begin <= address < begin + size for begin, size in list(_filled.items())):
        return _written_words(data, address)
    return _written_runs(data, address)


def _written_words(data, address):
    """The same, where each word that holds the pattern has not been written."""
    if not any(word in data for word in _WORDS):
        yield 0, len(data)
        return
    first = -address % _FEWEST
    ends = [first, *range(first + _FEWEST, len(data), _FEWEST), len(data)] if first < len(data) else [len(data)]
    begin = at = 0
    for end in ends:
        lead = (address + at) % len(_PATTERN)
        if end - at == _FEWEST and data[at:end] == _PATTERN[lead:lead + _FEWEST]:
            if begin < at:
                yield begin, at
            begin = end
        at = end
    if begin < len(data):
        yield begin, len(data)


def _written_runs(data, address):
    size, lead, begin, at = len(data), address % len(_PATTERN), 0, 0
    padded = _PATTERN[:lead] + data + _PATTERN[(lead + size) % len(_PATTERN):] * ((lead + size) % len(_PATTERN) > 0)
    while True:
        found = padded.find(_PATTERN, at)
        if found < 0:
            break
        if found % len(_PATTERN):
            at = found + 1
            continue
        at = found
        while padded.startswith(_LONG, at):
            at += len(_LONG)
        while padded.startswith(_PATTERN, at):
            at += len(_PATTERN)
        first, end = max(found - lead, 0), min(at - lead, size)
        if end - first < _FEWEST:
            continue
        if begin < first:
            yield begin, first
        begin = end
    if begin < size:
        yield begin, size
