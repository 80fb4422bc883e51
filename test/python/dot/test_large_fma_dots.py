"""Large dots without a matrix instruction: a loop over slices, with the sums of straight line.

A thread of one warp has many multiply-adds, and so a loop. With more warps, or without the pass,
the same dot is in straight line. Each element is added up in the order of K: all bits are the same.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from machines import run_on
from reference import DTYPES, poisoned, sim_only

import tile
import tile.language as tl

pytestmark = sim_only

#: What all dots of a function may have in straight line (lib/Conversion/.../RollFMADots.cpp).
LIMIT = 4096


@tile.jit
def dots(
    a, b, c, m, n,
    COUNT: tl.constexpr, STAGES: tl.constexpr, WIDE: tl.constexpr, ACC: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), ACC)
    for i in tl.range(COUNT, num_stages=STAGES):
        x = tl.load(
            a + (i * m + rows[:, None]) * K + inner[None, :], mask=rows[:, None] < m, other=0
        )
        y = tl.load(
            b + (i * K + inner[:, None]) * n + columns[None, :],
            mask=columns[None, :] < n, other=0,
        )  # fmt: skip
        if WIDE:
            x, y = x.to(ACC), y.to(ACC)
        total = tl.dot(x, y, total, input_precision="ieee", out_dtype=ACC)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=inside)


@tile.jit
def batches(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None]
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    inner = tl.arange(0, K)
    x = tl.load(a + (batch * M + rows[None, :, None]) * K + inner[None, None, :])
    y = tl.load(b + (batch * K + inner[None, :, None]) * N + columns[None, None, :])
    z = tl.dot(x, y, input_precision="ieee")
    tl.store(c + (batch * M + rows[None, :, None]) * N + columns[None, None, :], z)


@tile.jit
def several(a, b, c, COUNT: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    for i in tl.static_range(COUNT):
        x = tl.load(a + (i * M + rows[:, None]) * K + inner[None, :])
        y = tl.load(b + (i * K + inner[:, None]) * N + columns[None, :])
        z = tl.dot(x, y, input_precision="ieee")
        tl.store(c + (i * M + rows[:, None]) * N + columns[None, :], z)


@tile.jit
def of_one_operand(a, b, c, COUNT: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + rows[:, None] * K + inner[None, :])
    for i in tl.static_range(COUNT):
        y = tl.load(b + (i * K + inner[:, None]) * N + columns[None, :])
        z = tl.dot(x, y, input_precision="ieee")
        tl.store(c + (i * M + rows[:, None]) * N + columns[None, :], z)


def multiply_adds(kernel) -> int:
    """Those of a thread in the code, each two that are one instruction as two."""
    calls = re.findall(r"call (?:<(\d+) x )?.*@llvm\.fma\.", kernel.asm["llir"])
    return sum(int(width or 1) for width in calls)


def operands(kind: str, *shapes) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    if kind == "i8":
        return [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
    return [rng.standard_normal(shape).astype(DTYPES[kind]) for shape in shapes]


def run(kind, target, monkeypatch, count=1, stages=1, sizes=(128, 64), wide=False):
    """The results on one warp and on eight, the exact one, and the kernel of one warp."""
    run_on(target, monkeypatch)
    m, n = sizes
    k = 32 if kind == "fp64" else 64  # The operands are in shared memory.
    of_sum, acc = {
        "fp64": ("fp64", tl.float64),
        "i8": ("i32", tl.int32),
    }.get(kind, ("fp32", tl.float32))
    a, b = operands(kind, (count, m, k), (count, k, n))
    results, kernels = [], []
    for warps in (1, 8):
        c = poisoned((m, n), of_sum)
        kernels.append(
            dots[(1,)](a, b, c, m, n, count, stages, wide, acc, 128, 64, k, num_warps=warps)
        )
        results.append(c)
    exact = np.matmul(a.astype(np.float64), b.astype(np.float64)).sum(0)
    if kind != "i8":
        # Another order would give other bits.
        small = a[0].astype(DTYPES[of_sum]), b[0].astype(DTYPES[of_sum])
        forward, backward = (
            sum(small[0][:, i, None] * small[1][None, i] for i in order)
            for order in (range(k), reversed(range(k)))
        )
        assert (forward != backward).mean() > 0.3
    return *results, exact, kernels


KINDS = [
    ("fp32", "cuda:80"),
    ("fp32", "cuda:90"),
    ("fp32", "hip:gfx1100"),
    ("fp64", "cuda:75"),
    ("fp64", "hip:gfx1100"),
    ("fp16", "cuda:75"),
    ("i8", "cuda:75"),
]


@pytest.mark.parametrize("kind, target", KINDS)
@pytest.mark.parametrize("sizes", [(128, 64), (101, 59)])
def test_a_loop_gives_the_bits_of_straight_line(kind, target, sizes, monkeypatch):
    rolled, straight, exact, kernels = run(kind, target, monkeypatch, sizes=sizes)
    np.testing.assert_array_equal(rolled, straight)
    np.testing.assert_allclose(
        rolled.astype(np.float64), exact, rtol=0, atol={"i8": 0, "fp64": 1e-12}.get(kind, 1e-4)
    )
    if kind != "i8":
        one, eight = map(multiply_adds, kernels)
        # 16,384 of them in 16 slices, and 2,048 in straight line. For fp64 it is half of this.
        assert (one, eight) == (1024, 1024 if kind == "fp64" else 2048)


@pytest.mark.parametrize("target", ["cuda:80", "hip:gfx1100"])
def test_the_bits_of_the_same_warp_in_straight_line(target, monkeypatch):
    """Without the pass, 8,192 multiply-adds of the same thread."""
    run_on(target, monkeypatch)
    a, b = operands("fp32", (1, 64, 64), (1, 64, 64))
    results = []
    for disabled, expected in (("", 1024), ("roll-fma-dots", 8192)):
        c = poisoned((64, 64), "fp32")
        kernel = several[(1,)](a, b, c, 1, 64, 64, 64, num_warps=1, disable_passes=disabled)
        assert multiply_adds(kernel) == expected
        results.append(c)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("kind, target", [("fp32", "cuda:80"), ("fp32", "hip:gfx1100")])
def test_operands_in_rings_and_in_loops(kind, target, monkeypatch):
    """The loop over slices is in another loop, whose copies run ahead."""
    for stages in (1, 3):
        rolled, straight, exact, kernels = run(kind, target, monkeypatch, count=5, stages=stages)
        np.testing.assert_array_equal(rolled, straight)
        np.testing.assert_allclose(rolled, exact, rtol=0, atol=2e-4)
        assert multiply_adds(kernels[0]) <= LIMIT


@pytest.mark.parametrize("kind, target", [("fp16", "cuda:80"), ("bf16", "hip:gfx1100")])
def test_operands_that_are_converted_first(kind, target, monkeypatch):
    rolled, straight, exact, kernels = run(kind, target, monkeypatch, wide=True)
    np.testing.assert_array_equal(rolled, straight)
    np.testing.assert_allclose(rolled, exact, rtol=0, atol=1e-4)
    assert multiply_adds(kernels[0]) == 1024


@pytest.mark.parametrize("target", ["cuda:80", "hip:gfx1100"])
def test_batches(target, monkeypatch):
    """8,192 multiply-adds on one warp, and 1,024 on eight."""
    run_on(target, monkeypatch)
    a, b = operands("fp32", (4, 32, 64), (4, 64, 32))
    results = []
    for warps in (1, 8):
        c = poisoned((4, 32, 32), "fp32")
        kernel = batches[(1,)](a, b, c, 4, 32, 32, 64, num_warps=warps)
        assert multiply_adds(kernel) == 1024
        results.append(c)
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], a.astype(np.float64) @ b, rtol=0, atol=1e-4)


@pytest.mark.parametrize("target", ["cuda:80", "hip:gfx1100"])
@pytest.mark.parametrize("count", [2, 12])
def test_all_dots_of_a_function_count(target, count, monkeypatch):
    """Each of the dots alone is within the limit, with 2,048."""
    run_on(target, monkeypatch)
    a, b = operands("fp32", (count, 32, 64), (count, 64, 32))
    results = []
    for warps in (1, 4):
        c = poisoned((count, 32, 32), "fp32")
        kernel = several[(1,)](a, b, c, count, 32, 32, 64, num_warps=warps)
        found = multiply_adds(kernel)
        if warps == 1:
            assert found <= LIMIT
        if count == 2:
            assert found == 2 * 2048 // warps
        results.append(c)
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], a.astype(np.float64) @ b, rtol=0, atol=1e-4)


@pytest.mark.parametrize("target", ["cuda:80", "hip:gfx1100"])
def test_dots_of_one_operand_share_its_slices(target, monkeypatch):
    run_on(target, monkeypatch)
    a, b = operands("fp32", (64, 64), (3, 64, 64))
    results = []
    for warps in (1, 8):
        c = poisoned((3, 64, 64), "fp32")
        kernel = of_one_operand[(1,)](a, b, c, 3, 64, 64, 64, num_warps=warps)
        assert multiply_adds(kernel) <= LIMIT
        results.append(c)
        # The left operand, and one right operand after the other.
        assert kernel.shared <= 3 * 64 * 64 * 4
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], a.astype(np.float64) @ b, rtol=0, atol=1e-4)
