"""What random kernels found (see test/fuzz/), reduced."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.every_target


@tile.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@tile.jit
def scan_reshaped(x_ptr, out_ptr):
    # The reshape leaves registers that do not follow the axis in the order of their numbers.
    x = tl.load(x_ptr + tl.arange(0, 128)[:, None] + tl.arange(0, 16)[None, :] * 128)
    y = tl.associative_scan(tl.reshape(x, [32, 64]), 1, larger)
    tl.store(out_ptr + tl.arange(0, 32)[:, None] * 64 + tl.arange(0, 64)[None, :], y)


@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_scan_of_a_reshaped_block(num_warps):
    x, out = random(2048, "i32"), poisoned((32, 64), "i32")
    scan_reshaped[(1,)](x, out, num_warps=num_warps)
    expected = np.maximum.accumulate(x.reshape(16, 128).T.reshape(32, 64), axis=1)
    np.testing.assert_array_equal(out, expected)


@tile.jit
def scan_product(x_ptr, out_ptr, REVERSE: tl.constexpr):
    # In the layout of a dot, seen in one dimension, no scan can be lowered.
    offsets = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    x = tl.load(x_ptr + offsets)
    y = tl.cumsum(tl.reshape(tl.dot(x, x), [1024]), 0, reverse=REVERSE)
    tl.store(out_ptr + tl.arange(0, 1024), y)


@pytest.mark.sweep
@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_of_a_product(num_warps, reverse):
    x, out = (random((32, 32), "i8") % 5).astype(np.int8), poisoned(1024, "i32")
    scan_product[(1,)](x, out, REVERSE=reverse, num_warps=num_warps)
    product = (x.astype(np.int32) @ x.astype(np.int32)).reshape(-1)
    expected = np.cumsum(product[::-1])[::-1] if reverse else np.cumsum(product)
    np.testing.assert_array_equal(out, expected)


@tile.jit
def strided(x_ptr, out_ptr, STEP: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 128) * STEP)
    tl.store(out_ptr + tl.arange(0, 128), x)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("dtype", ["i8", "fp16", "fp32"])
@pytest.mark.parametrize("step", [2, 3, 4])
def test_strided_loads_stay_within_the_array(dtype, step):
    x, out = random(127 * step + 1, dtype), poisoned(128, dtype)
    strided[(1,)](x, out, STEP=step, num_warps=1)
    np.testing.assert_array_equal(out, x[::step])


@tile.jit
def halves(x_ptr, low_ptr, high_ptr):
    # Both halves have one layout, though only one of them is expanded.
    x = tl.load(x_ptr + tl.arange(0, 32))
    low, high = tl.split(tl.reshape(x + 10, [2, 8, 2]))
    rows, columns = tl.arange(0, 2), tl.arange(0, 8)
    wide = tl.expand_dims(low, 1)
    tl.store(low_ptr + rows[:, None, None] * 24 + columns[None, None, :] * 3, wide)
    tl.store(high_ptr + rows[:, None] * 8 + columns[None, :], high)


def test_one_half_of_a_split_in_another_layout():
    x, low, high = random(32, "i32"), poisoned(46, "i32"), poisoned(16, "i32")
    halves[(1,)](x, low, high)
    np.testing.assert_array_equal(low[::3], x[0::2] + 10)
    np.testing.assert_array_equal(high, x[1::2] + 10)


@tile.jit
def dead_in_loops(x_ptr, out_ptr, n):
    offsets = tl.arange(0, 16)
    kept = tl.load(x_ptr + offsets)
    dead = tl.load(x_ptr + offsets[None, :] + tl.arange(0, 2)[:, None])
    for _ in range(n):
        for j in range(n):
            kept += j
            if n > 2:
                dead = dead * 2
    tl.store(out_ptr + offsets, kept)


def test_values_that_only_loops_use():
    x, out = random(32, "i32"), poisoned(16, "i32")
    dead_in_loops[(1,)](x, out, 3)
    np.testing.assert_array_equal(out, x[:16] + 9)


@tile.jit
def copy_and_sum(x_ptr, copy_ptr, sum_ptr, n):
    # Of each tile that is copied ahead, several layouts are read.
    rows, columns = tl.arange(0, 16)[:, None] * 64, tl.arange(0, 64)[None, :]
    pointers = x_ptr + rows + columns
    total = tl.zeros([16, 64], tl.int64)
    for i in tl.range(0, n, num_stages=2):
        x = tl.load(pointers + i * 1024)
        tl.store(copy_ptr + i * 1024 + rows + columns, x)
        total += x.to(tl.int64)
    tl.store(sum_ptr + rows + columns, total)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("dtype", ["i8", "i32", "u32", "i64"])
def test_several_layouts_of_a_tile_that_is_copied_ahead(dtype, num_warps):
    x, copied, total = random((3, 1024), dtype), poisoned((3, 1024), dtype), poisoned(1024, "i64")
    copy_and_sum[(1,)](x, copied, total, 3, num_warps=num_warps)
    np.testing.assert_array_equal(copied, x)
    np.testing.assert_array_equal(total, x.astype(np.int64).sum(axis=0))


@tile.jit
def divided_by_distances(x_ptr, out_ptr):
    pid, i = tl.program_id(0), tl.arange(0, 32)
    tl.store(out_ptr + pid * 32 + i, tl.load(x_ptr + 4 + i // (pid * 16 - 8)))


def test_indices_are_divided_by_what_is_less_than_zero():
    """A difference that is bounded by nothing has a sign."""
    x, out = random(16, "i32"), poisoned((2, 32), "i32")
    divided_by_distances[(2,)](x, out)
    i = np.arange(32)
    np.testing.assert_array_equal(out, np.stack([x[4 - i // 8], x[4 + i // 8]]))


@tile.jit
def unrolled(out_ptr, first, last, STEP: tl.constexpr, FACTOR: tl.constexpr):
    count = 0
    for i in tl.range(first, last, STEP, loop_unroll_factor=FACTOR):
        tl.store(out_ptr + count, i)
        count += 1
    tl.store(out_ptr + 15, count)


@pytest.mark.parametrize(("step", "factor"), [(3, 2), (4, 3), (-2, 2)])
def test_unrolled_loops_that_end_before_they_begin(step, factor):
    """One iteration was left over of some of them."""
    for first in (0, 5):
        for last in (-4, -3, -2, -1, 0, 1, 2, 4, 7, 8):
            wanted = range(first, last, step)
            out = np.full(16, 77, np.int32)
            unrolled[(1,)](out, first, last, step, factor)
            expected = np.array([*wanted, *[77] * (15 - len(wanted)), len(wanted)])
            np.testing.assert_array_equal(out, expected, f"{wanted}")


@pytest.mark.parametrize(
    ("step", "factor"), [(2**30, 2), (2**30, 4), (2**29, 3), (2**29, 4), (2**31 - 1, 2)]
)
def test_unrolled_loops_over_more_than_half_of_the_integers(step, factor):
    """The distance between the bounds, or the step times the factor, is more than 2^31."""
    for first, last in ((-(2**31), 2**31 - 1), (-(2**30) - 7, 2**31 - 1), (-(2**31), 2**30 + 5)):
        wanted = range(first, last, step)
        out = np.full(16, 77, np.int32)
        unrolled[(1,)](out, first, last, step, factor)
        expected = np.array([*wanted, *[77] * (15 - len(wanted)), len(wanted)])
        np.testing.assert_array_equal(out, expected, f"{wanted}")


@tile.jit
def over_constants(out_ptr, FIRST: tl.constexpr, LAST: tl.constexpr, STEP: tl.constexpr):
    count = 0
    for _ in range(FIRST, LAST, STEP):
        count += 1
    tl.store(out_ptr, count)


def test_constant_ranges_over_more_than_half_of_the_integers():
    """MLIR counts their iterations with a sign, and found none."""
    out = np.full(1, 77, np.int32)
    over_constants[(1,)](out, -(2**31), -1, 2**30)
    assert out[0] == 2
    # The other bound has 64 bits.
    over_constants[(1,)](out, -(2**31), 2**33, 2**32)
    assert out[0] == 3
    for first, last, step in ((-(2**31), 0, 2**30), (2**31 - 1, -1, -(2**30))):
        with pytest.raises(tile.CompilationError, match="goes further than int32"):
            over_constants[(1,)](out, first, last, step)


@tile.jit
def buckets(x_ptr, counts_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.maximum(tl.load(x_ptr + offsets), 3074457345618258602)
    bucket = ((x + x) % 10) & 3
    tl.atomic_add(counts_ptr + bucket, 1)
    tl.store(out_ptr + offsets, bucket)


def test_data_that_wraps_around_and_is_an_index():
    """A sum of elements became the number that it would have been without wrapping."""
    x = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 256)
    counts, out = np.zeros(4, np.int32), np.full(256, -1)
    buckets[(1,)](x, counts, out, 256)
    x = np.maximum(x, 3074457345618258602)
    expected = np.fmod(x + x, 10) & 3
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(counts, np.bincount(expected, minlength=4))


@tile.jit
def all_ones(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4)).to(tl.int64)
    quotient = x // tl.where((x == 0) | (x == -1), -5, x)
    tl.store(out_ptr + tl.arange(0, 1), tl.reduce_or(~(quotient & 3), 0))


def test_words_that_are_known_to_be_all_ones():
    """A word of a disjunction that nobody needs to compute became an undefined register."""
    x = np.array([7, -3, 12, 100], np.int32)
    out = np.zeros(1, np.int64)
    all_ones[(1,)](x, out, num_warps=1)
    assert out[0] == ~1


@tile.jit
def small_factor(x, HOW: tl.constexpr):
    """Something of at most 24 bits, of which a compiler might compute no more than these."""
    if HOW == "remainder":
        return x % 3
    elif HOW == "large remainder":
        return x % 8388607
    elif HOW == "mask":
        return x & 0xFFFFFF
    elif HOW == "bits":
        return (x >> 20) & 0xFFFFFF
    elif HOW == "shifted mask":
        return (x & 0xFFFF) << 8
    elif HOW == "sum":
        return (x & 0x7FFFFF) + ((x >> 23) & 0x7FFFFF)
    elif HOW == "difference":
        return (x & 0xFFFFFF) - (x & 0xFF00)
    elif HOW == "choice":
        return tl.where(x > 5, x & 0xFFFFFF, x % 5)
    else:
        return (x << 40) >> 40


@tile.jit
def small_factors(x_ptr, out_ptr, HOW: tl.constexpr, FACTOR: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    y = small_factor(x, HOW)
    tl.store(out_ptr + at, y * FACTOR + x)
    tl.store(out_ptr + 64 + at, y * small_factor(x + 1, HOW) - x)


@pytest.mark.parametrize("factor", [3, 16777213])
@pytest.mark.parametrize("kind", ["u64", "i64"])
@pytest.mark.parametrize(
    "how",
    [
        "remainder", "large remainder", "mask", "bits", "shifted mask", "sum", "difference",
        "choice", "shifts",
    ],
)  # fmt: skip
def test_small_factors_in_large_sums(how, kind, factor):
    """The bits above 24 of a factor were not computed, and then multiplied."""
    x = random(64, kind)
    out = poisoned(128, kind)
    small_factors[(1,)](x, out, HOW=how, FACTOR=factor, num_warps=1)
    expected = np.zeros(128, x.dtype)
    small_factors.interpret(x, expected, HOW=how, FACTOR=factor, grid=(1,))
    np.testing.assert_array_equal(out, expected)
    if how == "mask":
        first = (x & x.dtype.type(0xFFFFFF)) * x.dtype.type(factor) + x
        np.testing.assert_array_equal(out[:64], first)


@tile.jit
def bits_of_a_number(x, HOW: tl.constexpr):
    """A small integer, and the floating-point number that has its bits."""
    if HOW == "16 bits":
        return (x << 16 >> 16).to(tl.float32, bitcast=True)
    elif HOW == "upper 16 bits":
        return (x >> 16).to(tl.float32, bitcast=True)
    elif HOW == "8 bits":
        return (x << 8 >> 24).to(tl.float32, bitcast=True)
    elif HOW == "narrow":
        return (x.to(tl.int16) + 5).to(tl.int32).to(tl.float32, bitcast=True)
    elif HOW == "choice":
        return tl.where(x > 7, x >> 16, x >> 24).to(tl.float32, bitcast=True)
    else:
        return (x >> 8).to(tl.int8).to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)


@tile.jit
def signs_of_floats(x_ptr, out_ptr, HOW: tl.constexpr):
    at = tl.arange(0, 64)
    y = bits_of_a_number(tl.load(x_ptr + at), HOW)
    tl.store(out_ptr + at, tl.where(y == y, tl.minimum(tl.maximum(y, -2.0), 2.0) * 3.0, 5.0))


@pytest.mark.parametrize(
    "how", ["16 bits", "upper 16 bits", "8 bits", "narrow", "choice", "half of 8 bits"]
)
def test_signs_in_the_bits_of_floats(how):
    """Bits of negative integers are those of no number, or of small negative ones."""
    x = random(64, "i32")
    out = poisoned(64, "fp32")
    signs_of_floats[(1,)](x, out, HOW=how, num_warps=1)
    expected = np.zeros(64, np.float32)
    signs_of_floats.interpret(x, expected, HOW=how, grid=(1,))
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-30)
    if how == "upper 16 bits":
        y = (x >> 16).view(np.float32)
        first = np.where(np.isnan(y), 5.0, np.clip(y, -2, 2) * 3)
        np.testing.assert_allclose(out, first, rtol=1e-6, atol=1e-30)


@tile.jit
def beyond_the_edge(number_ptr, x_ptr, position_ptr, out_ptr):
    number = tl.xor_sum(tl.load(number_ptr + tl.arange(0, 128)))
    _, columns = tl.max(tl.full([32, 32], number, tl.int32), 1, return_indices=True)
    _, row = tl.max(columns, 0, return_indices=True)
    block = tl.make_tensor_descriptor(x_ptr, [4, 5, 32], [640, 32, 1], [4, 4, 32])
    x = block.load([-1, 0, 2])
    tl.store(position_ptr, row)
    rows = tl.arange(0, 4)[:, None, None] * 128 + tl.arange(0, 4)[None, :, None] * 32
    tl.store(out_ptr + rows + tl.arange(0, 32)[None, None, :], x)


def test_bytes_beyond_the_edge_of_a_block():
    """Registers without a value came together with the zeros beyond the edge of the array."""
    rng = np.random.default_rng(7)
    numbers = rng.integers(-100, 100, 128).astype(np.int32)
    x = rng.integers(0, 256, 2560).astype(np.uint8)
    position, out = np.full(1, -1, np.int32), np.full((4, 4, 32), 7, np.uint8)
    beyond_the_edge[(1,)](numbers, x, position, out, num_warps=1)
    expected = np.zeros((4, 4, 32), np.uint8)
    expected[1:, :, :30] = x.reshape(4, 20, 32)[:3, :4, 2:]
    np.testing.assert_array_equal(out, expected)
    assert position[0] == 0


@tile.jit
def sum_of_products(a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, out_ptr, KIND: tl.constexpr):
    i = tl.arange(0, 128)
    e = tl.load(e_ptr + i)
    first = tl.load(a_ptr + i).to(tl.int32) * tl.load(b_ptr + i).to(tl.int32)
    second = tl.load(c_ptr + i).to(tl.int32) * tl.load(d_ptr + i).to(tl.int32)
    if KIND == "+":
        second = second + e
    elif KIND == "-":
        second = second - e
    elif KIND == "^":
        second = second ^ e
    elif KIND == "&":
        second = second & e
    elif KIND == "|":
        second = second | e
    elif KIND == ">>":
        second = second >> (e & 7)
    elif KIND == "<<":
        second = second << (e & 7)
    elif KIND == "*":
        second = second * e
    elif KIND == "max":
        second = tl.maximum(second, e)
    tl.store(out_ptr + i, first + second)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("kind", ["+", "-", "^", "&", "|", ">>", "<<", "*", "max"])
def test_products_of_bytes_in_sums(kind, dtype):
    """Any operation on a product of bytes was taken for a sum where another one was added."""
    rng = np.random.default_rng(11)
    limits = np.iinfo(dtype)
    a, b, c, d = rng.integers(limits.min, limits.max + 1, (4, 128)).astype(dtype)
    e = rng.integers(-1000, 1000, 128).astype(np.int32)
    out = poisoned(128, "i32")
    sum_of_products[(1,)](a, b, c, d, e, out, KIND=kind, num_warps=1)
    second = c.astype(np.int32) * d
    compute = {
        "+": lambda: second + e,
        "-": lambda: second - e,
        "^": lambda: second ^ e,
        "&": lambda: second & e,
        "|": lambda: second | e,
        ">>": lambda: second >> (e & 7),
        "<<": lambda: second << (e & 7),
        "*": lambda: second * e,
        "max": lambda: np.maximum(second, e),
    }
    np.testing.assert_array_equal(out, a.astype(np.int32) * b + compute[kind]())


@tile.jit
def remainder_of_products(x_ptr, y_ptr, out_ptr):
    rows, columns = tl.arange(0, 32)[:, None], tl.arange(0, 2)[None, :]
    x = tl.load(x_ptr + rows * 2 + columns)
    y = tl.load(y_ptr + rows * 2 + columns)
    tl.store(out_ptr + rows * 4 + columns * 2, (y * x) % -2)


def test_remainders_of_products_of_bytes():
    """They are made of such a sum."""
    rng = np.random.default_rng(12)
    x, y = rng.integers(-128, 128, (2, 64)).astype(np.int8)
    out = np.full(128, 99, np.int8)
    remainder_of_products[(1,)](x, y, out, num_warps=1)
    np.testing.assert_array_equal(out[::2], np.fmod(x * y, np.int8(-2)))
    assert (out[1::2] == 99).all()
