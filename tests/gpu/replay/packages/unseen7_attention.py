"""Attention of `unseen7`."""


def cases():
    yield from ()
