"""The part of the language that is written in the language itself."""

from __future__ import annotations

from ..runtime.jit import constexpr_function, jit  # noqa: F401 (Programs take these from here.)
from .arithmetic import minimum
from .creation import zeros, zeros_like  # noqa: F401
from .math import exp, fdiv
from .methods import method
from .reductions import (  # noqa: F401
    all,
    any,
    argmax,
    argmin,
    max,
    min,
    reduce_or,
    sum,
    xor_sum,
)
from .scans import cumlogsumexp, cummax, cummin, cumprod, cumsum  # noqa: F401
from .sorting import _log2, bitonic_merge, flip, sort, topk  # noqa: F401
from .values import constexpr


@method()
@jit
def cdiv(x, div):
    """x / div, rounded up.

    Both are positive integers.

    Refused: ``tl.cdiv(tl.arange(0, 4), 2.0)``.

    >>> tl.cdiv(tl.arange(0, 4), 2)
    [0 1 1 2]
    """
    return (x + div - 1) // div


@method()
@jit
def sigmoid(x):
    """1 / (1 + exp(-x)).

    Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
    convert them with `.to(tl.float32)`.

    Refused: ``tl.sigmoid(tl.arange(0, 4))``.

    >>> tl.sigmoid(tl.zeros([2], tl.float32))
    [0.5 0.5]
    """
    return 1 / (1 + exp(-x))


@jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Reorders a grid of size_i x size_j so that groups of size_g rows go
    column by column: neighbours in time share more of their operands.

    Refused: ``tl.swizzle2d(p, 1, 2, 2, 2)``.

    >>> i, j = tl.swizzle2d(1, 0, 2, 2, 2)
    >>> i
    0
    """
    # The position in row-major order, and the group of rows it falls into.
    ij = i * size_j + j
    size_gj = size_g * size_j
    group_id = ij // size_gj
    off_i = group_id * size_g
    # The last group may have fewer rows.
    size_g = minimum(size_i - off_i, size_g)
    ij = ij % size_gj
    new_i = off_i + ij % size_g
    new_j = ij // size_g
    return new_i, new_j


@method()
@jit
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    """exp(x) / sum(exp(x)) along `dim`, which is 0 by default.

    Refused: ``tl.softmax(tl.load(p))``.

    >>> tl.softmax(tl.zeros([4], tl.float32))
    [0.25 0.25 0.25 0.25]
    """
    axis: constexpr = 0 if dim is None else dim
    z = x - max(x, axis, keep_dims=True)
    num = exp(z)
    den = sum(num, axis, keep_dims=True)
    return fdiv(num, den, ieee_rounding)
