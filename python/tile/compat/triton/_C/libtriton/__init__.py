"""What is native in Triton, as far as programs reach into it."""

from __future__ import annotations

import os
from typing import Any

from tile import knobs as _knobs
from tile.compat.unbuilt import Unbuilt
from tile.runtime.specialization import native_specialize_impl as _describe

from . import amd, gluon_ir, interpreter, ir, linear_layout, llvm, nvidia, passes

#: Variables that change what is compiled; each belongs to a knob.
_IN_KEYS = ("DISABLE_PTXAS_OPT", "PTXAS_OPTIONS", "TRITON_MOCK_PTX_VERSION", "TRITON_F32_DEFAULT")

#: What is one with Triton's compiler, and what to use in its place.
_UNBUILT = {"proton": "triton.profiler records kernels, and its language has scopes inside of them"}


def __getattr__(name: str) -> Any:
    if name in _UNBUILT:
        return Unbuilt(f"{__name__.removeprefix('tile.compat.')}.{name}", _UNBUILT[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool
) -> tuple[Any, Any]:
    """The type of an argument, and what Triton knows of its value: of a number, whether it is a
    multiple of 16. The caches of tile know more."""
    name, known = _describe(backend, arg, is_const, specialize_value, align)
    return name, "".join(c for c in known if c == "D") if isinstance(known, str) else known


def getenv(name: str, default: str | None = None) -> str | None:
    """An environment variable, under its TILE_ name first."""
    return _knobs.getenv(name, default)


def getenv_bool(name: str, default: bool = False) -> bool:
    """The same, as a flag."""
    value = _knobs.getenv(name)
    return default if value is None else value.lower() in ("1", "true", "on", "yes", "y")


def get_cache_invalidating_env_vars() -> dict[str, str]:
    """The variables that are set and change what is compiled."""
    return {name: os.environ[name] for name in _IN_KEYS if name in os.environ}


__all__ = [
    "amd",
    "get_cache_invalidating_env_vars",
    "getenv",
    "getenv_bool",
    "gluon_ir",
    "interpreter",
    "ir",
    "linear_layout",
    "llvm",
    "native_specialize_impl",
    "nvidia",
    "passes",
]
