"""Kernels with scopes, of which bench/instrumentation.py measures what records cost."""

from __future__ import annotations

import tile
import tile.language as tl
import tile.profiler.language as pl


@tile.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    with pl.scope("load"):
        total = tl.load(x + at, at < n) + tl.load(y + at, at < n)
    with pl.scope("store"):
        tl.store(out + at, total, at < n)


@tile.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns + at
    with pl.scope("load"):
        values = tl.load(x + row, at < columns, other=-float("inf")).to(tl.float32)
    with pl.scope("sum"):
        e = tl.exp(values - tl.max(values, 0))
        e = e / tl.sum(e, 0)
    with pl.scope("store"):
        tl.store(out + row, e.to(tl.float16), at < columns)


@tile.jit
def product(a, b, out, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, K, BLOCK_K):
        with pl.scope("load"):
            left = tl.load(a + i[:, None] * K + first + k[None, :])
            right = tl.load(b + (first + k[:, None]) * N + j[None, :])
        with pl.scope("dot"):
            total = tl.dot(left, right, total)
    with pl.scope("store"):
        tl.store(out + i[:, None] * N + j[None, :], total.to(out.dtype.element_ty))


@tile.jit
def records(out, rounds, BLOCK: tl.constexpr):
    """Records and nothing else."""
    with pl.scope("all"):
        for _ in range(rounds):
            pl.enter_scope("nothing")
            pl.exit_scope("nothing")
    tl.store(out + tl.arange(0, BLOCK), rounds)


@tile.jit
def small(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    with pl.scope("all"):
        tl.store(x + at, tl.load(x + at) + 1)
