# ruff: noqa: E501  (tables read better unbroken)
"""cvt of pairs of e2m1, e2m3, e3m2 and ue8m0 against ml_dtypes and exact statements."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(3)
# Bits of an element in memory, of the element itself, and what ml_dtypes calls it.
FORMATS = {
    "e2m1": (4, 4, ml_dtypes.float4_e2m1fn),
    "e2m3": (8, 6, ml_dtypes.float6_e2m3fn),
    "e3m2": (8, 6, ml_dtypes.float6_e3m2fn),
    "ue8m0": (8, 8, ml_dtypes.float8_e8m0fnu),
}
WIDE = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}


def launch(text, count, inputs, bits, version="9.2", target="sm_100a"):
    """One thread for each pair. `text` reads %r0 and %r1 and writes %h (or %r2, of 32 bits)."""
    store = {8: "st.global.u8 [%o], %h;", 16: "st.global.u16 [%o], %h;", 32: "st.global.b32 [%o], %r2;"}  # fmt: skip
    ptx = f""".version {version}
.target {target}
.address_size 64
.visible .entry op(.param .u64 a, .param .u64 b, .param .u64 out)
{{
.reg .b64 %p, %q, %o; .reg .b32 %t, %r<3>; .reg .b16 %h; .reg .b8 %b;
ld.param.u64 %p, [a]; ld.param.u64 %q, [b]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;
mad.wide.u32 %p, %t, 4, %p; mad.wide.u32 %q, %t, 4, %q; mad.wide.u32 %o, %t, {bits // 8}, %o;
ld.global.b32 %r0, [%p]; ld.global.b32 %r1, [%q]; cvt.u16.u32 %h, %r0;
{text}
{store[bits]}
ret;
}}
"""
    out = np.zeros(count, np.dtype(f"u{bits // 8}"))
    a, b = (np.ascontiguousarray(x).view(np.uint32) for x in inputs)
    tile.sim.launch(ptx, "op", 1, count, [a, b, out])
    return out


def values(kind):
    with np.errstate(all="ignore"):
        v = rng.standard_normal(200) * np.exp2(rng.integers(-6, 5, 200))
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.25, 0.75, 2.5, 3.5, 5.0, -5.0, 7.0, 28.0, 1e-30, 6e4, 0.0625]  # fmt: skip
        return np.concatenate([special, v]).astype(WIDE[kind])


def narrowed(v, kind, relu):
    """To nearest; too large numbers, and what is no number, give the largest."""
    _, bits, dtype = FORMATS[kind]
    v = v.astype(np.float64)
    most = float(ml_dtypes.finfo(dtype).max)
    if relu:
        v = np.where(v < 0, 0.0, v) + 0.0
    nan = np.isnan(v)
    v = np.clip(np.where(nan, most, v), -most, most)
    # From a double, ml_dtypes rounds once.
    return v.astype(dtype).view(np.uint8).astype(np.uint32) & ((1 << bits) - 1)


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("source", ["f32", "f16x2", "bf16x2"])
@pytest.mark.parametrize("kind", ["e2m1", "e2m3", "e3m2"])
def test_to_pairs(kind, source, relu):
    stride = FORMATS[kind][0]
    high, low = values(source[:-2] if source != "f32" else "f32"), None
    low = np.roll(high, 3)
    if source == "f32":
        inputs, names = (high, low), "%r0, %r1"
    else:
        words = high.view(np.uint16).astype(np.uint32) << 16 | low.view(np.uint16)
        inputs, names = (words, words), "%r0"
    convert = f"cvt.rn.satfinite{relu}.{kind}x2.{source}"
    text = (
        f"{convert} %b, {names}; cvt.u16.u8 %h, %b;"
        if kind == "e2m1"
        else f"{convert} %h, {names};"
    )
    got = launch(text, len(high), inputs, 2 * stride)
    want = narrowed(high, kind, relu) << stride | narrowed(low, kind, relu)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("target", ["f16", "bf16"])
@pytest.mark.parametrize("kind", ["e2m1", "e2m3", "e3m2"])
def test_from_pairs(kind, target, relu):
    stride, bits, dtype = FORMATS[kind]
    every = np.arange(256 if kind == "e2m1" else 1 << bits, dtype=np.uint32)
    words = every if kind == "e2m1" else np.roll(every, 5) << 8 | every
    convert = f"cvt.rn{relu}.{target}x2.{kind}x2 %r2"
    text = f"cvt.u8.u16 %b, %h; {convert}, %b;" if kind == "e2m1" else f"{convert}, %h;"
    got = launch(text, len(words), (words, words), 32)
    with np.errstate(all="ignore"):
        halves = [(words >> shift & ((1 << bits) - 1)).astype(np.uint8) for shift in (0, stride)]
        want = [h.view(dtype).astype(WIDE[target]) for h in halves]
        if relu:
            want = [np.where(w > 0, w, WIDE[target](0)).astype(WIDE[target]) for w in want]
    for shift, w in zip((0, 16), want, strict=True):
        part = (got >> shift).astype(np.uint16)
        np.testing.assert_array_equal(part, w.view(np.uint16))


def scale(v, up, finite):
    """The power of two at or beside |v|, as its exponent and 127; 255 is no number."""
    v = abs(float(v))
    if np.isnan(v) or (np.isinf(v) and not finite):
        return 255
    if np.isinf(v):
        return 254
    for code in range(255):
        power = 2.0 ** (code - 127)
        if power >= v:
            exact = power == v or up or code == 0
            return code if exact else code - 1
    return 254 if finite or not up else 255


@pytest.mark.parametrize("finite", ["", ".satfinite"])
@pytest.mark.parametrize("mode", ["rz", "rp"])
@pytest.mark.parametrize("source", ["f32", "bf16x2"])
def test_to_scales(source, mode, finite):
    kind = source[:-2] if source != "f32" else "f32"
    with np.errstate(all="ignore"):
        extreme = np.array([2.0**-127, 2.0**-128, 1.5 * 2.0**-127, 2.0**127, 1.75 * 2.0**127, 1, 3])
        high = np.concatenate([values(kind), extreme.astype(WIDE[kind])])
    low = np.roll(high, 3)
    if source == "f32":
        inputs, names = (high, low), "%r0, %r1"
    else:
        words = high.view(np.uint16).astype(np.uint32) << 16 | low.view(np.uint16)
        inputs, names = (words, words), "%r0"
    got = launch(f"cvt.{mode}{finite}.ue8m0x2.{source} %h, {names};", len(high), inputs, 16)
    want = [
        scale(h, mode == "rp", finite) << 8 | scale(x, mode == "rp", finite)
        for h, x in zip(high, low, strict=True)
    ]
    np.testing.assert_array_equal(got, want)


def test_from_scales():
    words = np.arange(256, dtype=np.uint32) << 8 | np.arange(256, dtype=np.uint32)[::-1]
    got = launch("cvt.rn.bf16x2.ue8m0x2 %r2, %h;", 256, (words, words), 32)
    for shift, out in ((0, 0), (8, 16)):
        want = (words >> shift & 255).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)
        part = (got >> out).astype(np.uint16).view(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(part.astype(np.float64), want.astype(np.float64))


@pytest.mark.parametrize(
    ("text", "version", "target", "message"),
    [
        ("cvt.rn.satfinite.e2m1x2.f32 %b, %r0, %r1;", "8.6", "sm_100", "needs a target"),
        ("cvt.rn.satfinite.e2m1x2.f32 %h, %r0, %r1;", "8.6", "sm_100a", "register of 8 bits"),
        ("cvt.rn.e2m1x2.f32 %b, %r0, %r1;", "8.6", "sm_100a", "do not go together"),
        ("cvt.rz.satfinite.e2m3x2.f32 %h, %r0, %r1;", "8.6", "sm_100a", "illegal rounding"),
        ("cvt.rn.ue8m0x2.f32 %h, %r0, %r1;", "8.6", "sm_100a", "illegal rounding"),
        ("cvt.rz.relu.ue8m0x2.f32 %h, %r0, %r1;", "8.6", "sm_100a", "do not go together"),
        ("cvt.rn.f16x2.ue8m0x2 %r2, %h;", "9.2", "sm_100a", "not allowed here"),
        ("cvt.rn.satfinite.e2m3x2.f16x2 %h, %r0;", "9.0", "sm_100a", "needs .version 9.1"),
        ("cvt.rn.bf16x2.e2m3x2 %r2, %h;", "9.1", "sm_100a", "needs .version 9.2"),
    ],
)
def test_refused(text, version, target, message):
    word = np.zeros(1, np.uint32)
    with pytest.raises(TileError, match=message):
        launch(text, 1, (word, word), 16, version, target)
