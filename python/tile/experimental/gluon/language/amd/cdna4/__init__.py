"""gfx950: what gfx942 has, dots with scales, and copies straight into LDS."""

from .._downcast import scaled_downcast
from .._padding import compute_efficient_padded_shared_layout
from .._scaled import get_mfma_scale_layout, load_shared_fp4_repacked, mfma_scaled
from ..cdna3 import *  # noqa: F403
from ..cdna3 import __all__ as _of_cdna3
from . import async_copy

__all__ = [
    *_of_cdna3, "async_copy", "compute_efficient_padded_shared_layout",
    "get_mfma_scale_layout", "load_shared_fp4_repacked", "mfma_scaled",
    "scaled_downcast",
]  # fmt: skip
