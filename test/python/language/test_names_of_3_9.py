"""Functions of the newest language: to_tensor, expect_zero, aggregate_replace, cumprod, topk."""

from __future__ import annotations

import numpy as np
import pytest
from frontend import raw_ttir, refusal
from reference import DTYPES, poisoned, random, sim_only

import tile
import tile.language as tl


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "int1"), (0, "int32"), (-(2**31), "int32"), (2**31, "uint32"), (2**32, "int64"),
        (-(2**31) - 1, "int64"), (2**63, "uint64"), (0.5, "fp32"), (1e300, "fp64"),
    ],
)  # fmt: skip
def test_numbers_become_scalars(value, name):
    @tile.jit
    def kernel(out_ptr, VALUE: tl.constexpr, NAME: tl.constexpr):
        x = tl.to_tensor(VALUE)
        tl.static_assert(x.dtype.name == NAME)
        tl.static_assert(tl.to_tensor(x) is x)
        tl.store(out_ptr, x)

    out = np.zeros(1, np.float64 if isinstance(value, float) else np.uint64)
    kernel[(1,)](out, value, name)
    assert out[0] == (np.float64(value) if isinstance(value, float) else value % 2**64)


@tile.aggregate
class Pair:
    x: tl.tensor
    y: tl.tensor


@tile.jit
def replace_kernel(out_ptr, n):
    pair = Pair(tl.arange(0, 4), 3)
    for i in range(n):
        pair = tl.aggregate_replace(pair, x=pair.x + i)
    tl.store(out_ptr + tl.arange(0, 4), pair.x * 10 + pair.y)


def test_aggregates_with_other_fields():
    out = poisoned(4, "i32")
    replace_kernel[(1,)](out, 4)
    assert (out == (np.arange(4) + 6) * 10 + 3).all()

    @tile.jit
    def unknown(out_ptr):
        tl.aggregate_replace(Pair(1, 2), z=3)

    assert "`Pair` has no field 'z'" in str(refusal(unknown, {"out_ptr": "*i32"}))


@tile.jit
def zero_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, tl.expect_zero(x, offsets < 8))


@pytest.mark.parametrize("debug", [False, True])
def test_what_should_be_zero(debug):
    x = random(32, "fp32")
    x[:8] = 0
    out = poisoned(32, "fp32")
    zero_kernel[(1,)](x, out, 32, debug=debug)
    assert (out == x).all()
    x[3] = 1
    if not debug:
        zero_kernel[(1,)](x, out, 32)
        assert (out == x).all()


@sim_only  # An assertion that fails ends the use of a GPU by its process.
def test_what_should_be_zero_and_is_not():
    x, out = random(32, "fp32"), poisoned(32, "fp32")
    x[:8] = 0
    x[3] = 1
    with pytest.raises(tile.TileError, match="expect_zero: a value is not zero"):
        zero_kernel[(1,)](x, out, 32, debug=True)


def test_what_should_be_zero_is_zero_without_rounding():
    arguments = (zero_kernel, {"x_ptr": "*fp32", "out_ptr": "*fp32", "N": "constexpr"}, {"N": 32})
    assert "arith.select" in raw_ttir(*arguments, instrumentation_mode="fpsan")
    assert "arith.select" not in raw_ttir(*arguments)


@tile.jit
def cumprod_kernel(x_ptr, out_ptr, DTYPE: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    y = x.cumprod(0, dtype=DTYPE)
    tl.store(out_ptr + tl.arange(0, N), y)


@pytest.mark.parametrize(
    ("dtype", "wanted", "result"),
    [("i8", None, "i32"), ("u8", None, "u32"), ("i32", tl.int64, "i64"), ("fp32", None, "fp32")],
)
def test_products_have_the_type_that_is_asked_for(dtype, wanted, result):
    x = np.random.default_rng(1).integers(1, 4, 32).astype(DTYPES[dtype])
    out = poisoned(32, result)
    cumprod_kernel[(1,)](x, out, wanted, 32)
    np.testing.assert_allclose(out, np.cumprod(x.astype(DTYPES[result]), dtype=DTYPES[result]))


@pytest.mark.parametrize(
    ("k", "text"),
    [
        (0, "topk: k must be greater than 0"),
        (16, "topk: k must not exceed the size of the selected dimension"),
    ],
)
def test_numbers_that_topk_refuses(k, text):
    @tile.jit
    def kernel(p, K: tl.constexpr):
        tl.topk(tl.arange(0, 8), K)

    error = refusal(kernel, {"p": "*i32", "K": "constexpr"}, {"K": k})
    assert error.error_message == text


MIXED = [("i32", "u32"), ("u8", "i32"), ("i64", "u16")]


@pytest.mark.parametrize("symbol", ["/", "//", "%"])
@pytest.mark.parametrize("types", MIXED)
def test_signed_and_unsigned_do_not_divide(symbol, types):
    kernels = {"/": true_division, "//": floor_division, "%": remainder}
    signature = {"p": f"*{types[0]}", "q": f"*{types[1]}"}
    assert "because they have different signedness" in str(refusal(kernels[symbol], signature))


@tile.jit
def true_division(p, q):
    tl.store(p, tl.load(p) / tl.load(q))


@tile.jit
def floor_division(p, q):
    tl.store(p, tl.load(p) // tl.load(q))


@tile.jit
def remainder(p, q):
    tl.store(p, tl.load(p) % tl.load(q))


def test_division_is_rounded_or_approximate():
    @tile.jit
    def kernel(p):
        tl.fdiv(tl.load(p), 3.0, ieee_rounding=True, approx=True)

    assert "not both" in str(refusal(kernel, {"p": "*fp32"}))


NARROW = ("fp8e5", "fp8e4nv", "fp16", "bf16")


@tile.jit
def types_of_quotients(x, y, z, out):
    a, b, c = tl.load(x), tl.load(y), tl.load(z)
    tl.static_assert((a / b).dtype == tl.float32)
    tl.static_assert((a % b).dtype == tl.float32)
    tl.static_assert((a / c).dtype == tl.float32)
    tl.static_assert((c % a).dtype == tl.float32)
    tl.static_assert((a / 2).dtype == tl.float32)
    tl.static_assert((2.5 / a).dtype == tl.float32)
    tl.static_assert((a % 2).dtype == tl.float32)
    tl.static_assert((a * 2.0).dtype == a.dtype)
    tl.static_assert((a * a).dtype == a.dtype)
    tl.store(out, a / b)


@pytest.mark.parametrize("left", NARROW)
@pytest.mark.parametrize("right", NARROW)
def test_quotients_of_narrow_floats(left, right):
    """No float narrower than fp32 has a division: it is not rounded back, either."""
    raw_ttir(types_of_quotients, {"x": f"*{left}", "y": f"*{right}", "z": "*i32", "out": "*fp32"})
