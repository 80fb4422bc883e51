# ruff: noqa: E501  (PTX text reads better unbroken)
"""Two floats in a register, exponentials and tangents of halves."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptxlib import elementwise, floats32, same_bits_or_nan

from tile.errors import TileError


def together(high, low):
    return high.view(np.uint32).astype(np.uint64) << 32 | low.view(np.uint32)


@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "fma"])
def test_f32x2_is_the_operation_on_each_half(op, ftz, rounding):
    count = 3 if op == "fma" else 2
    columns = floats32(2000, count, seed=31)
    flush = ".ftz" if ftz else ""
    operands = ", ".join(f"{{{i}}}" for i in range(count))
    got = elementwise(
        f"{op}.{rounding}{flush}.f32x2 {{d}}, {operands};",
        "b64",
        [("b64", together(c, c[::-1])) for c in columns],
    )
    want = elementwise(
        f"{op}.{rounding}{flush}.f32 {{d}}, {operands};", "b32", [("b32", c) for c in columns]
    )
    assert (got >> np.uint64(32) == want).all() and (got & 0xFFFFFFFF == want[::-1]).all()


def test_f32x2_against_numpy():
    x, y = floats32(2000, 2, seed=37)
    with np.errstate(all="ignore"):
        sums = x + y
    got = elementwise("add.rn.f32x2 {d}, {0}, {1};", "b64", [("b64", together(x, y)), ("b64", together(y, x))])  # fmt: skip
    for half in (got >> np.uint64(32), got & 0xFFFFFFFF):
        same_bits_or_nan(half.astype(np.uint32), sums, np.float32)
    with pytest.raises(TileError):
        elementwise("min.rz.f32x2 {d}, {0}, {1};", "b64", [("b64", together(x, y))] * 2)


#: Largest error in units of the last place of the result, from the ISA's tables.
FUNCTIONS = {
    ("ex2.approx", "f16"): (np.exp2, 2**-9.9),
    ("ex2.approx.ftz", "bf16"): (np.exp2, 2**-7),
    ("tanh.approx", "f16"): (np.tanh, 2**-10.987),
    ("tanh.approx", "bf16"): (np.tanh, 2**-8),
}


@pytest.mark.parametrize(("name", "kind"), FUNCTIONS, ids=[f"{n}_{k}" for n, k in FUNCTIONS])
def test_half_functions(name, kind):
    function, error = FUNCTIONS[name, kind]
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[kind]
    x = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    got = elementwise(f"{name}.{kind} {{d}}, {{0}};", "b16", [("b16", x)])
    with np.errstate(invalid="ignore"):  # signalling NaNs
        value, result = x.view(dtype).astype(np.float64), got.view(dtype).astype(np.float64)
    if "ftz" in name:
        value = np.where(np.abs(value) < 2.0**-126, 0.0, value)
    with np.errstate(all="ignore"):
        want = function(value)
    assert (np.isnan(result) == np.isnan(want)).all()
    low, high = {"f16": (2.0**-14, 65504), "bf16": (2.0**-126, 3.3e38)}[kind]
    normal = (np.abs(want) >= low) & (np.abs(want) <= high)
    slack = 1 if "tanh" in name else np.abs(want[normal])
    assert (np.abs(result[normal] - want[normal]) <= error * 1.0001 * slack).all()
    assert (result[want == np.inf] == np.inf).all() and (result[want == 0] == 0).all()
    packed = elementwise(
        f"{name}.{kind}x2 {{d}}, {{0}};", "b32", [("b32", x.astype(np.uint32) << 16 | x[::-1])]
    )
    assert (packed >> 16 == got).all() and (packed & 0xFFFF == got[::-1]).all()
