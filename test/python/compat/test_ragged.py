"""Tiles of batches: nothing of the neighbours is read or written."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile import compat

compat.install()
from triton.tools import ragged_tma  # noqa: E402

ROWS, COLUMNS, TILE = 40, 16, 8
#: Where batches begin, and how long they are.
BATCHES = [(0, 5), (5, 8), (13, 0), (13, 17), (30, 10)]
load_ragged, store_ragged = ragged_tma.load_ragged, ragged_tma.store_ragged
atomic_add_ragged = ragged_tma.atomic_add_ragged


@tile.jit
def copy_batch(source, target, offset, size, HEIGHT: tl.constexpr, ADD: tl.constexpr):
    row = tl.program_id(0) * HEIGHT
    data = load_ragged(source, offset, size, [row, 0])
    if ADD:
        atomic_add_ragged(target, offset, size, [row, 0], data)
    else:
        store_ragged(target, offset, size, [row, 0], data)


@tile.jit
def copy_middle(source, target, offset, size, HEIGHT: tl.constexpr):
    row = tl.program_id(0) * HEIGHT
    data = load_ragged(source, offset, size, [1, row, 0], ragged_dim=1)
    store_ragged(target, offset, size, [1, row, 0], data, ragged_dim=1)


@sim_only
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("offset, size", BATCHES)
def test_rows(offset, size, add):
    x = random((ROWS, COLUMNS), "fp32")
    out = np.zeros_like(x) if add else poisoned((ROWS, COLUMNS), "fp32")
    before = out.copy()
    source = ragged_tma.create_ragged_descriptor(x, [TILE, COLUMNS])
    target = ragged_tma.create_ragged_descriptor(out, [TILE, COLUMNS])
    copy_batch[(3,)](source, target, offset, size, HEIGHT=TILE, ADD=add)
    inside = slice(offset, offset + size)
    before[inside] = x[inside]
    assert np.array_equal(out.view(np.int32), before.view(np.int32))


@sim_only
@pytest.mark.parametrize("offset, size", BATCHES)
def test_a_dimension_in_the_middle(offset, size):
    x, out = random((3, ROWS, COLUMNS), "fp32"), poisoned((3, ROWS, COLUMNS), "fp32")
    before = out.copy()
    source = ragged_tma.create_ragged_descriptor(x, [1, TILE, COLUMNS], ragged_dim=1)
    target = ragged_tma.create_ragged_descriptor(out, [1, TILE, COLUMNS], ragged_dim=1)
    copy_middle[(3,)](source, target, offset, size, HEIGHT=TILE)
    inside = slice(offset, offset + size)
    before[1, inside] = x[1, inside]
    assert np.array_equal(out.view(np.int32), before.view(np.int32))


def test_wrong_blocks_are_refused():
    with pytest.raises(ValueError, match="block_shape has 1 dimensions, expected 2"):
        ragged_tma.create_ragged_descriptor(np.zeros((4, 16), np.float32), [16])
