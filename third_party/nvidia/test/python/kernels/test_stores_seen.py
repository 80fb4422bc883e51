"""What the copy engine stores, read by everything that reads global memory: the store is complete
before that."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

N = 64


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")


@tile.jit
def powers(
    buf, w_ptr, out_ptr, rounds, steps, HOW: tl.constexpr, SPECIALIZE: tl.constexpr,
    STAGES: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Each round multiplies what the round before stored in `buf`: its blocks side by side."""
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    desc = tl.make_tensor_descriptor(buf, [N, steps * N], [steps * N, 1], [N, N])
    acc = tl.zeros([N, N], tl.float32)
    for _r in tl.range(0, rounds):
        acc = tl.zeros([N, N], tl.float32)
        for k in tl.range(0, steps, num_stages=STAGES, warp_specialize=SPECIALIZE):
            if HOW == "descriptor":
                x = desc.load([0, k * N])
            else:
                x = tl.load(buf + i * (steps * N) + k * N + j)
            acc = tl.dot(x, tl.load(w_ptr + i * N + j), acc)
        for k in tl.range(0, steps):
            desc.store([0, k * N], (acc * (k + 1)).to(tl.float16))
    tl.store(out_ptr + i * N + j, acc)


@pytest.mark.sweep
@pytest.mark.parametrize("how", ["pointers", "descriptor"])
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("stages", [1, 3])
def test_loops_read_what_the_round_before_stored(how, specialize, stages):
    generator = np.random.default_rng(1)
    rounds, steps = 3, 2
    buf = generator.integers(-1, 2, (N, steps * N)).astype(np.float16)
    w = np.diag(generator.choice([-1, 1], N)).astype(np.float16)
    out, expected = poisoned((N, N), "fp32"), buf.astype(np.float64)
    powers[(1,)](buf, w, out, rounds, steps, how, specialize, stages, N, num_warps=4)
    for _ in range(rounds):
        acc = sum(expected[:, k * N : (k + 1) * N] @ w.astype(np.float64) for k in range(steps))
        expected = np.concatenate([acc * (k + 1) for k in range(steps)], axis=1)
    np.testing.assert_array_equal(out, acc)
    np.testing.assert_array_equal(buf, expected)


@tile.jit
def seen(buf, x_ptr, out_ptr, steps, READ: tl.constexpr, N: tl.constexpr):
    """Stores a tile in each iteration, and reads one of those that were stored before."""
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    desc = tl.make_tensor_descriptor(buf, [steps * N, N], [N, 1], [N, N])
    row = tl.make_tensor_descriptor(buf, [steps * N, N], [N, 1], [1, N])
    total = tl.zeros([N, N], tl.float32)
    for t in tl.range(0, steps):
        before = tl.maximum(t - 1, 0)
        desc.store([t * N, 0], tl.load(x_ptr + (t * N + i) * N + j))
        at = buf + (before * N + i) * N + j
        if READ == "load":
            total += tl.load(at)
        elif READ == "descriptor":
            total += desc.load([before * N, 0])
        elif READ == "gather":
            total += row.gather(before * N + tl.arange(0, N), 0)
        elif READ == "atomic":
            total += tl.atomic_add(at, tl.full([N, N], 0, tl.float32))
        elif READ == "cas":
            total += tl.atomic_cas(at, tl.full([N, N], 99.0, tl.float32), 1.0)
        elif READ == "volatile":
            total += tl.load(at, volatile=True)
        elif READ == "scalar":
            total += tl.load(buf + before * N * N)
        elif READ == "call":
            total += read(at)
        elif READ == "store":
            tl.store(at, tl.full([N, N], 7.0, tl.float32))
        else:
            row.atomic_add([before * N, 0], tl.full([1, N], 1.0, tl.float32))
    tl.store(out_ptr + i * N + j, total)


@tile.jit(noinline=True)
def read(at):
    return tl.load(at)


READS = ("load", "descriptor", "gather", "atomic", "cas", "volatile", "scalar", "call", "store",
         "reduce")  # fmt: skip


@pytest.mark.parametrize("how", READS)
def test_everything_that_reads_sees_what_was_stored(how):
    steps = 4
    x = np.random.default_rng(2).integers(-9, 10, (steps, N, N)).astype(np.float32)
    buf, out = poisoned((steps, N, N), "fp32"), poisoned((N, N), "fp32")
    seen[(1,)](buf, x, out, steps, how, N, num_warps=4)
    total, stored = np.zeros((N, N)), np.zeros((steps, N, N))
    for t in range(steps):
        before = max(t - 1, 0)
        stored[t] = x[t]
        if how == "store":
            stored[before] = 7
        elif how == "reduce":
            stored[before][0] += 1
        else:
            total += stored[before][0, 0] if how == "scalar" else stored[before]
    np.testing.assert_array_equal(out, total)
    np.testing.assert_array_equal(buf, stored)
