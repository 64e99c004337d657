"""Warnings of what a program does again and again where once would do: tuning and compiling."""
import collections
import warnings


def warn_of_tensors(function, keys, given):
    """Warns of tensors in autotune's key. given: the arguments of a launch by name."""
    tensors = [name for name in keys if hasattr(given.get(name), "data_ptr")]
    if not tensors:
        return
    sizes = [name for name, value in given.items() if type(value) is int and name not in keys]
    names, it = " and ".join(tensors), "them" if len(tensors) > 1 else "it"
    _warn(function, f"key of autotune names {names}, of which each new tensor is another key: {function.__name__} is "
          f"tuned anew for it, and the tuner keeps the tensor. Leave {it} out (each key has the dtypes anyway)" +
          (f", or name a size, such as {sizes[0]}" if sizes else ""))


def _warn(function, text):
    warnings.warn_explicit(text, UserWarning, function.__code__.co_filename, function.__code__.co_firstlineno)


class Variants:
    """What a kernel was compiled for last. Warns, once, if a single number changes again and again."""

    _ENOUGH = 16

    def __init__(self):
        self.tuned = set()   # the parameters that configurations of autotune have: their variants are wanted
        self._num, self._last = 0, collections.deque(maxlen=self._ENOUGH)

    def add(self, function, constants, bound, options):
        """Tells of a new variant. constants: its constexprs; bound: all arguments by name; options: of the launch."""
        kinds = {name: str(getattr(value, "dtype", type(value))) for name, value in bound.items()
                 if name not in constants}
        self._num += 1
        self._last.append((kinds, options, constants))
        if self._num <= self._ENOUGH or any(known[:2] != (kinds, options) for known in self._last):
            return
        found = {name: [known.get(name) for _, _, known in self._last] for name in constants}
        found = {name: values for name, values in found.items() if any(value != values[0] for value in values)}
        if len(found) != 1:
            return
        (name, values), = found.items()
        if name in self.tuned or any(type(value) not in (int, float) for value in values) or \
                len(set(values)) < self._ENOUGH:
            return
        _warn(function.fn, f"{function.__name__} has {self._num} variants, of which the last {self._ENOUGH} differ in "
              f"{name} alone ({', '.join(map(str, values[:3]))}, …, {values[-1]}), and each is compiled anew: without "
              "`: tl.constexpr` it is a run-time argument, and one variant serves all. Compute before the launch what "
              f"needs a constant, such as 0.9**{name}, and pass it")
        self.add = lambda *known: None
