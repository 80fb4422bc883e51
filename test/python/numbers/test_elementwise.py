"""Elementwise operations, run and compared with NumPy."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import operators
import pytest
from reference import DTYPES, close, poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

N = 256


@tile.jit
def unary_kernel(x_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, OP(tl.load(x_ptr + offsets)))


@tile.jit
def binary_kernel(x_ptr, y_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, OP(tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)))


def unary(op, x, out_dtype):
    out = poisoned(x.shape, out_dtype)
    unary_kernel[(1,)](x, out, OP=op, N=x.size)
    return out


def binary(op, x, y, out_dtype):
    out = poisoned(x.shape, out_dtype)
    binary_kernel[(1,)](x, y, out, OP=op, N=x.size)
    return out


UNARY = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "abs": np.abs, "floor": np.floor,
    "ceil": np.ceil, "erf": np.vectorize(math.erf), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt_rn": np.sqrt,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_float_functions(name):
    x = random(N, "fp32", 1)
    if name in ("log", "log2", "sqrt", "rsqrt", "sqrt_rn"):
        x = np.abs(x) + np.float32(0.01)
    close(unary(getattr(tl, name), x, "fp32"), UNARY[name](x.astype(np.float64)), "fp32", 4)


@pytest.mark.parametrize("name", ["floor", "ceil", "sqrt", "abs"])
def test_double_functions(name):
    x = np.abs(random(N, "fp64", 1))
    close(unary(getattr(tl, name), x, "fp64"), UNARY[name](x), "fp64", 4)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "i8", "i32", "i64", "u8"])
def test_abs(dtype):
    x = random(N, dtype, 1)
    close(unary(tl.abs, x, dtype), np.abs(x), dtype)


@tile.jit
def _floordiv(x, y):
    return x // y


@tile.jit
def _mod(x, y):
    return x % y


@tile.jit
def _and(x, y):
    return x & y


@tile.jit
def _or(x, y):
    return x | y


@tile.jit
def _xor(x, y):
    return x ^ y


@tile.jit
def _shl(x, y):
    return x << (y & 7)


@tile.jit
def _shr(x, y):
    return x >> (y & 7)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "dtype", ["fp16", "bf16", "fp32", "fp64", "i8", "i16", "i32", "i64", "u8", "u32"]
)
@pytest.mark.parametrize(
    "op", [operators.add, operators.sub, operators.mul], ids=lambda f: f.__name__
)
def test_arithmetic(op, dtype):
    x, y = random(N, dtype, 1), random(N, dtype, 2)
    expected = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
    }[op.__name__]
    with np.errstate(over="ignore"):
        close(binary(op, x, y, dtype), expected(x, y), dtype)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "i32"])
def test_true_division_is_in_float32(dtype):
    x, y = random(N, dtype, 1), random(N, dtype, 2)
    y[y == 0] = 1
    close(
        binary(operators.div, x, y, "fp32"), x.astype(np.float64) / y.astype(np.float64), "fp32", 4
    )


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "u8", "u32"])
def test_integer_division_truncates(dtype):
    x, y = random(N, dtype, 1), random(N, dtype, 2)
    y[y == 0] = 3
    wide_x, wide_y = x.astype(object), y.astype(object)
    quotient = np.array(
        [
            abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            for a, b in zip(wide_x, wide_y, strict=True)
        ]
    )
    with np.errstate(over="ignore"):
        close(
            binary(_floordiv, x, y, dtype), quotient.astype(np.int64).astype(DTYPES[dtype]), dtype
        )
        rest = (wide_x - quotient * wide_y).astype(np.int64).astype(DTYPES[dtype])
        close(binary(_mod, x, y, dtype), rest, dtype)


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "u32"])
def test_bits(dtype):
    x, y = random(N, dtype, 1), random(N, dtype, 2)
    close(binary(_and, x, y, dtype), x & y, dtype)
    close(binary(_or, x, y, dtype), x | y, dtype)
    close(binary(_xor, x, y, dtype), x ^ y, dtype)
    close(binary(_shl, x, y, dtype), x << (y & 7), dtype)
    close(binary(_shr, x, y, dtype), x >> (y & 7), dtype)


@tile.jit
def compare_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x < y)
    tl.store(out_ptr + N + offsets, x <= y)
    tl.store(out_ptr + 2 * N + offsets, x > y)
    tl.store(out_ptr + 3 * N + offsets, x >= y)
    tl.store(out_ptr + 4 * N + offsets, x == y)
    tl.store(out_ptr + 5 * N + offsets, x != y)


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp64", "i8", "i32", "i64", "u8", "u32"])
def test_comparisons(dtype):
    x, y = random(N, dtype, 1), random(N, dtype, 2)
    y[::3] = x[::3]
    if dtype in ("fp32", "fp16"):
        x[5] = y[7] = np.nan
        x[9], y[9] = np.inf, -np.inf
    out = poisoned((6, N), "i8")
    compare_kernel[(1,)](x, y, out, N=N)
    with np.errstate(invalid="ignore"):
        expected = np.stack([x < y, x <= y, x > y, x >= y, x == y, x != y])
    np.testing.assert_array_equal(out, expected)


@tile.jit
def cast_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@pytest.mark.parametrize(
    "source", ["fp16", "bf16", "fp32", "fp64", "i8", "i32", "i64", "u8", "u32"]
)
@pytest.mark.parametrize(
    "target", ["fp16", "bf16", "fp32", "fp64", "i8", "i32", "i64", "u8", "u32"]
)
def test_conversions(source, target):
    x = random(N, source, 3)
    if source.startswith(("f", "b")) and not target.startswith(("f", "b")):
        # Floats out of an integer's range convert to nothing in particular.
        x = (np.abs(x.astype(np.float32)) * 10).astype(DTYPES[source])
    out = poisoned(N, target)
    cast_kernel[(1,)](x, out, N=N)
    close(out, x.astype(DTYPES[target]), target)


@pytest.mark.parametrize(
    "kind", [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2], ids=lambda k: k.__name__
)
@pytest.mark.parametrize("wide", ["fp16", "bf16", "fp32"])
def test_fp8_conversions(kind, wide):
    every = np.arange(256, dtype=np.uint8).view(kind)
    out = poisoned(256, wide)
    cast_kernel[(1,)](every, out, N=256)
    np.testing.assert_array_equal(out.astype(np.float32), every.astype(np.float32))
    x = random(256, wide, 4)
    narrow = np.zeros(256, kind)
    cast_kernel[(1,)](x, narrow, N=256)
    np.testing.assert_array_equal(narrow.astype(np.float32), x.astype(kind).astype(np.float32))


@tile.jit
def choose_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.where(x > 0, x, y))
    tl.store(out_ptr + N + offsets, tl.minimum(x, y))
    tl.store(out_ptr + 2 * N + offsets, tl.maximum(x, y))
    tl.store(out_ptr + 3 * N + offsets, tl.clamp(x, -0.5, 0.5))
    tl.store(out_ptr + 4 * N + offsets, tl.fma(x, y, x))
    tl.store(out_ptr + 5 * N + offsets, -x)
    tl.store(out_ptr + 6 * N + offsets, tl.fdiv(x, y))
    tl.store(out_ptr + 7 * N + offsets, tl.div_rn(x, y))


def test_choices():
    x, y = random(N, "fp32", 1), random(N, "fp32", 2)
    out = poisoned((8, N), "fp32")
    choose_kernel[(1,)](x, y, out, N=N)
    close(out[0], np.where(x > 0, x, y), "fp32")
    close(out[1], np.minimum(x, y), "fp32")
    close(out[2], np.maximum(x, y), "fp32")
    close(out[3], np.clip(x, -0.5, 0.5), "fp32")
    close(out[4], x.astype(np.float64) * y + x, "fp32")
    close(out[5], -x, "fp32")
    close(out[6], x / y, "fp32", 4)
    np.testing.assert_array_equal(out[7], x / y)


@tile.jit
def nan_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.maximum(x, y))
    tl.store(out_ptr + N + offsets, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))


def test_propagation_of_nan():
    x = np.array([1, np.nan, 3, np.nan], np.float32)
    y = np.array([np.nan, 2, 1, np.nan], np.float32)
    out = poisoned((2, 4), "fp32")
    nan_kernel[(1,)](x, y, out, N=4)
    np.testing.assert_array_equal(out[0], np.fmax(x, y))
    np.testing.assert_array_equal(out[1], np.maximum(x, y))


@pytest.mark.parametrize("dtype", ["u32", "i64"])
def test_umulhi(dtype):
    x, y = random(N, dtype, 1), random(N, dtype, 2)
    x.view(np.uint32)[::3] *= 99991
    bits = x.itemsize * 8
    unsigned = np.uint32 if bits == 32 else np.uint64
    wide = x.view(unsigned).astype(object) * y.view(unsigned).astype(object)
    expected = np.array([v >> bits for v in wide], dtype=object).astype(unsigned).view(x.dtype)
    np.testing.assert_array_equal(binary(tl.umulhi, x, y, dtype), expected)


@tile.jit
def logic_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    small = x < 0 or x > 100
    tl.store(out_ptr + offsets, small)
    tl.store(out_ptr + N + offsets, not small)
    tl.store(out_ptr + 2 * N + offsets, -50 < x <= 50)
    tl.store(out_ptr + 3 * N + offsets, ~x)


def test_logic():
    x = random(N, "i32", 5)
    out = poisoned((4, N), "i32")
    logic_kernel[(1,)](x, out, N=N)
    small = (x < 0) | (x > 100)
    np.testing.assert_array_equal(out, [small, ~small, (x > -50) & (x <= 50), ~x])
