"""What is being compiled for, as constants.

Outside of kernels, what they would be compiled for.
"""

from __future__ import annotations

from ..backends import GPUTarget
from ..errors import DriverError
from ..runtime.driver import driver
from ..runtime.jit import constexpr_function
from .state import _state


@constexpr_function
def current_target() -> GPUTarget | None:
    """The target; None outside of kernels where no driver is."""
    builder = _state.builder
    if builder is not None:
        options = builder.options
        return GPUTarget(options.backend_name, options.arch, options.warp_size)
    try:
        return driver.active.get_current_target()
    except DriverError:
        return None


def _is(backend: str, arch: str | None = None) -> bool:
    target = current_target()
    return target is not None and target.backend == backend and arch in (None, target.arch)


@constexpr_function
def is_cuda() -> bool:
    """True on NVIDIA GPUs."""
    return _is("cuda")


@constexpr_function
def is_hip() -> bool:
    """True on AMD GPUs."""
    return _is("hip")


@constexpr_function
def is_hip_cdna3() -> bool:
    """True on AMD's CDNA 3."""
    return _is("hip", "gfx942")


@constexpr_function
def is_hip_cdna4() -> bool:
    """True on AMD's CDNA 4."""
    return _is("hip", "gfx950")


@constexpr_function
def is_hip_gfx1250() -> bool:
    """True on AMD's gfx1250."""
    return _is("hip", "gfx1250")


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """True on NVIDIA GPUs of at least this compute capability."""
    return _is("cuda") and current_target().arch >= major * 10 + minor
