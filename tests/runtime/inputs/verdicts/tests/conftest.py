import pytest


@pytest.fixture
def word():
    return "shared by files"
