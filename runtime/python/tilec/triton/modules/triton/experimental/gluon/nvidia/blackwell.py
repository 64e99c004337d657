from .hopper import TensorDescriptor   # noqa: F401
