"""Ahead of time: a kernel as C source with its machine code in it, and a header, as Triton's tool of this name does it.

    python -m tilec.triton -m triton.tools.compile kernels.py -n add -s "*fp32:16, i32, 1024" -g "(n+1023)/1024,1,1"

writes add.HASH_SUFFIX.c and .h with `CUresult add_HASH_SUFFIX(CUstream stream, CUdeviceptr x, …)`, which launches, and
with load_… and unload_… of the same name. triton.tools.link joins several. The C code needs the CUDA driver alone.
`tilec pack` does the same for what cannot be said here: clusters, descriptors, several architectures in one file.
"""
import argparse
import hashlib
import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import tilec
from tilec._compile import archs, compile_text

from .._source import Gatherer
from ..runtime.driver import current_device

_C_TYPES = {"i1": "uint8_t", "u1": "uint8_t", "fp32": "float", "fp64": "double",
            **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
            **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)}}

_SUFFIXES = {"1": "c", "16": "d"}   # of what a parameter is specialised for

_HEADER = """\
#pragma once
#include <cuda.h>
#include <stdint.h>

void load_{name}(void);
void unload_{name}(void);
// tt-linker: {name}:{full_signature}:{algorithm}
CUresult {name}(CUstream stream, {signature});
"""
_SOURCE = """\
// {kernel} for {arch}: {constants}
#include "{header}"

static const unsigned char image[] __attribute__((aligned(16))) = {{
{image}
}};
static CUmodule module;
static CUfunction function;
static CUresult status;

void load_{name}(void) {{
  status = cuModuleLoadData(&module, image);
  if (status == CUDA_SUCCESS) status = cuModuleGetFunction(&function, module, "{kernel}");
  if (status == CUDA_SUCCESS && {shared} > 48 * 1024)
    status = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {shared});
}}

void unload_{name}(void) {{
  if (module) cuModuleUnload(module);
  module = 0;
  function = 0;
}}

// A grid without blocks launches nothing.
static CUresult launch(CUstream stream, const unsigned grid[3], void **args) {{
  if (!function) load_{name}();
  if (status != CUDA_SUCCESS || !grid[0] || !grid[1] || !grid[2]) return status;
  return cuLaunchKernel(function, grid[0], grid[1], grid[2], {threads}, 1, 1, {shared}, stream, args, 0);
}}

CUresult {name}(CUstream stream, {signature}) {{
  const unsigned the_grid[3] = {{{grid[0]}, {grid[1]}, {grid[2]}}};
  void *the_arguments[] = {{{pointers}}};
  return launch(stream, the_grid, the_arguments);
}}
"""


@dataclass
class CompileArgs:
    """The command line."""
    path: str = ""
    kernel_name: str = ""
    signature: str = ""
    grid: str = ""
    target: Optional[str] = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: Optional[str] = None
    out_path: Optional[Path] = None


def _arch_of(target):
    """Returns tilec's name for "cuda:90:32"; None: that of the current device."""
    if target is None:
        return current_device().arch or "sm_90a"
    backend, _, rest = target.partition(":")
    name = "sm_" + rest.partition(":")[0]
    known = archs()
    if backend != "cuda" or name not in known and name + "a" not in known:
        raise SystemExit(f"target {target}: tilec compiles for cuda:{', cuda:'.join(a[3:] for a in known)}")
    return name + "a" if name + "a" in known else name


def _kernel_of(path, name):
    path = Path(path)
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name, None)
    if kernel is None:
        raise SystemExit(f"{path} has no kernel {name}")
    return getattr(kernel, "_tile_function", kernel)


def _refuse(kernel, data):
    """Ends the program if a launch needs more than cuLaunchKernel with the kernel's own arguments."""
    needs = ["a cluster"] if data["cluster"] > 1 else []
    needs += ["a tensor descriptor"] if data["tensor_maps"] else []
    needs += ["scratch memory"] if data["scratch_bytes"] else []
    needs += [f"the argument {p['name']} of type {p['type']}" for p in data["params"]
              if p["type"][0] != "*" and p["type"] not in _C_TYPES and p["type"] != "tensormap"]
    needs += [f"--{name}" for name in ("cooperative", "pdl") if data[name]]
    if needs:
        raise SystemExit(f"{kernel} needs {', '.join(needs)} at its launch, which this C code cannot give: "
                         "compile it by `tilec pack`, whose header launches through libtile-rt")


