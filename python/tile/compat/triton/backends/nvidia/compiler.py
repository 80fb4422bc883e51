"""The compiler of the NVIDIA backend, and what it knows of ptxas."""

from __future__ import annotations

import hashlib
from typing import Any

from triton.knobs import NvidiaTool

from tile import knobs
from tile.backends import BaseBackend, GPUTarget, backends
from tile.errors import CompilerToolError as PTXASError

CUDABackend = backends()["nvidia"]
_module = __import__(CUDABackend.__module__, fromlist=["NvidiaOptions"])
CUDAOptions = _module.NvidiaOptions
_tools = _module.tools


def get_ptxas(arch: int = 80) -> Any:
    """The ptxas in use: its path and version."""
    path = _tools.require_ptxas(arch)
    return NvidiaTool(path, _tools.release(path))


def get_ptxas_version(arch: int = 80) -> str:
    """The version of ptxas."""
    return _tools.release(_tools.require_ptxas(arch))


def file_hash(path: str) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def sm_arch_from_capability(capability: int) -> str:
    """``sm_90a`` of 90: the targets of Hopper and later have features of their own."""
    return f"sm_{capability}{'a' if capability >= 90 else ''}"


def min_dot_size(target: GPUTarget) -> Any:
    """The smallest (M, N, K) that ``tl.dot`` takes, as a function of the operands' types."""

    def minimum(lhs: Any, rhs: Any) -> tuple[int, int, int]:
        return 1, 1, 32 if lhs.scalar.primitive_bitwidth == 8 else 16

    return minimum


__all__ = [
    "BaseBackend", "CUDABackend", "CUDAOptions", "GPUTarget", "PTXASError", "file_hash",
    "get_ptxas", "get_ptxas_version", "knobs", "min_dot_size", "sm_arch_from_capability",
]  # fmt: skip
