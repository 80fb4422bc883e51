"""gfx942: accesses to buffers, and MFMA."""

from ._buffer import (
    buffer_atomic_add,
    buffer_atomic_and,
    buffer_atomic_max,
    buffer_atomic_min,
    buffer_atomic_or,
    buffer_atomic_xchg,
    buffer_atomic_xor,
    buffer_load,
    buffer_store,
)
from ._downcast import get_scaled_upcast_fp4_scale_layout
from ._products import mfma
from ._scaled import scaled_upcast

__all__ = [
    "buffer_atomic_add", "buffer_atomic_and", "buffer_atomic_max", "buffer_atomic_min",
    "buffer_atomic_or", "buffer_atomic_xchg", "buffer_atomic_xor", "buffer_load", "buffer_store",
    "get_scaled_upcast_fp4_scale_layout", "mfma", "scaled_upcast",
]  # fmt: skip
