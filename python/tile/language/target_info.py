"""What is being compiled for, as constants."""

from __future__ import annotations

from .state import current
from .values import builtin


@builtin
def current_target() -> object:
    """The architecture that is being compiled for, as a number."""
    return current().options.arch


@builtin
def is_cuda() -> bool:
    """True on NVIDIA GPUs."""
    return current().options.backend_name == "cuda"


@builtin
def is_hip() -> bool:
    """True on AMD GPUs."""
    return current().options.backend_name == "hip"


@builtin
def is_hip_cdna3() -> bool:
    """True on AMD's CDNA 3."""
    return current().options.backend_name == "hip" and current().options.arch == "gfx942"


@builtin
def is_hip_cdna4() -> bool:
    """True on AMD's CDNA 4."""
    return current().options.backend_name == "hip" and current().options.arch == "gfx950"


@builtin
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """True on NVIDIA GPUs of at least this compute capability."""
    options = current().options
    return options.backend_name == "cuda" and options.arch >= major * 10 + minor
