import os
import subprocess

_C_TYPES = {"i1": "int8_t", "fp16": "double", "bf16": "double", "fp32": "double", "f32": "double", "fp64": "double",
            "nvTmaDesc": "CUtensorMap", "u1": "uint8_t",
            **{f"{kind}{bits}": f"{'u' * (kind == 'u')}int{bits}_t" for kind in "iu" for bits in (8, 16, 32, 64)}}


def ty_to_cpp(ty):
    """Returns the C type of an argument of a launcher."""
    if ty.startswith("*"):
        return "CUdeviceptr"
    return "CUtensorMap" if ty.startswith("tensordesc") else _C_TYPES[ty]


def libcuda_dirs():
    """Returns the folders with the driver's library that the system's loader knows, or else LD_LIBRARY_PATH."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = [os.path.dirname(line.split()[-1]) for line in listed.splitlines() if "libcuda.so.1" in line]
    found = found or os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found = [folder for folder in found if os.path.exists(os.path.join(folder, "libcuda.so.1"))]
    assert found, "no folder has libcuda.so.1: is the driver of the GPU installed?"
    return found
