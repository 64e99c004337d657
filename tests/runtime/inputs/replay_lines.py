"""Lines as replay.py run writes them, for its list and its page: replay_lines.py FOLDER"""
import json
import os
import subprocess
import sys

folder = sys.argv[1]
replay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "gpu", "replay", "replay.py")
common = {"grid": [4, 2], "options": {"num_warps": 8}, "signature": {"x": "*fp32:16", "n": "i32", "B": "constexpr"},
          "constexprs": {"B": "128"}, "sizes": {"x": [512], "n": 512}, "entry": "k", "case": "c", "versions": "a card"}


def line(package, kernel, status, ratio=None, **more):
    timed = {"ratio": ratio, "ours_us": [9, 10, 11], "triton_us": [9 * ratio, 10 * ratio, 11 * ratio]} if ratio else {}
    return {**common, "package": package, "kernel": kernel, "digest": kernel, "status": status, "first_ms": 5, **timed, **more}


def write(name, *lines):
    with open(os.path.join(folder, name), "w") as f:
        for x in lines: f.write(json.dumps(x) + "\n")
        f.write('{"cut sho')


write("r.warm0.jsonl", line("p", "m.fast", "untimed", first_ms=70), line("p", "m.bad", "refused", why="no such op\nsecond"))
write("r.jsonl", line("p", "m.fast", "ok", 8.0), line("p", "m.slow", "ok", 0.5), line("q", "m.other", "ok", 1.0),
      line("q", "m.off", "differs", error=0.5, noise=0.0))
subprocess.run([sys.executable, replay, "list", folder, "--out", os.path.join(folder, "list.txt")], check=True)
subprocess.run([sys.executable, replay, "table", folder, "--out", os.path.join(folder, "page.md")], check=True)
