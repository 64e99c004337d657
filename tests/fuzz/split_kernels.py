"""Seeds for fuzz_frontend: each kernel of the files as a program of its own, with the file's imports and the functions it names.

    split_kernels.py FOLDER FILE…
"""
import os
import re
import sys

folder, files = sys.argv[1], sys.argv[2:]
for path in files:
    lines = [line for line in open(path, errors="replace").read().split("\n") if not line.startswith("#")]
    pieces, current = [], []
    for line in lines:
        if re.match(r"@|def |class |[A-Za-z_]", line) and not (current and current[-1].startswith("@")):
            pieces.append(current)
            current = []
        current.append(line)
    pieces.append(current)
    functions = {}
    for piece in pieces:
        name = next((m.group(1) for line in piece if (m := re.match(r"(?:def|class) (\w+)", line))), None)
        if name:
            functions[name] = piece
    head = [line for piece in pieces if piece not in functions.values() for line in piece if re.match(r"import |from |\w+ = ", line)]
    for name, piece in functions.items():
        wanted, text = [name], []
        for other in wanted:
            text = functions[other] + text
            body = "\n".join(functions[other])
            wanted += [f for f in functions if f not in wanted and re.search(rf"\b{f}\b", body)]
        with open(os.path.join(folder, f"{os.path.basename(path)}.{name}.py"), "w") as f:
            f.write("\n".join(head + text) + "\n")
