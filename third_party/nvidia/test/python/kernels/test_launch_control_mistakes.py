"""Mistakes planted in what hands programs from one group of warps to the others (`clc=True`): the
simulator finds them. Without them the same launch is right."""

from __future__ import annotations

import re

import pytest
from reference import sim_only
from test_launch_control_groups import multiply, stays

import tile

pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(monkeypatch) -> None:
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:100")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")


#: What is planted in the stage `ttgir`. The groups are the default one, the warp that copies, which
#: asks for programs, and the warp that multiplies.
INDEX = r" *%\d+ = ttg\.memdesc_index [^\n]*\n"
LOAD = r" *%\d+ = ttnvgpu\.clc_load_result [^\n]*\n"
ARRIVE = r" *ttnvgpu\.arrive_barrier [^\n]*\n"
WAIT = r" *ttnvgpu\.wait_barrier [^\n]*\n"
ANY = r"(?:[^\n]*\n)"
MISTAKES = {
    "the slot is handed back before it is read": (rf"({LOAD})({INDEX}{ARRIVE})", r"\2\1"),
    "the slot is filled while it is read": (
        rf"{WAIT}(?=(?:(?!wait_barrier){ANY})*?[^\n]*clc_try_cancel)",
        "",
    ),
    "nobody waits for the answer": (rf"{WAIT}(?={LOAD})", ""),
    "groups take the answer of the round before": (
        rf"(memdesc_index %\d+\[(%\d+)\][^\n]*\n{INDEX} *ttnvgpu\.wait_barrier %\d+, )%\d+( deps)"
        rf"(?=[^\n]*\n{LOAD})",
        r"\1\2\3",
    ),
    "one warp fewer has to hand the slot back": (r"(init_barrier %\d+, )6\b", r"\g<1>5"),
    "a group does not hand the slot back": (rf"(default {{{ANY}*?{LOAD}{INDEX}){ARRIVE}", r"\1"),
    "the copying warp does not hand the slot back": (
        rf"(partition0\({ANY}*?{LOAD}{INDEX}){ARRIVE}",
        r"\1",
    ),
    "the bytes of an answer are not announced": (
        r" *ttnvgpu\.barrier_expect %\d+, 16,[^\n]*\n",
        "",
    ),
}
#: The same in pairs of blocks. The first one asks for both, and has the barriers of the ring.
OF_PAIRS = {
    "a block ends while the other one hands slots back": (
        r" *ttnvgpu\.cluster_barrier \{relaxed = true\}[^\n]*\n",
        "",
    ),
    "a block begins before the barriers are made": (
        rf" *ttnvgpu\.cluster_barrier(?! \{{)[^\n]*\n(?={ANY}*? *ttg\.warp_specialize)",
        "",
    ),
}


def run(hook=None):
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        return multiply((520, 136, 96), (128, 64, 32), specialize=True, num_stages=2)


def run_pairs(hook=None):
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        return multiply(
            (600, 304, 136), (256, 128, 64), specialize=True, num_ctas=2, num_stages=2, num_warps=4
        )


def plant(mistake: str, pattern: str, instead: str):
    """A hook that edits the IR."""

    def hook(backend=None, stages=None, options=None, language=None, arch=None):
        if stages is None:
            return mistake
        make = stages["ttgir"]

        def edited(source, metadata):
            module = make(source, metadata)
            text, count = re.subn(pattern, instead, str(module))
            assert count >= 1
            return type(module).parse(text, module.context)

        stages["ttgir"] = edited
        return None

    return hook


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_mistakes_are_found(mistake):
    with pytest.raises(tile.sim.SimulationError):
        run(plant(mistake, *MISTAKES[mistake]))


@pytest.mark.parametrize("mistake", list(OF_PAIRS))
def test_mistakes_of_pairs_are_found(mistake):
    with pytest.raises(tile.sim.SimulationError):
        run_pairs(plant(mistake, *OF_PAIRS[mistake]))


def test_without_mistake():
    assert stays(run()) and stays(run_pairs())
