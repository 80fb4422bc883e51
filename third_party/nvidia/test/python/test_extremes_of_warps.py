"""The greatest and the least float of a warp, where the GPU finds them with one instruction."""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import sim_only

import tile
import tile.language as tl

pytestmark = sim_only


@pytest.fixture
def target(request, monkeypatch) -> str:
    run_on(request.param, monkeypatch)
    return request.param


@tile.jit
def _any_nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tile.jit
def _any_nan_min(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@tile.jit
def extremes(x, out, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    block = tl.load(x + rows[:, None] * N + columns[None, :])
    tl.store(out + rows, tl.max(block, 1))
    tl.store(out + M + rows, tl.min(block, 1))
    tl.store(out + 2 * M + rows, tl.reduce(block, 1, _any_nan_max))
    tl.store(out + 3 * M + rows, tl.reduce(block, 1, _any_nan_min))


def extreme(row: np.ndarray, largest: bool, any_nan: bool) -> np.float32:
    """A zero with a sign is less than one without."""
    numbers = row[row == row]
    if not len(numbers) or (any_nan and len(numbers) < len(row)):
        return np.float32(np.nan)
    key = [(float(v), not np.signbit(v)) for v in numbers]
    return numbers[(max if largest else min)(range(len(key)), key=key.__getitem__)]


@pytest.mark.parametrize("target", ["cuda:90", "cuda:100", "cuda:103", "cuda:110"], indirect=True)
@pytest.mark.parametrize(("m", "n", "warps"), [(8, 32, 1), (4, 128, 4), (2, 512, 4), (1, 512, 8)])
def test_extremes(target, m, n, warps):
    """With infinities, zeros of both signs, and NaN: from none to all. The bits are compared."""
    for seed in range(4):
        chance = np.random.default_rng(seed)
        x = chance.choice([-np.inf, -2, -0.0, 0.0, 1.5, np.inf][seed % 2 :][:4], (m, n))
        share = chance.choice([0, 0.1, 0.9, 1], (m, 1))
        x[chance.random((m, n)) < share] = np.nan
        x = x.astype(np.float32)
        out = np.full((4, m), -7, np.float32)
        kernel = extremes[(1,)](x, out, m, n, num_warps=warps)
        # Several rows of a warp may go from lane to lane together.
        if m <= warps:
            has_it = target in ("cuda:100", "cuda:103")
            assert ("redux.sync.max.f32" in kernel.asm["ptx"]) == has_it
        for i, (any_nan, largest) in enumerate([(0, 1), (0, 0), (1, 1), (1, 0)]):
            wanted = np.array([extreme(row, largest, any_nan) for row in x])
            np.testing.assert_array_equal(np.isnan(out[i]), np.isnan(wanted))
            numbers = ~np.isnan(wanted)
            np.testing.assert_array_equal(
                out[i][numbers].view(np.int32), wanted[numbers].view(np.int32)
            )
