"""One test for each way in which a side's verdict comes about; TRIES is a folder that a run can leave something in."""
import os
import time

import pytest
import triton

OURS = "tilec" in triton.__file__.split(os.sep)


@pytest.mark.parametrize("n", range(50))
def test_drawn(n, word):
    assert word


def test_fails_on_ours():
    assert not OURS, "because it is ours"


def test_fails_on_triton():
    assert OURS


def test_dies():
    os.abort()


def test_has_no_end():
    while True:
        time.sleep(0.1)


def test_passes_at_the_second_try():
    path = os.path.join(os.environ["TRIES"], str(OURS))
    is_first = not os.path.exists(path)
    open(path, "w").close()
    assert not (is_first and OURS)


def test_is_skipped():
    pytest.skip("why not")


def test_reads_code():
    assert not OURS, 'asm["ptx"]'
