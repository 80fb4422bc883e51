"""What passes do with loads and stores of tensor memory: extremes, halves, transposed blocks."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_TENSOR_MEMORY", "1")
    return name


@tile.jit
def product(a, b, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, acc):
    """Adds a block of A times B to `acc`. All of M and N are in it."""
    rows, cols, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for start in range(0, K, BK):
        at = start + k
        x = tl.load(a + rows[:, None] * K + at[None, :], at[None, :] < K, 0.0)
        y = tl.load(b + at[:, None] * BN + cols[None, :], at[:, None] < K, 0.0)
        acc = tl.dot(x, y, acc)
    return acc


@tile.jit
def extremes(
    a, b, sums, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr
):
    rows, cols = tl.arange(0, BM), tl.arange(0, BN)
    acc = product(a, b, K, BM, BN, BK, tl.zeros((BM, BN), tl.float32))
    if KIND == "max":
        extreme = tl.max(acc, 1)
    elif KIND == "min":
        extreme = tl.min(acc, 1)
    elif KIND == "magnitude":
        extreme = tl.max(tl.abs(acc), 1)
    else:
        extreme = tl.reduce(acc, 1, keep_nan)
    tl.store(out + rows, extreme)
    tl.store(sums + rows[:, None] * BN + cols[None, :], acc - extreme[:, None])


@tile.jit
def keep_nan(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


EXTREMES = {
    "max": lambda x: np.fmax.reduce(x, 1),
    "min": lambda x: np.fmin.reduce(x, 1),
    "magnitude": lambda x: np.fmax.reduce(np.abs(x), 1),
    "nan": lambda x: np.maximum.reduce(x, 1),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", list(EXTREMES))
@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
@pytest.mark.parametrize(("tile_", "warps"), [((128, 64), 4), ((128, 32), 8), ((64, 64), 4)])
def test_extremes_of_rows(kind, target, tile_, warps):
    """sm_103 and sm_110 reduce what they load. NaNs and infinities are in some rows."""
    bm, bn = tile_
    a, b = random((bm, 80), "fp16", 1), random((80, bn), "fp16", 2)
    a[3, 5], a[9, 0], a[17, 2] = np.nan, np.inf, -np.inf
    sums, out = poisoned((bm, bn), "fp32"), poisoned(bm, "fp32")
    kernel = extremes[(1,)](a, b, sums, out, 80, bm, bn, 32, kind, num_warps=warps)
    # Of eight warps, two have parts of a row.
    reduces = target != "cuda:100" and warps == 4
    assert ("tcgen05.ld.red" in kernel.asm["ptx"]) == reduces
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(out, EXTREMES[kind](expected), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(sums, expected - out[:, None], rtol=1e-3, atol=1e-3)


@tile.jit
def parts(a, b, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FOUR: tl.constexpr):
    acc = product(a, b, K, BM, BN, BK, tl.zeros((BM, BN), tl.float32))
    left, right = acc.reshape(BM, 2, BN // 2).trans(0, 2, 1).split()
    if FOUR:
        l0, l1 = left.reshape(BM, 2, BN // 4).trans(0, 2, 1).split()
        store_part(out, l0, 0, BM, BN, BN // 4)
        store_part(out, l1, 1, BM, BN, BN // 4)
        r0, r1 = right.reshape(BM, 2, BN // 4).trans(0, 2, 1).split()
        store_part(out, r0, 2, BM, BN, BN // 4)
        store_part(out, r1, 3, BM, BN, BN // 4)
    else:
        store_part(out, left, 0, BM, BN, BN // 2)
        store_part(out, right, 1, BM, BN, BN // 2)


@tile.jit
def store_part(
    out, part, number: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SIZE: tl.constexpr
):
    rows, cols = tl.arange(0, BM), number * SIZE + tl.arange(0, SIZE)
    tl.store(out + rows[:, None] * BN + cols[None, :], part * (number + 1))


@pytest.mark.parametrize("four", [False, True])
@pytest.mark.parametrize(
    ("tile_", "warps"), [((128, 128), 4), ((128, 64), 8), ((64, 64), 4), ((128, 16), 4)]
)
def test_parts_of_columns(four, tile_, warps):
    """An epilogue in parts loads part by part."""
    bm, bn = tile_
    a, b = random((bm, 40), "fp16", 1), random((40, bn), "fp16", 2)
    out = poisoned((bm, bn), "fp32")
    kernel = parts[(1,)](a, b, out, 40, bm, bn, 32, four, num_warps=warps)
    assert "tt.split" not in kernel.asm["ttgir"]
    assert kernel.asm["ttgir"].count("tmem_load") == (4 if four else 2)
    count = 4 if four else 2
    factors = np.repeat(np.arange(1, count + 1), bn // count)
    expected = (a.astype(np.float32) @ b.astype(np.float32)) * factors
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)


@tile.jit
def joined(a, b, c, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols, half = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BN // 2)
    at = c + rows[:, None] * BN + half[None, :]
    start = tl.join(tl.load(at), tl.load(at + BN // 2)).trans(0, 2, 1).reshape(BM, BN)
    acc = product(a, b, K, BM, BN, BK, start)
    tl.store(out + rows[:, None] * BN + cols[None, :], acc)


@pytest.mark.parametrize(("tile_", "warps"), [((128, 128), 4), ((128, 64), 8), ((64, 64), 4)])
def test_joined_sums(tile_, warps):
    """A sum that begins with two halves."""
    bm, bn = tile_
    a, b = random((bm, 72), "fp16", 1), random((72, bn), "fp16", 2)
    c, out = random((bm, bn), "fp32", 3), poisoned((bm, bn), "fp32")
    kernel = joined[(1,)](a, b, c, out, 72, bm, bn, 32, num_warps=warps)
    assert "tt.join" not in kernel.asm["ttgir"]
    expected = a.astype(np.float32) @ b.astype(np.float32) + c
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)


@tile.jit
def sum_rows(a, b, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = product(a, b, K, BM, BN, BK, tl.zeros((BM, BN), tl.float32))
    tl.store(out + tl.arange(0, BM), tl.sum(acc * acc, 1))


@pytest.mark.parametrize("warps", [4, 8])
def test_sums_of_rows(warps):
    """No two warps have parts of one row: nothing is exchanged through shared memory."""
    a, b = random((128, 40), "fp16", 1), random((40, 64), "fp16", 2)
    out = poisoned(128, "fp32")
    kernel = sum_rows[(1,)](a, b, out, 40, 128, 64, 32, num_warps=warps)
    expected = ((a.astype(np.float32) @ b.astype(np.float32)) ** 2).sum(1)
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=1e-2)
    text = kernel.asm["ttgir"]
    reduced = text[text.index('"tt.reduce"') :].split("(tensor<128x64xf32, #")[1].split(">")[0]
    layout = text.split(f"#{reduced} = ")[1].split("\n")[0]
    assert "warp = [[32, 0], [64, 0]" in layout
    assert ("[16, 0]]" in layout.split("warp")[1]) == (warps == 8)


@tile.jit
def store_transposed(a, b, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = product(a, b, K, BM, BN, BK, tl.zeros((BM, BN), tl.float32))
    out.store([0, 0], acc.to(tl.float16).T)


@pytest.mark.parametrize(("tile_", "warps"), [((128, 64), 4), ((128, 32), 8), ((64, 64), 4)])
def test_transposed_stores(tile_, warps):
    """A block goes to memory transposed, by way of shared memory."""
    bm, bn = tile_
    a, b = random((bm, 40), "fp16", 1), random((40, bn), "fp16", 2)
    out = poisoned((bn, bm), "fp16")
    desc = TensorDescriptor.from_tensor(out, [bn, bm])
    kernel = store_transposed[(1,)](a, b, desc, 40, bm, bn, 32, num_warps=warps)
    expected = (a.astype(np.float32) @ b.astype(np.float32)).T
    np.testing.assert_allclose(out.astype(np.float32), expected, rtol=1e-2, atol=1e-2)
    assert "stmatrix" in kernel.asm["ptx"]


@pytest.mark.parametrize("four", [False, True])
def test_any_order_of_warps(four, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    test_parts_of_columns(four, (128, 64), 8)
    test_joined_sums((128, 64), 8)
