"""A GPU that is not there, for tests of what the driver gets."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest
from fake_gpu import FakeGPU, build


@pytest.fixture(scope="session")
def nvidia_tools() -> ModuleType:
    from tile.backends import backends

    backends()  # In a checkout their folders are elsewhere.
    return importlib.import_module("tile.backends.nvidia.tools")


@pytest.fixture(scope="session")
def built(tmp_path_factory, nvidia_tools):
    """The library of the driver, and the class of tensors."""
    made = build(tmp_path_factory.mktemp("fake-gpu"))
    if made is None:
        pytest.skip("no C compiler")
    if nvidia_tools.ptxas_path() is None:
        pytest.skip("no ptxas")
    return made


@pytest.fixture
def gpu(built):
    with FakeGPU(*built) as fake:
        yield fake


@pytest.fixture
def two_gpus(built):
    with FakeGPU(*built, devices=2) as fake:
        yield fake
