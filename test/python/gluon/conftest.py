"""Tests of programs with explicit layouts run in the simulator."""

from __future__ import annotations

import pytest
from machines import run_on


@pytest.fixture
def target(request, monkeypatch):
    """The GPU that kernels of a test are compiled for, given by `parametrize(indirect=True)`."""
    run_on(request.param, monkeypatch)
    return request.param
