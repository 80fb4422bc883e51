"""Tests of programs with explicit layouts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from machines import asked_target, run_on

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # Where `fuzz` is.


@pytest.fixture(autouse=True)
def warps_of_32_lanes(request):
    """The layouts of a test say how many lanes there are; one that names a target has those of that
    target."""
    named = getattr(request.node, "callspec", None)
    if asked_target().startswith("hip:") and not (named and "target" in named.params):
        pytest.skip("the layouts are for warps of 32 lanes of NVIDIA's GPUs")


@pytest.fixture
def target(request, monkeypatch):
    """The GPU that kernels of a test are compiled for, given by `parametrize(indirect=True)`."""
    run_on(request.param, monkeypatch)
    return request.param
