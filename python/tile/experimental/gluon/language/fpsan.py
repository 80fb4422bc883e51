"""Floats as the integers that a sanitizer of floating point computes with. tile's has others than
Triton's, so it has no code for these functions."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.values import builtin


def _refuse(name: str) -> Any:
    raise SemanticError(
        f"tile has no code for fpsan.{name}: its sanitizer has other integers for floats than "
        "Triton's"
    )


@builtin
def embed(input: Any) -> Any:
    """The integers that stand for floats."""
    _refuse("embed")


@builtin
def unembed(input: Any, dtype: Any) -> Any:
    """The floats that integers stand for."""
    _refuse("unembed")


__all__ = ["embed", "unembed"]
