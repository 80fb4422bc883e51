"""Blocks that descriptors store or add before the tensor begins, and tensors whose rows go down in
memory. The copy engine can do neither, so that these go by pointers. What is outside is dropped."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

M, N = 16, 32


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


SOURCE = """
import tile
import tile.language as tl

@tile.jit
def kernel(out, table, steps, n, rows, ADD: tl.constexpr, SPECIALIZE: tl.constexpr,
           M: tl.constexpr, N: tl.constexpr):
    desc = tl.make_tensor_descriptor(out, [rows, N], [N, 1], [M, N])
    pid = tl.program_id(0)
    carried = -M
    for t in tl.range(0, steps, warp_specialize=SPECIALIZE):
        x = tl.full([M, N], t + 1, tl.float32)
        at = {offset}
        if ADD:
            desc.atomic_add([at, 0], x)
        else:
            desc.store([at, 0], x)
        tl.debug_barrier()
        carried += M // 2
"""
TABLE = np.array([-8, 0, 24, -16, 8], np.int32)
#: The text of an offset, and its value in iteration t for an argument n.
OFFSETS = {
    "difference": ("(t - 1) * 16", lambda t, n: (t - 1) * 16),
    "quotient": ("(t * 16 - 32) // 2", lambda t, n: (t * 16 - 32) // 2),
    "remainder": ("(t - 4) % 4 * 16", lambda t, n: int(math.fmod(t - 4, 4)) * 16),
    "shift": ("(t - 1) << 4", lambda t, n: (t - 1) << 4),
    "shift to the right": ("(t * 32 - 32) >> 1", lambda t, n: (t * 32 - 32) >> 1),
    "loaded": ("tl.load(table + t)", lambda t, n: TABLE[t]),
    "negative product": ("(1 - t) * 16", lambda t, n: (1 - t) * 16),
    "argument": ("n * 8", lambda t, n: n * 8),
    "product with an argument": ("n * t * 8", lambda t, n: n * t * 8),
    "quotient by an argument": ("t * 32 // n", lambda t, n: t * 32 // n),
    "carried": ("carried", lambda t, n: -M + t * (M // 2)),
    "minimum": ("tl.minimum(t * 16, n * 8)", lambda t, n: min(t * 16, n * 8)),
    "selected": ("tl.where(t % 2 == 0, t * 16, -8)", lambda t, n: t * 16 if t % 2 == 0 else -8),
    "exclusive or": ("(t ^ -1) * 8", lambda t, n: (t ^ -1) * 8),
    "with the program": ("(t + pid - 1) * 16", lambda t, n: (t - 1) * 16),
}


@pytest.mark.sweep
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("how", OFFSETS)
def test_blocks_that_begin_before(how, add, specialize, tmp_path):
    text, value = OFFSETS[how]
    path = tmp_path / "offsets.py"
    path.write_text(SOURCE.format(offset=text))
    namespace: dict = {"__name__": "offsets"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    steps, rows, n = len(TABLE), 3 * M - 4, -2
    out, expected = np.zeros((rows + 8, N), np.float32), np.zeros((rows + 8, N), np.float32)
    namespace["kernel"][(1,)](out, TABLE, steps, n, rows, add, specialize, M, N, num_warps=4)
    for t in range(steps):
        first, end = max(value(t, n), 0), min(value(t, n) + M, rows)
        if first < end:
            expected[first:end] = t + 1 + (expected[first:end] if add else 0)
    np.testing.assert_array_equal(out, expected)


@tile.jit
def store_tiles(out, rows, columns, GROUP: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """A persistent program's tiles, in groups of rows."""
    desc = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [M, N])
    down, across = tl.cdiv(rows, M), tl.cdiv(columns, N)
    for tile_ in tl.range(tl.program_id(0), down * across, tl.num_programs(0)):
        first = tile_ // (GROUP * across) * GROUP
        size = min(down - first, GROUP)
        row = first + tile_ % (GROUP * across) % size
        column = tile_ % (GROUP * across) // size
        desc.store([row * M, column * N], tl.full([M, N], row * 16 + column, tl.float32))


def test_tiles_in_groups_are_stored_by_the_engine():
    out, rows, columns = poisoned((6 * M, 4 * N), "fp32"), 6 * M, 4 * N
    kernel = store_tiles[(3,)](out, rows, columns, 4, M, N, num_warps=4)
    row, column = np.mgrid[:rows, :columns]
    np.testing.assert_array_equal(out, row // M * 16 + column // N)
    assert "cp.async.bulk.tensor" in kernel.asm["ptx"]


@tile.jit
def store_from_the_end(out, L, heads, M: tl.constexpr, N: tl.constexpr):
    """The blocks of heads, the last one first, as causal attention takes them."""
    desc = tl.make_tensor_descriptor(out, [heads * L, N], [N, 1], [M, N])
    blocks = L // M
    for t in tl.range(tl.program_id(0), heads * blocks, tl.num_programs(0)):
        block, first = blocks - 1 - t % blocks, t // blocks * L
        desc.store([first + block * M, 0], tl.full([M, N], t, tl.float32))


def test_blocks_from_the_end_are_stored_by_the_engine():
    heads, blocks = 3, 4
    out = poisoned((heads, blocks, M, N), "fp32")
    kernel = store_from_the_end[(2,)](out, blocks * M, heads, M, N, num_warps=4)
    number = np.arange(heads * blocks).reshape(heads, blocks)[:, ::-1]
    np.testing.assert_array_equal(out, np.broadcast_to(number[:, :, None, None], out.shape))
    assert "cp.async.bulk.tensor" in kernel.asm["ptx"]


@tile.jit
def copy_down(x, y, first, rows, stride, M: tl.constexpr, N: tl.constexpr):
    """Rows that go down in memory where the stride is negative."""
    source = tl.make_tensor_descriptor(x + first, [rows, N], [stride, 1], [M, N])
    target = tl.make_tensor_descriptor(y + 2 * first, [rows, N], [stride * 2, 1], [M, N])
    for k in tl.range(0, rows, M):
        target.store([k, 0], source.load([k, 0]) + 1)


@pytest.mark.parametrize("stride", [N, -N])
def test_rows_that_go_down(stride):
    rows = 2 * M + 3
    x = np.random.default_rng(1).standard_normal((rows, N)).astype(np.float32)
    y = np.zeros((2 * rows, N), np.float32)
    first = 0 if stride > 0 else (rows - 1) * N
    kernel = copy_down[(1,)](x, y, first, rows, stride, M, N)
    np.testing.assert_array_equal(y[::2], x + 1)
    assert ("cp.async.bulk.tensor" in kernel.asm["ptx"]) == (stride > 0)


@tile.jit
def store_down(out, rows: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    last = out + (rows - 1) * N
    desc = tl.make_tensor_descriptor(last, [rows, N], [-N, 1], [M, N])
    for k in tl.range(0, rows, M):
        desc.store([k, 0], tl.full([M, N], k, tl.float32))


def test_a_constant_negative_stride():
    out = np.zeros((2 * M, N), np.float32)
    store_down[(1,)](out, 2 * M, M, N)
    np.testing.assert_array_equal(out[::-1], (np.arange(2 * M) // M * M)[:, None].repeat(N, 1))
