"""What runs kernels: specialisation, caches, drivers, autotuning."""

from __future__ import annotations

from ..errors import InterpreterError, OutOfResources
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .driver import driver
from .jit import (
    JITFunction,
    KernelInterface,
    MockTensor,
    TensorWrapper,
    constexpr_function,
    reinterpret,
)
from .memory import set_allocator

__all__ = [
    "Autotuner", "Config", "Heuristics", "InterpreterError", "JITFunction", "KernelInterface",
    "MockTensor", "OutOfResources", "TensorWrapper", "autotune", "constexpr_function", "driver",
    "heuristics", "reinterpret", "set_allocator",
]  # fmt: skip
