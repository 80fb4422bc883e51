"""The part of the language that is written in the language itself: `tl`'s, as it is, and what
makes tensors."""

from __future__ import annotations

from typing import Any

from tile.language import standard as tl_standard
from tile.language.creation import ravel
from tile.language.standard import (
    cdiv,
    cumprod,
    cumsum,
    max,
    min,
    reduce_or,
    sum,
    xor_sum,
)
from tile.language.values import builtin, tensor, unwrap

from . import _core as ttgl


@builtin
def zeros(shape: Any, dtype: Any, layout: Any = None) -> tensor:
    """A tensor of zeros."""
    return ttgl.full(shape, 0, dtype, layout)


@builtin
def full_like(
    input: Any, value: Any, shape: Any = None, dtype: Any = None, layout: Any = None
) -> tensor:
    """A tensor with `value` in every element, like `input` where nothing else is said."""
    shape, dtype, layout = unwrap(shape), unwrap(dtype), unwrap(layout)
    return ttgl.full(
        input.shape if shape is None else shape,
        value,
        input.dtype if dtype is None else dtype,
        input.type.layout if layout is None else layout,
    )


@builtin
def zeros_like(input: Any, shape: Any = None, dtype: Any = None, layout: Any = None) -> tensor:
    """A tensor of zeros, like `input` where nothing else is said."""
    return full_like(input, 0, shape, dtype, layout)


__all__ = [
    "cdiv", "cumprod", "cumsum", "full_like", "max", "min", "ravel", "reduce_or", "sum",
    "tl_standard", "xor_sum", "zeros", "zeros_like",
]  # fmt: skip
