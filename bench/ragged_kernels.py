"""Kernels whose last block is not full, as users write them."""

import tile
import tile.language as tl


@tile.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    """Elements of one row of any length."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@tile.jit
def double(x, out, rows, cols, stride, BM: tl.constexpr, BN: tl.constexpr):
    """A part of a matrix whose rows lie `stride` elements apart."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (r < rows)[:, None] & (c < cols)[None, :]
    place = r[:, None] * stride + c[None, :]
    tl.store(out + place, tl.load(x + place, mask=mask, other=0.0) * 2, mask=mask)


@tile.jit
def softmax(x, out, cols, stride, BLOCK: tl.constexpr):
    """One row in one tile; rows lie `stride` elements apart."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    value = tl.exp(value - tl.max(value, 0))
    value /= tl.sum(value, 0)
    tl.store(out + row * stride + c, value.to(out.dtype.element_ty), mask=c < cols)
