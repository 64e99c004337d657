"""What programs_pytest.py says of a test that is a kernel, given to Triton's filecheck_test."""
from types import SimpleNamespace

import triton
from triton._filecheck import filecheck_test, run_parser

import programs_pytest


@filecheck_test
@triton.jit
def is_kernel():
    pass


def parses():
    run_parser(is_kernel)


def plain():
    pass


print("reads:", [programs_pytest._reads(SimpleNamespace(function=f)) for f in (is_kernel, parses, plain)])
