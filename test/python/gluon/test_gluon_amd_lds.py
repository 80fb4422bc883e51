"""Copies to LDS, and buffers in partitions of it."""

from __future__ import annotations

import numpy as np
import pytest
from amd_machines import LANES, every, matrix, offsets_of
from reference import poisoned
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd.cdna4 import async_copy
from tile.experimental.gluon.language.amd.cdna5 import PartitionedSharedLayout


@gluon.jit
def staged(
    x_ptr, y_ptr, n, trips, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
    SHARED: gl.constexpr, OTHER: gl.constexpr, BUFFER: gl.constexpr, OUT: gl.constexpr,
):  # fmt: skip
    """Two blocks are under way while one is read."""
    buffers = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [2, M, N], SHARED)
    at = offsets_of(M, N, LAYOUT)
    out = offsets_of(M, N, OUT)
    for i in range(trips + 1):
        if i < trips:
            base = i * M * N
            mask = base + at < n
            if BUFFER:
                async_copy.buffer_load_to_shared(
                    buffers.index(i & 1), x_ptr + base, at, mask=mask, other=OTHER
                )
            else:
                async_copy.global_load_to_shared(
                    buffers.index(i & 1), x_ptr + base + at, mask=mask, other=OTHER
                )
        async_copy.commit_group()
        if i > 0:
            async_copy.wait_group(1)
            x = async_copy.load_shared_relaxed(buffers.index((i - 1) & 1), OUT)
            gl.store(y_ptr + (i - 1) * M * N + out, x)


@every
@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8"])
@pytest.mark.parametrize("buffer", [True, False])
@pytest.mark.parametrize("other", [None, 5])
@pytest.mark.parametrize("trips,n", [(3, 3 * 32 * 64), (4, 7000), (0, 0), (1, 100)])
@pytest.mark.parametrize("shared", ["rows", "swizzled", "padded"])
def test_copies_to_lds(shared, trips, n, other, buffer, dtype, target):
    layout = {
        "rows": gl.SwizzledSharedLayout(1, 1, 1, [1, 0]),
        "swizzled": gl.SwizzledSharedLayout(4, 1, 8, [1, 0]),
        "padded": gl.PaddedSharedLayout.with_identity_for([[64, 8]], [32, 64], [1, 0]),
    }[shared]
    x, y = values((max(trips, 1), 32, 64), dtype, 7), poisoned((max(trips, 1), 32, 64), dtype)
    narrow = gl.BlockedLayout([1, 1], [1, LANES[target]], [4, 1], [1, 0])
    load = matrix(target) if n % 2 else narrow
    out = gl.BlockedLayout([2, 1], [LANES[target] // 4, 4], [2, 2], [0, 1])
    report = staged.simulate(
        x, y, n, trips, 32, 64, load, layout, other, buffer, out, grid=(1,), schedules=3
    )
    assert report.ok, report.messages
    if trips:
        inside = np.arange(x.size).reshape(x.shape) < n
        np.testing.assert_array_equal(y, np.where(inside, x, other or 0).astype(x.dtype))


# Buffers in partitions of LDS.


@gluon.jit
def through_parts(
    x_ptr, y_ptr, z_ptr, M: gl.constexpr, N: gl.constexpr, ROWS: gl.constexpr, BUFFER: gl.constexpr,
    LAYOUT: gl.constexpr,
):  # fmt: skip
    """Each part of some rows is read, and written back times three."""
    at = offsets_of(M, N, LAYOUT)
    buffer = gl.allocate_shared_memory(gl.int32, [M, N], BUFFER, gl.load(x_ptr + at))
    for i in gl.static_range(M // ROWS):
        part = buffer.slice(i * ROWS, ROWS)
        read = part.load(LAYOUT)
        gl.store(z_ptr + i * ROWS * N + offsets_of(ROWS, N, LAYOUT), read)
        part.store(read * 3)
    gl.store(y_ptr + at, buffer.load(LAYOUT))


PIECES = [(2, 1, 0), (2, 2, 0), (4, 1, 1), (1, 2, 1), (4, 2, 0)]


def in_pieces(shape, partitions, groups, dim, padded):
    piece = [e // (partitions * groups) if d == dim else e for d, e in enumerate(shape)]
    if padded:
        inside = gl.PaddedSharedLayout.with_identity_for([[16, 4]], piece, [1, 0])
    else:
        inside = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
    return PartitionedSharedLayout(partitions, groups, dim, inside), piece, inside


@every
@pytest.mark.sweep(3)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("pieces", PIECES)
@pytest.mark.parametrize("rows", [8, 32])
def test_buffers_in_partitions(target, pieces, padded, rows):
    shape = [32, 64]
    buffer, _, _ = in_pieces(shape, *pieces, padded)
    x, y, z = (
        values(shape, "i16", 1).astype(np.int32),
        poisoned(shape, "i32"),
        poisoned(shape, "i32"),
    )
    arguments = (x, y, z, 32, 64, rows, buffer, matrix(target))
    through_parts[(1,)](*arguments)
    np.testing.assert_array_equal(z, x)
    np.testing.assert_array_equal(y, x * 3)
    y[...], z[...] = 0, 0
    through_parts.interpret(*arguments, grid=(1,))
    np.testing.assert_array_equal(z, x)
    np.testing.assert_array_equal(y, x * 3)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("pieces", PIECES)
def test_places_in_partitions(pieces, padded):
    """Pieces are in partitions in turns, and in each as their own layout says."""
    shape = [32, 64]
    partitions, groups, dim = pieces
    buffer, piece, inside = in_pieces(shape, *pieces, padded)
    bases = gl.to_linear_layout(buffer, shape).offset_bases
    inner = gl.to_linear_layout(inside, piece).offset_bases

    def place(offset, of):
        found = [0, 0]
        for bit, basis in enumerate(of):
            if offset >> bit & 1:
                found = [a ^ b for a, b in zip(found, basis, strict=True)]
        return found

    count = piece[0] * piece[1]
    for offset in range(shape[0] * shape[1]):
        number, rest = divmod(offset, count)
        partition, group = divmod(number, groups)
        expected = place(rest, inner)
        expected[dim] += (group * partitions + partition) * piece[dim]
        assert place(offset, bases) == expected


def test_a_buffer_has_equal_pieces():
    inside = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    with pytest.raises(TileError, match="does not have 4 equal pieces along dimension 0"):
        gl.to_linear_layout(PartitionedSharedLayout(4, 1, 0, inside), [2, 64])
