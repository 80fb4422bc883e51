"""Two loops that add to one sum: in tensor memory, the second goes on where the first ends."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl

pytestmark = sim_only


@tile.jit
def in_two_loops(
    a_ptr, b_ptr, c_ptr, middle_ptr, K, cut, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr,
    HOW: tl.constexpr,
):  # fmt: skip
    rows, columns, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    places = rows[:, None] * N + columns[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, cut, BK):
        a = tl.load(a_ptr + rows[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + columns[None, :])
        acc = tl.dot(a, b, acc)
    if HOW == "read":
        tl.store(middle_ptr + places, acc)
    if HOW == "scaled":
        acc = acc * 0.5
    other = acc
    for start in range(cut, K, BK):
        a = tl.load(a_ptr + rows[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + columns[None, :])
        acc = tl.dot(a, b, acc)
        if HOW == "twice":
            other = tl.dot(a, b, other)
    if HOW == "twice":
        acc = acc + other
    tl.store(c_ptr + places, acc)


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:90"])
@pytest.mark.parametrize("how", ["", "read", "scaled", "twice"])
@pytest.mark.parametrize("m", [64, 128])
def test_a_second_loop_goes_on(target, how, m, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    n, bk, k = 64, 32, 128
    rng = np.random.default_rng(m + len(how))
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    wide = a.astype(np.float64), b.astype(np.float64)
    for cut in (0, 32, 96, 128):
        c, middle = poisoned((m, n), "fp32"), poisoned((m, n), "fp32")
        kernel = in_two_loops[(1,)](a, b, c, middle, k, cut, m, n, bk, how)
        first, second = (wide[0][:, s] @ wide[1][s] for s in (slice(cut), slice(cut, k)))
        expected = {"scaled": first * 0.5 + second, "twice": 2 * (first + second)}
        np.testing.assert_allclose(c, expected.get(how, first + second), rtol=1e-3, atol=1e-3)
        if how == "read":
            np.testing.assert_allclose(middle, first, rtol=1e-3, atol=1e-3)
    asked = re.findall(r"tcgen05\.alloc[^;]*, (\d+);", kernel.asm["ptx"])
    # One buffer: a sum takes a column for each of its columns.
    if target != "cuda:90" and how in ("", "read"):
        assert asked == [str(n)]
