"""Barriers in shared memory that count arrivals, phase after phase."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language import dtypes as dt
from tile.language.conversion import cast, to_bool
from tile.language.promotion import constant, is_constant, to_tensor
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap

from ..._core import allocate_shared_memory, shared_memory_descriptor
from ..._layouts import SwizzledSharedLayout


class MBarrierLayout(SwizzledSharedLayout):
    """Of the memory of barriers."""

    def __init__(self, cga_layout: Any = None) -> None:
        super().__init__(1, 1, 1, [0], unwrap(cga_layout) or [])


def check_barrier(value: Any, what: str) -> shared_memory_descriptor:
    if (
        not isinstance(value, shared_memory_descriptor)
        or value.dtype != dt.int64
        or len(value.shape) != 1
        or value.shape[0] > current().options.num_ctas
    ):
        raise SemanticError(
            f"{what} takes a barrier, a buffer of one int64 for each block of the cluster "
            f"(barriers.index(i) of several), not "
            f"{value if isinstance(value, shared_memory_descriptor) else describe(value)}"
        )
    return value


def from_block(from_cta: Any, what: str) -> dict[str, Any]:
    """The attribute that says which blocks of the cluster arrive for others, if some do: those
    whose number has no other bits."""
    block = unwrap(from_cta)
    if block is None:
        return {}
    b = current()
    count = b.options.num_ctas
    if isinstance(block, bool) or not isinstance(block, int) or not 0 <= block < count:
        raise SemanticError(
            f"from_cta of {what} has bits of the number of one of the {count} blocks of the "
            f"cluster, and is not {describe(block)}"
        )
    return {"fromCTA": b.int_attr(32, block)}


def predicate(value: Any) -> tensor:
    """A scalar condition, as int1."""
    value = unwrap(value)
    if is_constant(value):
        return constant(bool(value), dt.int1)
    value = to_bool(to_tensor(value))
    if value.type.is_block():
        raise SemanticError(f"pred is a scalar condition, not {value.type}")
    return value


def is_always(pred: Any) -> bool:
    pred = unwrap(pred)
    return is_constant(pred) and bool(pred)


@builtin
def allocate_mbarrier(batch: Any = None, two_ctas: bool = False) -> shared_memory_descriptor:
    """Memory for a barrier of each block, or for `batch` of them. With `two_ctas` the first block
    of each pair holds a barrier for both: each of them arrives there, and the first one waits."""
    batch, blocks = unwrap(batch), current().options.num_ctas
    if unwrap(two_ctas):
        if blocks == 1:
            raise SemanticError("allocate_mbarrier with two_ctas needs num_ctas of at least 2")
        blocks //= 2
    bases = [[1 << bit] for bit in range(blocks.bit_length() - 1)]
    if unwrap(two_ctas):
        bases = [[0], *bases]
    shape = [blocks] if batch is None else [batch, blocks]
    return allocate_shared_memory(dt.int64, shape, MBarrierLayout(bases))


@builtin
def init(mbarrier: Any, count: Any) -> None:
    """Makes a barrier that expects so many arrivals in each phase."""
    barrier = check_barrier(mbarrier, "mbarrier.init")
    count = unwrap(count)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SemanticError(f"mbarrier.init takes a constant count from 1, not {describe(count)}")
    b = current()
    b.create("ttnvgpu.init_barrier", (barrier.handle,), {"count": b.int_attr(32, count)}, ())


@builtin
def invalidate(mbarrier: Any) -> None:
    """Ends the life of a barrier."""
    barrier = check_barrier(mbarrier, "mbarrier.invalidate")
    current().create("ttnvgpu.inval_barrier", (barrier.handle,), None, ())


@builtin
def wait(mbarrier: Any, phase: Any, pred: Any = True, deps: Any = ()) -> None:
    """Waits until the phase of this parity has ended. `deps` are buffers that live until here."""
    barrier = check_barrier(mbarrier, "mbarrier.wait")
    phase = unwrap(phase)
    phase = constant(int(phase), dt.int32) if is_constant(phase) else to_tensor(phase)
    if phase.type.is_block() or not phase.dtype.is_int():
        raise SemanticError(f"the phase of a barrier is an integer, not {phase.type}")
    operands = [barrier.handle, cast(phase, dt.int32).handle, predicate(pred).handle]
    buffers = [d.handle for d in unwrap(deps)]
    b = current()
    sizes = b.i32_array_attr([1, 1, 1, len(buffers)])
    b.create("ttnvgpu.wait_barrier", [*operands, *buffers], {"operandSegmentSizes": sizes}, ())


def arrive_at(mbarrier: Any, count: Any, pred: Any, from_cta: Any, multicast_cta: int = 0) -> None:
    barrier = check_barrier(mbarrier, "mbarrier.arrive")
    count = unwrap(count)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SemanticError(f"mbarrier.arrive takes a constant count from 1, not {describe(count)}")
    b = current()
    attributes = {"count": b.int_attr(32, count), **from_block(from_cta, "mbarrier.arrive")}
    if multicast_cta:
        attributes["multicastCTA"] = b.int_attr(32, multicast_cta)
    handles = (barrier.handle, predicate(pred).handle)
    b.create("ttnvgpu.arrive_barrier", handles, attributes, ())


@builtin
def arrive(mbarrier: Any, *, pred: Any = True, from_cta: Any = None) -> None:
    """Arrives once at a barrier, when all threads got here."""
    arrive_at(mbarrier, 1, pred, from_cta)


__all__ = [
    "MBarrierLayout", "allocate_mbarrier", "arrive", "init", "invalidate", "wait",
]  # fmt: skip
