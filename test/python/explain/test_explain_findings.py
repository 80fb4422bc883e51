"""Each kind of finding is found in a kernel that has it, on its line, and not in its twin."""

from __future__ import annotations

from pathlib import Path

import planted
import pytest
from planted import PAIRS
from reference import sim_only

import tile.language as tl
from tile.explain import explain, watch_launches
from tile.explain.findings.remarks import _REMEDIES

pytestmark = [sim_only, pytest.mark.nvidia("findings name what these GPUs have")]


def findings_of(run) -> list:
    with watch_launches() as launched:
        run()
    (one,) = launched
    return explain(one).findings


def line_of(text: str) -> int:
    lines = Path(planted.__file__).read_text().splitlines()
    (number,) = (i for i, line in enumerate(lines, 1) if line.endswith(text))
    return number


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.kind)
def test_a_slow_kernel_and_its_twin(pair):
    if pair.kind == "no-tma" and not tl.target_info.cuda_capability_geq(9):
        pytest.skip("no GPU before Hopper has TMA")
    found = [f for f in findings_of(pair.slow) if f.kind == pair.kind]
    assert found, pair.kind
    if pair.line:
        assert line_of(pair.line) in [f.line for f in found]
    for finding in found:
        assert not finding.message[0].islower()
        assert finding.remedy.endswith(".")
    assert pair.kind not in [f.kind for f in findings_of(pair.twin)]


def test_every_kind_that_rules_make_is_planted():
    """What only another target says is tested where its remarks are."""
    planted_kinds = {pair.kind for pair in PAIRS}
    others = {"slow-tensor-core", "long-code"}
    assert {kind for kind, _ in _REMEDIES.values()} <= planted_kinds | others


def test_a_division_for_each_tile_is_no_matter():
    """A loop around others is not where the time goes."""
    kinds = [f.kind for f in findings_of(planted.run_divides_for_each_tile)]
    assert "division-in-loop" not in kinds


def test_a_mask_that_one_launch_needs_is_needed():
    def run():
        planted.run_masked(512)
        planted.run_masked(496)  # As divisible, so that it is the same kernel.

    assert "mask-not-needed" not in [f.kind for f in findings_of(run)]
