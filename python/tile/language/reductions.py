"""Reductions, and the types that they and scans compute in."""

from __future__ import annotations

from ..runtime.jit import constexpr_function, jit
from . import dtypes as dt
from .arithmetic import maximum, minimum, where
from .axes import places
from .collective import reduce
from .creation import checked_axis
from .methods import method
from .program import static_assert
from .values import constexpr

# Choice of types.


@constexpr_function
def _sum_type(dtype, wanted):
    """Sums of small integers are int32 (uint32 if unsigned, as booleans are)."""
    if wanted is not None:
        return wanted
    if dtype.is_int() and dtype.int_bitwidth < 32:
        return dt.int32 if dtype.is_int_signed() else dt.uint32
    return dtype


@constexpr_function
def _accumulation_type(dtype):
    """Small floats are added up in float32: their own sums soon stop growing."""
    return dt.float32 if dtype.is_floating() and dtype.primitive_bitwidth < 32 else dtype


@constexpr_function
def _order_type(dtype):
    """Small numbers are compared as 32-bit ones."""
    if dtype.primitive_bitwidth >= 32:
        return dtype
    if dtype.is_floating():
        return dt.float32
    return dt.int32


@constexpr_function
def _scan_type(dtype, wanted):
    if wanted is not None:
        return wanted
    if dtype.is_int() and dtype.int_bitwidth < 32:
        return dt.int32 if dtype.is_int_signed() else dt.uint32
    return dt.float32 if dtype.is_bf16() else dtype


@constexpr_function
def _index_type(dtype):
    """Indices need a type that the values' comparison does not widen."""
    return dt.float32 if dtype.is_bf16() else dtype


# Reductions.


@jit
def _add(a, b):
    return a + b


@jit
def _mul(a, b):
    return a * b


@jit
def _xor(a, b):
    return a ^ b


@jit
def _or(a, b):
    return a | b


@jit
def _and(a, b):
    return a & b


@jit
def _max(a, b):
    return maximum(a, b)


@jit
def _min(a, b):
    return minimum(a, b)


# Of equals the first stays: reductions combine in order. A number beats NaN.


@jit
def _argmax(value1, index1, value2, index2):
    first = (value1 >= value2) | (value2 != value2)
    return where(first, value1, value2), where(first, index1, index2)


@jit
def _argmin(value1, index1, value2, index2):
    first = (value1 <= value2) | (value2 != value2)
    return where(first, value1, value2), where(first, index1, index2)


_axis = constexpr_function(checked_axis)


@constexpr_function
def _is_power_of_two(number):
    return number & (number - 1) == 0


@method()
@jit
def sum(input, axis=None, keep_dims=False, dtype: constexpr = None):
    """The sum along `axis`.

    Integers below 32 bits are summed as 32-bit ones, unless `dtype` says
    otherwise. Floats below 32 bits are added up in float32 and then rounded.

    `axis` may be a tuple of axes. `axis=None` takes all and gives a scalar. `keep_dims` keeps the
    dimensions, with one element.

    Refused: ``tl.sum(tl.arange(0, 4), axis=1)``.

    >>> tl.sum(tl.arange(0, 4).reshape(2, 2), axis=1)
    [1 5]

    >>> tl.sum(tl.arange(0, 8).reshape(2, 2, 2), axis=(0, -1))
    [10 18]
    """
    wanted: constexpr = _sum_type(input.dtype, dtype)
    values = input.to(wanted).to(_accumulation_type(wanted))
    return reduce(values, axis, _add, keep_dims=keep_dims).to(wanted)


@jit
def _extreme(
    input, axis, indices: constexpr, keep_dims: constexpr, combine: constexpr,
    with_index: constexpr,
):  # fmt: skip
    if indices:
        values = input.to(_index_type(input.dtype))
        return reduce((values, places(values, axis)), axis, with_index, keep_dims=keep_dims)
    return reduce(input.to(_order_type(input.dtype)), axis, combine, keep_dims=keep_dims)


# The first of equals is as quick as any of them.


@method()
@jit
def max(
    input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False
):
    """The largest element along `axis`, and its index if asked for.

    `axis` may be a tuple of axes. `axis=None` takes all and gives a scalar. `keep_dims` keeps the
    dimensions, with one element. `return_indices` gives a pair; the index is that of `tl.argmax`.

    Refused: ``tl.max(tl.arange(0, 4), axis=1)``.

    >>> tl.max(tl.arange(0, 4).reshape(2, 2), axis=0)
    [2 3]
    """
    return _extreme(input, axis, return_indices, keep_dims, _max, _argmax)


