"""Operands of mma.sync whose bytes lie across K: whole warps read them, no thread a byte."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, sim_only
from test_matmul_sweep import KINDS, matmul, operand, strides

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: Targets are named, and what is compiled for them is looked at.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target():
    """Each test names its own, in place of the targets of the other kernels."""


def count(ptx: str) -> dict[str, int]:
    return {
        "matrices": len(re.findall(r"ldmatrix\S*\.trans", ptx)),
        "bytes": len(re.findall(r"ld\.shared\.[bus]8", ptx)),
        "products": ptx.count("mma.sync"),
        "sorts": ptx.count("prmt"),
    }


def run(name, tiles, transposed, **options) -> dict[str, int]:
    """Multiplies matrices of ragged sizes; what the code does for it."""
    kind, accumulator, _, tolerance = KINDS[name]
    bm, bn, bk = tiles
    m, n, k = bm + 3, bn + 16, 2 * bk + 16
    a, b = operand((m, k), kind, 1, transposed[0]), operand((k, n), kind, 2, transposed[1])
    out = poisoned((m, n), "i32" if name == "int8" else "fp32")
    kernel = matmul[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, *strides(a), *strides(b), *strides(out),
        BM=bm, BN=bn, BK=bk, ACC=accumulator, PRECISION="ieee", **options,
    )  # fmt: skip
    if name == "int8":
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32))
    else:
        expected = a.astype(np.float64) @ b.astype(np.float64)
        atol = tolerance * np.sqrt(k)
        np.testing.assert_allclose(out.astype(np.float64), expected, rtol=tolerance, atol=atol)
    return count(kernel.asm["ptx"])


@pytest.mark.sweep
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize(
    ("tiles", "warps"),
    [
        ((16, 16, 32), 1), ((16, 64, 32), 2), ((32, 32, 64), 4), ((64, 64, 32), 1),
        ((64, 128, 64), 4), ((128, 64, 32), 8), ((128, 128, 32), 16), ((64, 256, 32), 8),
        ((32, 64, 128), 4),
    ],
)  # fmt: skip
def test_tiles(tiles, warps, transposed, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    found = run("int8", tiles, transposed, num_warps=warps, num_stages=3)
    assert found["products"] and found["matrices"] and not found["bytes"]


@pytest.mark.parametrize(
    ("name", "target", "tiles"),
    [
        ("int8", "cuda:80", (64, 64, 64)),
        ("int8", "cuda:90", (32, 32, 64)),
        ("e4m3", "cuda:80", (64, 64, 32)),
        ("e4m3", "cuda:89", (64, 64, 64)),
        ("e5m2", "cuda:89", (32, 128, 32)),
        ("e4m3", "cuda:90", (32, 32, 64)),
    ],
)
@pytest.mark.parametrize("stages", [1, 3])
def test_types(name, target, tiles, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    found = run(name, tiles, (False, False), num_stages=stages)
    assert found["products"] and found["matrices"] and not found["bytes"]


def test_counts(monkeypatch):
    """16 words for 16 dots: 4 reads of four matrices, a permutation for each word."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    found = run("int8", (64, 64, 64), (False, False), num_warps=4, num_stages=1)
    assert found["products"] == 16
    assert (found["matrices"], found["bytes"]) == (4, 0)
    assert found["sorts"] == 16


@tile.jit
def weights(x_ptr, w_ptr, out_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(x_ptr + rm[:, None] * K + k + rk[None, :])
        w = tl.load(w_ptr + (k + rk[:, None]) * N + rn[None, :])
        acc = tl.dot(x, w.to(tl.float16), acc)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc)


@pytest.mark.parametrize("warps", [1, 4])
def test_extended_behind_the_read(warps, monkeypatch):
    """Weights of bytes that become halves are still read as bytes."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    rng = np.random.default_rng(0)
    m, n, k = 32, 64, 128
    x = rng.standard_normal((m, k)).astype(np.float16)
    w = rng.integers(-128, 128, (k, n)).astype(np.int8)
    out = poisoned((m, n), "fp32")
    kernel = weights[(1,)](x, w, out, k, M=m, N=n, BK=32, num_warps=warps)
    np.testing.assert_allclose(out, x.astype(np.float64) @ w.astype(np.float64), rtol=1e-3, atol=1)
    found = count(kernel.asm["ptx"])
    assert found["products"] and found["matrices"] and not found["bytes"]


@tile.jit
def scaled(x_ptr, w_ptr, out_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(x_ptr + rm[:, None] * K + k + rk[None, :])
        w = tl.load(w_ptr + (k + rk[:, None]) * N + rn[None, :])
        acc += tl.dot(x, w).to(tl.float32) * (rn[None, :] + k).to(tl.float32)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc)


def test_sum_that_a_loop_uses(monkeypatch):
    """It is needed in its own order in each iteration."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    rng = np.random.default_rng(0)
    m, n, k, bk = 32, 64, 128, 32
    x, w = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    out = poisoned((m, n), "fp32")
    scaled[(1,)](x, w, out, k, M=m, N=n, BK=bk)
    expected = sum(
        (x[:, i : i + bk].astype(np.float64) @ w[i : i + bk]) * (np.arange(n) + i)
        for i in range(0, k, bk)
    )
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1)


@tile.jit
def described(x_desc, w_desc, out_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros((M, N), dtype=tl.int32)
    for k in range(0, K, BK):
        acc = tl.dot(x_desc.load([0, k]), w_desc.load([k, 0]), acc, out_dtype=tl.int32)
    rm, rn = tl.arange(0, M), tl.arange(0, N)
    tl.store(out_ptr + rm[:, None] * N + rn[None, :], acc)


@pytest.mark.parametrize("tiles", [(32, 32, 64), (32, 32, 128)])
def test_descriptors(tiles, monkeypatch):
    """Bulk copies put the operand where it is read from."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    rng = np.random.default_rng(0)
    (m, n, bk), k = tiles, 256
    x, w = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    out = poisoned((m, n), "i32")
    blocks = ((x, [m, bk]), (w, [bk, n]))
    descriptors = (TensorDescriptor.from_tensor(*block) for block in blocks)
    kernel = described[(1,)](*descriptors, out, k, M=m, N=n, BK=bk)
    np.testing.assert_array_equal(out, x.astype(np.int32) @ w.astype(np.int32))
    assert "cp.async.bulk.tensor" in kernel.asm["ptx"]
    found = count(kernel.asm["ptx"])
    assert found["products"] and found["matrices"] and not found["bytes"]
