"""Creation of blocks and changes of their shape."""

from __future__ import annotations

from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .conversion import cast
from .dtypes import block_type, dtype
from .promotion import (
    binary_operands,
    broadcast_pair,
    broadcast_to_shape,
    constant,
    expand_dim,
    instead,
    is_constant,
    splat,
    to_tensor,
)
from .state import current
from .values import builtin, describe, member, one, tensor, unwrap, unwrap_shape


@builtin
def arange(start: Any, end: Any) -> tensor:
    """The integers from `start` up to, not including, `end`, as int32.

    Both bounds are constants. There may be any number of integers between them; see [blocks of
    any shape](language.md#blocks-of-any-shape).

    Refused: ``tl.arange(4, 4)``.

    >>> tl.arange(0, 3)
    [0 1 2]
    """
    start, end = range_of(start, end)
    return make_range(start, current().new_block(dt.int32, (end - start,)))


def _whole(value: Any) -> str:
    """What to write for a float that is an integer."""
    whole = isinstance(value, float) and value.is_integer()
    return f"; write {int(value)} for {value}, and // for a division" if whole else ""


def range_of(start: Any, end: Any) -> tuple[int, int]:
    """The bounds of a range; refuses those that no block has."""
    start, end = unwrap(start), unwrap(end)
    for name, value in (("start", start), ("end", end)):
        if isinstance(value, bool) or not isinstance(value, int):
            if not isinstance(value, tensor):
                hint = _whole(value) or instead(value)
                raise SemanticError(f"arange needs integers, but its {name} is {one(value)}{hint}")
            raise SemanticError(
                f"arange needs constants, but its {name} is {describe(value)}; a parameter "
                "that is known at launch is one as `name: tl.constexpr`, and a run-time offset is "
                "added to the range"
            )
    if end <= start:
        raise SemanticError(f"arange needs end > start, but got start = {start} and end = {end}")
    return start, end


def make_range(start: int, ty: dtype) -> tensor:
    """A block of type `ty` with the integers from `start` on."""
    b = current()
    attributes = {"start": b.int_attr(32, start), "end": b.int_attr(32, start + ty.numel)}
    return tensor(b.create_one("tt.make_range", (), attributes, (b.type(ty),)), ty)


@builtin
def full(shape: Any, value: Any, dtype: dtype) -> tensor:
    """A block with `value` in every element.

    The extents of `shape` are constants, from 1 on.

    Refused: ``tl.full([0], 7, tl.int32)``.

    >>> tl.full([2, 2], 7, tl.int32)
    [7 7 7 7]
    """
    shape = unwrap_shape(shape)
    dtype = element_type(dtype)
    return filled(current().new_block(dtype, shape) if shape else dtype, value)


def element_type(dtype: Any) -> dt.dtype:
    """The type of a block's elements."""
    dtype = unwrap(dtype)
    if not hasattr(dtype, "is_block"):
        raise SemanticError(f"a block is filled with a type such as tl.float32, not {dtype!r}")
    return dtype


def filled(ty: dt.dtype, value: Any) -> tensor:
    """A block (or scalar) of type `ty` with `value` in every element."""
    value = unwrap(value)
    if is_constant(value):
        return constant(value, ty)
    if not isinstance(value, tensor) or value.type.is_block():
        raise SemanticError(f"full fills a block with a scalar, not with {describe(value)}")
    value = cast(value, ty.scalar)
    return splat(value, ty) if ty.is_block() else value


@builtin
def zeros(shape: Any, dtype: dtype) -> tensor:
    """A block of zeros.

    The extents of `shape` are constants, from 1 on.

    Refused: ``tl.zeros([0], tl.int32)``.

    >>> tl.zeros([4], tl.int32)
    [0 0 0 0]
    """
    return full(shape, 0, dtype)


@builtin
def zeros_like(input: tensor) -> tensor:
    """A block of zeros, of the shape and type of `input`.

    Refused: ``tl.zeros_like(p, 1, 2)``.

    >>> tl.zeros_like(tl.arange(0, 4))
    [0 0 0 0]
    """
    return full(input.shape, 0, input.dtype)


