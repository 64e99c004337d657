"""Paths to the items of nested tuples and lists: (1, 0) is the first item of the second one."""
import functools
import operator

from .language import core


def get_iterable_path(iterable, path):
    return functools.reduce(operator.getitem, path, iterable)


def find_paths_if(iterable, pred):
    """Returns the paths of the items that are no tuples or lists and for which pred(path, item) holds."""
    found = []

    def look(path, value):
        if isinstance(value, (list, tuple, core.tuple)):
            for i, item in enumerate(value):
                look((*path, i), item)
        elif pred(path, value):
            found.append(path)

    look((), iterable)
    return found
