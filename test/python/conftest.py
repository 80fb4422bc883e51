"""What all tests share, those of backends included, is in test/python/machines.py."""

import gc

import pytest
from machines import (
    machine,
    own_settings,
    private_cache,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
    surviving_context,
)

__all__ = [
    "machine",
    "own_settings",
    "private_cache",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_generate_tests",
    "surviving_context",
]


# Nearly all that is made while tests are collected stays.
gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays until the end: the garbage collector need not look at it again.
    Compiles make many objects and few cycles: it need not look as often as it does, either."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