@builtin
def broadcast(input: Any, other: Any) -> tuple[tensor, tensor]:
    """Brings two tensors to their common shape.

    Dimensions of one element are repeated. Missing ones are added in front.

    Refused: ``tl.broadcast(tl.arange(0, 2), tl.arange(0, 4))``.

    >>> a, b = tl.broadcast(tl.arange(0, 2)[:, None], tl.arange(0, 2)[None, :])
    >>> a
    [0 0 1 1]
    """
    return broadcast_pair(to_tensor(input), to_tensor(other))


@member()
@builtin
def broadcast_to(input: Any, *shape: Any) -> tensor:
    """Repeats the elements of `input` along the dimensions that have one.

    `shape` is given as integers or as one sequence.

    Refused: ``tl.broadcast_to(tl.arange(0, 2), 4)``.

    >>> tl.broadcast_to(tl.arange(0, 2)[:, None], 2, 2)
    [0 0 1 1]
    """
    return broadcast_to_shape(to_tensor(input), unwrap_shape(shape))


@member()
@builtin
def expand_dims(input: Any, axis: Any) -> tensor:
    """Inserts dimensions of one element at `axis`, or at each of several.

    `x[:, None]` is the same as `tl.expand_dims(x, 1)`.

    Refused: ``tl.expand_dims(tl.arange(0, 2), 5)``.

    >>> tl.expand_dims(tl.arange(0, 2), 1)
    [0 1]
    """
    value = to_tensor(input)
    axis = unwrap(axis)
    axes = [unwrap(a) for a in axis] if isinstance(axis, (tuple, list)) else [axis]
    rank = value.ndim + len(axes)
    normalized = sorted(checked_axis(a, rank, "expand_dims") for a in axes)
    if len(set(normalized)) != len(normalized):
        raise SemanticError(
            f"expand_dims got the axes {axes}: duplicate axes, normalized axes = {normalized}"
        )
    for a in normalized:
        value = _insert_dim(value, a)
    return value


def _insert_dim(value: tensor, axis: int) -> tensor:
    if not value.type.is_block():
        return broadcast_to_shape(value, (1,))
    return expand_dim(value, axis)


def checked_axis(axis: Any, rank: int, what: str) -> int:
    """A dimension from 0; those below count from the last."""
    axis = unwrap(axis)
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise SemanticError(f"{what} takes a constant axis, not {describe(axis)}")
    if not -rank <= axis < rank:
        raise SemanticError(
            f"invalid axis {axis}: the block of {what} has {rank} dimension{'s' * (rank != 1)}, so "
            f"the axis is from {-rank} to {rank - 1}"
        )
    return axis % rank


@member()
@builtin
def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> tensor:
    """The same elements under another shape, in row-major order.

    `shape` is given as integers or as one sequence, and has as many elements. `can_reorder`
    lets their order change.

    Refused: ``tl.reshape(tl.arange(0, 4), 8)``.

    >>> tl.reshape(tl.arange(0, 4), 2, 2)
    [0 1 2 3]
    """
    return _reshape(to_tensor(input), unwrap_shape(shape), bool(unwrap(can_reorder)), "reshape")


@member()
@builtin
def view(input: Any, *shape: Any) -> tensor:
    """The same elements under another shape, in an order that may differ.

    `shape` has as many elements. Prefer `tl.reshape`, which keeps the order.

    Refused: ``tl.view(tl.arange(0, 4), 8)``.

    >>> tl.sum(tl.view(tl.arange(0, 4), 2, 2))
    6
    """
    return _reshape(to_tensor(input), unwrap_shape(shape), True, "view")


@member()
@builtin
def ravel(x: Any, can_reorder: bool = False) -> tensor:
    """The elements in one dimension.

    Refused: ``tl.ravel(p, 1, 2)``.

    >>> tl.ravel(tl.arange(0, 4).reshape(2, 2))
    [0 1 2 3]
    """
    x = to_tensor(x)
    return _reshape(x, (x.numel,), bool(unwrap(can_reorder)), "ravel")


