"""Tests of programs with explicit layouts: compiled, for NVIDIA's GPUs."""

from __future__ import annotations

import pytest
from machines import asked_target, run_on


@pytest.fixture(autouse=True)
def compiled_for_nvidia(request):
    """AMD's GPUs are not there yet; a test that names a target chooses for itself."""
    named = getattr(request.node, "callspec", None)
    if asked_target().startswith("hip:") and not (named and "target" in named.params):
        pytest.skip("Gluon programs compile for NVIDIA's GPUs")


@pytest.fixture
def target(request, monkeypatch):
    """The GPU that kernels of a test are compiled for, given by `parametrize(indirect=True)`."""
    run_on(request.param, monkeypatch)
    return request.param
