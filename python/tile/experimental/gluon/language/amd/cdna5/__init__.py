"""gfx1250. Names and front end; tile has no code generator for most of it, which the compiler
says."""

from .._downcast import get_scaled_upcast_fp4_scale_layout, scaled_downcast
from .._layouts import AMDWMMALayout
from .._products import make_wmma
from .._scaled import (
    get_wmma_scale_layout,
    load_shared_fp4_repacked,
    scaled_upcast,
    wmma_scaled,
)
from ..cdna3 import buffer_load, buffer_store
from . import async_copy, cluster, mbarrier, tdm
from ._layouts import PartitionedSharedLayout, make_partitioned_dot_layouts

wmma = make_wmma(3)

__all__ = [
    "AMDWMMALayout", "PartitionedSharedLayout", "async_copy", "buffer_load", "buffer_store",
    "cluster", "get_scaled_upcast_fp4_scale_layout", "get_wmma_scale_layout",
    "load_shared_fp4_repacked",
    "make_partitioned_dot_layouts", "mbarrier", "scaled_downcast", "scaled_upcast", "tdm", "wmma",
    "wmma_scaled",
]  # fmt: skip
