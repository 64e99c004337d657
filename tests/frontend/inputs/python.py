"""python.py TILEC CASES SCRATCH: runs each case of a file as module-level code, and compares what it leaves in R with Python's.

Cases are separated by lines of three dashes. One that raises in Python must be an error (status 1) here, too.
"""
import subprocess
import sys

tilec, cases, scratch = sys.argv[1:]
SHOW = "\nR_ = tl.constexpr(repr(R))\n\n\n@triton.jit\ndef show(x):\n    tl.static_print(R_)\n"


def ours(case):
    with open(scratch, "w") as f:
        f.write("import triton\nimport triton.language as tl\n" + case + SHOW)
    r = subprocess.run([tilec, scratch, "-n", "show", "-s", "*fp32", "--emit=tile", "-o", "-"], capture_output=True, text=True)
    if r.returncode == 1:
        return "an error", r.stderr
    return r.stderr.split(": note: ", 1)[-1].split("\n      tl.static_print", 1)[0], f"status {r.returncode}\n{r.stderr}"


def python(case):
    env = {}
    try:
        exec(case, env)
        return repr(env["R"])
    except Exception:
        return "an error"


def main():
    bad = 0
    texts = [t.strip("\n") for t in open(cases).read().split("\n---\n")]
    for case in texts:
        want, (got, more) = python(case), ours(case)
        if got != want:
            bad += 1
            print(f"{case}\n  Python: {want}\n  tilec: {got}\n  {more}")
    print(f"{bad} of {len(texts)} cases differ")


main()
