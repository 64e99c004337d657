# check_report.py REPORT.json PTX: the report's registers and local memory are those that `ptxas -v` prints, if ptxas is
# installed; otherwise they are not known.
import json
import os
import re
import shutil
import subprocess
import sys

r = json.load(open(sys.argv[1]))["kernels"][0]["resources"]
usual = "/usr/local/cuda/bin/ptxas"
ptxas = os.environ.get("TILE_PTXAS") or shutil.which("ptxas") or (usual if os.path.exists(usual) else None)
if not ptxas:
    sys.exit(r["known"] and "resources are known without an assembler")
said = subprocess.run([ptxas, "-v", "-arch=sm_90a", sys.argv[2], "-o", os.devnull], capture_output=True, text=True).stderr
registers, frame = int(re.search(r"Used (\d+) registers", said)[1]), int(re.search(r"(\d+) bytes stack frame", said)[1])
assert (r["registers"], r["local_bytes"]) == (registers, frame), (r, said)
assert r["blocks_per_sm"] == min(r["blocks_by"].values())
