# ruff: noqa: E501  (PTX text reads better unbroken)
"""Edges of instructions that approximate, flush or stride, as the ISA describes them."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER, elementwise
from test_async import MAP, load_box, run

import tile.sim

rng = np.random.default_rng(41)


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


HALVES = np.array([0, 1, 0x3FF, 0x400, 0x8000, 0x8001, 0x83FF, 0x8400, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00], np.uint16)  # fmt: skip


def flushed(bits):
    return np.where(bits & 0x7C00, bits, bits & 0x8000).astype(np.uint16).view(np.float16)


@pytest.mark.parametrize(("op", "compare"), [("eq", np.equal), ("lt", np.less), ("ge", np.greater_equal), ("neu", np.not_equal)])  # fmt: skip
def test_compares_of_halves_flush(op, compare):
    a, b = (x.ravel() for x in np.meshgrid(HALVES, HALVES))
    operands = [("b16", a), ("b16", b)]
    plain = elementwise(f"setp.{op}.f16 {{d}}, {{0}}, {{1}};", "pred", operands)
    assert (plain == compare(a.view(np.float16), b.view(np.float16))).all()
    ftz = elementwise(f"setp.{op}.ftz.f16 {{d}}, {{0}}, {{1}};", "pred", operands)
    assert (ftz == compare(flushed(a), flushed(b))).all() and (ftz != plain).any()
    # Of a pair, each half; set gives 1.0 for each.
    pairs = [("b32", a.astype(np.uint32) << 16 | b), ("b32", b.astype(np.uint32) << 16 | a)]
    got = elementwise(f"set.{op}.ftz.f16x2.f16x2 {{d}}, {{0}}, {{1}};", "b32", pairs)
    low, high = compare(flushed(b), flushed(a)), compare(flushed(a), flushed(b))
    assert (got == high * 0x3C000000 + low * 0x3C00).all()
    for name, want in (("%pd", low), ("%p7", high)):
        text = f"setp.{op}.ftz.f16x2 %pd|%p7, {{0}}, {{1}}; and.pred %pd, {name}, {name};"
        assert (elementwise(text, "pred", pairs) == want).all()


DOUBLES = np.concatenate([
    np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.2250738585072009e-308, 1.7976931348623157e308, 1e308, -1e308, 1.0, -2.0, 3.0]),
    rng.standard_normal(500) * np.exp(rng.uniform(-600, 600, 500)),
])  # fmt: skip


@pytest.mark.parametrize(("op", "function"), [("rcp", lambda x: 1 / x), ("rsqrt", lambda x: 1 / np.sqrt(x))])  # fmt: skip
def test_coarse_functions_of_doubles(op, function):
    got = elementwise(f"{op}.approx.ftz.f64 {{d}}, {{0}};", "f64", [("f64", DOUBLES)])
    assert (got & 0xFFFFFFFF == 0).all(), "only the upper half of the result is there"
    result = got.view(np.float64)
    low = np.where(np.abs(DOUBLES) < 2.0**-1022, np.copysign(0, DOUBLES), DOUBLES)
    want = function(low)
    want = np.where(np.abs(want) < 2.0**-1022, np.copysign(0, want), want)
    assert (np.isnan(result) == np.isnan(want)).all()
    special = np.isinf(want) | (want == 0)
    assert (result[special] == want[special]).all()
    assert (np.signbit(result[special]) == np.signbit(want[special])).all()
    normal = ~special & ~np.isnan(want)
    # 20 bits of the operand and 20 of the result.
    assert (np.abs(result[normal] / want[normal] - 1) <= 2.0**-19).all()
    # What the lower half of the operand holds has no effect.
    same = (DOUBLES.view(np.uint64) | np.where(np.isnan(DOUBLES) | np.isinf(DOUBLES), 0, 0xFFFFFFFF).astype(np.uint64)).view(np.float64)  # fmt: skip
    again = elementwise(f"{op}.approx.ftz.f64 {{d}}, {{0}};", "f64", [("f64", same)])
    finite = np.isfinite(DOUBLES)
    upper = (DOUBLES.view(np.uint64) & 0xFFFFFFFF00000000).view(np.float64)
    other = elementwise(f"{op}.approx.ftz.f64 {{d}}, {{0}};", "f64", [("f64", upper)])
    assert (again[finite] == other[finite]).all()


def test_division_by_large_numbers():
    """Beyond 2^126 the approximate reciprocal is zero."""
    big = np.array([2.0**126, np.nextafter(np.float32(2.0**126), np.float32(np.inf)), 2.0**127, -(2.0**127), 3.4e38, np.inf], np.float32)  # fmt: skip
    a = np.array([1, -1, 3e38, np.inf, -np.inf, np.nan, 0], np.float32)
    x, y = (v.ravel().astype(np.float32) for v in np.meshgrid(a, big))
    approx = elementwise("div.approx.f32 {d}, {0}, {1};", "f32", [("f32", x), ("f32", y)]).view(np.float32)  # fmt: skip
    full = elementwise("div.full.f32 {d}, {0}, {1};", "f32", [("f32", x), ("f32", y)]).view(np.float32)  # fmt: skip
    beyond = (np.abs(y) > 2.0**126) & np.isfinite(y)
    want = np.where(beyond, np.where(np.isfinite(x), np.copysign(0, x) * np.sign(y), np.nan), x / y)
    np.testing.assert_array_equal(approx, want.astype(np.float32))
    np.testing.assert_array_equal(full, x / y)
    assert beyond.any() and (full[beyond & (x == 3e38)] != 0).all()


def test_element_strides_of_a_tensor_map():
    """Every second row and every third plane; along rows the stride has no effect."""
    array = rng.standard_normal((9, 10, 32)).astype(np.float32)
    box, steps, start = (16, 6, 7), (3, 2, 3), (8, 1, 2)
    tensor = tile.sim.tensor_map(array.ctypes.data, "f32", (32, 10, 9), (128, 1280), box, element_strides=steps)  # fmt: skip
    want = np.zeros((3, 3, 16), np.float32)
    for z in range(3):
        for y in range(3):
            plane, row = start[2] + z * 3, start[1] + y * 2
            if plane < 9 and row < 10:
                want[z, y] = array[plane, row, 8:24]
    out = np.zeros_like(want)
    run(load_box(3, start, out.nbytes, 4, 0), 1, 32, [tensor, out], MAP, allocations=[array])
    np.testing.assert_array_equal(out, want)


def test_reserved_shared_memory_is_empty():
    names = ["begin", "end", "cap", "0", "1"]
    loads = "".join(f"mov.u32 %r1, %reserved_smem_offset_{n}; st.global.u32 [%rd1+{4 * i}], %r1;" for i, n in enumerate(names))  # fmt: skip
    text = f"{HEADER}.visible .entry k(.param .u64 p) {{ .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; {loads} ret; }}"
    out = np.full(5, 9, np.uint32)
    tile.sim.launch(text, "k", 1, 1, [out])
    assert (out == 0).all()
