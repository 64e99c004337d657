class TritonError(Exception):
    """What a kernel's compilation or launch raises."""
