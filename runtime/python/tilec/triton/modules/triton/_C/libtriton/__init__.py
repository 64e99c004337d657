"""Of Triton's compiler in C++: cuBLAS, which programs compare with. It is PyTorch's."""
from types import SimpleNamespace


class CublasLt:

    def __init__(self, workspace):
        pass   # PyTorch has one of its own

    def matmul(self, a, b, c):
        """Makes c the product of a and the transpose of b."""
        import torch
        if a.dtype.itemsize > 1:
            return torch.matmul(a, b.T, out=c)
        one = torch.ones((), device=a.device)
        c.copy_(torch._scaled_mm(a, b.T, one, one, out_dtype=torch.float16))


nvidia = SimpleNamespace(cublas=SimpleNamespace(CublasLt=CublasLt))
