"""What all tests share, those of backends included, is in test/python/machines.py."""

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
