"""The part of the language that is written in the language itself."""

from __future__ import annotations

from ..errors import SemanticError
from ..runtime.jit import constexpr_function, jit
from . import dtypes as dt
from .arithmetic import maximum, minimum, where
from .axes import places
from .collective import associative_scan, gather, reduce
from .creation import (
    arange,
    broadcast_to,
    checked_axis,
    expand_dims,
    full,
    join,
    permute,
    reshape,
    split,
    zeros,  # noqa: F401 (Programs take these two from here, too.)
    zeros_like,  # noqa: F401
)
from .math import exp, fdiv, log
from .program import static_assert, static_range
from .values import constexpr, tensor


def _method(*names):
    """Also makes a jit function a method of tensor."""

    def decorate(fn):
        for name in names or (fn.__name__,):
            setattr(tensor, name, fn)
        return fn

    return decorate


# Small integer arithmetic.


@_method()
@jit
def cdiv(x, div):
    """x / div, rounded up.

    Both are positive integers.

    Refused: ``tl.cdiv(tl.arange(0, 4), 2.0)``.

    >>> tl.cdiv(tl.arange(0, 4), 2)
    [0 1 1 2]
    """
    return (x + div - 1) // div


@_method()
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


@_method()
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


@_method()
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


@_method()
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


@_method()
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


@_method()
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


@_method()
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


@_method()
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


@_method()
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


@_method()
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


@_method()
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


# Scans.


@_method()
@jit
def cumsum(input, axis=0, reverse=False, dtype: constexpr = None):
    """The sums of all elements up to each along `axis`.

    `reverse` begins at the end.

    Refused: ``tl.cumsum(tl.arange(0, 4), axis=1)``.

    >>> tl.cumsum(tl.arange(0, 4))
    [0 1 3 6]
    """
    return associative_scan(input.to(_scan_type(input.dtype, dtype)), axis, _add, reverse)


@_method()
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


@_method()
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


@_method()
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


@_method()
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


# Order: sorting networks over a view of the block with two elements a level.


@constexpr_function
def _log2(extent):
    return extent.bit_length() - 1


@constexpr_function
def _last(dim, rank):
    if rank == 0:
        raise SemanticError("a scalar has no dimension to sort along")
    if dim not in (None, -1, rank - 1):
        raise SemanticError(f"only the last dimension of {rank} can be sorted, not {dim}")
    return rank - 1


