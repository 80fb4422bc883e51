"""add, sub and fma of .f32 whose first operands have 16 bits (sm_100 and later)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptxlib import elementwise_ptx, floats32, same_bits_or_nan

import tile.sim
from tile.errors import TileError

HEADERS = [("8.6", "sm_100"), ("8.8", "sm_103a"), ("9.0", "sm_110"), ("8.7", "sm_120")]
NARROW = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def run(text, operands, header=("8.8", "sm_100a")):
    ptx = elementwise_ptx(text, "b32", [kind for kind, _ in operands])
    ptx = ptx[ptx.index(".visible") :]
    ptx = f".version {header[0]}\n.target {header[1]}\n.address_size 64\n" + ptx
    arrays = [a for _, a in operands]
    out = np.zeros(len(arrays[0]), np.uint32)
    tile.sim.launch(ptx, "op", (len(out) + 63) // 64, 64, [out, *arrays, len(out)])
    return out


def rounded(exact, mode):
    """An exact double, once to float. Sums of these operands are exact in long double."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float32)
        wide = nearest.astype(np.longdouble)
        if mode == "rn":
            return nearest
        if mode == "rz":
            mode = np.where(exact < 0, "rp", "rm")
        below = np.nextafter(nearest, np.float32(-np.inf))
        above = np.nextafter(nearest, np.float32(np.inf))
        down = np.where(wide > exact, below, nearest)
        up = np.where(wide < exact, above, nearest)
        return np.where(np.asarray(mode) == "rm", down, up).astype(np.float32)


def operands(narrow):
    # Exponents close enough for long double to hold every sum.
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(3000).astype(NARROW[narrow]) for _ in range(2))
    c = (rng.standard_normal(3000) * np.exp2(rng.integers(-12, 12, 3000))).astype(np.float32)
    return a, b, c


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("mode", ["", ".rn", ".rz", ".rm", ".rp"])
@pytest.mark.parametrize("op", ["add", "sub"])
def test_sums(op, mode, narrow):
    a, _, c = operands(narrow)
    got = run(f"{op}{mode}.f32.{narrow} {{d}}, {{0}}, {{1}};", [("b16", a), ("b32", c)])
    exact = a.astype(np.longdouble) + (c if op == "add" else -c).astype(np.longdouble)
    same_bits_or_nan(got, rounded(exact, mode[1:] or "rn"), np.float32)


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_fused(mode, narrow):
    a, b, c = operands(narrow)
    text = f"fma.{mode}.f32.{narrow} {{d}}, {{0}}, {{1}}, {{2}};"
    got = run(text, [("b16", a), ("b16", b), ("b32", c)])
    exact = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
    same_bits_or_nan(got, rounded(exact, mode), np.float32)


@pytest.mark.parametrize("narrow", NARROW)
def test_special_values_and_saturation(narrow):
    with np.errstate(all="ignore"):
        a, c = floats32(200, 2, scale=8.0)
        a = a.astype(NARROW[narrow])
        got = run(f"add.f32.{narrow} {{d}}, {{0}}, {{1}};", [("b16", a), ("b32", c)])
        same_bits_or_nan(got, a.astype(np.float32) + c, np.float32)
        got = run(f"sub.sat.f32.{narrow} {{d}}, {{0}}, {{1}};", [("b16", a), ("b32", c)])
        want = a.astype(np.float32) - c
        want = np.where(np.isnan(want), 0, np.clip(want, 0, 1))
    np.testing.assert_array_equal(np.abs(got.view(np.float32)), np.abs(want))


@pytest.mark.parametrize("header", HEADERS, ids=lambda h: h[1])
def test_targets_that_have_them(header):
    a, _, c = operands("f16")
    run("add.rn.f32.f16 {d}, {0}, {1};", [("b16", a), ("b32", c)], header)


@pytest.mark.parametrize(
    ("text", "header", "message"),
    [
        ("add.rn.f32.f16 {d}, {0}, {1};", ("8.6", "sm_90a"), "needs .target sm_100 or later"),
        ("fma.rn.f32.bf16 {d}, {0}, {0}, {1};", ("8.0", "sm_90"), "needs .target sm_100 or later"),
        ("mul.rn.f32.f16 {d}, {0}, {1};", ("8.8", "sm_100"), "type .f16 is not allowed here"),
        ("add.ftz.f32.f16 {d}, {0}, {1};", ("8.8", "sm_100"), "not allowed here"),
        ("fma.f32.f16 {d}, {0}, {0}, {1};", ("8.8", "sm_100"), "needs a rounding"),
        ("add.f32.f16 {d}, {1}, {0};", ("8.8", "sm_100"), "expected .f16"),
    ],
)
def test_refused(text, header, message):
    a, _, c = operands("f16")
    with pytest.raises(TileError, match=message):
        run(text, [("b16", a), ("b32", c)], header)
