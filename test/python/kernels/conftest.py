"""Whole kernels are compiled for each generation that has code paths of its own."""

from __future__ import annotations

import os

import machines
import pytest

TARGETS = [asked] if (asked := machines.asked_target()) else ["cuda:80", "cuda:90", "interpreter"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    more = metafunc.definition.get_closest_marker("every_target") and not machines.asked_target()
    targets = TARGETS + machines.AMD_TARGETS if more else TARGETS
    metafunc.parametrize("target", targets, indirect=True)


@pytest.fixture(autouse=True)
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The simulated GPU, or the interpreter; a real GPU is what it is."""
    if request.param == "interpreter":
        if os.environ["TILE_DRIVER"] != "sim":
            pytest.skip("needs the simulator")
        if request.node.get_closest_marker("compiled"):
            pytest.skip("the interpreter compiles nothing")
        monkeypatch.setenv("TILE_INTERPRET", "1")
        return request.param
    machines.run_on(request.param, monkeypatch)
    return request.param
