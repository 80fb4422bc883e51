"""``tile.language``: what kernels are written in."""
# ruff: noqa: F401

from . import extra, math, target_info, warp
from .aggregate import aggregate, aggregate_replace
from .arithmetic import PropagateNan, add, clamp, maximum, minimum, mul, sub, where
from .atomic import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_store,
    atomic_xchg,
    atomic_xor,
)
from .collective import (
    associative_scan,
    dot,
    dot_scaled,
    gather,
    histogram,
    inline_asm_elementwise,
    map_elementwise,
    reduce,
)
from .conversion import public_cast as cast
from .conversion import public_to_tensor as to_tensor
from .creation import (
    arange,
    broadcast,
    broadcast_to,
    cat,
    expand_dims,
    full,
    interleave,
    join,
    permute,
    ravel,
    reshape,
    split,
    squeeze,
    trans,
    unsqueeze,
    view,
    zeros,
    zeros_like,
)
from .descriptor import (
    load_tensor_descriptor,
    make_tensor_descriptor,
    store_tensor_descriptor,
    tensor_descriptor,
    tensor_descriptor_base,
    tensor_descriptor_type,
)
from .dtypes import (
    TRITON_MAX_TENSOR_NUMEL,
    bfloat16,
    block_type,
    const,
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
    pi32_t,
    pointer_type,
    str_to_type,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from .indexing import insert
from .math import (
    abs,
    ceil,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    fdiv,
    floor,
    fma,
    log,
    log2,
    rsqrt,
    sin,
    sqrt,
    sqrt_rn,
    umulhi,
)
from .memory import advance, load, make_block_ptr, store
from .polling import atomic_poll
from .prefetch import prefetch
from .program import (
    assume,
    condition,
    debug_barrier,
    device_assert,
    device_print,
    expect_zero,
    max_constancy,
    max_contiguous,
    multiple_of,
    num_programs,
    program_id,
    range,
    static_assert,
    static_print,
    static_range,
)
from .random import (
    pair_uniform_to_normal,
    philox,
    philox_impl,
    rand,
    rand4x,
    randint,
    randint4x,
    randn,
    randn4x,
    uint_to_uniform_float,
)
from .shared_memory import async_copy, async_wait, barrier, shared, shared_block
from .standard import (
    all,
    any,
    argmax,
    argmin,
    bitonic_merge,
    cdiv,
    cumlogsumexp,
    cummax,
    cummin,
    cumprod,
    cumsum,
    flip,
    max,
    min,
    reduce_or,
    sigmoid,
    softmax,
    sort,
    sum,
    swizzle2d,
    topk,
    xor_sum,
)
from .values import constexpr, constexpr_type, slice, tensor, tuple_type
from .values import tl_tuple as tuple
from .warp import elect, lane_id, num_warps, warp_id

_MODULES = {"extra", "math", "target_info", "warp"}
__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_") and (type(value).__name__ != "module" or name in _MODULES)
]

from . import core  # noqa: E402  # Last: it has everything that is above.

__all__ += ["core"]
