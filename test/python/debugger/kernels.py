"""Kernels that tests debug. Tests find lines by the comments behind them."""

# ruff: noqa: F841
# The debugger shows what is assigned, used or not.

from __future__ import annotations

from pathlib import Path

import tile
import tile.language as tl

FILE = str(Path(__file__).resolve())


def line_of(comment: str) -> int:
    """The line that ends with a comment."""
    lines = Path(FILE).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


@tile.jit
def scaled(value, factor):
    result = value * factor  # in scaled
    return result + 1  # end of scaled


@tile.jit
def rows(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)  # first
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(3):  # loop
        x = tl.load(x_ptr + row * stride + columns, mask, other=0.0)  # load
        y = scaled(x, i)  # call
        total += y  # sum
    highest = tl.max(total)  # reduce
    narrow = (total - highest).to(tl.float16)
    half = narrow.to(tl.bfloat16)
    count = (total > 0).to(tl.int8)
    pair = (highest, row + 1)
    tl.store(out_ptr + row * stride + columns, total, mask)  # store
    if highest > 10:
        extra = highest * 2
        tl.store(out_ptr + row * stride, extra)  # under a condition


@tile.jit
def product(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rm[:, None] * K + (k + rk)[None, :])
        b = tl.load(b_ptr + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(a, b, acc)
        step = k // BK  # after the dot
    c = acc.to(tl.float16)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], c)  # store of the dot


@tile.jit
def specialized(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), warp_specialize=True):
        a = a_desc.load([0, k * BK])
        b = b_desc.load([k * BK, 0])
        acc = tl.dot(a, b, acc)
        step = k + 1  # after the specialized dot
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc)  # store of acc


@tile.jit
def neighbours(x_ptr):
    i = tl.program_id(0)
    x = tl.load(x_ptr + i + 1)  # racing load
    tl.store(x_ptr + i, x)  # racing store


@tile.jit
def outside(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x)  # out of bounds


@tile.jit(noinline=True)
def outlined(value, factor):
    result = value * factor  # in outlined
    return result + 1  # end of outlined


@tile.jit
def mixed(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    block = tl.make_block_ptr(x_ptr, [BLOCK], [1], [0], [BLOCK], [0])
    x = tl.load(block)
    i = 0
    while i < 3:
        if i == 1:
            x = x + 100
        else:
            x = outlined(x, 2.0)  # call of outlined
        i += 1
    for s in tl.static_range(3):
        z = x + s
        x = tl.where(offsets > s, z, x)
    turned = tl.trans(tl.reshape(x, (16, BLOCK // 16)))
    sums = tl.cumsum(turned, 0)
    highest, where = tl.max(sums, 1, return_indices=True)
    pair = (highest, (where, 3))
    wide = x.to(tl.int64)
    small = x.to(tl.float8e5)
    tl.store(out_ptr + offsets, x)  # store of mixed
