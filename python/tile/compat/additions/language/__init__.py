"""What ``triton.language`` has beside our own names."""

from __future__ import annotations

from typing import Any

from tile.language.dtypes import dtype, str_to_type


def str_to_ty(name: Any, c: Any = None) -> dtype:
    """The type that a signature names."""
    return name if isinstance(name, dtype) else str_to_type(name)
