"""What threads of one warp tell each other.

A program of the language acts as a whole, so what differs from thread to thread is a block. Element
t of a block of `tl.num_warps() * tl.warp.size()` elements is that of thread t. Element t of a
longer block belongs to lane t % size of a warp, too. The functions exchange elements of the last
dimension, each with those of its own warp. What they give depends on the elements alone, not on the
layout that the compiler chooses.
"""

from __future__ import annotations

from typing import Any

from ..errors import SemanticError
from . import arithmetic
from . import collective as _collective
from . import dtypes as dt
from .conversion import cast, to_bool
from .creation import _reshape, arange
from .indexing import _along, _bits, _either
from .promotion import broadcast_to_shape, constant, to_tensor
from .state import current
from .values import builtin, describe, one, tensor, unwrap


def _size() -> int:
    return current().options.warp_size


@builtin
def size() -> int:
    """How many threads a warp has: 32, and 64 on GPUs of AMD's CDNA.

    >>> tl.warp.size()
    32
    """
    return _size()


@builtin
def num_warps() -> int:
    """How many warps run the kernel, as a constant: its option `num_warps`.

    >>> tl.num_warps()
    4
    """
    return current().options.num_warps


def _threads() -> tensor:
    return arange(0, _size() * current().options.num_warps)


@builtin
def lane_id() -> tensor:
    """The place of each thread in its warp: a block with an element for each thread.

    Its shape is [tl.num_warps() * tl.warp.size()].

    >>> tl.lane_id()[32:36]
    [0 1 2 3]
    """
    return arithmetic.bitand(_threads(), _size() - 1)


@builtin
def warp_id() -> tensor:
    """The number of each thread's warp: a block with an element for each thread.

    Its shape is [tl.num_warps() * tl.warp.size()].

    >>> tl.warp_id()[::32]
    [0 1 2 3]
    """
    return arithmetic.shr(_threads(), _size().bit_length() - 1)


@builtin
def elect() -> tensor:
    """Whether a thread is the one of its warp that was chosen: a block with an element for each.

    It is the first lane. Its shape is [tl.num_warps() * tl.warp.size()].

    >>> tl.sum(tl.elect().to(tl.int32))
    4
    """
    return arithmetic.eq(lane_id(), 0)


