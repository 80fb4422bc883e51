"""Mistakes planted in what two groups of warps tell each other and themselves: the simulator finds
them. Without them the same launch is right."""

from __future__ import annotations

import pytest
from reference import sim_only
from test_launch_control_mistakes import plant
from test_row_groups import has_two_groups, run

import tile

pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(monkeypatch) -> None:
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:100")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")


#: What is planted in the stage `ttgir`.
LINE = r"(?:[^\n]*\n)"
WAIT = r" *ttnvgpu\.wait_barrier [^\n]*\n"
DOT = r" *ttnvgpu\.tc_gen5_mma [^\n]*\n"
LOAD = r" *%\w+ = ttnvgpu\.tmem_load [^\n]*\n"
VALUE = r"(?: *%\w+ = [^\n]*\n)"
BRANCH = r" *scf\.if [^\n]*\n(?:(?! *})[^\n]*\n)* *}[^\n]*\n"
COMMIT = r" *ttnvgpu\.tc_gen5_commit [^\n]*\n"
MISTAKES = {
    "one warp fewer has to hand buffers back": (r"(init_barrier %\w+, )10\b", r"\g<1>9"),
    "nobody waits for keys": (rf"{WAIT}(?=(?:(?!wait_barrier){LINE})*?{DOT})", ""),
    "buffers are handed back before dots have read them": (COMMIT, ""),
    "nobody waits for scores": (rf"{WAIT}(?={VALUE}*?{LOAD})", ""),
    "the next scores start before these are loaded": (rf"({LOAD})({BRANCH})", r"\2\1"),
}


def attend(hook=None):
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        return run("fp16", 512, 200, 64, 64, programs=1, loops=1, row_groups=2, num_stages=3)


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_mistakes_are_found(mistake):
    with pytest.raises(tile.sim.SimulationError):
        attend(plant(mistake, *MISTAKES[mistake]))


def test_without_mistake():
    assert has_two_groups(attend())
