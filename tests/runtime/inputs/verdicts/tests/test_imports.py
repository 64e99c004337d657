"""A file that only one side can import: its test fails on the other one."""
import triton.language


def test_language(word):
    assert triton.language and word
