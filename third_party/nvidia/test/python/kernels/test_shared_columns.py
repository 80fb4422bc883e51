"""Attention whose weights lie in the columns of tensor memory in which their scores were: heads of
128 with 128 keys, in two groups of warps."""

from __future__ import annotations

import pytest
from reference import sim_only
from test_launch_control_mistakes import plant
from test_row_groups import has_two_groups, run

import tile

#: An H100 or H200 has none of this.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    return name


def shares(kernel) -> bool:
    """Whether weights are views of scores in all groups, and all columns are taken."""
    assert "tcgen05.mma" in kernel.asm["ptx"] and "mma.sync" not in kernel.asm["ptx"]
    text = kernel.asm["ttgir"]
    views = text.count("ttg.memdesc_reinterpret %result")
    return views > 0 and views % 2 == 0 and kernel.metadata.tmem_size == 512


@pytest.mark.parametrize("kind", ["fp16", "bf16", "e4m3", "e5m2"])
@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize("causal", [False, True])
def test_types(kind, causal, loops):
    kernel = run(kind, 300, 300, 128, 128, causal, loops)
    assert has_two_groups(kernel) and shares(kernel)


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
def test_targets(target):
    kernel = run("fp16", 256, 200, 128, 128)
    assert has_two_groups(kernel) and shares(kernel)


@pytest.mark.parametrize("corrects", [False, True])
@pytest.mark.parametrize(("length", "keys"), [(256, 2), (511, 128), (40, 500), (257, 130)])
def test_ragged(length, keys, corrects):
    """Loops without iterations, too."""
    kernel = run("fp16", length, keys, 128, 128, correction_group=corrects)
    assert has_two_groups(kernel) and shares(kernel)


@pytest.mark.parametrize("corrects", [False, True])
def test_any_order(monkeypatch, corrects):
    """Groups that run far ahead of each other: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "12")
    kernel = run("bf16", 256, 900, 128, 128, loops=1, correction_group=corrects)
    assert has_two_groups(kernel) and shares(kernel)


@pytest.mark.parametrize(("warps", "stages"), [(4, 1), (4, 2), (8, 1)])
def test_options(warps, stages):
    kernel = run("e4m3", 300, 300, 128, 128, loops=1, num_warps=warps, num_stages=stages)
    assert has_two_groups(kernel)


@pytest.mark.parametrize("corrects", [False, True])
def test_more_stages_than_fit(corrects):
    """Loops get fewer. In one group, weights would be in shared memory, and nothing would fit."""
    kernel = run("fp16", 300, 300, 128, 128, num_stages=4, correction_group=corrects)
    assert has_two_groups(kernel) and shares(kernel)


@pytest.mark.parametrize(("d", "bn", "expected"), [(64, 128, False), (128, 64, False)])
def test_only_where_columns_are_scarce(d, bn, expected):
    """Weights in columns of their own let the next scores start earlier."""
    assert shares(run("fp16", 256, 256, d, bn, loops=1)) == expected


WAIT = r" *ttnvgpu\.wait_barrier [^\n]*\n"
SCORES = r" *ttnvgpu\.tc_gen5_mma %\w+, %\w+, %result\w*, %false[^\n]*\n"
VALUE = r"(?: *%\w+ = [^\n]*\n)"
LOAD = r" *%\w+ = ttnvgpu\.tmem_load %result[^\n]*\n"
MISTAKES = {
    "the next scores overwrite weights that are still read": (rf"{WAIT}(?={VALUE}*{SCORES})", ""),
    "weights are stored where scores are not yet there": (rf"{WAIT}(?={LOAD})", ""),
}


def attend(hook=None, **options):
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        return run("fp16", 256, 500, 128, 128, loops=1, **options)


@pytest.mark.parametrize("corrects", [False, True])
@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_mistakes_are_found(monkeypatch, mistake, corrects):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    assert shares(attend(correction_group=corrects))
    with pytest.raises(tile.sim.SimulationError):
        attend(plant(mistake, *MISTAKES[mistake]), correction_group=corrects)