def _warps(x: Any, what: str) -> tensor:
    """The elements of each warp as the last dimension."""
    x = unwrap(x)
    if not isinstance(x, tensor) or not x.type.is_block():
        found = x.type if isinstance(x, tensor) else one(x)
        raise SemanticError(
            f"warp.{what} takes a block with an element for each thread, not {found}"
        )
    if x.shape[-1] % _size():
        raise SemanticError(
            f"warp.{what} takes a block whose last dimension is a multiple of {_size()}, the size "
            f"of a warp, not {x.type}"
        )
    return _reshape(x, (*x.shape[:-1], x.shape[-1] // _size(), _size()), False, "reshape")


def _lanes(rank: int) -> tensor:
    """The lane of each element of a block of warps, with one element in other dimensions."""
    return _along(arange(0, _size()), rank - 1, rank)


def _amount(value: Any, what: str) -> Any:
    """By how many lanes: a constant, or a scalar."""
    value = unwrap(value)
    if isinstance(value, tensor):
        if value.type.is_block() or not value.dtype.is_int():
            raise SemanticError(f"shuffle takes an integer as `{what}`, not {value.type}")
        return cast(value, dt.int32)
    if isinstance(value, bool) or not isinstance(value, int):
        raise SemanticError(f"shuffle takes an integer as `{what}`, not {describe(value)}")
    if not 0 <= value < _size():
        raise SemanticError(
            f"shuffle takes `{what}` from 0 to {_size() - 1}, the lanes of a warp, not {value}"
        )
    return value


def _sources(
    x: tensor, rows: tensor, up: Any, down: Any, xor: Any, index: Any
) -> tensor:  # fmt: skip
    """The lane that each element comes from."""
    lanes = _lanes(rows.ndim)
    if up is not None:
        source = arithmetic.sub(lanes, _amount(up, "up"))
        return arithmetic.where(arithmetic.lt(source, 0), lanes, source)
    if down is not None:
        source = arithmetic.add(lanes, _amount(down, "down"))
        return arithmetic.where(arithmetic.ge(source, _size()), lanes, source)
    if xor is not None:
        return arithmetic.bitxor(lanes, _amount(xor, "xor"))
    index = to_tensor(unwrap(index))
    if not index.dtype.is_int() or index.dtype.is_bool():
        raise SemanticError(f"shuffle takes integers as `index`, not {index.type}")
    index = cast(index, dt.int32)
    if index.type.is_block():
        index = _reshape(broadcast_to_shape(index, x.shape), rows.shape, False, "reshape")
    return arithmetic.bitand(index, _size() - 1)


@builtin
def shuffle(x: Any, up: Any = None, down: Any = None, xor: Any = None, index: Any = None) -> tensor:
    """The elements of other lanes of the warp.

    One of four says which lane an element comes from. `up=n` is n lanes below its own, and `down=n`
    n lanes above it; an element that would come from outside of the warp stays. `xor=n` is the lane
    whose number differs in the bits of n. `index` is the number of a lane, for all or in a block
    like `x`; it counts modulo the size of a warp. The last dimension of `x` is a multiple of it.

    Refused: ``tl.warp.shuffle(tl.arange(0, 16), xor=1)``.

    >>> tl.warp.shuffle(tl.lane_id(), xor=3)[:4]
    [3 2 1 0]

    >>> tl.warp.shuffle(tl.lane_id(), up=1)[:4]
    [0 0 1 2]
    """
    x = unwrap(x)
    rows = _warps(x, "shuffle")
    given = [v for v in map(unwrap, (up, down, xor, index)) if v is not None]
    if len(given) != 1:
        raise SemanticError("shuffle takes one of up, down, xor and index")
    source = broadcast_to_shape(_sources(x, rows, up, down, xor, index), rows.shape)
    return _reshape(_collective.gather(rows, source, -1), x.shape, False, "reshape")


def _mask_type() -> dt.dtype:
    """Integers with a bit for each lane."""
    return dt.uint32 if _size() == 32 else dt.uint64


@builtin
def ballot(x: Any) -> tensor:
    """The lanes of the warp in which `x` differs from zero, as bits of an integer.

    All elements of a warp have the same: a uint32, or a uint64 where a warp has 64 lanes.

    Refused: ``tl.warp.ballot(tl.program_id(0))``.

    >>> tl.warp.ballot(tl.lane_id() < 3)[0]
    7
    """
    x = unwrap(x)
    rows = to_bool(_warps(x, "ballot"))
    lanes = cast(_lanes(rows.ndim), _mask_type())
    bits = arithmetic.shl(constant(1, lanes.type), lanes)
    bits = arithmetic.where(rows, bits, constant(0, bits.dtype))
    lanes = _collective.reduce(bits, -1, _either, keep_dims=True)
    return _reshape(broadcast_to_shape(lanes, rows.shape), x.shape, False, "reshape")


@builtin
def match(x: Any) -> tensor:
    """The lanes of the warp that have the same `x` as an element, as bits of an integer.

    Floats are the same if all bits are. The integers are those of `tl.warp.ballot`.

    Refused: ``tl.warp.match(tl.arange(0, 8))``.

    >>> tl.warp.match(tl.lane_id() // 2)[:4]
    [3 3 12 12]
    """
    x = unwrap(x)
    rows = _bits(_warps(x, "match"))
    none = constant(0, rows.type.with_element_ty(_mask_type()))
    lanes = none
    for lane in range(_size()):
        there = broadcast_to_shape(constant(lane, rows.type.with_element_ty(dt.int32)), rows.shape)
        equal = arithmetic.eq(rows, _collective.gather(rows, there, -1))
        lanes = arithmetic.bitor(lanes, arithmetic.where(equal, 1 << lane, none))
    return _reshape(lanes, x.shape, False, "reshape")


@builtin
def reduce(x: Any, combine_fn: Any) -> Any:
    """Combines the elements of each warp, in order; every one of its elements is the result.

    `combine_fn` is as in `tl.reduce`.

    Refused: ``tl.warp.reduce(tl.arange(0, 16), tl.add)``.

    >>> tl.warp.reduce(tl.lane_id(), tl.add)[0]
    496
    """
    x = unwrap(x)
    rows = _warps(x, "reduce")
    one_each = _collective.reduce(rows, -1, combine_fn, keep_dims=True)
    return _reshape(broadcast_to_shape(one_each, rows.shape), x.shape, False, "reshape")


__all__ = [
    "ballot", "elect", "lane_id", "match", "num_warps", "reduce", "shuffle", "size", "warp_id",
]  # fmt: skip
