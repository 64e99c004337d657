"""Memory that nothing has written. Where kernels run on the simulator, PyTorch's empty tensors hold a pattern, which no
tensor has by chance; a launch leaves such memory undefined, and the simulator says who uses it."""
import ctypes
import functools
import os
import sys

# From each multiple of 16 on: NaN in floats of 16, 32 and 64 bits. runtime/sim/device.c fills fresh memory with it.
_PATTERN = bytes.fromhex("f5ff f9ff f3ff fdff f6ff fbff f2ff feff")
_LONG = _PATTERN * 4096
_MOST = 1 << 26   # bytes that are filled; the simulator leaves larger blocks zero
_FEWEST = 4      # bytes: fewer may hold the pattern by chance
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
                _fill(tensor.untyped_storage())
        return tensor
    filled._tile_fills = True
    return filled


def _fill(storage):
    address, size = storage.data_ptr(), storage.nbytes()
    if 0 < size <= _MOST:
        shift = address % len(_PATTERN)
        ctypes.memmove(address, (_PATTERN * (size // len(_PATTERN) + 2))[shift:shift + size], size)


def written(data, address):
    """Yields (begin, end) of the parts of the bytes that are no such memory; address: where the bytes lie."""
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
