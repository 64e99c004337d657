#!/usr/bin/env python3
"""Says which diagnostics no test quotes: diagnostics.py [-v] [FOLDER…]

Every text given to a function that reports is taken from the C sources; a test quotes it if some line below tests/ holds
all its words, with anything where the text has a conversion. What cannot be provoked from outside stands, with the reason,
in diagnostics.txt: a line that begins with `#` gives the reason for the texts below it. A text there that a test does
quote, or that no source has, is an error too."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["frontend", "ir", "passes", "codegen", "runtime"]
# Functions whose string arguments are read by people: those declared PRINTF_LIKE, and those that pass a text on to one of them.
NOT_REPORTERS = {"arena_printf", "buf_printf", "ice"}
PASS_ON = """ct_missing ct_unsupported fatal error_set_messages fail failed read_failed refuse bad_global report
  not_constant tile_error warp_report""".split()
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
MACROS = {"PRIu64": "%llu", "PRId64": "%lld", "PRIx64": "%llx", "PRIu32": "%u", "PRId32": "%d", "PRIX64": "%llX"}
CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j)?[a-zA-Z])")
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0"}


def without_comments(text):
    """The C text with comments blanked, strings kept, lines kept."""
    part = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.S)
    return part.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text)


def arguments(text, begin):
    """The text between the parentheses that open just before begin."""
    depth, i = 1, begin
    while depth:
        c = text[i]
        if c in "\"'":
            i = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'').match(text, i).end()
            continue
        depth += (c == "(") - (c == ")")
        i += 1
    return text[begin:i - 1]


def texts_of(args):
    """Each string in args, adjacent ones joined."""
    args = re.sub(r"\b(" + "|".join(MACROS) + r")\b", lambda m: '"' + MACROS[m[0]] + '"', args)
    at, texts = 0, []
    for m in STRING.finditer(args):
        joined = texts and not args[at:m.start()].strip()
        text = re.sub(r"\\(.)", lambda e: ESCAPES.get(e[1], e[0]), m[1])
        if joined:
            texts[-1] += text
        else:
            texts.append(text)
        at = m.end()
    return texts


def is_sentence(text):
    """Names of parameters, classes of exceptions and parts of sentences are not judged by themselves."""
    words = re.findall(r"[A-Za-z]{2,}", CONVERSION.sub(" ", text))
    return len(words) >= 2 and sum(map(len, words)) >= 8


def sources(folders, endings):
    for folder in folders:
        for base, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
            for name in sorted(names):
                if name.endswith(endings):
                    path = os.path.join(base, name)
                    yield path, without_comments(open(path, encoding="utf-8").read())


def reporters():
    """A pattern that matches the beginning of a call of any reporter. A name in PASS_ON that no source calls is an error."""
    text = "\n".join(text for _, text in sources(FOLDERS, (".c", ".h", ".y", ".l")))
    names = set(re.findall(r"(\w+)\([^;{}()]*\)\s*PRINTF_LIKE", text)) - NOT_REPORTERS
    for name in PASS_ON:
        if not re.search(r"\b" + name + r"\(", text):
            sys.exit(f"tests/diagnostics.py: no source calls {name}, which PASS_ON lists")
    return re.compile(r"(?<![\w.>])(" + "|".join(sorted(names | set(PASS_ON))) + r")\(")


def messages(folders):
    found = {}
    call = reporters()
    for path, text in sources(folders, (".c", ".y", ".l")):
        for m in call.finditer(text):
            for message in texts_of(arguments(text, m.end())):
                if is_sentence(message):
                    found.setdefault(message, (os.path.relpath(path, ROOT), text.count("\n", 0, m.start()) + 1))
    return found


def is_quoted(line, tests):
    """Whether a line of tests has all the literal parts of one line of a message, in order."""
    line = re.sub(r"^%s: ", "", line.strip())   # a test need not repeat the name in front
    parts = CONVERSION.sub(lambda m: "%" if m[0] == "%%" else "\0", line).split("\0")
    longest = max(parts, key=len)
    at = tests.find(longest)
    while at >= 0:
        place, end = tests.rfind("\n", 0, at) + 1, tests.find("\n", at)
        for part in parts:
            place = tests.find(part, place, end)
            if place < 0:
                break
            place += len(part)
        else:
            return True
        at = tests.find(longest, end)
    return False


def test_texts():
    for base, dirs, names in os.walk(os.path.join(ROOT, "tests")):
        for name in names:
            if name.endswith((".c", ".py", ".sh", ".test", ".tile", ".tir", ".txt", ".ptx", ".cpp")) and name not in ("diagnostics.py", "diagnostics.txt"):
                text = open(os.path.join(base, name), encoding="utf-8", errors="replace").read()
                text = text.replace("{{[{][{]}}", "{{").replace("{{\\[\\[}}", "[[")
                yield text.replace('\\"', '"').replace("\\\\", "\\") if name.endswith((".c", ".cpp")) else text


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    found = messages(args or FOLDERS)
    tests = "\n".join(test_texts()) + "\n"
    listed = open(os.path.join(ROOT, "tests", "diagnostics.txt"), encoding="utf-8").read().splitlines()
    excused = {line.replace("\\n", "\n") for line in listed if line and not line.startswith("#")}
    failed = 0
    for message, (path, line) in found.items():
        quoted = all(is_quoted(part, tests) for part in message.splitlines() if is_sentence(part))
        if not quoted and message not in excused:
            print(f"{path}:{line}: no test quotes: {message!r}")
            failed += 1
        elif quoted and message in excused:
            print(f"{path}:{line}: excused, yet quoted by a test: {message!r}")
            failed += 1
    if not args:
        for message in sorted(excused - set(found)):
            print(f"tests/diagnostics.txt: no source has: {message!r}")
            failed += 1
    print(f"{len(found)} texts, {len(excused)} excused, {failed} amiss")
    return bool(failed)


sys.exit(main())
