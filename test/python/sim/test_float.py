# ruff: noqa: E501  (PTX text reads better unbroken)
"""Floating-point instructions against NumPy, ml_dtypes and exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from ptxlib import elementwise, floats32, same_bits_or_nan

F32 = np.float32


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def flush(a):
    return np.where(np.abs(a) < np.float32(1.1754944e-38), np.copysign(F32(0), a), a).astype(F32)


ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


@pytest.mark.parametrize("op", ARITHMETIC)
def test_f32_nearest(op):
    a, b = floats32(2000, 2)
    got = elementwise(f"{op}.rn.f32 {{d}}, {{0}}, {{1}};", "f32", [("f32", a), ("f32", b)])
    want = ARITHMETIC[op](a, b)
    same_bits_or_nan(got, want, F32)
    assert (got[np.isnan(want)] == 0x7FFFFFFF).all(), "a NaN has one bit pattern"
    got = elementwise(f"{op}.rn.ftz.f32 {{d}}, {{0}}, {{1}};", "f32", [("f32", a), ("f32", b)])
    same_bits_or_nan(got, flush(ARITHMETIC[op](flush(a), flush(b))), F32)
    if op != "div":
        got = elementwise(f"{op}.sat.f32 {{d}}, {{0}}, {{1}};", "f32", [("f32", a), ("f32", b)])
        want = np.nan_to_num(np.clip(want, 0, 1), nan=0.0)
        assert (got.view(F32) == want).all()


def exact(op, *values):
    values = [Fraction(float(v)) for v in values]
    if op == "fma":
        return values[0] * values[1] + values[2]
    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
    }[op](*values)


def round_fraction(value: Fraction, mode: str) -> np.float32:
    """A rational number to float32, from the definition of rounding."""
    if value == 0:
        return F32(0)
    near = F32(float(value))
    if np.isinf(near):
        near = np.copysign(F32(3.4028235e38), near)
    while Fraction(float(near)) > value:
        near = np.nextafter(near, F32(-np.inf), dtype=F32)
    while True:
        above = np.nextafter(near, F32(np.inf), dtype=F32)
        if np.isinf(above) or Fraction(float(above)) > value:
            break
        near = above
    low, high = near, np.nextafter(near, F32(np.inf), dtype=F32)
    if Fraction(float(low)) == value:
        return low
    if mode == "rm" or (mode == "rz" and value > 0):
        return low
    if mode in ("rp", "rz"):
        return high
    low_gap, high_gap = (
        value - Fraction(float(low)),
        Fraction(float(high)) - value if not np.isinf(high) else Fraction(2**104),
    )
    even_low = not (low.view(np.uint32) & 1)
    return low if low_gap < high_gap or (low_gap == high_gap and even_low) else high


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "fma"])
def test_f32_directed(op, mode):
    arrays = floats32(250, 3 if op == "fma" else 2, seed=3, scale=12.0)
    arrays = [a[256:] for a in arrays]
    arrays[-1][::5] = -arrays[0][::5]
    names = ", ".join("{" + str(i) + "}" for i in range(len(arrays)))
    got = elementwise(f"{op}.{mode}.f32 {{d}}, {names};", "f32", [("f32", a) for a in arrays]).view(
        F32
    )
    for i, row in enumerate(zip(*arrays, strict=True)):
        want = round_fraction(exact(op, *row), mode)
        assert got[i] == want, (op, mode, row, got[i], want)


def test_f32_fma_special():
    a, b, c = floats32(500, 3)
    got = elementwise(
        "fma.rn.f32 {d}, {0}, {1}, {2};", "f32", [("f32", a), ("f32", b), ("f32", c)]
    ).view(F32)
    naive = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
    special = ~np.isfinite(naive) | (naive == 0)
    same_bits_or_nan(got[special].view(np.uint32), naive[special].astype(F32), F32)


def test_f32_signs_minmax_copysign():
    a, b = floats32(1000, 2)
    pair = [("f32", a), ("f32", b)]
    bits, nan = a.view(np.uint32), np.isnan(a)
    assert (
        elementwise("neg.f32 {d}, {0};", "f32", pair[:1])
        == np.where(nan, 0x7FFFFFFF, bits ^ 0x80000000)
    ).all()
    assert (
        elementwise("abs.f32 {d}, {0};", "f32", pair[:1])
        == np.where(nan, 0x7FFFFFFF, bits & 0x7FFFFFFF)
    ).all()
    assert (
        elementwise("copysign.f32 {d}, {0}, {1};", "f32", pair)
        == (bits & 0x80000000) | (b.view(np.uint32) & 0x7FFFFFFF)
    ).all()
    for op, plain in (("min", np.fmin), ("max", np.fmax)):
        zero = (a == 0) & (b == 0)
        want = plain(a, b)
        sign = np.signbit(a) | np.signbit(b) if op == "min" else np.signbit(a) & np.signbit(b)
        want = np.where(zero, np.where(sign, F32(-0.0), F32(0.0)), want).astype(F32)
        same_bits_or_nan(elementwise(f"{op}.f32 {{d}}, {{0}}, {{1}};", "f32", pair), want, F32)
        got = elementwise(f"{op}.NaN.f32 {{d}}, {{0}}, {{1}};", "f32", pair).view(F32)
        assert (np.isnan(got) == (np.isnan(a) | np.isnan(b))).all()
        got = elementwise(f"{op}.xorsign.abs.f32 {{d}}, {{0}}, {{1}};", "f32", pair).view(F32)
        want = np.copysign(
            plain(np.abs(a), np.abs(b)), np.where(np.signbit(a) ^ np.signbit(b), -1, 1)
        ).astype(F32)
        same_bits_or_nan(got.view(np.uint32), want, F32)


APPROXIMATE = {
    "ex2.approx.f32": (np.exp2, 2.0**-21),
    "lg2.approx.f32": (np.log2, 2.0**-20),
    "sin.approx.f32": (np.sin, 2.0**-20),
    "cos.approx.f32": (np.cos, 2.0**-20),
    "tanh.approx.f32": (np.tanh, 2.0**-10.9),
    "rsqrt.approx.f32": (lambda x: 1 / np.sqrt(x), 2.0**-22),
    "rcp.approx.f32": (lambda x: 1 / x, 2.0**-22),
    "sqrt.approx.f32": (np.sqrt, 2.0**-22),
}


@pytest.mark.parametrize("op", APPROXIMATE)
def test_f32_approximate(op):
    function, tolerance = APPROXIMATE[op]
    rng = np.random.default_rng(1)
    x = rng.uniform(0.01 if op.startswith(("lg2", "rsqrt", "sqrt", "rcp")) else -3, 3, 1000).astype(
        F32
    )
    got = elementwise(f"{op} {{d}}, {{0}};", "f32", [("f32", x)]).view(F32)
    want = function(x.astype(np.float64))
    assert (np.abs(got - want) <= tolerance * np.maximum(np.abs(want), 1)).all()


def test_special_results_of_approximations():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0], F32)

    def run(op):
        return elementwise(f"{op} {{d}}, {{0}};", "f32", [("f32", x)]).view(F32)

    same_bits_or_nan(run("ex2.approx.f32"), np.array([1, 1, np.inf, 0, np.nan, 0.5], F32), F32)
    same_bits_or_nan(
        run("lg2.approx.f32"),
        np.array([-np.inf, -np.inf, np.inf, np.nan, np.nan, np.nan], F32),
        F32,
    )
    same_bits_or_nan(
        run("rsqrt.approx.f32"), np.array([np.inf, -np.inf, 0, np.nan, np.nan, np.nan], F32), F32
    )
    same_bits_or_nan(
        run("rcp.approx.f32"), np.array([np.inf, -np.inf, 0, -0.0, np.nan, -1], F32), F32
    )
    same_bits_or_nan(
        run("sqrt.rn.f32"), np.array([0, -0.0, np.inf, np.nan, np.nan, np.nan], F32), F32
    )


def test_sqrt_and_rcp_exact():
    (x,) = floats32(2000, 1)
    same_bits_or_nan(elementwise("sqrt.rn.f32 {d}, {0};", "f32", [("f32", x)]), np.sqrt(x), F32)
    same_bits_or_nan(elementwise("rcp.rn.f32 {d}, {0};", "f32", [("f32", x)]), F32(1) / x, F32)


@pytest.mark.parametrize("op", ARITHMETIC)
def test_f64(op):
    a, b = (v.astype(np.float64) for v in floats32(500, 2))
    got = elementwise(f"{op}.rn.f64 {{d}}, {{0}}, {{1}};", "f64", [("f64", a), ("f64", b)])
    same_bits_or_nan(got, ARITHMETIC[op](a, b), np.float64)


def test_f64_directed_fma_minmax():
    rng = np.random.default_rng(2)
    a, b, c = (rng.standard_normal(300) for _ in range(3))
    triple = [("f64", a), ("f64", b), ("f64", c)]
    nearest = elementwise("fma.rn.f64 {d}, {0}, {1}, {2};", "f64", triple).view(np.float64)
    down = elementwise("fma.rm.f64 {d}, {0}, {1}, {2};", "f64", triple).view(np.float64)
    up = elementwise("fma.rp.f64 {d}, {0}, {1}, {2};", "f64", triple).view(np.float64)
    for i in range(300):
        value = Fraction(a[i]) * Fraction(b[i]) + Fraction(c[i])
        assert nearest[i] == float(value)
        assert Fraction(down[i]) <= value <= Fraction(up[i])
        assert up[i] in (down[i], np.nextafter(down[i], np.inf))
    same_bits_or_nan(
        elementwise("min.f64 {d}, {0}, {1};", "f64", triple[:2]), np.fmin(a, b), np.float64
    )
    same_bits_or_nan(
        elementwise("sqrt.rn.f64 {d}, {0};", "f64", [("f64", np.abs(a))]),
        np.sqrt(np.abs(a)),
        np.float64,
    )
    same_bits_or_nan(elementwise("rcp.rn.f64 {d}, {0};", "f64", [("f64", a)]), 1 / a, np.float64)


HALVES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def half_pairs(kind, count=3000, seed=0):
    rng = np.random.default_rng(seed)
    special = {"f16": [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 1, 0x8001, 0x3FF, 0x400, 0x7BFF],
               "bf16": [0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 1, 0x8001, 0x7F, 0x80, 0x7F7F]}[kind]  # fmt: skip
    n = len(special)
    out = [rng.integers(0, 1 << 16, n * n + count).astype(np.uint16) for _ in range(3)]
    out[0][: n * n] = np.repeat(np.array(special, np.uint16), n)
    out[1][: n * n] = np.tile(np.array(special, np.uint16), n)
    return out


def exact_half(value: Fraction, kind: str):
    """A rational number rounded once to f16 or bf16 (float64 is wide enough to decide, by two sticky steps)."""
    mantissa, low = (10, -14) if kind == "f16" else (7, -126)
    if value == 0:
        return 0.0
    magnitude = abs(value)
    exponent = max(
        (magnitude.numerator.bit_length() - magnitude.denominator.bit_length()), low - 60
    )
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, low) - mantissa)
    scaled = magnitude / unit
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2):
        whole += 1
    result = whole * unit
    limit = Fraction(65504) if kind == "f16" else Fraction(2) ** 127 * (2 - Fraction(1, 128))
    return (
        float("inf") * (1 if value > 0 else -1)
        if result > limit
        else float(result) * (1 if value > 0 else -1)
    )


@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_half_arithmetic(kind, op):
    dtype = HALVES[kind]
    a, b, _ = half_pairs(kind)
    x, y = a.view(dtype).astype(np.float64), b.view(dtype).astype(np.float64)
    got = (
        elementwise(f"{op}.rn.{kind} {{d}}, {{0}}, {{1}};", "b16", [("b16", a), ("b16", b)])
        .view(dtype)
        .astype(np.float64)
    )
    wide = ARITHMETIC[op](x, y)
    for i in range(len(a)):
        if not np.isfinite(wide[i]):
            assert np.isnan(got[i]) == np.isnan(wide[i]) and (
                np.isnan(wide[i]) or got[i] == wide[i]
            )
        else:
            want = exact_half(
                {"add": Fraction.__add__, "sub": Fraction.__sub__, "mul": Fraction.__mul__}[op](
                    Fraction(x[i]), Fraction(y[i])
                ),
                kind,
            )
            assert got[i] == want, (x[i], y[i], got[i], want)
    packed = elementwise(
        f"{op}.rn.{kind}x2 {{d}}, {{0}}, {{1}};",
        "b32",
        [
            ("b32", a.astype(np.uint32) << 16 | a[::-1]),
            ("b32", b.astype(np.uint32) << 16 | b[::-1]),
        ],
    )
    single = elementwise(f"{op}.rn.{kind} {{d}}, {{0}}, {{1}};", "b16", [("b16", a), ("b16", b)])
    assert (packed >> 16 == single).all() and (packed & 0xFFFF == single[::-1]).all()


@pytest.mark.parametrize("kind", HALVES)
def test_half_fma(kind):
    dtype = HALVES[kind]
    a, b, c = half_pairs(kind, 2000, seed=5)
    x, y, z = (v.view(dtype).astype(np.float64) for v in (a, b, c))
    got = (
        elementwise(
            f"fma.rn.{kind} {{d}}, {{0}}, {{1}}, {{2}};",
            "b16",
            [("b16", a), ("b16", b), ("b16", c)],
        )
        .view(dtype)
        .astype(np.float64)
    )
    wide = x * y + z
    for i in range(len(a)):
        if np.isfinite(x[i]) and np.isfinite(y[i]) and np.isfinite(z[i]):
            want = exact_half(Fraction(x[i]) * Fraction(y[i]) + Fraction(z[i]), kind)
            assert got[i] == want, (x[i], y[i], z[i], got[i], want)
        else:
            assert np.isnan(got[i]) == np.isnan(wide[i]) and (
                np.isnan(wide[i]) or got[i] == wide[i]
            )


@pytest.mark.parametrize("kind", HALVES)
def test_half_minmax_neg_abs(kind):
    dtype = HALVES[kind]
    a, b, _ = half_pairs(kind)
    x, y = a.view(dtype).astype(F32), b.view(dtype).astype(F32)
    pair = [("b16", a), ("b16", b)]
    got = elementwise(f"max.{kind} {{d}}, {{0}}, {{1}};", "b16", pair).view(dtype).astype(F32)
    want = np.fmax(x, y)
    assert ((got == want) | (np.isnan(got) & np.isnan(want))).all()
    got = elementwise(f"min.NaN.{kind} {{d}}, {{0}}, {{1}};", "b16", pair).view(dtype).astype(F32)
    want = np.minimum(x, y)
    assert ((got == want) | (np.isnan(got) & np.isnan(want))).all()
    assert (
        elementwise(f"neg.{kind} {{d}}, {{0}};", "b16", pair[:1])
        == np.where(np.isnan(x), 0x7FFF, a ^ 0x8000)
    ).all()
    assert (
        elementwise(f"abs.{kind} {{d}}, {{0}};", "b16", pair[:1])
        == np.where(np.isnan(x), 0x7FFF, a & 0x7FFF)
    ).all()


COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("op", COMPARE)
def test_setp_float(op):
    a, b = floats32(500, 2)
    nan = np.isnan(a) | np.isnan(b)
    pair = [("f32", a), ("f32", b)]
    ordered = COMPARE[op](a, b) & ~nan
    assert (elementwise(f"setp.{op}.f32 {{d}}, {{0}}, {{1}};", "pred", pair) == ordered).all()
    assert (
        elementwise(f"setp.{op}u.f32 {{d}}, {{0}}, {{1}};", "pred", pair) == (ordered | nan)
    ).all()
    assert (elementwise("setp.num.f32 {d}, {0}, {1};", "pred", pair) == ~nan).all()
    assert (elementwise("setp.nan.f32 {d}, {0}, {1};", "pred", pair) == nan).all()
    h, k = a.astype(np.float16).view(np.uint16), b.astype(np.float16).view(np.uint16)
    with np.errstate(invalid="ignore"):
        want = COMPARE[op](h.view(np.float16), k.view(np.float16)) & ~nan
    assert (
        elementwise(f"setp.{op}.f16 {{d}}, {{0}}, {{1}};", "pred", [("b16", h), ("b16", k)]) == want
    ).all()


def test_setp_integer_combined_selp_slct():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-5, 5, 400).astype(np.int32) for _ in range(2))
    p = rng.integers(0, 2, 400).astype(np.uint32)
    text = "setp.lt.and.s32 {d}|%p7, {0}, {1}, {2};"
    assert (
        elementwise(text, "pred", [("b32", a), ("b32", b), ("pred", p)]) == ((a < b) & (p == 1))
    ).all()
    text = "setp.lt.or.u32 %p7|{d}, {0}, {1}, !{2};"
    u, v = a.view(np.uint32), b.view(np.uint32)
    assert (
        elementwise(text, "pred", [("b32", a), ("b32", b), ("pred", p)]) == (~(u < v) | (p == 0))
    ).all()
    got = elementwise("selp.b32 {d}, {0}, {1}, {2};", "b32", [("b32", a), ("b32", b), ("pred", p)])
    assert (got.view(np.int32) == np.where(p == 1, a, b)).all()
    got = elementwise(
        "slct.b32.s32 {d}, {0}, {1}, {2};", "b32", [("b32", a), ("b32", b), ("b32", b)]
    )
    assert (got.view(np.int32) == np.where(b >= 0, a, b)).all()
    got = elementwise("set.gt.u32.s32 {d}, {0}, {1};", "b32", [("b32", a), ("b32", b)])
    assert (got == np.where(a > b, 0xFFFFFFFF, 0)).all()


def test_testp():
    (a,) = floats32(100, 1)
    subnormal = (np.abs(a) < F32(1.1754944e-38)) & (a != 0)
    for what, want in {"finite": np.isfinite(a), "infinite": np.isinf(a), "notanumber": np.isnan(a), "number": ~np.isnan(a), "subnormal": subnormal,
                       "normal": np.isfinite(a) & ~subnormal}.items():  # fmt: skip
        assert (
            elementwise(f"testp.{what}.f32 {{d}}, {{0}};", "pred", [("f32", a)]) == want
        ).all(), what


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("relu", ["", ".relu"])
def test_fma_with_what_lies_outside(kind, relu):
    """One NaN, of either sign, makes zero; others do not. Found by all values on an H200."""
    a = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    b, c = np.full_like(a, 0x3F80), np.full_like(a, 0xC123)
    triple = [(kind, a), (kind, b), (kind, c)]
    plain = elementwise(f"fma.rn{relu}.{kind} {{d}}, {{0}}, {{1}}, {{2}};", kind, triple)
    got = elementwise(f"fma.rn.oob{relu}.{kind} {{d}}, {{0}}, {{1}}, {{2}};", kind, triple)
    np.testing.assert_array_equal(got, np.where(a & 0x7FFF == 0x7FF7, 0, plain))
    swapped = elementwise(f"fma.rn.oob{relu}.{kind} {{d}}, {{1}}, {{0}}, {{2}};", kind, triple)
    np.testing.assert_array_equal(swapped, got)
    pairs = [(kind + "x2", x[: len(x) // 2 * 2].view(np.uint32)) for x in (a, b, c)]
    packed = elementwise(f"fma.rn.oob{relu}.{kind}x2 {{d}}, {{0}}, {{1}}, {{2}};", "b32", pairs)
    np.testing.assert_array_equal(packed.view(np.uint16), got[: len(got) // 2 * 2])
