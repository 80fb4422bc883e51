"""Dots of what a loop loads, scales and transposes. Their results meet the same load again."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl


@tile.jit
def scaled_products(
    x_ptr, y_ptr, scale_ptr, sum_ptr, part_ptr, near_ptr, columns,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    r = tl.arange(0, ROWS)
    scale = tl.load(scale_ptr + r)
    total = tl.zeros((ROWS, ROWS), tl.float32)
    near = tl.zeros((ROWS,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        at = r[:, None] * columns + c
        mask = (c < columns)[None, :]
        x = tl.load(x_ptr + at, mask, 0.0)
        y = tl.load(y_ptr + at, mask, 0.0)
        total = tl.dot(y, tl.trans(x * scale[:, None]), total)
        part = tl.dot((r[:, None] == r[None, :] + 1).to(tl.float16), y)
        near += tl.sum(part * x, 1)
        tl.store(part_ptr + at, part.to(tl.float16), mask)
    tl.store(sum_ptr + r[:, None] * ROWS + r, total)
    tl.store(near_ptr + r, near)


@pytest.mark.every_target
@pytest.mark.parametrize("warps", [1, 2, 4, 8])
@pytest.mark.parametrize("stages", [1, 2, 5])
@pytest.mark.parametrize("rows, block, columns", [(64, 64, 128), (32, 64, 72), (64, 16, 40)])
def test_scaled_and_transposed(
    warps: int, stages: int, rows: int, block: int, columns: int
) -> None:
    rng = np.random.default_rng(warps * stages + rows)
    x, y = (rng.integers(-4, 5, (rows, columns)).astype(np.float16) for _ in range(2))
    scale = rng.integers(-2, 3, rows).astype(np.float16)
    total = poisoned((rows, rows), "fp32")
    part, near = poisoned((rows, columns), "fp16"), poisoned((rows,), "fp32")
    scaled_products[(1,)](
        x, y, scale, total, part, near, columns, rows, block, num_warps=warps, num_stages=stages
    )
    wide = [v.astype(np.int64) for v in (x, y, scale)]
    moved = np.vstack([np.zeros((1, columns), np.int64), wide[1][:-1]])
    np.testing.assert_array_equal(total, wide[1] @ (wide[0] * wide[2][:, None]).T)
    np.testing.assert_array_equal(part, moved)
    np.testing.assert_array_equal(near, (moved * wide[0]).sum(1))
