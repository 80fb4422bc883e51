"""Stores by TMA of tiles that begin where memory says: also before the tensor, where TMA cannot."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl
from tile import compat
from tile.tools.tensor_descriptor import TensorDescriptor

compat.install()
from triton.tools import ragged_tma  # noqa: E402

COPY = "cp.async.bulk.tensor.2d.global"
BM, BN, BK = 64, 64, 32


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")


@tile.jit
def tiles_at(
    out, out_ptr, x_ptr, w_ptr, starts_ptr, count, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    """Each program stores tiles, from the row and the column on that memory says."""
    made = tl.make_tensor_descriptor(out_ptr, out.shape, (*out.strides[:-1], 1), out.block_shape)
    i, j, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for t in tl.range(tl.program_id(0), count, tl.num_programs(0), warp_specialize=SPECIALIZE):
        row, column = tl.load(starts_ptr + 2 * t), tl.load(starts_ptr + 2 * t + 1) * 8
        acc = tl.zeros([BM, BN], tl.float32)
        for start in tl.range(0, K, BK):
            x = tl.load(x_ptr + (t * BM + i)[:, None] * K + start + k[None, :])
            w = tl.load(w_ptr + (start + k)[:, None] * BN + j[None, :])
            acc = tl.dot(x, w, acc)
        made.store([row, column], acc.to(tl.float16))


def paste(out, block, row, column):
    """Writes what of a block lies inside."""
    rows, columns = row + np.arange(BM), column + np.arange(BN)
    inside = (rows >= 0) & (rows < out.shape[0])
    along = (columns >= 0) & (columns < out.shape[1])
    out[np.ix_(rows[inside], columns[along])] = block[np.ix_(inside, along)]


@pytest.mark.parametrize("specialize", [False, True])
def test_tiles_before_and_inside_and_behind(specialize):
    generator = np.random.default_rng(3)
    count, depth, shape = 9, 64, (200, 136)
    x = generator.integers(-2, 3, (count * BM, depth)).astype(np.float16)
    w = generator.integers(-2, 3, (depth, BN)).astype(np.float16)
    # Tiles overlap. One program stores all of them, so that the last one wins.
    starts = np.array(
        [(0, 0), (-3, 8), (20, 5), (-64, 0), (150, -2), (10, 11), (-1, -1), (199, 16), (2, 3)],
        np.int32,
    )
    out = poisoned(shape, "fp16")
    expected = out.copy()
    tiles_of_dots = (x.astype(np.float32) @ w.astype(np.float32)).astype(np.float16)
    for t, (row, column) in enumerate(starts):
        paste(expected, tiles_of_dots[t * BM : (t + 1) * BM], row, column * 8)
    desc = TensorDescriptor.from_tensor(out, [BM, BN])
    kernel = tiles_at[(1,)](
        desc, out, x, w, starts, count, depth, BM, BN, BK, specialize, num_warps=4
    )
    np.testing.assert_array_equal(out.view(np.int16), expected.view(np.int16))
    assert COPY in kernel.asm["ptx"]


@pytest.mark.parametrize("columns, copied", [(128, True), (132, False)])
def test_rows_that_the_host_knows_are_copied(columns, copied):
    """A tensor of 132 columns has rows of 264 bytes. TMA would write beyond them."""
    x, w = np.ones((BM, BK), np.float16), np.ones((BK, BN), np.float16)
    whole = poisoned((100, 136), "fp16")
    expected = whole.copy()
    starts = np.array([(40, 9)], np.int32)
    paste(expected[:, :columns], np.full((BM, BN), BK, np.float16), 40, 72)
    desc = TensorDescriptor(whole, [100, columns], [136, 1], [BM, BN])
    kernel = tiles_at[(1,)](desc, whole, x, w, starts, 1, BK, BM, BN, BK, False, num_warps=4)
    np.testing.assert_array_equal(whole.view(np.int16), expected.view(np.int16))
    assert (COPY in kernel.asm["ptx"]) == copied


@tile.jit
def experts(
    out, out_ptr, x_ptr, w_ptr, sizes_ptr, starts_ptr, tiles_ptr, count,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    made = tl.make_tensor_descriptor(out_ptr, out.shape, (*out.strides[:-1], 1), out.block_shape)
    i, j, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for t in tl.range(tl.program_id(0), count, tl.num_programs(0), warp_specialize=SPECIALIZE):
        packed = tl.load(tiles_ptr + t)
        expert, row = packed & 0xFFFF, (packed >> 16) * BM
        size, start = tl.load(sizes_ptr + expert), tl.load(starts_ptr + expert)
        acc = tl.zeros([BM, BN], tl.float32)
        for s in tl.range(0, 2):
            rows = start + (row + i) % size
            x = tl.load(x_ptr + rows[:, None] * 2 * BK + s * BK + k[None, :])
            w = tl.load(w_ptr + (expert * 2 * BK + s * BK + k)[:, None] * BN + j[None, :])
            acc = tl.dot(x, w, acc)
        ragged_tma.store_ragged(made, start, size, [row, 0], acc.to(tl.float16))


@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_tiles_of_experts(seed, specialize):
    """As mixtures of experts store them: some experts are empty, most end within a tile."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 3 * BM, 5).astype(np.int32)
    sizes[generator.integers(0, 5)] = 0
    sizes[(np.argmin(sizes) + 1) % 5] += 1
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    tiles = np.array(
        [e | b << 16 for e in range(5) for b in range(-(-int(sizes[e]) // BM))], np.int32
    )
    rows = int(sizes.sum())
    x = generator.integers(-2, 3, (rows, 2 * BK)).astype(np.float16)
    w = generator.integers(-2, 3, (5, 2 * BK, BN)).astype(np.float16)
    out = poisoned((rows + 7, BN), "fp16")
    expected = out.copy()
    for e in range(5):
        mine = slice(starts[e], starts[e] + sizes[e])
        expected[mine] = x[mine].astype(np.float32) @ w[e].astype(np.float32)
    desc = ragged_tma.create_ragged_descriptor(out, [BM, BN])
    kernel = experts[(3,)](
        desc, out, x, w, sizes, starts, tiles, len(tiles), BM, BN, BK, specialize, num_warps=4
    )
    np.testing.assert_array_equal(out.view(np.int16), expected.view(np.int16))
    assert "cp.async.bulk.tensor.4d.global" in kernel.asm["ptx"]
