# ruff: noqa: E501  (PTX text reads better unbroken)
"""Races in random programs: the checker finds one exactly where pairs of accesses, looked at one by
one, hold one.

A program is a list of accesses to shared memory by 64 threads, with barriers of the CTA or of warps
between some of them. Where each lane goes comes from patterns that real kernels have (side by side,
one place for all, copies of a part, reversed, strided, shuffled), at any width.
"""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim

THREADS, BYTES = 64, 512
LANE = np.arange(32)
_STORE = {2: "st.shared.u16 [%a], %h;", 4: "st.shared.u32 [%a], %v;",
          8: "st.shared.v2.u32 [%a], {%v, %v};", 16: "st.shared.v4.u32 [%a], {%v, %v, %v, %v};"}  # fmt: skip
_LOAD = {2: "ld.shared.u16 %h2, [%a];", 4: "ld.shared.u32 %w0, [%a];",
         8: "ld.shared.v2.u32 {%w0, %w1}, [%a];", 16: "ld.shared.v4.u32 {%w0, %w1, %w2, %w3}, [%a];"}  # fmt: skip


def lanes(rng: np.random.Generator, width: int) -> np.ndarray:
    """An address for each lane of a warp, or -1 for lanes that take no part."""
    index = [
        lambda: LANE,
        lambda: LANE * 0,
        lambda: LANE % int(rng.choice([2, 4, 8, 16])),
        lambda: LANE // int(rng.choice([2, 4, 8, 16])),
        lambda: 31 - LANE,
        lambda: LANE * 2,
        lambda: LANE ^ int(rng.integers(1, 32)),
        lambda: LANE % 8 * 4 + LANE // 8,
        lambda: rng.integers(0, 32, 32),
    ][rng.integers(9)]()
    slots = BYTES // width
    start = (
        int(rng.integers(0, slots)) if rng.random() < 0.3 else 64 // width * int(rng.integers(2))
    )
    address = (index + start) % slots * width
    keep = [
        np.full(32, True),
        LANE < rng.choice([1, 2, 3, 4, 8, 17]),
        LANE == rng.integers(32),
        rng.random(32) < 0.5,
    ]
    return np.where(keep[rng.choice(4, p=[0.4, 0.4, 0.1, 0.1])], address, -1)


