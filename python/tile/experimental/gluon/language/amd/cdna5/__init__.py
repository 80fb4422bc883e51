"""gfx1250. Names and front end; tile has no code generator for most of it, which the compiler
says."""

from typing import Any

from .._downcast import get_scaled_upcast_fp4_scale_layout, scaled_downcast
from .._layouts import AMDWMMALayout
from .._products import make_wmma
from .._scaled import scaled_upcast
from ..cdna3 import buffer_load, buffer_store
from . import async_copy, cluster, mbarrier
from ._layouts import PartitionedSharedLayout, make_partitioned_dot_layouts

wmma = make_wmma(3)

__all__ = [
    "AMDWMMALayout", "PartitionedSharedLayout", "async_copy", "buffer_load", "buffer_store",
    "cluster", "get_scaled_upcast_fp4_scale_layout", "make_partitioned_dot_layouts", "mbarrier",
    "scaled_downcast", "scaled_upcast", "wmma",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    from ...._absent import refuse

    return refuse(__name__, name)
