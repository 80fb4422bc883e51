"""What tests of AMD's GPUs share."""

from __future__ import annotations

import pytest

from tile.experimental import gluon
from tile.experimental.gluon import language as gl

#: Lanes of a wave.
LANES = {"hip:gfx942": 64, "hip:gfx950": 64, "hip:gfx1100": 32, "hip:gfx1200": 32}
every = pytest.mark.parametrize("target", list(LANES), indirect=True)
cdna = pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx950"], indirect=True)
gfx950 = pytest.mark.parametrize("target", ["hip:gfx950"], indirect=True)


def matrix(target: str, rows: int = 1) -> gl.BlockedLayout:
    """Of matrices: four columns a lane."""
    return gl.BlockedLayout([rows, 4], [LANES[target] // 8, 8], [4, 1], [1, 0])


def row(target: str) -> gl.BlockedLayout:
    return gl.BlockedLayout([2], [LANES[target]], [4], [0])


@gluon.jit
def offsets_of(M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, LAYOUT))
    return rows[:, None] * N + columns[None, :]
