"""What ``triton.experimental.gluon.language._layouts`` has beside our own names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.experimental.gluon.language._amd_layouts import AMDWMMALayout
from tile.experimental.gluon.language._layouts import (
    DistributedLinearLayout,
    DotOperandLayout,
    SliceLayout,
)


def bases_per_dim(
    bases: Sequence[Sequence[int]], rank: int, skip_broadcast: bool = True
) -> list[int]:
    """How many parts bases make along each dimension. Those that are zero make none; else they
    are counted along the last one."""
    parts = [1] * rank
    for basis in bases:
        dims = [dim for dim, step in enumerate(basis) if step]
        if dims or not skip_broadcast:
            parts[dims[0] if dims else rank - 1] *= 2
    return parts


def warps_per_cta(layout: Any, shape: Sequence[int]) -> list[int]:
    """How many warps there are along each dimension of a tensor in this layout."""
    if isinstance(layout, (SliceLayout, DotOperandLayout)):
        return warps_per_cta(layout.parent, shape)
    if isinstance(layout, (DistributedLinearLayout, AMDWMMALayout)):
        return bases_per_dim(layout.warp_bases, layout.rank)
    return list(layout.warps_per_cta)
