"""Rings of buffers and barriers, on kernels whose source says which there are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from measured import quality
from reference import sim_only

from tile.backends import parse_target
from tile.explain.rings import rings
from tile.explain.stage_texts import StageText, read_stage

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]


def found_in(name: str, target: str) -> list:
    kernel = quality("kernels").known_kernels()[name].compile(parse_target(target))
    return rings(read_stage("ttgir", kernel.asm["ttgir"], is_module=True))


def users(ring) -> tuple[list[str], list[str]]:
    sides = (ring.before, ring.after)
    return tuple([f"{user.who}: {user.operation}" for user in side] for side in sides)


def test_partitions_hand_buffers_over_at_two_barriers():
    a, b, full, empty = found_in("specialised product", "cuda:90")
    assert [(r.slots, r.slot) for r in (a, b)] == [(3, "128x64xf16"), (3, "64x256xf16")]
    copy, product = "async_tma_copy_global_to_local", "warp_group_dot"
    for ring in (a, b):
        assert users(ring) == ([f"partition0: {copy}"], [f"default: {product}"])
    # Bytes arrive at one; whoever has emptied the buffer arrives at the other.
    assert full.is_barrier and full.slots == 3
    assert users(full) == (
        ["partition0: barrier_expect", f"partition0: {copy}"], ["default: wait_barrier"],
    )  # fmt: skip
    assert users(empty) == (["default: arrive_barrier"], ["partition0: wait_barrier"])


def test_every_warp_copies_and_reads_without_barriers_on_sm_80():
    found = found_in("matmul fp16 128x128x32, 4 warps, 3 stages", "cuda:80")
    assert [(r.slots, r.slot) for r in found] == [(2, "128x32xf16"), (2, "32x128xf16")]
    for ring in found:
        assert users(ring) == (
            ["all warps: async_copy_global_to_local"], ["all warps: local_load"],
        )  # fmt: skip


@pytest.mark.parametrize("stages", [2, 3, 4, 5])
def test_slots_follow_from_the_stages(stages):
    """Of mma.sync, a loop of n stages has a buffer less in flight."""
    cases, compiled = quality("cases"), quality("compiled")
    case = next(c for c in cases.cases() if c.name == "matmul fp16 64x64x32, 4 warps, 3 stages")
    case = replace(case, options=case.options | {"num_stages": stages})
    kernel = compiled.compile_case(case, parse_target("cuda:80"))
    found = rings(read_stage("ttgir", kernel.asm["ttgir"], is_module=True))
    assert [ring.slots for ring in found] == [stages - 1] * 2


def test_a_kernel_without_loops_has_none():
    assert found_in("add fp32 1024, 4 warps", "cuda:90") == []
    assert rings(StageText("ttgir", "")) == []
