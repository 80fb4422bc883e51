"""Stages of a compile that a program calls by itself, as hooks around stages and jax-triton do."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from ..errors import TileError
from .stages import TTIR

assert TTIR.kernel_pattern is not None
_KERNEL = re.compile(TTIR.kernel_pattern)


def stage(make: Callable) -> Callable:
    """A method of a backend that makes one stage. Programs give the options by position, and behind
    them the compute capability, which the target says, too. They begin with empty metadata."""

    @functools.wraps(make)
    def call(
        self: Any, source: Any, metadata: dict[str, Any], options: Any, capability: Any = None
    ) -> Any:
        if capability is not None and capability != self.target.arch:
            raise TileError(f"this backend compiles for {self.target}, not for {capability}")
        if "name" not in metadata:
            found = _KERNEL.search(source if isinstance(source, str) else str(source))
            metadata["name"] = found[1] if found else ""
        metadata.setdefault("num_warps", options.num_warps)
        return make(self, source, metadata, options=options)

    return call
