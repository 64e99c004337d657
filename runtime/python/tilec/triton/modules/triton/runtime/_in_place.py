"""Which arguments a kernel changes in place, so that running it again gives another result: from the kernel's text."""
import ast

_ADDRESSES = ("make_block_ptr", "make_tensor_descriptor", "advance", "multiple_of", "max_contiguous", "to", "cast")
_UPDATES = ("atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor")


class _Accesses(ast.NodeVisitor):
    """Follows parameters through the assignments of a kernel to its loads, stores and atomic operations."""

    def __init__(self, parameters):
        self.of = {name: {name} for name in parameters}   # a variable -> the parameters that it points to
        self.loaded, self.stored, self.updated = set(), set(), set()

    def bases(self, e):
        """Returns the parameters to which an expression points."""
        if isinstance(e, ast.Name):
            return self.of.get(e.id, set())
        if isinstance(e, ast.BinOp):
            return self.bases(e.left) | self.bases(e.right)
        if isinstance(e, ast.IfExp):
            return self.bases(e.body) | self.bases(e.orelse)
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr in _ADDRESSES:
            first = e.args[0] if e.args else e.keywords[0].value if e.keywords else e.func
            return self.bases(first) | self.bases(e.func.value)
        return set()

    def visit_Assign(self, s):
        self.visit(s.value)
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.of[target.id] = self.of.get(target.id, set()) | self.bases(s.value)

    def visit_Call(self, e):
        self.generic_visit(e)
        name = e.func.attr if isinstance(e.func, ast.Attribute) else None
        into = {"load": self.loaded, "store": self.stored, **dict.fromkeys(_UPDATES, self.updated)}.get(name)
        if into is not None:   # tl.load(pointer), descriptor.load(offsets)
            into |= self.bases(e.func.value) or (self.bases(e.args[0]) if e.args else set())


def changed_in_place(tree, parameters):
    """Returns the parameters that a kernel both loads from and stores to, and those that it updates by atomic
    operations. tree: its text, parsed."""
    found = _Accesses(parameters)
    found.visit(tree)
    ordered = lambda names: [name for name in parameters if name in names]
    return ordered(found.loaded & found.stored), ordered(found.updated - (found.loaded & found.stored))
