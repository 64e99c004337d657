"""Writes a file that no compiler likes to see: hostile.py KIND PATH."""
import sys

KERNEL = "@kernel\ndef f(x: *i32, n: i32):\n"
MAKE = {
    "large": lambda: ("".join(f"def host{k}(a, b=({k}, [1, 2])):\n    return [a + v * {k} for v in b if v]\n\n\n" for k in range(150000)) + KERNEL + "    store(x, n)\n").encode(),
    "long_line": lambda: (KERNEL + "    store(x, " + "n + " * 200000 + "1)\n").encode(),
    "brackets": lambda: (KERNEL + "    store(x, " + "(" * 100000 + "n" + ")" * 100000 + ")\n").encode(),
    "unclosed": lambda: (KERNEL + "    store(x, " + "(" * 100000 + "\n").encode(),
    "blocks": lambda: (KERNEL + "".join("  " * (k + 2) + "if n > 0:\n" for k in range(500)) + "  " * 502 + "store(x, n)\n").encode(),
    "unary": lambda: (KERNEL + "    store(x, " + "-" * 100000 + "n)\n").encode(),
    "lists": lambda: ("A = " + "[" * 50000 + "]" * 50000 + "\n").encode(),
    "nul": lambda: (KERNEL + "    store(x, n\0)\n").encode(),
    "utf8": lambda: KERNEL.encode() + b"    store(x, n) # \xff\xfe\n    s = '\xc3('\n",
    "name": lambda: KERNEL.encode() + b"    store(x, \xe9n)\n",
    "random": lambda: bytes((i * 7919 + i // 251 * 31) % 256 for i in range(100000)),
    "indent": lambda: (KERNEL + "        store(x, n)\n   store(x, n)\n\t store(x, n)\n").encode(),
    "string": lambda: (KERNEL + '    """never closed\n' + "text\n" * 1000).encode(),
    "fields": lambda: (KERNEL + '    static_print(f"{' + "a(f'p1{6), 0nb(f'p1{6), 0nc(inf'p1{6), 0n).d so(" * 100 + '")\n').encode(),
    "empty": lambda: b"",
    "pieces": lambda: ("TEXT = (" + "f'a'\n" * 300000 + ")\n" + KERNEL + "    store(x, n)\n").encode(),
    "names": lambda: (KERNEL + "    a = n\n" + "    a = a + n\n" * 60000 + "    store(x, a)\n").encode(),
    "members": lambda: ("D = {i: i for i in range(60000)}\nS = set(D) | {-i for i in D}\nM = [i for i in D if i in D and i in S]\n" + KERNEL + "    store(x, n)\n").encode(),
    "searches": lambda: ("s = 'a' * 16000000\nn = 0\nwhile True:\n    n += s.find('b')\n" + KERNEL + "    store(x, n)\n").encode(),
    "parameters": lambda: ("@kernel\ndef f(" + ", ".join(f"p{k}: i32" for k in range(100000)) + "):\n    pass\n").encode(),
    "bytes": lambda: ("@kernel\ndef f(x: *i32, " + ", ".join(f"p{k}: i32" for k in range(8190)) + "):\n    store(x, p8189)\n").encode(),
    "wide": lambda: ("@kernel\ndef f(x: *i32, " + ", ".join(f"p{k}: i32" for k in range(1100)) + "):\n    store(x, p1099)\n").encode(),
    "arguments": lambda: ("def g(" + ", ".join(f"p{k}=0" for k in range(100000)) + "):\n    pass\n\n\ng(" + ", ".join(f"p{k}=1" for k in range(100)) + ")\n" + "if False: g(" + ", ".join(f"p{k}=1" for k in range(100000)) + ")\n" + KERNEL + "    store(x, n)\n").encode(),
    "yield": lambda: ("x = (yield 1)\n" + KERNEL + "    store(x, n)\n").encode(),
    "crlf": lambda: (KERNEL + "    store(x, n)\n").replace("\n", "\r\n").encode(),
}
with open(sys.argv[2], "wb") as out:
    out.write(MAKE[sys.argv[1]]())
