"""Floats to microscaling formats, written in the language: any GPU of AMD runs it."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.arithmetic import where
from tile.language.creation import broadcast_to, expand_dims, permute, reshape, split
from tile.language.dtypes import float8e4nv, float8e5, float32, int32, uint8, uint32
from tile.language.math import abs
from tile.language.values import constexpr, unwrap, unwrap_shape
from tile.runtime.jit import constexpr_function, jit

from .. import _inference
from .._core import convert_layout
from .._layouts import DistributedLinearLayout, SliceLayout, is_open
from ._scaled import is_byte

_FLOATS = ("fp16", "bf16", "fp32")


@constexpr_function
def _groups(shape: Any, axis: Any, factor: Any) -> list[int]:
    """The shape in which those that share a scale are a dimension of their own."""
    shape, axis, factor = list(unwrap_shape(shape)), unwrap(axis), unwrap(factor)
    return [*shape[:axis], shape[axis] // factor, factor, *shape[axis + 1 :]]


@constexpr_function
def _scale_layout(layout: Any, shape: Any, axis: Any, factor: Any) -> SliceLayout:
    """Of scales, each in the threads that have elements of its group."""
    layout, shape = unwrap(layout), list(unwrap_shape(shape))
    groups = _groups(shape, axis, factor)
    wide = _inference.infer("reshape", layout, shape, groups, groups)
    return SliceLayout(unwrap(axis) + 1, wide)


def scale_factor(shape: Any, scales: Any, axis: int, what: str) -> int:
    """How many elements along the axis share a scale."""
    extent, count = shape[axis], scales[axis] if axis < len(scales) else 0
    others = [a == b for d, (a, b) in enumerate(zip(shape, scales, strict=False)) if d != axis]
    if len(shape) != len(scales) or not all(others) or not count or extent % count:
        raise SemanticError(
            f"{what} takes a scale for equal parts along dimension {axis} of "
            f"{list(shape)}, not scales of shape {list(scales)}"
        )
    return extent // count


@constexpr_function
def _checked(input: Any, scale: Any, format: Any, axis: Any) -> int:
    """The axis of a downcast, from 0 on."""
    format, axis = unwrap(format), unwrap(axis)
    if format not in ("e4m3", "e5m2", "e2m1"):
        raise SemanticError(f"scaled_downcast has the formats e4m3, e5m2 and e2m1, not {format!r}")
    if not input.is_block() or input.element_ty.name not in _FLOATS:
        raise SemanticError(f"scaled_downcast takes a tensor of {', '.join(_FLOATS)}, not {input}")
    if not scale.is_block() or not is_byte(scale.element_ty):
        raise SemanticError(f"Expected scale to use raw E8M0 payload in int8/uint8, not {scale}")
    if is_open(input.layout):
        raise SemanticError("scaled_downcast takes a tensor whose layout is decided")
    rank = len(input.shape)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise SemanticError(f"axis of scaled_downcast is from {-rank} to {rank - 1}, not {axis!r}")
    axis %= rank
    factor = scale_factor(input.shape, scale.shape, axis, "scaled_downcast")
    if factor % 8:
        raise SemanticError(
            f"each scale of scaled_downcast is for a multiple of 8 elements, not for {factor}"
        )
    return axis


@constexpr_function
def _last(rank: Any, axis: Any) -> list[int]:
    """The order of dimensions that makes one the last. Applied to the result, `_back` undoes it."""
    rank, axis = unwrap(rank), unwrap(axis)
    return [*(d for d in range(rank) if d != axis), axis]


@constexpr_function
def _back(rank: Any, axis: Any) -> list[int]:
    order = _last(rank, axis)
    return [order.index(d) for d in range(len(order))]


@constexpr_function
def _pairs(shape: Any) -> list[int]:
    shape = list(unwrap_shape(shape))
    return [*shape[:-1], shape[-1] // 2, 2]


@jit
def _power(exponent: Any) -> Any:
    """Two to the power of an int32 from -126 to 127."""
    return ((exponent + 127) << 23).to(float32, bitcast=True)


@jit
def _to_e2m1(x: Any) -> Any:
    """The nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6, of two equally near ones the even code. What
    is larger, or no number, becomes 6."""
    size = abs(x)
    code = (~(size <= 0.25)).to(uint8) + (~(size < 0.75)).to(uint8)
    code += (~(size <= 1.25)).to(uint8) + (~(size < 1.75)).to(uint8)
    code += (~(size <= 2.5)).to(uint8) + (~(size < 3.5)).to(uint8)
    code += (~(size <= 5.0)).to(uint8)
    sign = x.to(uint32, bitcast=True) >> 31
    return code | (sign << 3).to(uint8)


@jit
def scaled_downcast(input: Any, scale: Any, format: constexpr, axis: constexpr = -1) -> Any:  # type: ignore[assignment]
    """Floats divided by their scales, in a format of 8 bits ("e4m3", "e5m2") or of 4 ("e2m1").

    Scales are exponents of powers of two, of e8m0. There is one for each group of a multiple of 8
    elements along `axis`. Floats of 4 bits are two in a byte, along `axis`, the first one in the
    low half."""
    at: constexpr = _checked(input.type, scale.type, format, axis)
    shape: constexpr = input.shape
    rank: constexpr = len(input.shape)
    layout: constexpr = input.type.layout
    factor: constexpr = input.shape[at] // scale.shape[at]
    of_group = convert_layout(scale, _scale_layout(layout, shape, at, factor))
    wide = broadcast_to(expand_dims(of_group, at + 1), _groups(shape, at, factor))
    scales = convert_layout(reshape(wide, shape), layout).to(uint8).to(int32)
    # In two steps: either is a number of fp32 that is not too small.
    exponent = 127 - scales
    half = exponent >> 1
    x = input.to(float32) * _power(half) * _power(exponent - half)
    x = where(scales == 255, float("nan"), x)
    if format == "e4m3":
        return x.to(float8e4nv)
    if format == "e5m2":
        return x.to(float8e5)
    codes = permute(_to_e2m1(x), _last(rank, at))
    low, high = split(reshape(codes, _pairs(codes.shape)))
    return permute(low | (high << 4), _back(rank, at))


@constexpr_function
def _scales_of_result(source: Any, factor: Any, elem_type: Any, axis: Any) -> Any:
    """The layout of the scales of packed floats that become fp16 or bf16."""
    factor, axis, elem_type = unwrap(factor), unwrap(axis), unwrap(elem_type)
    if not source.is_block() or not is_byte(source.element_ty):
        raise SemanticError(
            f"get_scaled_upcast_fp4_scale_layout takes a tensor of bytes, not {source}"
        )
    if getattr(elem_type, "name", None) not in ("fp16", "bf16"):
        raise SemanticError(f"Expected elem_type to be fp16 or bf16, not {elem_type}")
    rank = len(source.shape)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise SemanticError(f"axis is from {-rank} to {rank - 1}, not {axis!r}")
    axis %= rank
    shape = [2 * e if d == axis else e for d, e in enumerate(source.shape)]
    if not isinstance(factor, int) or factor < 8 or factor & (factor - 1) or shape[axis] % factor:
        raise SemanticError(
            f"scale_factor is a power of two from 8 to {shape[axis]}, not {factor!r}"
        )
    layout = _inference.infer("fp4_to_fp", source.layout, source.shape, [axis], shape)
    count = [e // factor if d == axis else e for d, e in enumerate(shape)]
    found = _inference.as_linear(_scale_layout(layout, shape, axis, factor), count)
    registers = [basis for basis in found.reg_bases if any(basis)]
    return DistributedLinearLayout(
        registers, found.lane_bases, found.warp_bases, found.block_bases, count
    )


@jit
def get_scaled_upcast_fp4_scale_layout(
    src: Any, scale_factor: constexpr, elem_type: constexpr, axis: constexpr
) -> Any:
    """The layout of the scales of `src`, which holds floats of 4 bits. There is one scale for each
    `scale_factor` of them along `axis`. It lies in the threads that get these floats from
    `scaled_upcast`."""
    return _scales_of_result(src.type, scale_factor, elem_type, axis)
