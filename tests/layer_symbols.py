"""layer_symbols.py BUILD < arrows: no object refers to a symbol of a room that its room may not know.

A line of arrows is a room and what it may know, folders or headers, as check_layers.sh has them for includes. What a room
knows, those who know it may use too where that room's door hands it on. Prints the circles among each room's objects.
"""
import glob
import os
import re
import subprocess
import sys

# Doors whose functions are another room's.
IMPLEMENTED_BY = {
    "frontend": ["frontend/lower", "frontend/comptime", "frontend/syntax"],
    "runtime/tile": ["runtime/rt", "runtime/compile", "runtime/jit"],
    "runtime/rt/alone": ["runtime/rt"],
}
# Functions that whoever links the program provides: rt asks for the devices that are linked in.
LINKED = {"linked_parts"}


def objects(build):
    """room/file.c.o -> (symbols it defines, symbols it asks for)"""
    found = {}
    with open(f"{build}/compile_commands.json", encoding="utf-8") as f:   # a folder also keeps the objects of files that have moved
        made = {os.path.join(build, name) for name in re.findall(r" -o (\S+\.o) ", f.read())}
    paths = [p for p in sorted(glob.glob(f"{build}/CMakeFiles/*.dir/**/*.o", recursive=True)) if p in made]
    for line in subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=True).stdout.splitlines():
        path, kind, symbol = re.match(r"(.*?\.o):.* (\w) (\S+)$", line).groups()
        defined, wanted = found.setdefault(re.sub(r".*?\.dir/(gen/)?", "", path), (set(), set()))
        if kind in "TDRBV":
            defined.add(symbol)
        elif kind == "U":
            wanted.add(symbol)
    return found


def circles(graph):
    """Groups of objects that refer to one another (Tarjan's algorithm)."""
    number, low, stack, groups = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                groups.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in graph:
        if node not in number:
            visit(node)
    return groups


def main():
    allowed = {}
    for line in sys.stdin.read().splitlines():
        room, *known = line.split() or [""]
        rooms = {room}
        for folder in (os.path.dirname(k) if k.endswith(".h") else k for k in known):
            rooms.update(IMPLEMENTED_BY.get(folder, [folder]))
        allowed[room] = rooms
    allowed["frontend/lower"] |= allowed["frontend"] | {"frontend/syntax"}   # what frontend.h hands on

    found = objects(sys.argv[1])
    owner = {symbol: name for name, (defined, _) in found.items() for symbol in defined}
    graph, bad = {}, []
    for name, (_, wanted) in found.items():
        room = os.path.dirname(name)
        graph[name] = {owner[s] for s in wanted if s in owner and owner[s] != name}
        for symbol in sorted(wanted & owner.keys()):
            other = os.path.dirname(owner[symbol])
            if room in allowed and other not in allowed[room] and symbol not in LINKED:
                bad.append(f"{name} may not use {symbol} of {owner[symbol]}")
    print("objects in circles:", ", ".join(f"{len(g)} in {'/'.join(sorted({os.path.dirname(n) for n in g}))}" for g in circles(graph)))
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


sys.exit(main())
