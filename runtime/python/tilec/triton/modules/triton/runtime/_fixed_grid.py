"""Which tuned block sizes a kernel's grid must follow: from the kernel's text."""
import ast


class _Positions(ast.NodeVisitor):
    """Follows program_id through the assignments of a kernel to its products with tuned constants."""

    def __init__(self, tuned):
        self.tuned = tuned
        self.of_program = set()   # variables that depend on program_id
        self.multiplied = set()   # the tuned constants by which such a variable is multiplied
        self.strides = False      # programs go on to further blocks in a loop

    def _has(self, e, names):
        return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(e))

    def _depends(self, e):
        return self._has(e, self.of_program) or any(
            isinstance(n, ast.Attribute) and n.attr == "program_id" for n in ast.walk(e))

    def visit_Assign(self, s):
        self.visit(s.value)
        if self._depends(s.value):
            self.of_program |= {n.id for target in s.targets for n in ast.walk(target) if isinstance(n, ast.Name)}

    def visit_BinOp(self, e):
        self.generic_visit(e)
        if isinstance(e.op, ast.Mult):
            for one, other in ((e.left, e.right), (e.right, e.left)):
                if isinstance(other, ast.Name) and other.id in self.tuned and self._depends(one):
                    self.multiplied.add(other.id)

    def visit_Attribute(self, e):
        self.generic_visit(e)
        self.strides |= e.attr == "num_programs"

    def visit_For(self, s):
        begins_at_program = self._depends(s.iter)
        step = s.iter.args[2] if isinstance(s.iter, ast.Call) and len(s.iter.args) > 2 else None
        self.strides |= begins_at_program or isinstance(step, ast.BinOp) or self._has(step or s.target, self.of_program)
        self.generic_visit(s)

    def visit_While(self, s):
        self.strides |= self._depends(s.test)
        self.generic_visit(s)


def sizes_of_grid(tree, tuned):
    """Returns the constants among `tuned` by which a kernel multiplies the number of its program: a grid has as many
    programs as there are blocks of that size. None of a kernel whose programs may take several blocks each. tree: the
    kernel's text, parsed."""
    found = _Positions(set(tuned))
    found.visit(tree)
    return [] if found.strides else [name for name in tuned if name in found.multiplied]
