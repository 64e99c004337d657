"""Machine code as text, by the CUDA toolkit's cuobjdump."""
import os
import subprocess
import tempfile

from .. import knobs


def path_to_cuobjdump():
    return knobs.nvidia.cuobjdump.path


def extract(file_path, fun=None):
    """Returns the instructions of a cubin's functions, or of the one of a name, as cuobjdump writes them."""
    command = [path_to_cuobjdump(), "-sass", *(["-fun", fun] if fun else []), file_path]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except OSError as e:
        raise RuntimeError(f"{command[0]}: {e.strerror}: TRITON_CUOBJDUMP_PATH names the CUDA toolkit's cuobjdump, and "
                           "a kernel's asm['sass'] does without it") from None
    except subprocess.CalledProcessError as e:
        raise RuntimeError(f"{command[0]} cannot read {file_path}: {e.stderr.strip()}") from None


def get_sass(cubin_asm, fun=None):
    """Returns the instructions of a cubin given as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.cubin")
        with open(path, "wb") as cubin:
            cubin.write(cubin_asm)
        return extract(path, fun)
