"""Warnings of what a program does again and again where once would do: tuning and compiling."""
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
