"""Finds the names in a function's text that come from outside of it."""
import ast
import copy
import enum
import functools
import inspect
import linecache
import re
import sys

from ._limits import is_of_dtypes

MISSING = object()


class NotSource(Exception):
    """An object that cannot be written as source. node: of a function's tree, where it is named."""

    node, has_place = None, False

    def locate(self, file, line):
        """Puts the place before the text, and the source line below it. line: of the function's `def` in its file."""
        at, lead = line + self.node.lineno - 1, linecache.getline(file, line)
        shown = linecache.getline(file, at).rstrip()
        column = self.node.col_offset + len(lead) - len(lead.lstrip())   # in bytes
        before = re.sub(r"[^\t]", " ", shown.encode()[:column].decode("utf-8", "replace"))
        mark = "^" + "~" * (self.node.end_col_offset - self.node.col_offset - 1)
        self.args = (f"{file}:{at}:{column + 1}: error: {self}\n  {shown}\n  {before}{mark}",)
        self.has_place = True


def _bound_in(fn):
    """Returns the names that a function's tree binds, those of functions in it left out."""
    a = fn.args
    names = {arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if arg}
    todo = list(fn.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                names.add(node.id)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names |= {(a.asname or a.name).split(".")[0] for a in node.names}
            todo.extend(ast.iter_child_nodes(node))
    return names


class Renamer:
    """Finds the names of a tree that come from outside of it."""

    def __init__(self, gatherer, text, scope, of_host=None):
        self.gatherer, self.scope, self.edits, self.starts = gatherer, scope, [], line_starts(text)
        self.of_host = of_host   # of an object's class: names of methods that may be left out
        self.replaced = ()   # nodes that another edit replaces

    def visit(self, node, hiding, in_text=False):
        """hiding: the sets of names that functions and classes around the node bind."""
        if node in self.replaced:
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._function(node, hiding)
        elif isinstance(node, ast.Lambda):
            self.visit(node.body, (*hiding, {a.arg for a in node.args.args}), in_text)
        elif isinstance(node, ast.ClassDef):
            for d in node.decorator_list:
                self.visit(d, hiding)
            for b in node.bases:
                self._base(b, hiding)
            for statement in node.body:
                self._member(statement, (*hiding, frozenset(_class_names(node))))
        elif self._computed(node, hiding):
            pass
        elif isinstance(node, (ast.Attribute, ast.Name)):
            self._path(node, hiding, in_text)
        else:
            for child in ast.iter_child_nodes(node):
                self.visit(child, hiding, in_text or isinstance(node, ast.JoinedStr))

    def _base(self, node, hiding):
        """Visits a base of a class. One that says nothing of an object, such as ABC or Generic[T], is left out."""
        module = getattr(self._known(node, hiding), "__module__", None)
        says_nothing = isinstance(node, ast.Subscript) or module in ("abc", "typing_extensions")
        if says_nothing and self.of_host is not None:
            self._replace(node, node, "object" + "\n" * (node.end_lineno - node.lineno))
        else:
            self.visit(node, hiding)

    def _member(self, node, hiding):
        """Visits a statement of a class. A method of the host's that names what tilec cannot read is left out."""
        if not isinstance(node, ast.FunctionDef) or node.name not in (self.of_host or ()):
            self.visit(node, hiding)
            return
        before = len(self.edits)
        if not self.gatherer.attempt(lambda: self.visit(node, hiding)):
            del self.edits[before:]
            first = min([node, *node.decorator_list], key=lambda n: n.lineno)
            at = self.starts[first.lineno - 1] + node.col_offset
            end = self.starts[node.end_lineno - 1] + node.end_col_offset
            self.edits.append((at, end, "pass" + "\n" * (node.end_lineno - first.lineno)))

    def _computed(self, node, hiding):
        """Writes what a class without source gives for constants, `torch.finfo(torch.float16).max`, as its value."""
        call = node
        while isinstance(call, ast.Attribute):
            call = call.value
        if not isinstance(call, ast.Call) or not _has_no_text(self._known(call.func, hiding)):
            return False
        value = self._known(node, hiding)
        if value is MISSING or not is_plain(value):
            return False
        name = self.gatherer.constant(value, [ast.unparse(node), getattr(node, "attr", "value")])
        self._replace(node, node, name)
        return True

    def _known(self, node, hiding):
        """Returns the value of an expression over names from outside; MISSING if only the kernel knows it."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and not any(node.id in names for names in hiding):
            value = self.scope(node.id)
            if value is not MISSING and is_plain(value):
                self.gatherer.watch(self.scope, node.id, value)
            return value
        if isinstance(node, ast.Attribute):
            owner = self._known(node.value, hiding)
            return owner if owner is MISSING else getattr(owner, node.attr, MISSING)
        if not isinstance(node, ast.Call) or node.keywords:
            return MISSING
        values = [self._known(part, hiding) for part in (node.func, *node.args)]
        if any(v is MISSING for v in values) or not _has_no_text(values[0]):
            return MISSING
        try:
            return values[0](*values[1:])
        except Exception:   # tilec says what is wrong with the call
            return MISSING

    def _replace(self, first, last, name):
        """Writes a name in place of the text from one node to the end of another."""
        self.edits.append((self.starts[first.lineno - 1] + first.col_offset,
                           self.starts[last.end_lineno - 1] + last.end_col_offset, name))

    def _function(self, node, hiding):
        a = node.args
        around = [*node.decorator_list, *a.defaults, *(d for d in a.kw_defaults if d),
                  *(arg.annotation for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
                    if arg and arg.annotation)]
        for part in around + ([node.returns] if node.returns else []):
            self.visit(part, hiding)
        inside = (*(names for names in hiding if not isinstance(names, frozenset)), _bound_in(node))
        for statement in node.body:
            self.visit(statement, inside)

    def _path(self, node, hiding, in_text):
        nodes = [node]
        while isinstance(nodes[-1], ast.Attribute):
            nodes.append(nodes[-1].value)
        nodes.reverse()
        base = nodes[0]
        if not isinstance(base, ast.Name):
            self.visit(base, hiding, in_text)
            return
        if not isinstance(base.ctx, ast.Load) or any(base.id in names for names in hiding):
            return
        path = [base.id, *(n.attr for n in nodes[1:])]
        try:
            found = self.gatherer.outer(self.scope, path)
        except NotSource as e:
            e.node = node
            raise
        if found is None:
            return
        used, name = found
        while any(name in names for names in hiding):
            name = self.gatherer.alias(name)
        last = nodes[used - 1]
        if ".".join(path[:used]) == name:
            return
        if in_text:
            raise NotSource(f"`{'.'.join(path)}` in an f-string: assign it to a name before")
        self._replace(base, last, name)


def is_of_python(module):
    """Whether a module is one of Python's own."""
    first = module.split(".")[0]
    if first in ("builtins", "__main__"):
        return False
    names = getattr(sys, "stdlib_module_names", None)   # from Python 3.10 on
    return first in names if names is not None else first in ("collections", "dataclasses", "enum", "functools", "math",
                                                              "operator", "typing")


def _class_names(node):
    for n in node.body:
        if isinstance(n, (ast.FunctionDef, ast.ClassDef)):
            yield n.name
        elif isinstance(n, (ast.Assign, ast.AnnAssign)):
            for t in n.targets if isinstance(n, ast.Assign) else [n.target]:
                if isinstance(t, ast.Name):
                    yield t.id


def line_starts(text):
    """Returns where each line begins, in bytes: the columns of a tree count these."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def edited(text, edits):
    data = text.encode()
    for begin, end, new in sorted(edits, reverse=True):
        data = data[:begin] + new.encode() + data[end:]
    return data.decode()


@functools.lru_cache(maxsize=512)   # inspect parses the whole file
def has_source(cls):
    try:
        return re.search(r"^\s*class\s", inspect.getsource(cls), re.M) is not None
    except (OSError, TypeError):
        return False


def _has_no_text(value):
    """Whether a value is a class of another package that has no source that tilec reads, as those written in C."""
    return is_of_dtypes(value) or isinstance(value, type) and not is_of_python(value.__module__) and not hasattr(value, "_tile_source") \
        and value.__module__.split(".")[0] not in ("builtins", "triton") and not has_source(value)


def is_plain(value):
    """Whether a value is written out where it is first used."""
    return value is None or isinstance(value, (bool, int, float, str, tuple, list, dict, enum.Enum)) or (
        not isinstance(value, type) and (hasattr(value, "_tile_expression")
                                         or type(value).__name__ in ("constexpr", "dtype", "tuple")
                                         or hasattr(value, "item") and not hasattr(value, "data_ptr")))


def snapshot(value):
    """Returns what a value is now: some can be changed in place."""
    if type(value).__name__ == "constexpr" and hasattr(value, "value"):
        return copy.copy(value)
    return copy.deepcopy(value) if isinstance(value, (list, dict)) else value
