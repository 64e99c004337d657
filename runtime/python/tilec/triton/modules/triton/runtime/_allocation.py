"""Allocators of scratch memory: tilec keeps a kernel's scratch memory itself, and never asks them."""


class NullAllocator:

    def __call__(self, size, alignment, stream):
        raise RuntimeError("no allocator is set; tilec needs none")


_NULL_ALLOCATOR = NullAllocator()
_allocator = _profile_allocator = _NULL_ALLOCATOR


def set_allocator(allocator):
    global _allocator
    _allocator = allocator


def set_profile_allocator(allocator):
    global _profile_allocator
    _profile_allocator = allocator
