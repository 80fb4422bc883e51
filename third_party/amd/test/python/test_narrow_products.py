"""Dots with fewer than 16 rows or columns, on MFMA of 4 rows, executed."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl

_RESULTS = {np.dtype(np.int8): np.int32}


@pytest.fixture(params=["gfx90a", "gfx942", "gfx950"], autouse=True)
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", f"hip:{request.param}")
    return request.param


@tile.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    sums = tl.load(c + m[:, None] * N + n[None, :])
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + n[None, :])
        sums = tl.dot(left, right, sums, out_dtype=sums.dtype)
    tl.store(c + m[:, None] * N + n[None, :], sums)


def check(dtype, m, n, k, **options):
    """Small whole numbers, whose sums are exact in every type."""
    rng = np.random.default_rng(m + n)
    a, b = rng.integers(-3, 4, (m, 2 * k)), rng.integers(-3, 4, (2 * k, n))
    before = rng.integers(-9, 9, (m, n))
    c = before.astype(_RESULTS.get(np.dtype(dtype), np.float32))
    kernel = product[(1,)](a.astype(dtype), b.astype(dtype), c, 2 * k, M=m, N=n, BK=k, **options)
    assert (c == a @ b + before).all()
    used = set(re.findall(r"v_mfma_\w+", kernel.asm["amdgcn"]))
    # As gfx90a writes them.
    older = {"4x4x4f16": "4x4x4_16b_f16", "4x4x4bf16_1k": "4x4x4_16b_bf16",
             "4x4x1f32": "4x4x1_16b_f32", "4x4x4i8": "4x4x4_16b_i8"}  # fmt: skip
    for old, new in older.items():
        used = {re.sub(f"{old}$", new, name) for name in used}
    return kernel.asm["ttgir"], used


@pytest.mark.parametrize(("m", "n", "warps"), [(4, 64, 1), (8, 128, 4), (64, 4, 2), (256, 8, 4)])
def test_sizes(m, n, warps):
    ttgir, used = check(np.float16, m, n, 64, num_warps=warps)
    wide = "4, 64" if m < n else "64, 4"
    assert f"instrShape = [{wide}, 64], isTransposed = {'false' if m < n else 'true'}" in ttgir
    assert used == {"v_mfma_f32_4x4x4_16b_f16"}


@pytest.mark.parametrize(
    ("dtype", "k", "name"),
    [(ml_dtypes.bfloat16, 128, "f32_4x4x4_16b_bf16"), (np.int8, 128, "i32_4x4x4_16b_i8"),
     (np.float32, 32, "f32_4x4x1_16b_f32"), (ml_dtypes.float8_e5m2, 64, "f32_4x4x4_16b_f16")],
)  # fmt: skip
def test_types(dtype, k, name):
    for m, n in ((8, 64), (64, 4)):
        assert check(dtype, m, n, k, num_warps=2)[1] == {f"v_mfma_{name}"}


def test_more_neighbours_along_k():
    ttgir, used = check(np.float16, 4, 64, 128, num_warps=1, kpack=2)
    assert "kWidth = 8" in ttgir and used == {"v_mfma_f32_4x4x4_16b_f16"}


def test_products_that_could_take_larger_ones():
    """Where users ask for 4 rows."""
    options = {"num_warps": 4, "matrix_instr_nonkdim": 4}
    for m, n in ((32, 64), (64, 16)):
        assert check(np.float16, m, n, 64, **options)[1] == {"v_mfma_f32_4x4x4_16b_f16"}
    # Smaller than that in every way.
    assert not check(np.float16, 4, 16, 64, num_warps=1)[1]


@pytest.mark.parametrize(
    ("m", "n", "k", "rows"), [(128, 64, 32, 4), (16, 128, 64, 32), (8, 64, 64, 16)]
)
def test_rows_that_do_not_fit_are_as_none_asked_for(m, n, k, rows):
    """Where no instruction has as many rows and fits; narrow ones have K = 64."""
    used = check(np.float16, m, n, k, num_warps=4, matrix_instr_nonkdim=rows)[1]
    assert used and used == check(np.float16, m, n, k, num_warps=4)[1]