def program(rng: np.random.Generator) -> list[tuple[str, int, np.ndarray]]:
    """(kind, width, addresses of the threads); kind is "ld", "st", "bar" or "warp"."""
    steps: list[tuple[str, int, np.ndarray]] = []
    # A few words that some lanes access side by side, at one width after the other.
    base, span = int(rng.integers(BYTES // 32)) * 16, int(rng.choice([16, 32]))
    for _ in range(int(rng.integers(2, 9))):
        if steps:
            sync = rng.choice(["", "bar", "warp"], p=[0.15, 0.65, 0.2])
            if sync:
                steps.append((sync, 0, np.empty(0)))
        width = int(rng.choice([2, 4, 8, 16], p=[0.1, 0.5, 0.2, 0.2]))
        where = lanes(rng, width)
        if rng.random() < 0.4:
            first = int(rng.choice([0, 0, 1, 4]))
            inside = (first <= LANE) & ((LANE - first) * width < span)
            where = np.where(inside, base + (LANE - first) * width, -1)
        # The other warp does the same beside it, the same, something else, or nothing.
        other = [(where + 32 * width) % BYTES, where, lanes(rng, width), where * 0 - 1][
            rng.integers(4)
        ]
        other = np.where(where < 0, -1, other)
        address = np.concatenate([where, other])
        # Lanes that store to one place race; mostly they should not.
        used = address[address >= 0]
        alone = len(np.unique(used)) == len(used) or rng.random() < 0.2
        steps.append(("st" if alone and rng.random() < 0.6 else "ld", width, address))
    return steps


def ptx(steps: list[tuple[str, int, np.ndarray]]) -> str:
    text = [
        HEADER,
        f".visible .entry k(.param .u64 table) {{ .reg .b32 %t, %a, %v, %w<4>; .reg .b16 %h, %h2; .reg .b64 %p, %q; .reg .pred %on; .shared .align 16 .b8 memory[{BYTES}];",
        "mov.u32 %t, %tid.x; ld.param.u64 %p, [table]; mad.wide.u32 %p, %t, 4, %p;",
    ]
    for number, (kind, width, _) in enumerate(steps):
        if kind == "bar":
            text.append("bar.sync 0;")
        elif kind == "warp":
            text.append("bar.warp.sync 0xffffffff;")
        else:
            # All halves of what a thread stores are its own.
            text.append(
                f"ld.global.u32 %a, [%p+{number * THREADS * 4}]; setp.ne.u32 %on, %a, 0xffffffff;"
            )
            text.append(
                f"add.u32 %v, %t, {number * THREADS + 1}; cvt.u16.u32 %h, %v; mad.lo.u32 %v, %v, 65536, %v;"
            )
            text.append(f"@%on {(_LOAD if kind == 'ld' else _STORE)[width]}")
    return "\n".join([*text, "ret; }"])


def races(steps: list[tuple[str, int, np.ndarray]]) -> set[tuple[int, int]]:
    """Pairs of steps between which some threads race, by looking at all pairs of accesses."""
    events = []
    cta = warp = 0
    for number, (kind, width, address) in enumerate(steps):
        cta += kind == "bar"
        warp += kind in ("bar", "warp")
        for thread in range(THREADS) if width else ():
            if address[thread] >= 0:
                events.append(
                    (
                        number,
                        thread,
                        kind == "st",
                        address[thread],
                        address[thread] + width,
                        cta,
                        warp,
                    )
                )
    e = np.array(events, np.int64).reshape(-1, 7)
    number, thread, store, low, high, cta_time, warp_time = (e[:, i] for i in range(7))
    pair = lambda v: (v[:, None], v[None, :])  # noqa: E731
    differ = lambda v: pair(v)[0] != pair(v)[1]  # noqa: E731
    overlap = (low[:, None] < high[None, :]) & (low[None, :] < high[:, None])
    together = ~differ(thread // 32)
    ordered = differ(cta_time) | (together & differ(warp_time)) | ~differ(thread)
    found = overlap & ((store[:, None] | store[None, :]) > 0) & ~ordered
    return {(int(number[i]), int(number[j])) for i, j in zip(*np.nonzero(found), strict=True)}


def check(steps: list[tuple[str, int, np.ndarray]], name: object = None) -> bool:
    """Returns whether there was a race."""
    table = np.full((len(steps), THREADS), -1, np.int32)
    for row, (_, width, address) in zip(table, steps, strict=True):
        if width:
            row[:] = address
    want = races(steps)
    report = tile.sim.launch(
        ptx(steps), "k", 1, THREADS, [table], check="races", raise_on_finding=False
    )
    assert all(f["kind"] == "race" for f in report.findings), (name, report.messages)
    assert report.ok == (not want), (name, sorted(want), report.messages)
    return bool(want)


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part):
    seeds = range(part * 200, part * 200 + 200)
    found = [check(program(np.random.default_rng(seed)), seed) for seed in seeds]
    # The programs are a test only if both kinds are among them.
    assert 60 < sum(found) < 140


def test_the_same_lanes_at_another_width():
    # Lane 1 loads what lane 0 has stored, in words that lanes 0 and 1 stored together.
    side_by_side = lambda width, count: np.where(  # noqa: E731
        np.arange(THREADS) < count, np.arange(THREADS) * width, -1
    )
    for first, second in (("st", "ld"), ("ld", "st"), ("st", "st")):
        steps = [(first, 8, side_by_side(8, 2)), (second, 4, side_by_side(4, 4))]
        assert check(steps)
        assert not check([steps[0], ("warp", 0, np.empty(0)), steps[1]])
