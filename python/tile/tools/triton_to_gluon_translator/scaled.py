"""Operands in microscaling formats, as numbers."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.experimental.gluon import language as gl
from tile.language.arithmetic import where
from tile.language.conversion import bitcast, cast
from tile.language.creation import broadcast_to, permute, reshape
from tile.language.values import tensor, unwrap

from .layouts import expand_dims, settle

_FP8 = {"e4m3": gl.float8e4nv, "e5m2": gl.float8e5}


def _powers(scale: tensor) -> tensor:
    """Powers of two of fp32 by their exponents, of e8m0."""
    bits = cast(scale, gl.uint8).to(gl.int32)
    # The smallest one is no normal number.
    normal = bitcast(where(bits == 0, 1 << 22, bits << 23), gl.float32)
    return where(bits == 255, float("nan"), normal)


def decoded(value: tensor, scale: Any, format: Any, axis: int, k_pack: Any) -> tensor:
    """An operand of `tl.dot_scaled` in bf16, with its scales, which lie in rows: K is dimension
    `axis` of the operand, and the last one of the scales."""
    format, scale = unwrap(format), unwrap(scale)
    if format == "e2m1":
        packed = axis if unwrap(k_pack) else 1 - axis
        value = settle(gl.fp4_to_fp(cast(value, gl.uint8), gl.bfloat16, packed))
    elif format in _FP8:
        if value.dtype.is_int():
            value = bitcast(value, _FP8[format])
        value = cast(value, gl.bfloat16)
    elif format not in ("fp16", "bf16"):
        raise SemanticError(f"dot_scaled has no format {format!r}")
    if scale is None:
        return cast(value, gl.bfloat16)
    rows, groups = scale.shape
    factor = value.shape[axis] // groups
    wide = broadcast_to(expand_dims(_powers(scale), 2), rows, groups, factor)
    scales = settle(reshape(wide, rows, groups * factor))
    if axis == 0:
        scales = settle(permute(scales, 1, 0))
    return cast(cast(value, gl.float32) * scales, gl.bfloat16)
