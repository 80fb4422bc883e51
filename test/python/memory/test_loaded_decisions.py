"""A load that decides is made once: of what others write meanwhile, all threads see the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machines import AMD_TARGETS, run_on
from reference import poisoned, sim_only

import tile
import tile.language as tl

pytestmark = [sim_only, pytest.mark.compiled]

TARGETS = ["cuda:80", "cuda:90", *AMD_TARGETS]
WAYS = ["branch", "loop", "address", "block", "argument"]
SEEDS = range(1, 17)
ROUNDS = 24
N = 512


@tile.jit
def read(flag_ptr, HOW: tl.constexpr):
    if HOW == "block":
        # Every thread has a copy of the element, and so has its maximum.
        return tl.max(tl.load(flag_ptr + tl.zeros((1,), tl.int32)), 0)
    return tl.load(flag_ptr)


@tile.jit
def watch(flag_ptr, same_ptr, x_ptr, out_ptr, rounds, HOW: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    if tl.program_id(0) == 1:
        for _ in range(rounds * 4 + 1):
            tl.atomic_xor(same_ptr if HOW == "argument" else flag_ptr, 1, sem="relaxed")
    else:
        for r in range(rounds):
            x = tl.load(x_ptr + (r & 1) * N + i)
            flag = read(flag_ptr, HOW)
            if HOW == "address":
                total = x + tl.load(x_ptr + flag * N + N - 1 - i)
            elif HOW == "loop":
                total = x
                for _ in range(flag):
                    total += tl.sum(x, 0)
            else:
                total = x
                if flag == 1:
                    total += tl.sum(x, 0)
                else:
                    total -= tl.max(x, 0)
            tl.store(out_ptr + r * N + i, total)


def expected(x: np.ndarray, how: str) -> np.ndarray:
    """What one round may come to, where the flag is 0 and where it is 1."""
    if how == "address":
        return np.stack([x + x[flag, ::-1] for flag in (0, 1)])
    if how == "loop":
        return np.stack([x, x + x.sum(1, keepdims=True, dtype=np.int32)])
    return np.stack([x - x.max(1, keepdims=True), x + x.sum(1, keepdims=True, dtype=np.int32)])


def run(how: str, seed: int) -> set[int]:
    """What the flag was in the rounds of one schedule, in each for all threads."""
    x = np.random.default_rng(seed).integers(1, 1000, (2, N), dtype=np.int32)
    x[:, 0] = 1000
    ways, out = expected(x, how), poisoned(ROUNDS * N, "i32")
    flag = np.zeros(1, np.int32)
    # That the flag is read while somebody writes it is the point.
    watch.simulate(
        flag, flag, x, out, ROUNDS, HOW=how, N=N, num_warps=8, grid=(2,),
        schedule_seed=seed, max_instructions=10**6, check="uninitialized,async,barriers",
    )  # fmt: skip
    seen = set()
    for r, row in enumerate(out.reshape(ROUNDS, N)):
        flags = [flag for flag in (0, 1) if (row == ways[flag, r & 1]).all()]
        assert len(flags) == 1, f"seed {seed}, round {r}: neither what 0 nor what 1 decides"
        seen.update(flags)
    return seen


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("how", WAYS)
def test_all_threads_decide_as_one(how: str, target: str, monkeypatch: Any) -> None:
    run_on(target, monkeypatch)
    seen = [run(how, seed) for seed in SEEDS]
    assert set().union(*seen) == {0, 1}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("how", WAYS)
def test_these_schedules_tell(how: str, target: str, monkeypatch: Any) -> None:
    """Where each thread loads for itself, they do not."""
    run_on(target, monkeypatch)
    monkeypatch.setenv("TILE_DISABLE_PASSES", "load-decisions-once")
    with pytest.raises((AssertionError, tile.TileError)):
        for seed in SEEDS:
            run(how, seed)


@tile.jit
def watch_once(flag_ptr, x_ptr, out_ptr, row, N: tl.constexpr):
    """As `watch`, but outside of loops: AMD's buffer loads are for these."""
    i = tl.arange(0, N)
    if tl.program_id(0) == 1:
        for _ in range(64):
            tl.atomic_xor(flag_ptr + 3, 1, sem="relaxed")
    else:
        x = tl.load(x_ptr + i)
        if tl.max(tl.load(flag_ptr + tl.arange(0, 4)), 0) == 1:
            total = x + tl.sum(x, 0)
        else:
            total = x - tl.max(x, 0)
        tl.store(out_ptr + row * N + i, total)


def run_once(seed: int) -> int:
    x = np.random.default_rng(seed).integers(1, 1000, (1, N), dtype=np.int32)
    ways, out = expected(x, "branch")[:, 0], poisoned(N, "i32")
    watch_once.simulate(
        np.zeros(4, np.int32), x, out, 0, N=N, num_warps=8, grid=(2,),
        schedule_seed=seed, max_instructions=10**6, check="uninitialized,async,barriers",
    )  # fmt: skip
    flags = [flag for flag in (0, 1) if (out == ways[flag]).all()]
    assert len(flags) == 1, f"seed {seed}: neither what 0 nor what 1 decides"
    return flags[0]


@pytest.mark.parametrize("target", TARGETS)
def test_a_block_outside_of_loops_is_loaded_once(target: str, monkeypatch: Any) -> None:
    run_on(target, monkeypatch)
    for seed in range(1, 97):
        run_once(seed)
    monkeypatch.setenv("TILE_DISABLE_PASSES", "load-decisions-once")
    with pytest.raises((AssertionError, tile.TileError)):  # These schedules tell.
        for seed in range(1, 97):
            run_once(seed)
