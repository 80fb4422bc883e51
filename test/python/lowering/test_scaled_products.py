"""tl.dot_scaled, which is decomposed into products of 16-bit floats."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

MAGNITUDES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
E2M1 = np.concatenate([MAGNITUDES, -MAGNITUDES])


@tile.jit
def scaled_kernel(
    a, a_scale, b, b_scale, c, A: tl.constexpr, B: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B == "e2m1" else 1
    rows, cols, groups = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    inner_a, inner_b = tl.arange(0, K // PACK_A), tl.arange(0, K // PACK_B)
    x = tl.load(a + rows[:, None] * (K // PACK_A) + inner_a[None, :])
    y = tl.load(b + inner_b[:, None] * N + cols[None, :])
    if a_scale is None:
        x_scale = None
    else:
        x_scale = tl.load(a_scale + rows[:, None] * (K // 32) + groups[None, :])
    if b_scale is None:
        y_scale = None
    else:
        y_scale = tl.load(b_scale + cols[:, None] * (K // 32) + groups[None, :])
    total = tl.dot_scaled(x, x_scale, A, y, y_scale, B)
    tl.store(c + rows[:, None] * N + cols[None, :], total)


def operand(form: str, rows: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """An operand with its inner dimension last, as the kernel gets it, and its value."""
    rng = np.random.default_rng(seed)
    if form == "e2m1":
        codes = rng.integers(0, 16, (rows, k)).astype(np.uint8)
        return codes[:, ::2] | codes[:, 1::2] << 4, E2M1[codes]
    if form in ("e4m3", "e5m2"):
        kind = ml_dtypes.float8_e4m3fn if form == "e4m3" else ml_dtypes.float8_e5m2
        x = rng.standard_normal((rows, k)).astype(kind)
        return x.view(np.uint8), x.astype(np.float64)
    x = rng.standard_normal((rows, k)).astype(ml_dtypes.bfloat16 if form == "bf16" else np.float16)
    return x, x.astype(np.float64)


def scales(rows: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    codes = np.random.default_rng(seed).integers(120, 132, (rows, k // 32)).astype(np.uint8)
    return codes, np.repeat(2.0 ** (codes.astype(np.float64) - 127), 32, axis=1)


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90"])
@pytest.mark.parametrize(
    ("of_a", "of_b"),
    [
        ("e2m1", "e2m1"), ("e4m3", "e2m1"), ("e2m1", "bf16"), ("bf16", "e2m1"),
        ("e5m2", "e4m3"), ("e2m1", "fp16"), ("fp16", "e2m1"), ("fp16", "e5m2"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("num_warps", [1, 4])
def test_formats(of_a, of_b, num_warps, target, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    m, n, k = 32, 32, 64
    a, a_value = operand(of_a, m, k, 1)
    b, b_value = operand(of_b, n, k, 2)
    a_scale, a_factor = (None, 1) if of_a in ("bf16", "fp16") else scales(m, k, 3)
    b_scale, b_factor = (None, 1) if of_b in ("bf16", "fp16") else scales(n, k, 4)
    out = poisoned((m, n), "fp32")
    scaled_kernel[(1,)](
        a, a_scale, np.ascontiguousarray(b.T), b_scale, out, of_a, of_b, m, n, k,
        num_warps=num_warps,
    )  # fmt: skip
    expected = (a_value * a_factor) @ (b_value * b_factor).T
    np.testing.assert_allclose(out, expected, rtol=2e-2, atol=2e-2 * np.abs(expected).max())
