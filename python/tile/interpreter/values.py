"""Tensors of interpreted kernels, as people and debuggers look at them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import SemanticError
from ..language import state
from ..language.values import tensor
from .conditions import as_number, truth
from .numbers import displayed

number = as_number


def index(value: tensor) -> int:
    if not value.dtype.is_int():
        raise SemanticError(f"a {value.type} is not an integer")
    return int(as_number(value))


def elements(value: tensor) -> np.ndarray:
    """The elements as an array of their type."""
    return displayed(np.asarray(value.handle), value.type)


def show(value: tensor) -> str:
    """The value, its shape and type."""
    shown: Any = elements(value)
    builder = state._state.builder
    if value.dtype.is_ptr() and builder is not None and builder.eager:
        size = value.dtype.element_ty.itemsize
        names = [builder.memory.describe(a, size) for a in shown.reshape(-1)[:64].tolist()]
        text = ", ".join(names) + (", ..." if shown.size > 64 else "")
    else:
        text = str(shown[()])
        if value.type.is_block():
            text = np.array2string(shown, separator=", ", threshold=64)
    if not value.type.is_block():
        return f"{value.dtype} {text}"
    return f"{value.dtype}{list(value.shape)} {text}"


__all__ = ["elements", "index", "number", "show", "truth"]
