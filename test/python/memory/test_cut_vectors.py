"""Masks that cut a vector of elements that a thread would access at once.

The arrays end where the mask ends, so the simulator finds an access behind it.
"""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import DTYPES, poisoned, random

import tile
import tile.language as tl

TARGETS = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100")
N = 1024


@tile.jit
def copy_kernel(x_ptr, out_ptr, low, high, shape: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    if shape == "below":
        mask = i < high
    elif shape == "from":
        mask = i >= low
    elif shape == "not below":
        mask = ~(i < low)
    elif shape == "swapped":
        mask = high > i
    elif shape == "between":
        mask = (low <= i) & (i < high)
    elif shape == "equal":
        mask = i == low
    elif shape == "outside":
        mask = (i < low) | (i >= high)
    else:
        mask = i % high == low
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=mask), mask=mask)
    tl.store(out_ptr + N + i, tl.load(x_ptr + i, mask=mask, other=3))


def holds(shape: str, low: int, high: int) -> np.ndarray:
    i = np.arange(N)
    return {
        "below": i < high,
        "swapped": i < high,
        "from": i >= low,
        "not below": i >= low,
        "between": (low <= i) & (i < high),
        "equal": i == low,
        "outside": (i < low) | (i >= high),
        "every": i % high == low,
    }[shape]


BOUNDS = [(1, 1023), (5, 5), (6, 7), (0, 1), (509, 517), (1000, 2), (17, 700), (0, 1024)]


@pytest.mark.sweep(4)
@pytest.mark.compiled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["i8", "fp16", "fp32", "i64"])
@pytest.mark.parametrize(
    "shape", ["below", "from", "not below", "swapped", "between", "equal", "outside", "every"]
)
def test_only_what_the_mask_holds_for_is_accessed(shape, dtype, target, monkeypatch):
    run_on(target, monkeypatch)
    for low, high in BOUNDS:
        mask = holds(shape, low, high)
        size = np.flatnonzero(mask)[-1] + 1 if mask.any() else 1
        x, out = random(size, dtype, low), poisoned(2 * N, dtype)
        before = out.copy()
        copy_kernel[(1,)](x, out, low, high, shape, N)
        whole = np.full(N, 3, DTYPES[dtype])
        whole[mask] = x[mask[:size]]
        np.testing.assert_array_equal(out[N:], whole)
        np.testing.assert_array_equal(out[:N], np.where(mask, whole, before[:N]))


@tile.jit
def rows_kernel(x_ptr, out_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    place = r[:, None] * N + c[None, :]
    value = tl.load(x_ptr + place, mask=mask, other=1)
    tl.store(out_ptr + place, value + value, mask=mask)


@pytest.mark.sweep
@pytest.mark.compiled
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize(("rows", "columns"), [(7, 61), (16, 1), (1, 128), (13, 126)])
def test_rows_that_end_inside_of_a_vector(rows, columns, warps, target, monkeypatch):
    run_on(target, monkeypatch)
    x, out = random((16, 128), "fp16", columns), poisoned((16, 128), "fp16")
    expected = out.copy()
    expected[:rows, :columns] = x[:rows, :columns] * 2
    end = (rows - 1) * 128 + columns
    rows_kernel[(1,)](x.ravel()[:end].copy(), out, rows, columns, 16, 128, num_warps=warps)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.compiled
@pytest.mark.nvidia("its assembly is PTX")
def test_vectors_that_no_bound_cuts_are_whole(monkeypatch):
    run_on("cuda:90", monkeypatch)
    for shape, is_whole in (("below", True), ("between", True), ("every", False)):
        x, out = random(N, "fp16"), poisoned(2 * N, "fp16")
        ptx = copy_kernel[(1,)](x, out, 5, 1001, shape, N).asm["ptx"]
        loads = [line for line in ptx.splitlines() if " ld.global" in line]
        assert any(".v4.b32" in line for line in loads) == is_whole, shape
        assert any(".b16" in line for line in loads), shape


@pytest.mark.compiled
@pytest.mark.simulator
@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx950", "hip:gfx1100"])
def test_vectors_through_buffers_are_whole(target, monkeypatch):
    run_on(target, monkeypatch)
    for shape, is_whole in (("below", True), ("between", True), ("every", False)):
        x, out = random(N, "fp16"), poisoned(2 * N, "fp16")
        assembly = copy_kernel[(1,)](x, out, 5, 1001, shape, N, num_warps=1).asm["amdgcn"]
        for access in ("load", "store"):
            wide = f"buffer_{access}_dwordx4" in assembly or f"buffer_{access}_b128" in assembly
            assert wide == (is_whole or access == "store"), (shape, access)
