"""Attention in a loop over tiles whose rows are divided among two groups of warps. Each group goes
over all tiles, and stores its half of each."""

from __future__ import annotations

import pytest
from reference import sim_only
from test_row_groups import has_two_groups, partitions, run

#: An H100 or H200 has none of this.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    return name


@pytest.mark.parametrize("kind", ["fp16", "bf16", "e4m3"])
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_types(kind, d, causal):
    kernel = run(kind, 700, 700, d, 64, causal, programs=2, row_groups=2)
    assert has_two_groups(kernel) and kernel.n_spills == 0


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
def test_where_it_pays(target):
    assert has_two_groups(run("fp16", 512, 128, 128, 64, programs=1))


@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize(("length", "keys"), [(256, 2), (511, 64), (600, 200), (769, 130)])
@pytest.mark.parametrize("causal", [False, True])
def test_ragged(length, keys, loops, causal):
    """Loops without iterations, too, and programs without tiles."""
    kernel = run(
        "fp16", length, keys, 64, 64, causal and length <= keys, loops, programs=2, row_groups=2
    )
    assert has_two_groups(kernel)


@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("corrects", [False, True])
@pytest.mark.parametrize("loops", [1, 2])
def test_launch_control(d, causal, corrects, loops):
    """The loop over programs, which asks the GPU for the next one, is one over tiles."""
    kernel = run(
        "fp16", 1100, 1100, d, 64, causal, loops, clc=True, row_groups=2, correction_group=corrects
    )
    assert has_two_groups(kernel) and kernel.n_spills == 0
    assert partitions(kernel)[1:] == ([4, 4] if corrects else [4])
    assert "clusterlaunchcontrol.try_cancel" in kernel.asm["ptx"]