def _compiled(args, kernel, arch):
    """Returns the kernel's name in its image, the image and the metadata."""
    gatherer = Gatherer()
    name = gatherer.name_of(kernel)
    given = dict(kernel=name, signature=args.signature, arch=arch, num_warps=args.num_warps,
                 num_stages=args.num_stages, source_map=gatherer.ranges())
    try:
        found = compile_text(args.path, gatherer.text(), emit=("metadata", "cubin"), **given)
        image = found["cubin"]
    except tilec.Error as e:
        if e.kind not in ("assembler", "file", "no device"):
            raise SystemExit(str(e)) from None
        found = compile_text(args.path, gatherer.text(), emit=("metadata", "ptx"), **given)
        image = found["ptx"] + b"\0"   # no assembler is there: the driver has one
    return name, image, json.loads(found["metadata"])["kernels"][0]


def _part(text, sep, default):
    head, _, tail = text.partition(sep)
    return head.strip(), tail.strip() or default


def compile_kernel(args):
    """Writes the files. Returns the name of the C function and the files."""
    kernel, arch = _kernel_of(args.path, args.kernel_name), _arch_of(args.target)
    grid = args.grid.split(",")
    if len(grid) != 3:
        raise SystemExit(f"--grid has three parts, not {len(grid)}: \"(n+1023)/1024,1,1\"")
    parts = [p.strip() for p in args.signature.split(",")]
    name, image, data = _compiled(args, kernel, arch)
    _refuse(args.kernel_name, data)
    hints = [_part(p, ":", None)[1] for p in parts]
    algorithm = f"warps{args.num_warps}xstages{args.num_stages}"
    digest = hashlib.sha256(" ".join([*parts, algorithm]).encode()).hexdigest()[:8]
    suffix = "".join(str(i) + _SUFFIXES.get(hint, "") for i, hint in enumerate(hints))
    types = {p["name"]: "CUdeviceptr" if p["type"][0] == "*" else _C_TYPES[p["type"]] for p in data["params"]}
    ones = {p: _C_TYPES[_part(part, ":", None)[0]] for p, part, hint in zip(kernel.arg_names, parts, hints)
            if hint == "1"}
    full = {p: types.get(p) or ones[p] for p in kernel.arg_names if p in types or p in ones}
    out = args.out_name or args.kernel_name
    path = Path(args.out_path) if args.out_path else Path(out)
    constants = data["constexprs"]
    files = [path.with_suffix(f".{digest}_{suffix}.{ending}") for ending in ("h", "c")]
    values = dict(
        name=f"{out}_{digest}_{suffix}", kernel=name, arch=arch, header=files[0].name, threads=data["threads"],
        shared=data["shared_bytes"], grid=grid, signature=", ".join(f"{t} {p}" for p, t in types.items()),
        full_signature=", ".join(f"{t} {p}" for p, t in full.items()),
        pointers=", ".join(f"&{p}" for p in types) or "0",
        algorithm="_".join(["x".join(str(v) for n, v in constants.items() if n not in ones), algorithm]),
        constants=", ".join(f"{n}={v}" for n, v in {**constants, "num_warps": args.num_warps}.items()),
        image=",\n".join("  " + ", ".join(map(str, image[i:i + 24])) for i in range(0, len(image), 24)))
    for file, text in zip(files, (_HEADER, _SOURCE)):
        file.write_text(text.format(**values))
    return values["name"], files


def main():
    parser = argparse.ArgumentParser(prog="triton.tools.compile", description="Compiles a Triton kernel to C source.")
    parser.add_argument("path", help="a Python file with the kernel; it is executed")
    parser.add_argument("--kernel-name", "-n", required=True, help="the kernel's name in the file")
    parser.add_argument("--target", "-t", help="cuda:90:32; without it that of the current device")
    parser.add_argument("--num-warps", "-w", type=int, default=1, help="warps of a block")
    parser.add_argument("--num-stages", "-ns", type=int, default=3, help="stages of pipelined loops")
    parser.add_argument("--out-name", "-on", help="the first part of the C functions' names, instead of the kernel's")
    parser.add_argument("--out-path", "-o", type=Path, help="the first part of the files' names")
    parser.add_argument("--signature", "-s", required=True, help='types and constants: "*fp32:16, i32:16, i32:1, 1024"')
    parser.add_argument("--grid", "-g", required=True, help="three C expressions over the arguments")
    compile_kernel(CompileArgs(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
