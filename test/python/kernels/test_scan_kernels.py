"""Associative scans whose state is a tuple, against sequential references."""

from __future__ import annotations

import numpy as np
import pytest
from reference import close, on_nvidia, poisoned, random

import tile
import tile.language as tl


@tile.jit
def compose_affine(a1, b1, a2, b2):
    """x -> a2 * (a1 * x + b1) + b2."""
    return a1 * a2, b1 * a2 + b2


@tile.jit
def linear_recurrence(
    a_ptr, b_ptr, out_ptr, T, D, BT: tl.constexpr, BD: tl.constexpr, REVERSE: tl.constexpr
):
    t, d = tl.arange(0, BT), tl.program_id(0) * BD + tl.arange(0, BD)
    at = t[:, None] * D + d[None, :]
    mask = (t[:, None] < T) & (d[None, :] < D)
    a = tl.load(a_ptr + at, mask=mask, other=1.0)
    b = tl.load(b_ptr + at, mask=mask, other=0.0)
    _, h = tl.associative_scan((a, b), 0, compose_affine, reverse=REVERSE)
    tl.store(out_ptr + at, h, mask=mask)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("steps", "width"), [(16, 5), (100, 17), (256, 1)])
def test_linear_recurrence(warps, reverse, steps, width):
    a = np.random.default_rng(1).uniform(0.5, 1, (steps, width)).astype(np.float32)
    b, out = random((steps, width), "fp32", 2), poisoned((steps, width), "fp32")
    linear_recurrence[(tile.cdiv(width, 8),)](
        a, b, out, steps, width,
        BT=tile.next_power_of_2(steps), BD=8, REVERSE=reverse, num_warps=warps,
    )  # fmt: skip
    state, expected = np.zeros(width), np.empty((steps, width))
    for t in range(steps)[:: -1 if reverse else 1]:
        state = a[t].astype(np.float64) * state + b[t]
        expected[t] = state
    close(out, expected, "fp32", 20)


@tile.jit
def welford(mean1, m2_1, count1, mean2, m2_2, count2):
    count = count1 + count2
    share = tl.where(count == 0.0, 0.0, count2 / count)
    delta = mean2 - mean1
    return mean1 + delta * share, m2_1 + m2_2 + delta * delta * count1 * share, count


@tile.jit
def running_moments(x_ptr, mean_ptr, var_ptr, total_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0)
    ones = tl.where(mask, 1.0, 0.0)
    mean, m2, count = tl.associative_scan((x, tl.zeros_like(x), ones), 0, welford)
    tl.store(mean_ptr + row * n + cols, mean, mask=mask)
    tl.store(var_ptr + row * n + cols, m2 / count, mask=mask)
    total, total_m2, total_count = tl.reduce((x, tl.zeros_like(x), ones), 0, welford)
    tl.store(total_ptr + row * 3, total)
    tl.store(total_ptr + row * 3 + 1, total_m2 / total_count)
    tl.store(total_ptr + row * 3 + 2, total_count)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("n", [1, 33, 500])
def test_running_mean_and_variance(warps, n):
    rows = 3
    x = random((rows, n), "fp32", 5)
    mean, var, total = (
        poisoned((rows, n), "fp32"),
        poisoned((rows, n), "fp32"),
        poisoned((rows, 3), "fp32"),
    )
    running_moments[(rows,)](x, mean, var, total, n, BLOCK=tile.next_power_of_2(n), num_warps=warps)
    wide = x.astype(np.float64)
    count = np.arange(1, n + 1)
    expected_mean = wide.cumsum(1) / count
    expected_var = (wide**2).cumsum(1) / count - expected_mean**2
    close(mean, expected_mean, "fp32", 10)
    close(var, expected_var, "fp32", 20)
    close(total[:, 0], wide.mean(1), "fp32", 10)
    close(total[:, 1], wide.var(1), "fp32", 20)
    np.testing.assert_array_equal(total[:, 2], n)


@tile.jit
def keep_last_valid(value1, valid1, value2, valid2):
    return tl.where(valid2 != 0, value2, value1), valid1 | valid2


@tile.jit
def forward_fill(x_ptr, valid_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x, valid = tl.load(x_ptr + at), tl.load(valid_ptr + at)
    filled, _ = tl.associative_scan((x, valid), AXIS, keep_last_valid)
    tl.store(out_ptr + at, filled)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(4, 64), (64, 4), (32, 32)])
@pytest.mark.parametrize("warps", [1, 4])
def test_forward_fill_is_not_commutative(axis, shape, warps):
    rng = np.random.default_rng(axis)
    x, valid = (
        rng.integers(0, 1000, shape).astype(np.int64),
        (rng.random(shape) < 0.3).astype(np.int8),
    )
    out = poisoned(shape, "i64")
    forward_fill[(1,)](x, valid, out, M=shape[0], N=shape[1], AXIS=axis, num_warps=warps)
    expected = np.moveaxis(x.copy(), axis, 0)
    known = np.moveaxis(valid, axis, 0)
    for i in range(1, expected.shape[0]):
        expected[i] = np.where(known[i] != 0, expected[i], expected[i - 1])
    np.testing.assert_array_equal(out, np.moveaxis(expected, 0, axis))


@pytest.mark.compiled
def test_the_target_is_the_one_asked_for(target):
    out = poisoned((4, 4), "i64")
    ones = np.ones((4, 4), np.int64)
    kernel = forward_fill[(1,)](ones, ones.astype(np.int8), out, M=4, N=4, AXIS=0)
    if on_nvidia():
        assert f".target sm_{target.removeprefix('cuda:')}" in kernel.asm["ptx"]
    else:
        assert f"amdhsa--{target.removeprefix('hip:')}\n" in kernel.asm["amdgcn"].replace('"', "")
