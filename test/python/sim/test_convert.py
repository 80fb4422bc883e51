"""cvt in all its forms against NumPy, ml_dtypes and exact arithmetic."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptxlib import elementwise, floats32, integers, same_bits_or_nan

INTS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def dtype_of(kind):
    return np.dtype(("i" if kind[0] == "s" else "u") + str(int(kind[1:]) // 8))


@pytest.mark.parametrize("source", INTS)
@pytest.mark.parametrize("target", INTS)
def test_integer_to_integer(source, target):
    (a,) = integers(int(source[1:]), 100, 1)
    a = a.view(dtype_of(source))
    got = elementwise(f"cvt.{target}.{source} {{d}}, {{0}};", target, [(f"b{source[1:]}", a)]).view(
        dtype_of(target)
    )
    assert (got == a.astype(dtype_of(target))).all()
    info, wide = np.iinfo(dtype_of(target)), np.iinfo(dtype_of(source))
    if info.min <= wide.min and wide.max <= info.max:
        return  # nothing to saturate: the assembler refuses .sat
    got = elementwise(
        f"cvt.sat.{target}.{source} {{d}}, {{0}};", target, [(f"b{source[1:]}", a)]
    ).view(dtype_of(target))
    want = [max(info.min, min(info.max, int(v))) for v in a]
    assert [int(v) for v in got] == want


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("target", INTS)
@pytest.mark.parametrize("source", ["f32", "f64", "f16"])
def test_float_to_integer(source, target, mode):
    (a,) = floats32(500, 1, scale=20.0)
    a = np.concatenate(
        [
            a,
            np.array(
                [
                    0.5,
                    1.5,
                    2.5,
                    -0.5,
                    -1.5,
                    127.5,
                    128,
                    255.5,
                    65535.5,
                    2147483648.0,
                    -2147483648.0,
                    9.3e18,
                ],
                np.float32,
            ),
        ]
    )
    a = a.astype({"f32": np.float32, "f64": np.float64, "f16": np.float16}[source])
    got = elementwise(
        f"cvt.{mode}.{target}.{source} {{d}}, {{0}};", target, [(f"b{source[1:]}", a)]
    ).view(dtype_of(target))
    rounding = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode]
    info = np.iinfo(dtype_of(target))
    for value, result in zip(a.astype(np.float64), got, strict=True):
        if np.isnan(value):
            bits = info.bits
            want = (
                0 if source != "f64" and bits < 64 else (info.min if info.min else 1 << (bits - 1))
            )
        elif np.isinf(value):
            want = info.max if value > 0 else info.min
        else:
            want = max(info.min, min(info.max, int(rounding(value))))
        assert int(result) == want, (value, result, want)


@pytest.mark.parametrize("source", ["u8", "s16", "u32", "s32", "u64", "s64"])
def test_integer_to_float(source):
    (a,) = integers(int(source[1:]), 500, 1)
    a = a.view(dtype_of(source))
    kind = f"b{source[1:]}"
    same_bits_or_nan(
        elementwise(f"cvt.rn.f32.{source} {{d}}, {{0}};", "f32", [(kind, a)]),
        a.astype(np.float32),
        np.float32,
    )
    same_bits_or_nan(
        elementwise(f"cvt.rn.f64.{source} {{d}}, {{0}};", "f64", [(kind, a)]),
        a.astype(np.float64),
        np.float64,
    )
    down = elementwise(f"cvt.rm.f32.{source} {{d}}, {{0}};", "f32", [(kind, a)]).view(np.float32)
    up = elementwise(f"cvt.rp.f32.{source} {{d}}, {{0}};", "f32", [(kind, a)]).view(np.float32)
    for value, low, high in zip(a, down, up, strict=True):
        assert int(low) <= int(value) <= int(high)
        assert high in (low, np.nextafter(low, np.float32(np.inf)))
    got = elementwise(f"cvt.rn.f16.{source} {{d}}, {{0}};", "b16", [(kind, a)])
    same_bits_or_nan(got, a.astype(np.float64).astype(np.float16), np.float16)


def test_float_to_float():
    (a,) = floats32(3000, 1)
    pair = [("f32", a)]
    same_bits_or_nan(
        elementwise("cvt.rn.f16.f32 {d}, {0};", "b16", pair), a.astype(np.float16), np.float16
    )
    same_bits_or_nan(
        elementwise("cvt.rn.bf16.f32 {d}, {0};", "b16", pair),
        a.astype(ml_dtypes.bfloat16),
        ml_dtypes.bfloat16,
    )
    same_bits_or_nan(
        elementwise("cvt.f64.f32 {d}, {0};", "f64", pair), a.astype(np.float64), np.float64
    )
    for mode, f in {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}.items():
        same_bits_or_nan(
            elementwise(f"cvt.{mode}.f32.f32 {{d}}, {{0}};", "f32", pair), f(a), np.float32
        )
    got = elementwise("cvt.sat.f32.f32 {d}, {0};", "f32", pair).view(np.float32)
    assert (got == np.nan_to_num(np.clip(a, 0, 1), nan=0)).all()
    every = np.arange(1 << 16, dtype=np.uint16)
    same_bits_or_nan(
        elementwise("cvt.f32.f16 {d}, {0};", "f32", [("b16", every)]),
        every.view(np.float16).astype(np.float32),
        np.float32,
    )
    got = elementwise("cvt.f32.bf16 {d}, {0};", "f32", [("b16", every)])
    same_bits_or_nan(got, every.view(ml_dtypes.bfloat16).astype(np.float32), np.float32)
    wide = a.astype(np.float64) * (1 + 2.0**-30)
    same_bits_or_nan(
        elementwise("cvt.rn.f32.f64 {d}, {0};", "f32", [("f64", wide)]),
        wide.astype(np.float32),
        np.float32,
    )


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_narrowing_directed(mode):
    (a,) = floats32(2000, 1, seed=4, scale=6.0)
    a = a[np.isfinite(a) & (np.abs(a) < 60000)]
    got = (
        elementwise(f"cvt.{mode}.f16.f32 {{d}}, {{0}};", "b16", [("f32", a)])
        .view(np.float16)
        .astype(np.float64)
    )
    wide = a.astype(np.float64)
    near = a.astype(np.float16)
    exact = near.astype(np.float64) == wide
    assert (got[exact] == wide[exact]).all()
    if mode == "rm":
        assert (got <= wide).all()
    elif mode == "rp":
        assert (got >= wide).all()
    else:
        assert (np.abs(got) <= np.abs(wide)).all()
    step = (
        np.abs(np.nextafter(near, np.float16(np.inf)).astype(np.float64) - near.astype(np.float64))
        * 2
    )
    assert (np.abs(got - wide) <= step).all()


def test_pairs_and_relu():
    a, b = floats32(1000, 2)
    pair = [("f32", a), ("f32", b)]
    got = elementwise("cvt.rn.f16x2.f32 {d}, {0}, {1};", "b32", pair)
    same_bits_or_nan((got >> 16).astype(np.uint16), a.astype(np.float16), np.float16)
    same_bits_or_nan((got & 0xFFFF).astype(np.uint16), b.astype(np.float16), np.float16)
    got = elementwise("cvt.rn.relu.bf16x2.f32 {d}, {0}, {1};", "b32", pair)
    want = np.where(np.isnan(a), a, np.maximum(a, 0)).astype(ml_dtypes.bfloat16)
    same_bits_or_nan((got >> 16).astype(np.uint16), want, ml_dtypes.bfloat16)


def test_tf32():
    (a,) = floats32(1000, 1)
    a = a[np.isfinite(a) & (np.abs(a) < 1e38)]
    bits = a.view(np.uint32)
    got = elementwise("cvt.rna.tf32.f32 {d}, {0};", "b32", [("f32", a)])
    assert (got == (bits + 0x1000) & 0xFFFFE000).all()
    got = elementwise("cvt.rn.tf32.f32 {d}, {0};", "b32", [("f32", a)])
    assert (got == (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000).all()


FP8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


@pytest.mark.parametrize("kind", FP8)
def test_fp8(kind):
    dtype = FP8[kind]
    a, b = floats32(2000, 2, scale=8.0)
    got = elementwise(
        f"cvt.rn.satfinite.{kind}x2.f32 {{d}}, {{0}}, {{1}};", "b16", [("f32", a), ("f32", b)]
    )
    top = float(ml_dtypes.finfo(dtype).max)
    for source, part in ((a, got >> 8), (b, got & 255)):
        want = np.clip(source, -top, top).astype(dtype).view(np.uint8)
        nan = np.isnan(source)
        assert (part[~nan] == want[~nan]).all()
        assert (part[nan] == 0x7F).all()
    every = np.arange(1 << 16, dtype=np.uint16)
    got = elementwise(f"cvt.rn.f16x2.{kind}x2 {{d}}, {{0}};", "b32", [("b16", every)])
    low = (every & 255).astype(np.uint8).view(dtype).astype(np.float16)
    same_bits_or_nan((got & 0xFFFF).astype(np.uint16), low, np.float16)
    high = (every >> 8).astype(np.uint8).view(dtype).astype(np.float16)
    same_bits_or_nan((got >> 16).astype(np.uint16), high, np.float16)


def test_pack():
    a, b = (v.view(np.int32) for v in integers(32, 300, 2))
    got = elementwise("cvt.pack.sat.s16.s32 {d}, {0}, {1};", "b32", [("b32", a), ("b32", b)])
    clip = lambda v: np.clip(v, -32768, 32767).astype(np.int16).view(np.uint16).astype(np.uint32)  # noqa: E731
    assert (got == (clip(a) << 16 | clip(b))).all()
    c = np.arange(len(a), dtype=np.uint32)
    got = elementwise(
        "cvt.pack.sat.u8.s32.b32 {d}, {0}, {1}, {2};", "b32", [("b32", a), ("b32", b), ("b32", c)]
    )
    byte = lambda v: np.clip(v, 0, 255).astype(np.uint32)  # noqa: E731
    assert (got == (c << 16 | byte(a) << 8 | byte(b))).all()
