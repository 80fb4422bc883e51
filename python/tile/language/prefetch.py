"""Requests for memory that is needed later."""

from __future__ import annotations

from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .conversion import cast
from .memory import _check_pointer, _is_block_pointer, as_mask
from .promotion import constant, raise_to_common_shape
from .state import current, current_generator
from .values import builtin, unwrap


@builtin
def prefetch(pointer: Any, mask: Any = None) -> None:
    """Asks for the memory that `pointer` points to, so that the L2 cache has it for a later load.

    `pointer` is a scalar or a block. One pointer for each line of 128 bytes is enough. Where `mask`
    does not hold nothing is asked for. It is a hint: no value changes, and an address need not be
    one of an array. GPUs without such an instruction do nothing, which a remark says.

    Refused: ``tl.prefetch(tl.arange(0, 4))``.

    >>> tl.prefetch(p + tl.arange(0, 4) * 32)
    >>> tl.load(p)
    0
    """
    from .extra import cuda
    from .target_info import is_cuda

    pointer = _check_pointer(pointer, "prefetch")
    if _is_block_pointer(pointer.type):
        raise SemanticError("prefetch takes pointers, not a block pointer")
    b = current()
    condition = constant(True, dt.int1) if unwrap(mask) is None else as_mask(mask)
    if condition.type.is_block() and not pointer.type.is_block():
        raise SemanticError("prefetch has a scalar pointer, but a block as mask")
    pointer, condition = raise_to_common_shape(pointer, condition)
    if b.eager:
        return
    if is_cuda():
        cuda.prefetch_line(pointer, cast(condition, dt.int32))
    else:
        current_generator().remark(
            "no-prefetch", "this GPU has no instruction that asks for memory ahead of a load"
        )
