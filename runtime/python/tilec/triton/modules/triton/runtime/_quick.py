"""The quick way of a kernel's launches, which runs next to no Python code."""
import sys

from .. import knobs
from .._source import may_change
from ..language import core


class Quick:
    """The launcher in C of a program on a gpu."""

    def __init__(self, function, program):
        self.program, self.gatherer = program, program.gatherer
        self._function, self._guarded = function, None
        self._launcher = program.kernel.launcher(self._slow, lambda variant: function._compiled(program, variant))
        self.launch = self._launcher.launch

    def _slow(self, grid, *args, **kwargs):
        return self._function.run(*args, grid=grid, warmup=False, **kwargs)

    def is_for_now(self):
        """Whether nothing but the launch itself is wanted, of the text that was gathered."""
        return knobs.runtime.launches_alone() and not self.program.refused and self.gatherer.is_current()

    def guarded(self, failed):
        """Returns a launch that asks itself whether it is for now, and goes on by the function's start if not. failed:
        the one that was not for now, whose guards are made anew; another one is of another gpu."""
        if self._guarded is None or self._guarded is failed:
            torch = sys.modules.get("torch")
            guards = [(self._function.pre_run_hooks,), (self.program.refused,), (vars(knobs), "runtime", knobs.runtime),
                      *knobs.runtime.guards(), *self.gatherer.guards()]
            if not torch:
                guards.append((sys.modules, "torch"))
            self._guarded = self._launcher.guarded(guards, torch and torch._C._cuda_getDevice, self._function.start)
        return self._guarded

    def learn(self, bound):
        texts = []
        if any(p.is_constexpr and may_change(core._unwrap_if_constexpr(bound[p.name])) for p in self._function.params):
            return   # the launcher knows an object by its address
        for p in self._function.params:
            value = bound[p.name]
            if p.is_constexpr and not isinstance(value, (bool, int, float, str, type(None))):
                texts.append((value, self.gatherer.expression(core._unwrap_if_constexpr(value))))
        self._launcher.learn((), {n: v for n, v in bound.items() if not any(v is value for value, _ in texts)}, texts)


def current_ordinal():
    torch = sys.modules.get("torch")
    return torch._C._cuda_getDevice() if torch else 0
