"""What only AMD's GPUs have."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.state import current
from tile.language.values import builtin, tensor, unwrap_shape

from .._amd_layouts import AMDMFMALayout, AMDWMMALayout
from .._core import _check_block
from .._layouts import is_open
from .._types import distributed_type
from . import cdna3, cdna4, cdna5, gfx1250, hint, rdna3, rdna4
from ._stages import warp_pipeline_stage


@builtin
def slice(source: Any, shape: Any, offsets: Any) -> tensor:
    """The part of a tensor from `offsets` on. Each thread has it among its own elements."""
    source = _check_block(source, "slice")
    extents, places = unwrap_shape(shape), list(unwrap_shape(offsets))
    if not len(extents) == len(places) == source.ndim:
        raise SemanticError(
            f"slice needs shape and offsets of {source.ndim} entries, not {list(extents)} and "
            f"{places}"
        )
    if is_open(source.type.layout):
        raise SemanticError("slice takes a tensor whose layout is decided")
    for extent, place, whole in zip(extents, places, source.shape, strict=True):
        if place < 0 or place % extent or place + extent > whole:
            raise SemanticError(
                f"a slice of shape {list(extents)} of a tensor of shape {list(source.shape)} "
                f"begins at multiples of its shape inside of it, not at {places}"
            )
    b = current()
    ty = distributed_type(source.dtype, extents, source.type.layout)
    attributes = {"static_offsets": b.i64_array(places)}  # type: ignore[attr-defined]
    handle = b.create_one("amdg.extract_slice", (source.handle,), attributes, (b.type(ty),))
    return tensor(handle, ty)


__all__ = [
    "AMDMFMALayout", "AMDWMMALayout", "cdna3", "cdna4", "cdna5", "gfx1250", "hint", "rdna3",
    "rdna4", "slice", "warp_pipeline_stage",
]  # fmt: skip