def _reshape(value: tensor, shape: tuple[int, ...], reorder: bool, what: str) -> tensor:
    if shape.count(-1) == 1:
        known = 1
        for extent in shape:
            known *= extent if extent != -1 else 1
        shape = tuple(value.numel // known if extent == -1 else extent for extent in shape)
    if not shape:
        b = current()
        if not value.type.is_block():
            return value
        if value.numel != 1:
            raise SemanticError(f"only a block of one element becomes a scalar, not {value.type}")
        return tensor(
            b.create_one("tt.unsplat", (value.handle,), None, (b.type(value.dtype),)), value.dtype
        )
    ty = block_type(value.dtype, shape)
    if ty.numel != value.numel:
        raise SemanticError(
            f"cannot {what} {list(value.shape)} ({value.numel} elements) to {list(shape)} "
            f"({ty.numel} elements)"
        )
    if shape == value.shape:
        return value
    if not value.type.is_block():
        return broadcast_to_shape(value, shape)
    ty = value.type.reshaped(shape, reorder)
    b = current()
    attributes = {"allow_reorder": b.unit_attr()} if reorder else None
    return tensor(b.create_one("tt.reshape", (value.handle,), attributes, (b.type(ty),)), ty)


@member()
@builtin
def permute(input: Any, *dims: Any) -> tensor:
    """Reorders the dimensions.

    `dims` says which old dimension each new one is.

    Refused: ``tl.permute(tl.arange(0, 4).reshape(2, 2), 0, 0)``.

    >>> tl.permute(tl.arange(0, 4).reshape(2, 2), 1, 0)
    [0 2 1 3]
    """
    value = to_tensor(input)
    dims = unwrap_shape(dims)
    if len(dims) != value.ndim:
        raise SemanticError(f"permute got {len(dims)} dimensions for a rank of {value.ndim}")
    order = [checked_axis(d, value.ndim, "permute") for d in dims]
    if sorted(order) != list(range(value.ndim)):
        raise SemanticError(f"permute takes each dimension once, not {list(dims)}")
    if order == sorted(order):
        return value
    ty = value.type.permuted(order)
    b = current()
    attributes = {"order": b.i32_array_attr(order)}
    return tensor(b.create_one("tt.trans", (value.handle,), attributes, (b.type(ty),)), ty)


@member()
@builtin
def trans(input: Any, *dims: Any) -> tensor:
    """Transposes a matrix, or the last two dimensions; or permutes to `dims`.

    Refused: ``tl.trans(tl.arange(0, 4), 0, 1)``.

    >>> tl.trans(tl.arange(0, 4).reshape(2, 2))
    [0 2 1 3]
    """
    value = to_tensor(input)
    if not dims:
        if value.ndim < 2:
            raise SemanticError(f"trans takes a block of two dimensions or more, not {value.type}")
        rank = value.ndim
        dims = (*range(rank - 2), rank - 1, rank - 2)
    return permute(value, *dims)


def _transposed(self: tensor) -> tensor:
    """The block with its last two dimensions exchanged.

    Refused: ``tl.arange(0, 4).T``.

    >>> tl.load(p + tl.arange(0, 4)).reshape(2, 2).T
    [0 2 1 3]
    """
    return trans(self)


tensor.T = property(_transposed)  # type: ignore[attr-defined]


@builtin
def cat(input: tensor, other: tensor, can_reorder: bool = False, dim: int = 0) -> tensor:
    """The elements of both blocks in one, those of `input` first.

    Both have one shape and type. `can_reorder` allows another order, which is not used.

    Refused: ``tl.cat(tl.arange(0, 4), tl.arange(0, 8))``.

    >>> tl.cat(tl.arange(0, 2), tl.arange(2, 4))
    [0 1 2 3]
    """
    for x in (input, other):
        if not isinstance(x, tensor) or not x.type.is_block():
            raise SemanticError(f"cat takes blocks, not {describe(x)}")
    if input.dtype != other.dtype or input.shape != other.shape:
        raise SemanticError(f"cat takes blocks of one type, not {input.type} and {other.type}")
    # Join puts the pair last; moved to the front, it is the slow index.
    axis = checked_axis(dim, input.ndim, "cat")
    joined = join(input, other)
    rank = input.ndim
    moved = permute(joined, *range(axis), rank, *range(axis, rank))
    shape = list(input.shape)
    shape[axis] *= 2
    return _reshape(moved, tuple(shape), False, "reshape")


@builtin
def join(a: Any, b: Any) -> tensor:
    """Puts two blocks side by side in a new last dimension.

    The two are broadcast to one shape, of which the result has one dimension more.

    Refused: ``tl.join(tl.arange(0, 4), tl.arange(0, 8))``.

    >>> tl.join(tl.arange(0, 2), tl.arange(2, 4))
    [0 2 1 3]
    """
    x, y = broadcast_pair(to_tensor(a), to_tensor(b))
    if x.dtype != y.dtype:
        if x.dtype.is_ptr() or y.dtype.is_ptr():
            raise SemanticError(f"join takes blocks of one type, not {x.type} and {y.type}")
        x, y = binary_operands(x, y, "join")
    scalar = not x.type.is_block()
    if scalar:
        x, y = broadcast_to_shape(x, (1,)), broadcast_to_shape(y, (1,))
    ty = x.type.joined()
    builder = current()
    result = tensor(
        builder.create_one("tt.join", (x.handle, y.handle), None, (builder.type(ty),)), ty
    )
    return _reshape(result, (2,), False, "reshape") if scalar else result


@member()
@builtin
def split(a: Any) -> tuple[tensor, tensor]:
    """Takes apart the last dimension, which has two elements.

    It undoes `tl.join`.

    Refused: ``tl.split(tl.arange(0, 4))``.

    >>> a, b = tl.split(tl.arange(0, 4).reshape(2, 2))
    >>> b
    [1 3]
    """
    value = to_tensor(a)
    if not value.type.is_block() or value.shape[-1] != 2:
        raise SemanticError(f"split needs a last dimension of 2 elements, but got {value.type}")
    scalar = value.ndim == 1
    if scalar:
        value = expand_dim(value, 0)
    ty = value.type.halved()
    b = current()
    low, high = b.create("tt.split", (value.handle,), None, (b.type(ty), b.type(ty)))
    pair = tensor(low, ty), tensor(high, ty)
    if scalar:
        return tuple(_reshape(part, (), False, "reshape") for part in pair)  # type: ignore[return-value]
    return pair


@builtin
def interleave(a: Any, b: Any) -> tensor:
    """Alternates the elements of two blocks along the last dimension.

    Both have one shape.

    Refused: ``tl.interleave(tl.arange(0, 4), tl.arange(0, 8))``.

    >>> tl.interleave(tl.arange(0, 2), tl.arange(2, 4))
    [0 2 1 3]
    """
    joined = join(a, b)
    if joined.ndim == 1:
        return joined
    return _reshape(joined, (*joined.shape[:-2], 2 * joined.shape[-2]), False, "reshape")


@member()
@builtin
def item(input: tensor) -> tensor:
    """The one element of a block, as a scalar.

    Refused: ``tl.arange(0, 4).item()``.

    >>> tl.full([1, 1], 5, tl.int32).item()
    5
    """
    return _reshape(input, (), False, "item")


def scalar_condition(condition: tensor, what: str) -> tensor:
    """The condition of an `if` or a `while`, which may be a block of one element."""
    if condition.type.is_block() and condition.numel == 1:
        return _reshape(condition, (), False, what)
    if condition.type.is_block():
        raise SemanticError(
            f"the condition of `{what}` must be a scalar, but it is a block ({condition.type}); "
            "reduce it first, or use tl.where to choose element by element"
        )
    return condition


@builtin
def squeeze(x: tensor, dim: int) -> tensor:
    """Drops a dimension of one element.

    Refused: ``tl.squeeze(tl.arange(0, 2), 0)``.

    >>> tl.squeeze(tl.arange(0, 2)[None, :], 0)
    [0 1]
    """
    axis = checked_axis(dim, x.ndim, "squeeze")
    if x.shape[axis] != 1:
        raise SemanticError(
            f"squeeze drops a dimension of 1 element, but the axis {unwrap(dim)} of {x.type} has "
            "more"
        )
    return _reshape(x, (*x.shape[:axis], *x.shape[axis + 1 :]), False, "squeeze")


@builtin
def unsqueeze(x: Any, dim: int) -> tensor:
    """Inserts a dimension of one element.

    Refused: ``tl.unsqueeze(tl.arange(0, 4), 3)``.

    >>> tl.unsqueeze(tl.arange(0, 2), 0)
    [0 1]
    """
    return expand_dims(x, dim)
