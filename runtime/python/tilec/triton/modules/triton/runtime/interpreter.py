"""Triton's interpreter has a class for kernels; with TRITON_INTERPRET=1 they are JITFunction here, on tilec's."""


class InterpretedFunction:

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("@triton.jit makes kernels for the interpreter if TRITON_INTERPRET=1 is set")
