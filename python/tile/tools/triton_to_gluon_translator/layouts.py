"""The layouts of tensors in translated kernels."""

from __future__ import annotations

from typing import Any

from tile.experimental.gluon import language as gl
from tile.language.promotion import to_tensor
from tile.language.state import current
from tile.language.values import builtin, tensor, unwrap


def layout_for(rank: int) -> Any:
    """The layout of all tensors of so many dimensions: lanes and warps along the last one."""
    b = current()
    ones = [1] * (rank - 1)
    return gl.BlockedLayout(
        [1] * rank, [*ones, b.options.warp_size], [*ones, b.num_warps], list(range(rank))[::-1]
    )


def settle(value: Any) -> Any:
    """The same tensors, in the layouts of their numbers of dimensions."""
    if isinstance(value, tuple):
        return tuple(settle(item) for item in value)
    if not isinstance(value, tensor) or not value.type.is_block():
        return value
    wanted = layout_for(len(value.shape))
    return value if value.type.layout == wanted else gl.convert_layout(value, wanted)


@builtin
def expand_dims(input: Any, axis: Any) -> Any:
    """Inserts dimensions of one element."""
    value = to_tensor(input)
    axis = unwrap(axis)
    axes = [unwrap(a) for a in axis] if isinstance(axis, (tuple, list)) else [axis]
    rank = len(value.shape) + len(axes)
    for at in sorted(a + rank if a < 0 else a for a in axes):
        if not value.type.is_block():
            value = gl.full([1], value, value.dtype, layout_for(1))
            continue
        parent = layout_for(len(value.shape) + 1)
        value = gl.expand_dims(gl.convert_layout(value, gl.SliceLayout(at, parent)), at)
    return value
