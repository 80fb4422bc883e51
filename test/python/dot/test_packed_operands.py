"""Operands of dots that are unpacked from words by joins, in any order of their bits."""

from __future__ import annotations

import random

import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

#: Bits of an element's column: four of its word's place, and three of its place in the word.
BITS = 7


@tile.jit
def unpacked_product(
    words_ptr, x_ptr, out_ptr, ORDER: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    BYTES: tl.constexpr,
):  # fmt: skip
    r, c, m = tl.arange(0, ROWS), tl.arange(0, 16), tl.arange(0, COLUMNS)
    words = tl.load(words_ptr + r[:, None] * 16 + c)
    for bit in tl.static_range(3):
        # The new dimension says which half of the bits.
        words = tl.join(words, words >> (16 >> bit))
    parts = (words & 15).to(tl.int8) if BYTES else (words & 15).to(tl.float16)
    a = parts.reshape(ROWS, 2, 2, 2, 2, 2, 2, 2).permute(ORDER).reshape(ROWS, 128)
    b = tl.load(x_ptr + tl.arange(0, 128)[:, None] * COLUMNS + m)
    tl.store(out_ptr + r[:, None] * COLUMNS + m, tl.dot(a, b))


@pytest.mark.every_target
@pytest.mark.parametrize("rows, columns, warps", [(16, 16, 1), (64, 16, 4), (32, 64, 2)])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["fp16", "i8"])
def test_any_order_of_the_bits(rows: int, columns: int, warps: int, seed: int, kind: str) -> None:
    order = random.Random(f"{rows} {warps} {seed}").sample(range(1, BITS + 1), BITS)
    if seed == 0:
        # The one that needs no exchange between the threads of a warp on NVIDIA's GPUs.
        order = [3, 4, 7, 6, 1, 2, 5]
    rng = np.random.default_rng(seed)
    nibbles = rng.integers(0, 16, (rows, 16, 2, 2, 2))
    words = np.zeros((rows, 16), np.uint32)
    for place in np.ndindex(2, 2, 2):
        first, second, third = place
        words |= nibbles[:, :, first, second, third].astype(np.uint32) << (
            16 * first + 8 * second + 4 * third
        )
    dtype, out = (np.float16, "fp32") if kind == "fp16" else (np.int8, "i32")
    x = rng.integers(-8, 8, (128, columns)).astype(dtype)
    found = poisoned((rows, columns), out)
    unpacked_product[(1,)](
        words.view(np.int32), x, found, (0, *order), rows, columns, kind == "i8", num_warps=warps
    )
    a = nibbles.reshape(rows, *[2] * BITS).transpose(0, *order).reshape(rows, 128)
    np.testing.assert_array_equal(found, a @ x.astype(np.int64))
