#!/usr/bin/env python3
"""Launches of clusters: PTX whose metadata asks for 2 to 16 blocks per program. Each block leaves its rank in the shared memory of the
next one of its cluster, and reports its program, its rank and what it found.

usage: cluster.py [--device=gpu|sim]      TILE_LIBRARY names libtile.so"""
import argparse
import ctypes as C
import json

import tile_ctypes

THREADS, PROGRAMS = 64, (3, 2)
PTX = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry ring(.param .u64 .ptr .global out) .reqntid %(threads)d, 1, 1
{
  .shared .b32 slot;
  .reg .pred %%p;
  .reg .b32 %%r<12>;
  .reg .b64 %%d<3>;
  mov.u32 %%r1, %%cluster_ctarank;
  mov.u32 %%r2, %%cluster_nctarank;
  mov.u32 %%r3, %%tid.x;
  mov.u32 %%r4, %%clusterid.x;
  mov.u32 %%r5, %%clusterid.y;
  mov.u32 %%r6, %%nclusterid.x;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  setp.ne.u32 %%p, %%r3, 0;
  @%%p bra WRITTEN;
  add.u32 %%r7, %%r1, 1;
  rem.u32 %%r7, %%r7, %%r2;
  mov.u32 %%r8, slot;
  mapa.shared::cluster.u32 %%r8, %%r8, %%r7;
  st.shared::cluster.u32 [%%r8], %%r1;
WRITTEN:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  @%%p bra DONE;
  ld.shared.u32 %%r9, [slot];
  mad.lo.u32 %%r4, %%r5, %%r6, %%r4;
  shl.b32 %%r10, %%r1, 8;
  or.b32 %%r9, %%r9, %%r10;
  shl.b32 %%r10, %%r4, 16;
  or.b32 %%r9, %%r9, %%r10;
  mad.lo.u32 %%r4, %%r4, %%r2, %%r1;
  ld.param.u64 %%d1, [out];
  mad.wide.u32 %%d1, %%r4, 4, %%d1;
  st.global.u32 [%%d1], %%r9;
DONE:
  ret;
}
"""


def program(blocks):
    metadata = {"tile_metadata": 1, "compiler": "by hand", "kernels": [{
        "format": 1, "name": "ring", "arch": "sm_90a", "ptx_version": "8.0", "params": [{"name": "out", "type": "*i32", "kind": "plain", "divisible": 16}],
        "tensor_maps": [], "constexprs": {}, "num_warps": THREADS // 32, "threads": THREADS, "cluster": blocks, "num_stages": 1,
        "shared_bytes": 0, "scratch_bytes": 0, "maxnreg": 0, "cooperative": False, "pdl": False}]}
    head = "\n".join("// " + line for line in json.dumps(metadata, indent=1).splitlines())
    return (head + PTX % {"threads": THREADS}).encode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="gpu")
    lib = tile_ctypes.Library(device=parser.parse_args().device)
    for blocks in (1, 2, 4, 8, 16):
        kernel = lib.load_ptx(program(blocks))
        count = PROGRAMS[0] * PROGRAMS[1] * blocks
        out = lib.array((C.c_uint32 * count)(*[0xffffffff] * count))
        kernel.launch(PROGRAMS, out)
        found = list(out.read())
        expected = [(i // blocks) << 16 | (i % blocks) << 8 | (i % blocks - 1) % blocks for i in range(count)]
        assert found == expected, f"{blocks} blocks: {[hex(x) for x in found]}"
        print(f"clusters of {blocks}: {count} blocks right")


main()
