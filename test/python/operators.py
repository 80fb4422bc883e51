"""Operators as functions that kernels call."""

from __future__ import annotations

import tile


@tile.jit
def add(x, y):
    return x + y


@tile.jit
def sub(x, y):
    return x - y


@tile.jit
def mul(x, y):
    return x * y


@tile.jit
def div(x, y):
    return x / y
