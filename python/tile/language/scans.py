"""Scans."""

from __future__ import annotations

from ..runtime.jit import jit
from .arithmetic import maximum, where
from .axes import places
from .collective import associative_scan
from .creation import full
from .math import exp, log
from .methods import method
from .program import static_assert
from .reductions import (
    _accumulation_type,
    _add,
    _argmax,
    _argmin,
    _max,
    _min,
    _mul,
    _order_type,
    _scan_type,
)
from .values import constexpr


@method()
@jit
def cumsum(input, axis=0, reverse=False, dtype: constexpr = None):
    """The sums of all elements up to each along `axis`.

    `reverse` begins at the end.

    Refused: ``tl.cumsum(tl.arange(0, 4), axis=1)``.

    >>> tl.cumsum(tl.arange(0, 4))
    [0 1 3 6]
    """
    return associative_scan(input.to(_scan_type(input.dtype, dtype)), axis, _add, reverse)


@method()
@jit
def cumprod(input, axis=0, reverse=False, dtype: constexpr = None):
    """The products of all elements up to each along `axis`.

    `reverse` begins at the end. `dtype` is the type of the result; without it, integers of less
    than 32 bits become ones of 32.

    Refused: ``tl.cumprod(tl.arange(0, 4), axis=1)``.

    >>> tl.cumprod(tl.arange(1, 5))
    [1 2 6 24]
    """
    return associative_scan(input.to(_scan_type(input.dtype, dtype)), axis, _mul, reverse)


@jit
def _extreme_so_far(
    input, axis, indices: constexpr, reverse: constexpr, combine: constexpr, with_index: constexpr
):
    if indices:
        values = input.to(_order_type(input.dtype))
        best, index = associative_scan((values, places(values, axis)), axis, with_index, reverse)
        return best.to(input.dtype), index
    best = associative_scan(input.to(_order_type(input.dtype)), axis, combine, reverse)
    return best.to(input.dtype)


@method()
@jit
def cummax(input, axis=0, reverse=False, return_indices=False):
    """The largest of all elements up to each along `axis`, and its index if asked for.

    A number beats NaN. Of equal elements the one that comes first counts: with `reverse`, which
    begins at the end, the last. Several axes are gone through row by row.

    Refused: ``tl.cummax(tl.arange(0, 4), axis=1)``.

    >>> tl.cummax(tl.arange(0, 4) % 3)
    [0 1 2 2]
    """
    return _extreme_so_far(input, axis, return_indices, reverse, _max, _argmax)


@method()
@jit
def cummin(input, axis=0, reverse=False, return_indices=False):
    """The smallest of all elements up to each along `axis`, and its index if asked for.

    A number beats NaN. Of equal elements the one that comes first counts: with `reverse`, which
    begins at the end, the last. Several axes are gone through row by row.

    Refused: ``tl.cummin(tl.arange(0, 4), axis=1)``.

    >>> tl.cummin(3 - tl.arange(0, 4), reverse=True)
    [0 0 0 0]
    """
    return _extreme_so_far(input, axis, return_indices, reverse, _min, _argmin)


@jit
def _add_exponentials(most1, sum1, most2, sum2):
    """The sum of two sums, each a number times exp(most)."""
    most = maximum(most1, most2)
    # Nothing is subtracted from an infinity: inf - inf is no number.
    base = where((most == float("inf")) | (most == float("-inf")), 0.0, most)
    return most, sum1 * exp(most1 - base) + sum2 * exp(most2 - base)


@method()
@jit
def cumlogsumexp(input, axis=0, reverse=False):
    """log(sum(exp(x))) of all elements up to each along `axis`, without overflow.

    Takes floats; those below 32 bits are computed in float32 and then rounded. Several axes are
    gone through row by row.

    Refused: ``tl.cumlogsumexp(tl.arange(0, 4), axis=0)``.

    >>> tl.cumlogsumexp(tl.full([2], 1000.0, tl.float32))
    [1000 1000.6931]
    """
    static_assert(input.dtype.is_floating(), "cumlogsumexp takes floats")
    values = input.to(_accumulation_type(input.dtype))
    ones = full(values.shape, 1, values.dtype)
    most, total = associative_scan((values, ones), axis, _add_exponentials, reverse)
    return (most + log(total)).to(input.dtype)
