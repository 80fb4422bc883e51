"""Axes: everything that takes one takes what NumPy takes, and gives NumPy's shape."""

from __future__ import annotations

import numpy as np
import pytest
from frontend import make_module, refusal

import tile
import tile.language as tl


@tile.jit
def shaped(OP: tl.constexpr, AXIS: tl.constexpr, SHAPE: tl.constexpr, EXPECTED: tl.constexpr):
    v = tl.zeros(SHAPE, tl.int32)
    if OP == "sum":
        r = tl.sum(v, AXIS)
    elif OP == "sum, kept":
        r = tl.sum(v, AXIS, keep_dims=True)
    elif OP == "max":
        r = tl.max(v, AXIS)
    elif OP == "min and index":
        r, i = tl.min(v, AXIS, return_indices=True)
        tl.static_assert(i.shape == r.shape)
    elif OP == "argmax":
        r = tl.argmax(v, AXIS)
    elif OP == "xor_sum":
        r = tl.xor_sum(v, AXIS)
    elif OP == "cumsum":
        r = tl.cumsum(v, AXIS)
    elif OP == "cumprod":
        r = tl.cumprod(v, AXIS)
    elif OP == "flip":
        r = tl.flip(v, AXIS)
    elif OP == "gather":
        r = tl.gather(v, v, AXIS)
    elif OP == "expand_dims":
        r = tl.expand_dims(v, AXIS)
    elif OP == "unsqueeze":
        r = tl.unsqueeze(v, AXIS)
    else:
        r = tl.squeeze(v, AXIS)
    found: tl.constexpr = r.shape if len(SHAPE) > 1 or len(EXPECTED) > 0 else ()
    tl.static_assert(found == EXPECTED)


ORACLE = {
    "sum": np.sum, "sum, kept": lambda v, axis: np.sum(v, axis, keepdims=True), "max": np.max,
    "min and index": np.min, "argmax": np.argmax, "xor_sum": np.bitwise_xor.reduce,
    "cumsum": np.cumsum, "cumprod": np.cumprod, "flip": np.flip,
    "gather": lambda v, axis: np.take_along_axis(v, v, axis),
    "expand_dims": np.expand_dims, "unsqueeze": np.expand_dims, "squeeze": np.squeeze,
}  # fmt: skip
SHAPES = [(8,), (4, 8), (1, 8), (2, 1, 4)]


@pytest.mark.parametrize("op", ORACLE)
@pytest.mark.parametrize("shape", SHAPES)
def test_axes_are_those_of_numpy(op, shape):
    for axis in range(-5, 5):
        constants = {"OP": op, "AXIS": axis, "SHAPE": shape}
        try:
            expected = ORACLE[op](np.zeros(shape, np.int32), axis).shape
        except ValueError:  # An AxisError is one.
            error = refusal(shaped, {}, {**constants, "EXPECTED": ()})
            assert "axis" in error.error_message or "dimension" in error.error_message
            assert str(axis) in error.error_message
        else:
            make_module(shaped, {}, {**constants, "EXPECTED": expected})


@pytest.mark.parametrize("op", ORACLE)
@pytest.mark.parametrize("axis", [1.0, True, "0", (0.5,)])
def test_what_is_no_axis_is_refused(op, axis):
    error = refusal(shaped, {}, {"OP": op, "AXIS": axis, "SHAPE": (4, 8), "EXPECTED": ()})
    assert repr(axis) in error.error_message or "axis" in error.error_message
