"""Order: sorting networks over a view of the block with two elements a level."""

from __future__ import annotations

from ..errors import SemanticError, StaticAssertionError
from ..runtime.jit import constexpr_function, jit
from . import dtypes as dt
from .arithmetic import minimum, where
from .axes import places
from .collective import gather, reduce
from .creation import arange, broadcast_to, expand_dims, reshape
from .methods import method
from .program import static_assert, static_range
from .reductions import _axis, _is_power_of_two, _max, _min, _order_type, _xor
from .values import constexpr


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
def _partner(x, level: constexpr):
    """Of each element the one whose position differs in bit `level`.

    The exclusive or of both, and of one of them, is the other one. Elements stay where they are,
    and lanes exchange them by shuffles.
    """
    pairs = reshape(x, _pairs(x.shape, level))
    return reshape(reduce(pairs, 1, _xor, keep_dims=True) ^ pairs, x.shape)


@jit
def _compare_and_swap(x, flip, level: constexpr):
    """Orders the pairs whose positions differ in bit `level`; `flip` turns the order around."""
    partner = _partner(x, level)
    is_wrong = (x > partner) != _positions(x, level)
    return where(is_wrong != flip, partner, x)


@jit
def _positions(x, bit: constexpr):
    """Whether bit `bit` of the position in the last dimension is set."""
    return ((_index(x.shape) >> bit) & 1) != 0


@jit
def _index(shape: constexpr):
    """The position of each element of a block in the last dimension."""
    index = arange(0, shape[len(shape) - 1])
    for _ in static_range(len(shape) - 1):
        index = expand_dims(index, 0)
    return broadcast_to(index, shape)


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
    keys = _to_keys(x, _key_type(x.dtype))
    return _from_keys(_bitonic_merge(keys, _log2(x.shape[axis]), descending), x.dtype)


# Networks sort integers: NaNs have a place among them, and one comparison decides for both of a
# pair.


@constexpr_function
def _key_type(dtype):
    """Integers in the order of the elements."""
    if dtype.is_floating():
        return dt.int64 if dtype.primitive_bitwidth == 64 else dt.int32
    return dt.int32 if dtype.primitive_bitwidth < 32 else dtype


@constexpr_function
def _same_width(dtype):
    return dt.get_int_dtype(dtype.primitive_bitwidth, signed=True)


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
        return _turned(x.to(_same_width(x.dtype), bitcast=True).to(type))
    return x.to(type)


@jit
def _from_keys(keys, dtype: constexpr):
    if dtype.is_floating():
        return _turned(keys).to(_same_width(dtype)).to(dtype, bitcast=True)
    return keys.to(dtype)


@constexpr_function
def _padded_extent(extent):
    return 1 << (extent - 1).bit_length()


@jit
def _first(x, count: constexpr):
    """The first elements along the last dimension."""
    return gather(x, _index(_with_last(x.shape, count)), len(x.shape) - 1)


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
    index = _index(whole)
    keys = gather(_to_keys(x, type), minimum(index, count - 1), axis)
    keys = where(index < count, keys, _last_key(type, descending).to(type))
    return _from_keys(_first(sort(keys, axis, descending), count), x.dtype)


@method()
@jit
def sort(x, dim: constexpr = None, descending: constexpr = False):
    """Sorts along the last dimension.

    `dim` can be the last dimension only. -0.0 comes before 0.0. NaNs come last, and those with
    their sign bit set come first.

    Refused: ``tl.sort(tl.load(p))``.

    >>> tl.sort(3 - tl.arange(0, 4))
    [0 1 2 3]
    """
    axis: constexpr = _last(dim, len(x.shape))
    if not _is_power_of_two(x.shape[axis]):
        return _sort_padded(x, descending)
    return _leading(x, _log2(x.shape[axis]), descending)


@jit
def _leading(x, levels: constexpr, descending: constexpr):
    """The first `2**levels` elements in their order.

    Of two runs of so many elements, one of which rises and one of which falls, the larger element
    at each position is one of the largest. So half of the runs go at a time, and nothing but runs
    is sorted (A. Shanbhag, H. Pirk, S. Madden: Efficient Top-K Query Processing on Massively
    Parallel Hardware, 2018).
    """
    axis: constexpr = len(x.shape) - 1
    stages: constexpr = _log2(x.shape[axis])
    keys = _to_keys(x, _key_type(x.dtype))
    for stage in static_range(1, stages + 1):
        if stage > levels:
            runs = reshape(keys, _pairs_of_runs(keys.shape, levels))
            chosen = reduce(runs, axis + 1, _max if descending else _min)
            keys = reshape(chosen, _with_last(keys.shape, keys.shape[axis] // 2))
        merged: constexpr = stage if stage < levels else levels
        # Neighbouring runs go opposite ways, which makes them bitonic; one run goes as asked for.
        if stage == stages:
            keys = _bitonic_merge(keys, merged, descending)
        else:
            keys = _bitonic_merge(keys, merged, _positions(keys, merged))
    return _from_keys(keys, x.dtype)


@constexpr_function
def _pairs_of_runs(shape, levels):
    return [*shape[:-1], shape[-1] >> (levels + 1), 2, 2**levels]


@constexpr_function
def _check_k(k, extent):
    if k < 1:
        raise StaticAssertionError("topk: k must be greater than 0")
    if k > extent:
        raise StaticAssertionError("topk: k must not exceed the size of the selected dimension")


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
    ordered = x.to(_order_type(x.dtype))
    if _is_power_of_two(k) and _is_power_of_two(x.shape[axis]):
        return _leading(ordered, _log2(k), descending)
    return _first(sort(ordered, dim, descending), k)


@method()
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
