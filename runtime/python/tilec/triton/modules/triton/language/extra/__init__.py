import sys as _sys

from .._modules import of_names as _of_names

libdevice = _of_names("triton.language.extra.libdevice")
cuda = _of_names("triton.language.extra.cuda")
cuda.__path__ = []
cuda.libdevice = _of_names("triton.language.extra.cuda.libdevice", source="triton.language.extra.libdevice")
cuda.utils = cuda.gdc = cuda
_sys.modules["triton.language.extra.cuda.utils"] = _sys.modules["triton.language.extra.cuda.gdc"] = cuda
