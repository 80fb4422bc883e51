"""sm_100, sm_103, sm_110: tensor memory and what computes in it."""

from __future__ import annotations

from ..ampere import CachePolicy, FractionalEvictionPolicy, async_copy, mma_v2
from ..hopper import async_store, cluster, fence_async_shared, mbarrier
from . import clc, tma
from ._layouts import TensorMemoryLayout, TensorMemoryScalesLayout
from ._memory import (
    allocate_tensor_memory,
    get_tmem_reg_layout,
    tensor_memory_descriptor,
    tensor_memory_descriptor_type,
)
from ._packed import add2, fma2, max2, min2, mul2, sub2
from ._products import (
    tcgen05_commit,
    tcgen05_copy,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tcgen05_mma_scaled,
)

__all__ = [
    "CachePolicy", "FractionalEvictionPolicy", "TensorMemoryLayout", "TensorMemoryScalesLayout",
    "add2", "allocate_tensor_memory", "async_copy", "async_store", "clc", "cluster",
    "fence_async_shared", "fma2", "get_tmem_reg_layout", "max2", "mbarrier", "min2", "mma_v2",
    "mul2", "sub2",
    "tcgen05_commit", "tcgen05_copy", "tcgen05_mma", "tcgen05_mma_barrier_count",
    "tcgen05_mma_scaled", "tensor_memory_descriptor", "tensor_memory_descriptor_type", "tma",
]  # fmt: skip