@constexpr_function
def _pairs(shape, level):
    """The shape in which dimension -2 separates the partners of a level."""
    rows = 1
    for extent in shape[:-1]:
        rows *= extent
    columns = shape[-1]
    inner = 2**level
    return [rows * (columns // (2 * inner)), 2, inner]


@jit
def _compare_and_swap(x, flip, level: constexpr):
    """Orders the pairs whose positions differ in bit `level`."""
    shape: constexpr = x.shape
    y = reshape(x, _pairs(shape, level))
    low, high = split(permute(y, 0, 2, 1))
    swap = (low > high) != _half(flip, shape, level)
    new_low = where(swap, high, low)
    new_high = where(swap, low, high)
    return reshape(permute(join(new_low, new_high), 0, 2, 1), shape)


@jit
def _half(flip, shape: constexpr, level: constexpr):
    """The direction of each pair, from the direction of each element."""
    if isinstance(flip, tensor):
        low, _ = split(permute(reshape(flip, _pairs(shape, level)), 0, 2, 1))
        return low
    return flip


@jit
def _positions(x, bit: constexpr):
    """Whether bit `bit` of the position in the last dimension is set."""
    index = arange(0, x.shape[len(x.shape) - 1])
    set = ((index >> bit) & 1) != 0
    for _ in static_range(len(x.shape) - 1):
        set = expand_dims(set, 0)
    return broadcast_to(set, x.shape)


@jit
def _bitonic_merge(x, stage: constexpr, flip):
    for i in static_range(stage):
        x = _compare_and_swap(x, flip, stage - 1 - i)
    return x


@jit
def bitonic_merge(x, dim: constexpr = None, descending: constexpr = False):
    """Sorts a bitonic sequence: one that first rises and then falls.

    Refused: ``tl.bitonic_merge(tl.load(p))``.

    >>> tl.bitonic_merge(tl.minimum(tl.arange(0, 4), 3 - tl.arange(0, 4)))
    [0 0 1 1]
    """
    axis: constexpr = _last(dim, len(x.shape))
    static_assert(
        _is_power_of_two(x.shape[axis]),
        "bitonic_merge takes a power of two of elements; tl.sort takes any number",
    )
    return _bitonic_merge(x, _log2(x.shape[axis]), descending)


@constexpr_function
def _key_type(dtype):
    """Integers in the order of the elements."""
    if dtype.is_floating():
        return dt.get_int_dtype(dtype.primitive_bitwidth, signed=True)
    return dt.int32 if dtype.is_bool() else dtype


@constexpr_function
def _last_key(dtype, descending):
    """The key that no other comes behind."""
    bits = dtype.primitive_bitwidth - dtype.is_int_signed()
    if descending:
        return -(2**bits) if dtype.is_int_signed() else 0
    return 2**bits - 1


@jit
def _turned(bits):
    """Of negative floats, as integers, the larger one is the smaller float."""
    last: constexpr = _last_key(bits.dtype, False)
    return bits ^ ((bits >> (bits.dtype.primitive_bitwidth - 1)) & last)


@jit
def _to_keys(x, type: constexpr):
    if x.dtype.is_floating():
        return _turned(x.to(type, bitcast=True))
    return x.to(type)


@jit
def _from_keys(keys, dtype: constexpr):
    if dtype.is_floating():
        return _turned(keys).to(dtype, bitcast=True)
    return keys.to(dtype)


@constexpr_function
def _padded_extent(extent):
    return 1 << (extent - 1).bit_length()


@jit
def _first(x, count: constexpr):
    """The first elements along the last dimension."""
    axis: constexpr = len(x.shape) - 1
    index = arange(0, count)
    for _ in static_range(axis):
        index = expand_dims(index, 0)
    return gather(x, broadcast_to(index, _with_last(x.shape, count)), axis)


@constexpr_function
def _with_last(shape, extent):
    return [*shape[:-1], extent]


@jit
def _sort_padded(x, descending: constexpr):
    """Sorts any number of elements: among as many as a network takes, the others come last.

    Keys are compared instead of floats, so that the others come behind NaNs, too.
    """
    axis: constexpr = len(x.shape) - 1
    count: constexpr = x.shape[axis]
    whole: constexpr = _with_last(x.shape, _padded_extent(count))
    type: constexpr = _key_type(x.dtype)
    index = arange(0, _padded_extent(count))
    for _ in static_range(axis):
        index = expand_dims(index, 0)
    index = broadcast_to(index, whole)
    keys = gather(_to_keys(x, type), minimum(index, count - 1), axis)
    keys = where(index < count, keys, _last_key(type, descending).to(type))
    return _from_keys(_first(sort(keys, axis, descending), count), x.dtype)


@_method()
@jit
def sort(x, dim: constexpr = None, descending: constexpr = False):
    """Sorts along the last dimension.

    `dim` can be the last dimension only.

    Refused: ``tl.sort(tl.load(p))``.

    >>> tl.sort(3 - tl.arange(0, 4))
    [0 1 2 3]
    """
    axis: constexpr = _last(dim, len(x.shape))
    if not _is_power_of_two(x.shape[axis]):
        return _sort_padded(x, descending)
    levels: constexpr = _log2(x.shape[axis])
    for stage in static_range(1, levels + 1):
        if stage < levels:
            # Neighbouring runs go opposite ways, which makes them bitonic.
            x = _bitonic_merge(x, stage, _positions(x, stage))
        else:
            x = _bitonic_merge(x, stage, descending)
    return x


@constexpr_function
def _check_k(k, extent):
    if k < 1:
        raise SemanticError("topk: k must be greater than 0")
    if k > extent:
        raise SemanticError("topk: k must not exceed the size of the selected dimension")


@jit
def topk(x, k: constexpr, dim: constexpr = None, descending: constexpr = True):
    """The k largest along the last dimension, the largest first; or, where not
    `descending`, the k smallest, the smallest first.

    `k` is a constant.

    Refused: ``tl.topk(tl.arange(0, 4), 5)``.

    >>> tl.topk(tl.arange(0, 4), 3)
    [3 2 1]
    """
    axis: constexpr = _last(dim, len(x.shape))
    _check_k(k, x.shape[axis])
    ordered = sort(x.to(_order_type(x.dtype)), dim, descending)
    if k == x.shape[axis]:
        return ordered
    if not (_is_power_of_two(k) and _is_power_of_two(x.shape[axis])):
        return _first(ordered, k)
    for _ in static_range(_log2(x.shape[axis]) - _log2(k)):
        # The first half of the last dimension.
        halves = reshape(ordered, _halves(ordered.shape))
        ordered, _ = split(permute(halves, _swap_last(halves.shape)))
    return ordered


@constexpr_function
def _halves(shape):
    return [*shape[:-1], 2, shape[-1] // 2]


@constexpr_function
def _swap_last(shape):
    rank = len(shape)
    return [*range(rank - 2), rank - 1, rank - 2]


@_method()
@jit
def flip(x, dim=None):
    """Reverses the order along `dim`, the last dimension by default.

    Refused: ``tl.flip(tl.arange(0, 4), 1)``.

    >>> tl.flip(tl.arange(0, 4))
    [3 2 1 0]
    """
    axis: constexpr = _axis(-1 if dim is None else dim, len(x.shape), "flip")
    index = places(x, axis, "flip")
    return gather(x, x.shape[axis] - 1 - index, axis)
