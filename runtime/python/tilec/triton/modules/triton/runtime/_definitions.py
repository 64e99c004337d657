"""Which functions were made kernels, and where. A later one hides an earlier one of the same name."""

made = {}      # (module, name) of each: where its text begins, FILE:LINE
_latest = {}   # (module, qualified name) -> the file, the line and the parameters of the latest one


def define(fn, names):
    """Remembers a function that is made a kernel, without keeping it alive. Returns what an error of its arguments adds
    if it hides another function of its file: the text, or ""."""
    code = fn.__code__
    file, line = code.co_filename, code.co_firstlineno
    made[fn.__module__, fn.__name__] = f"{file}:{line}"
    key = fn.__module__, fn.__qualname__
    before, _latest[key] = _latest.get(key), (file, line, tuple(names))
    if before is None or before[0] != file or before[1] == line or before[2] == tuple(names):
        return ""
    return (f"; {fn.__name__} was defined before at {file}:{before[1]} with parameters ({', '.join(before[2])}), and "
            f"this one at {file}:{line} hides it: rename one")