@method()
@jit
def min(
    input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False
):
    """The smallest element along `axis`, and its index if asked for.

    `axis` may be a tuple of axes. `axis=None` takes all and gives a scalar. `keep_dims` keeps the
    dimensions, with one element. `return_indices` gives a pair; the index is that of `tl.argmin`.

    Refused: ``tl.min(tl.arange(0, 4), axis=1)``.

    >>> tl.min(tl.arange(0, 4).reshape(2, 2), axis=0)
    [0 1]
    """
    return _extreme(input, axis, return_indices, keep_dims, _min, _argmin)


@method()
@jit
def argmax(input, axis, tie_break_left=True, keep_dims=False):
    """The index of the largest element along `axis`.

    Of equal elements the one with the lowest index counts, whatever `tie_break_left` says. Of
    several axes, `(0, 2)` or None, the index counts their elements row by row.

    Refused: ``tl.argmax(tl.arange(0, 4), axis=1)``.

    >>> tl.argmax(tl.arange(0, 4) % 3, axis=0)
    2

    >>> tl.argmax(tl.arange(0, 4).reshape(2, 2) % 3, axis=None)
    2
    """
    _, index = max(
        input,
        axis,
        return_indices=True,
        return_indices_tie_break_left=tie_break_left,
        keep_dims=keep_dims,
    )
    return index


@method()
@jit
def argmin(input, axis, tie_break_left=True, keep_dims=False):
    """The index of the smallest element along `axis`.

    Of equal elements the one with the lowest index counts, whatever `tie_break_left` says. Of
    several axes, `(0, 2)` or None, the index counts their elements row by row.

    Refused: ``tl.argmin(tl.arange(0, 4), axis=1)``.

    >>> tl.argmin(tl.arange(0, 4) % 3, axis=0)
    0
    """
    _, index = min(
        input,
        axis,
        return_indices=True,
        return_indices_tie_break_left=tie_break_left,
        keep_dims=keep_dims,
    )
    return index


@method()
@jit
def xor_sum(input, axis=None, keep_dims=False):
    """The bitwise exclusive or along `axis`, of integers.

    `axis` may be a tuple of axes. `axis=None` takes all and gives a scalar. `keep_dims` keeps the
    dimensions, with one element.

    Refused: ``tl.xor_sum(tl.arange(0, 4).to(tl.float32), axis=0)``.

    >>> tl.xor_sum(tl.arange(0, 4), axis=0)
    0
    """
    static_assert(input.dtype.is_int(), "xor_sum takes integers")
    return reduce(input, axis, _xor, keep_dims=keep_dims)


@method()
@jit
def reduce_or(input, axis, keep_dims=False):
    """The bitwise or along `axis`, of integers.

    `axis` may be a tuple of axes. `axis=None` takes all and gives a scalar. `keep_dims` keeps the
    dimensions, with one element.

    Refused: ``tl.reduce_or(tl.arange(0, 4).to(tl.float32), axis=0)``.

    >>> tl.reduce_or(tl.arange(0, 4), axis=0)
    3
    """
    static_assert(input.dtype.is_int(), "reduce_or takes integers")
    return reduce(input, axis, _or, keep_dims=keep_dims)


@method()
@jit
def any(input, axis=None, keep_dims=False):
    """Whether an element along `axis` differs from zero.

    `axis` may be a tuple of axes, or None for all. `keep_dims` keeps the dimensions, with one
    element.

    Refused: ``tl.any(tl.arange(0, 4), axis=1)``.

    >>> tl.any(tl.arange(0, 4).reshape(2, 2) > 2, axis=1)
    [0 1]
    """
    return reduce(input.to(dt.int1), axis, _or, keep_dims=keep_dims)


@method()
@jit
def all(input, axis=None, keep_dims=False):
    """Whether all elements along `axis` differ from zero.

    `axis` may be a tuple of axes, or None for all. `keep_dims` keeps the dimensions, with one
    element.

    Refused: ``tl.all(tl.arange(0, 4), axis=1)``.

    >>> tl.all(tl.arange(0, 4).reshape(2, 2), axis=1)
    [0 1]
    """
    return reduce(input.to(dt.int1), axis, _and, keep_dims=keep_dims)
