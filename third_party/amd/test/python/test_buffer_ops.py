"""Accesses through buffer descriptors, executed: bounds, masks, bases and what stays a pointer."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tile
import tile.language as tl

rng = np.random.default_rng(5)


@pytest.fixture(params=["hip:gfx942", "hip:gfx1100", "hip:gfx1201"], autouse=True)
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", request.param)
    return request.param


def count(kernel, opcode: str) -> int:
    return kernel.asm["ttgir"].count(opcode)


@tile.jit
def masked(x, y, out, n, other, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask, other=other)
    w = tl.load(y + i, mask=mask & (i % 2 == 0), other=0)
    tl.store(out + i, v + w, mask=(i < n + 3) & (i != 5))


@pytest.mark.sweep
@pytest.mark.parametrize("kind", [np.int8, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n", [1000, 1024])
def test_masks(kind, n):
    x, y = rng.integers(-9, 9, (2, n)).astype(kind)
    out = np.full(n + 3, 7, kind)
    kernel = masked[(2,)](x, y, out, n, 3, BLOCK=1024)
    assert count(kernel, "amdg.buffer_load") == 2
    assert count(kernel, "amdg.buffer_store") == 1
    i = np.arange(n)
    expected = np.full(n + 3, 3, kind)
    expected[:n] = x + np.where(i % 2 == 0, y, 0)
    expected[5] = 7
    assert (out == expected).all()


@tile.jit
def known(x, out, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < N, other=0)
    tl.store(out + i, v * 2, mask=(i < N) & (i >= 0))


@pytest.mark.parametrize("n", [256, 200])
def test_masks_that_are_always_true(n):
    x = np.arange(n, dtype=np.int32)
    out = np.zeros_like(x)
    kernel = known[(1,)](x, out, N=n, BLOCK=256)
    assert count(kernel, "arith.cmpi") == (n < 256)
    assert (out == 2 * x).all()


@tile.jit
def rows(x, out, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    start = row.to(tl.int64) * stride
    v = tl.load(x + start + column, mask=column < columns, other=-1.0)
    tl.store(out + start + column, v * 2, mask=column < columns)


def test_rows_start_far_from_the_argument():
    x = rng.standard_normal((5, 300)).astype(np.float32)
    out = np.zeros_like(x)
    kernel = rows[(5,)](x, out, 290, 300, BLOCK=512)
    assert count(kernel, "amdg.buffer_") == 2
    expected = np.zeros_like(x)
    expected[:, :290] = x[:, :290] * 2
    assert (out == expected).all()


@tile.jit
def column_sums(x, out, rows, stride, STEP: tl.constexpr, BLOCK: tl.constexpr, DOWN: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first = x + column
    if not DOWN:
        first += (rows - STEP) * stride
    p = first[None, :] + tl.arange(0, STEP)[:, None] * stride
    sums = tl.zeros((STEP, BLOCK), tl.float32)
    for _ in range(0, rows, STEP):
        sums += tl.load(p)
        if DOWN:
            p += STEP * stride
        else:
            p -= STEP * stride
    tl.store(out + column, tl.sum(sums, 0))


@pytest.mark.parametrize("down", [True, False])
def test_pointers_that_loops_advance(down):
    x = rng.integers(-9, 9, (24, 128)).astype(np.float32)
    out = np.zeros(128, np.float32)
    column_sums[(2,)](x, out, 24, 128, STEP=8, BLOCK=64, DOWN=down)
    assert (out == x.sum(0)).all()


@tile.jit
def nested(x, out, N, K, BM: tl.constexpr, BK: tl.constexpr):
    row, k = tl.arange(0, BM), tl.arange(0, BK)
    p = x + row[:, None] * K + k[None, :]
    sums = tl.zeros((BM, BK), tl.float32)
    for _ in range(0, N, BM):
        q = p
        for _ in range(0, K, BK):
            sums += tl.load(q)
            q += BK
        p += BM * K
    tl.store(out + row[:, None] * BK + k[None, :], sums)


def test_pointers_that_nested_loops_advance():
    x = rng.integers(-9, 9, (48, 64)).astype(np.float32)
    out = np.zeros((16, 32), np.float32)
    nested[(1,)](x, out, 48, 64, BM=16, BK=32)
    assert (out == x.reshape(3, 16, 2, 32).sum((0, 2))).all()


@tile.jit
def shifted(x, out, shift, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i + shift
    tl.store(out + i, tl.load(x + at, mask=at >= 0, other=100))


def test_negative_offsets_are_pointers():
    x = np.arange(256, dtype=np.int32)
    out = np.zeros_like(x)
    shifted[(1,)](x, out, -10, BLOCK=256)
    assert (out == np.where(x < 10, 100, x - 10)).all()


@tile.jit
def backwards(x, out, middle, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + middle - i))


def test_offsets_from_the_middle():
    x = np.arange(256, dtype=np.int32)
    out = np.zeros(128, np.int32)
    backwards[(1,)](x, out, 127, BLOCK=128)
    assert (out == x[:128][::-1]).all()


@tile.jit
def strided(x, out, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i * stride, mask=i < n, other=0))


def test_large_arguments_are_pointers(monkeypatch):
    x, out = np.arange(512, dtype=np.int32), np.zeros(64, np.int32)
    kernel = strided[(1,)](x, out, 64, 8, BLOCK=64)
    assert count(kernel, "amdg.buffer_load") == 1
    assert kernel._metadata["small_arguments"] == [0]
    assert not kernel.variants
    monkeypatch.setattr("tile.runtime.overlap._SMALL", 1024)
    out[:] = 0
    kernel = strided[(1,)](x, out, 64, 8, BLOCK=64)
    assert (out == x[::8]).all()
    (variant,) = kernel.variants
    assert count(variant, "amdg.buffer_load") == 0
    # A part of it, from where there is less.
    strided[(1,)](x[384:], out, 16, 8, BLOCK=64)
    assert (out[:16] == x[384::8]).all()
    assert len(kernel.variants) == 1


@tile.jit
def blocks(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) + 1)


@pytest.mark.parametrize("columns", [80, 2**30 + 16])
def test_descriptors(columns):
    # Rows that are not accessed would have offsets of more than 32 bits.
    rows = 50 if columns < 2**30 else 1
    x = np.arange(rows * 80, dtype=np.int32)
    out = np.zeros_like(x)
    grid = (2, 3) if rows > 1 else (1, 2)
    kernel = blocks[grid](x, out, rows, columns, BM=32, BN=32)
    assert count(kernel, "amdg.buffer_") == 2
    reached = x.size if rows > 1 else 64
    assert (out[:reached] == x[:reached] + 1).all() and not out[reached:].any()


@tile.jit
def gathered(x, starts, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    start = tl.load(starts + row)
    tl.store(out + row * BLOCK + i, tl.load(x + start + i))


def test_bases_that_are_loaded():
    x = np.arange(1024, dtype=np.int32)
    starts = np.array([700, 3, 512, 96], np.int32)
    out = np.zeros((4, 128), np.int32)
    gathered[(4,)](x, starts, out, BLOCK=128)
    assert (out == starts[:, None] + np.arange(128)).all()


@tile.jit
def add_at(x, counts, old, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask)
    tl.store(old + i, tl.atomic_add(counts + i % 64, v, mask=mask), mask=mask)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32])
def test_atomics(kind):
    x = rng.integers(1, 9, 500).astype(kind)
    counts, old = np.zeros(64, kind), np.full(500, -1, kind)
    kernel = add_at[(2,)](x, counts, old, 500, BLOCK=256)
    assert count(kernel, "amdg.buffer_atomic_rmw") == 1
    expected = np.zeros(64, kind)
    np.add.at(expected, np.arange(500) % 64, x)
    assert (counts == expected).all()
    assert (old >= 0).all() and (old < expected[np.arange(500) % 64]).all()


@tile.jit
def one_for_all(x, out, BLOCK: tl.constexpr):
    # Fewer elements than threads: several load what one stores.
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + 1)
    tl.store(out + i, tl.load(x + (i ^ 1)) * 2)


def test_stores_come_before_loads_of_others():
    x = np.arange(32, dtype=np.int32)
    out = np.zeros_like(x)
    one_for_all[(1,)](x, out, BLOCK=32)
    assert (out == ((np.arange(32) ^ 1) + 1) * 2).all()


@tile.jit
def outside(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


@pytest.mark.simulator
def test_bounds_of_arrays_are_checked():
    # The bounds of a buffer are 2^31 bytes: wider than the array.
    with pytest.raises(tile.sim.SimulationError, match=r"(?s)test_buffer_ops\.py.*out-of-bounds"):
        outside[(1,)](np.zeros(120, np.int32), np.zeros(128, np.int32), BLOCK=128)


@tile.jit
def summed(x, some, out, rows, stride, n, limit, BLOCK: tl.constexpr):
    row, i = tl.arange(0, 4)[:, None], tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((4, BLOCK), tl.float32)
    for k in range(0, tl.cdiv(n, BLOCK)):
        at = row * stride + k * BLOCK + i
        total += tl.load(x + at, mask=(i < n - k * BLOCK) & (row < rows), other=0)
        # All lanes or none.
        total += tl.load(some + at, mask=k < limit, other=0)
    tl.store(out + row * BLOCK + i, total)


@pytest.mark.parametrize("n", [0, 100, 256, 500])
def test_bases_that_loops_move(n):
    block = 128
    x = rng.integers(-9, 9, (3, 500)).astype(np.float32)
    some = rng.integers(-9, 9, (4, 500)).astype(np.float32)
    out = np.full((4, block), 7, np.float32)
    kernel = summed[(1,)](x, some, out, 3, 500, n, 2, BLOCK=block)
    expected = np.zeros_like(out)
    for k in range(-(-n // block)):
        part = x[:, k * block : min(n, (k + 1) * block)]
        expected[:3, : part.shape[1]] += part
        if k < 2:
            expected += some[:, k * block :][:, :block]
    assert (out == expected).all()
    # One descriptor each, and offsets in scalar registers.
    loads = re.findall(r"buffer_load_\w+ .*, s\d+ offen", kernel.asm["amdgcn"])
    assert len(loads) >= 2
