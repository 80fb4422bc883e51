"""Where kernels of tests find their matrices."""

from __future__ import annotations

from tile.experimental import gluon
from tile.experimental.gluon import language as gl


@gluon.jit
def pointers(base, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    """The addresses of a matrix of M rows and N columns, one row after the other."""
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, LAYOUT))
    return base + rows[:, None] * N + columns[None, :]
