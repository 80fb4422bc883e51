"""``tile.experimental.gluon.language``: what kernels with layouts are written in.

What is shared with `tile.language` is the very same function: tensors' types know their layouts.
"""
# ruff: noqa: F401

from typing import Any

from tile.language.aggregate import aggregate
from tile.language.arithmetic import PropagateNan, add, clamp, maximum, minimum, mul, sub, where
from tile.language.atomic import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)
from tile.language.collective import (
    associative_scan,
    gather,
    inline_asm_elementwise,
    map_elementwise,
    reduce,
)
from tile.language.conversion import public_cast as cast
from tile.language.creation import broadcast, expand_dims, join, permute, reshape, split
from tile.language.dtypes import (
    bfloat16,
    block_type,
    dtype,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    pointer_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from tile.language.program import (
    assume,
    device_assert,
    device_print,
    max_constancy,
    max_contiguous,
    multiple_of,
    num_programs,
    program_id,
    static_assert,
    static_print,
    static_range,
)
from tile.language.values import constexpr, tensor, tuple_type
from tile.language.values import tl_tuple as tuple

from . import amd, extra, fpsan, nvidia
from ._atomic import atomic_load, atomic_poll, atomic_store, expect_zero
from ._core import (
    aggregate_replace,
    allocate_shared_memory,
    arange,
    bank_conflicts,
    barrier,
    convert_layout,
    distributed_type,
    dot_fma,
    fp4_to_fp,
    full,
    histogram,
    inline_asm,
    load,
    num_ctas,
    num_warps,
    set_auto_layout,
    shared_memory_descriptor,
    shared_memory_descriptor_type,
    store,
    thread_barrier,
    to_linear_layout,
    to_tensor,
    warp_specialize,
)
from ._layouts import (
    AutoLayout,
    BlockedLayout,
    CoalescedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    NVMMADistributedLayout,
    NVMMASharedLayout,
    PaddedSharedLayout,
    SharedLinearLayout,
    SliceLayout,
    SwizzledSharedLayout,
)
from ._math import *  # noqa: F403
from ._policies import CachePolicy
from ._standard import (
    cdiv,
    cumprod,
    cumsum,
    full_like,
    max,
    min,
    ravel,
    reduce_or,
    sum,
    xor_sum,
    zeros,
    zeros_like,
)

#: What values and their types are instances of.
base_type, base_value = dtype, tensor

_MODULES = {"amd", "extra", "fpsan", "nvidia"}
__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_")
    and name != "Any"
    and (type(value).__name__ != "module" or name in _MODULES)
]
