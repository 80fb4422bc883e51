"""Block pointers and descriptors: bounds, padding, strides, atomics, rows by index."""

from __future__ import annotations

import numpy as np
import pytest
from blocks import KINDS, put, values, warps_for
from reference import sim_only

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@pytest.fixture(autouse=True)
def ampere(monkeypatch):
    """Without tensor copies in hardware, descriptors become pointers and masks."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")


def window(x: np.ndarray, start, block, fill) -> np.ndarray:
    """A block of an array, with `fill` out of bounds."""
    out = np.full(block, fill, x.dtype)
    inside = [
        slice(max(0, -s), max(0, min(b, e - s)))
        for s, b, e in zip(start, block, x.shape, strict=True)
    ]
    source = [
        slice(max(0, s), max(0, min(s + b, e)))
        for s, b, e in zip(start, block, x.shape, strict=True)
    ]
    if all(s.stop > s.start for s in inside):
        out[tuple(inside)] = x[tuple(source)]
    return out


@tile.jit
def block2_kernel(
    x_ptr, out_ptr, M, N, sm, sn, m, n, CHECK: tl.constexpr, PAD: tl.constexpr,
    ORDER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    x = tl.make_block_ptr(x_ptr, (M, N), (sm, sn), (m, n), (BM, BN), ORDER)
    put(out_ptr, tl.load(x, boundary_check=CHECK, padding_option=PAD))


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "i32", "i8", "fp64"])
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_windows_over_the_edges(dtype, padding):
    if padding == "nan" and dtype[0] == "i":
        return
    x = values((13, 22), dtype, 1)
    fill = np.nan if padding == "nan" else 0
    for start in [(0, 0), (5, 10), (-3, -2), (12, 21), (-8, 3), (13, 0)]:
        out = np.zeros((8, 16), x.dtype)
        block2_kernel[(1,)](
            x, out, 13, 22, 22, 1, *start, CHECK=(0, 1), PAD=padding, ORDER=(1, 0), BM=8, BN=16,
            num_warps=warps_for(start),
        )  # fmt: skip
        want = window(x, start, (8, 16), fill)
        np.testing.assert_array_equal(out.astype(np.float64), want.astype(np.float64))


@pytest.mark.parametrize("check", [(), (0,), (1,), (0, 1), (1, 0)])
def test_only_what_is_listed_is_checked(check):
    x = values((16, 32), "i32", 2)
    rows = 8 if 0 in check else 0
    columns = 24 if 1 in check else 0
    out = np.zeros((16, 16), np.int32)
    block2_kernel[(1,)](
        x, out, 16, 32, 32, 1, rows, columns, CHECK=check, PAD="zero", ORDER=(1, 0), BM=16, BN=16
    )
    np.testing.assert_array_equal(out, window(x, (rows, columns), (16, 16), 0))


def test_columns_first():
    x = values((24, 16), "fp16", 3)
    out = np.zeros((16, 8), np.float16)
    block2_kernel[(1,)](
        x, out, 16, 24, 1, 16, 4, 18, CHECK=(0, 1), PAD="zero", ORDER=(0, 1), BM=16, BN=8
    )
    np.testing.assert_array_equal(out, window(x.T, (4, 18), (16, 8), 0))


@tile.jit
def copy3_kernel(x_ptr, out_ptr, A, B, C, BA: tl.constexpr, BB: tl.constexpr, BC: tl.constexpr):
    shape = (A, B, C)
    strides = (B * C, C, 1)
    x = tl.make_block_ptr(x_ptr, shape, strides, (0, 0, 0), (BA, BB, BC), (2, 1, 0))
    out = tl.make_block_ptr(out_ptr, shape, strides, (0, 0, 0), (BA, BB, BC), (2, 1, 0))
    for _ in range(0, C, BC):
        tl.store(out, tl.load(x, boundary_check=(0, 1, 2)) + 1, boundary_check=(0, 1, 2))
        x = tl.advance(x, (0, 0, BC))
        out = tl.advance(out, (0, 0, BC))


@pytest.mark.parametrize("shape", [(4, 4, 16), (3, 2, 21), (1, 3, 5)])
def test_three_dimensions_in_steps(shape):
    x = values(shape, "i32", 4) // 2
    out = np.zeros_like(x)
    copy3_kernel[(1,)](x, out, *shape, BA=4, BB=4, BC=8)
    np.testing.assert_array_equal(out, x + 1)


@tile.jit
def copy1_kernel(x_ptr, out_ptr, n, step, B: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (n,), (step,), (tl.program_id(0) * B,), (B,), (0,))
    out = tl.make_block_ptr(out_ptr, (n,), (1,), (tl.program_id(0) * B,), (B,), (0,))
    tl.store(out, tl.load(x, boundary_check=(0,)), boundary_check=(0,))


@tile.jit
def far_kernel(
    x_ptr, out_ptr, M, N, m, far, BM: tl.constexpr, BN: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    # The tensor begins `far` rows before the array.
    wide = far.to(tl.int64)
    base = x_ptr - wide * N
    shape, strides, block, order = (wide + M, N), (N, 1), (BM, BN), (1, 0)
    if HOW == "make":
        x = tl.make_block_ptr(base, shape, strides, (wide + m, 0), block, order)
    elif HOW == "advance":
        x = tl.make_block_ptr(base, shape, strides, (m, 0), block, order).advance((far, 0))
    else:  # In steps, each of which fits into 32 bits, or not.
        x = tl.make_block_ptr(base, shape, strides, (m, 0), block, order)
        for _ in range(4):
            x = tl.advance(tl.advance(x, (far // 8, -3)), (far // 8, 3))
    put(out_ptr, tl.load(x, boundary_check=(0, 1), padding_option="zero"))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("m", [0, 3, 5])
@pytest.mark.parametrize("how", ["make", "advance", "steps"])
@pytest.mark.parametrize("far", [2**31 - 8, 2**31, 2**31 + 8, 2**32, 2**33 + 16, 2**35])
def test_offsets_beyond_32_bits(far, how, m):
    x = values((11, 5), "fp32")
    out = np.full((8, 8), -1, np.float32)
    far_kernel[(1,)](x, out, *x.shape, m, far, BM=8, BN=8, HOW=how)
    np.testing.assert_array_equal(out, window(x, (m, 0), (8, 8), 0))


@pytest.mark.parametrize("kind", [tl.uint32, tl.uint64, tl.int64, None], ids=str)
def test_wide_offsets_of_any_type(kind):
    x, out = values((8,), "fp32"), np.zeros(8, np.float32)
    far = 3_000_000_000

    @tile.jit
    def kernel(x_ptr, out_ptr, far, KIND: tl.constexpr, FAR: tl.constexpr):
        offset = FAR if KIND is None else far.to(KIND)
        base = x_ptr - far
        p = tl.make_block_ptr(base, (FAR + 8,), (1,), (offset,), (8,), (0,))
        put(out_ptr, tl.load(p))

    kernel[(1,)](x, out, far, KIND=kind, FAR=far)
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize(("n", "step"), [(100, 1), (64, 3), (1, 1)])
def test_one_dimension(n, step):
    x = values(n * step, "fp32", 5)
    out = np.zeros(n, np.float32)
    copy1_kernel[(tile.cdiv(n, 32),)](x, out, n, step, B=32)
    np.testing.assert_array_equal(out, x[::step])


# Descriptors.


@tile.constexpr_function
def _row_major(shape):
    strides = [1]
    for extent in shape[:0:-1]:
        strides.insert(0, strides[0] * extent)
    return strides


@tile.jit
def move_kernel(
    x_ptr, out_ptr, SHAPE: tl.constexpr, BLOCK: tl.constexpr, START: tl.constexpr, PAD: tl.constexpr
):
    strides: tl.constexpr = _row_major(SHAPE)
    x = tl.make_tensor_descriptor(x_ptr, SHAPE, strides, BLOCK, padding_option=PAD)
    value = x.load(START)
    put(out_ptr, value)


MOVES = [
    ((37,), (16,), (30,)), ((16, 32), (8, 16), (4, 8)), ((13, 40), (8, 16), (10, 32)),
    ((5, 6, 16), (4, 4, 16), (3, 4, 0)), ((3, 2, 4, 16), (2, 2, 4, 16), (2, 0, 1, 8)),
    ((2, 3, 2, 2, 32), (1, 2, 2, 2, 16), (1, 2, 0, 0, 24)), ((8, 16), (8, 16), (-3, -5)),
]  # fmt: skip


@sim_only
@pytest.mark.parametrize(("shape", "block", "start"), MOVES)
def test_loads_of_all_ranks(shape, block, start):
    for dtype, padding in [("fp32", "zero"), ("fp32", "nan"), ("fp16", "nan"), ("i8", "zero")]:
        x = values(shape, dtype, 6)
        out = np.zeros(block, x.dtype)
        move_kernel[(1,)](x, out, SHAPE=shape, BLOCK=block, START=start, PAD=padding)
        fill = np.nan if padding == "nan" else 0
        np.testing.assert_array_equal(out, window(x, start, block, fill))


OPERATIONS = (
    "store",
    "atomic_add",
    "atomic_min",
    "atomic_max",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
)


@tile.jit
def update_kernel(x_ptr, v_ptr, M, N, m, n, OP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    value = tl.load(v_ptr + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    if OP == "store":
        x.store([m, n], value)
    elif OP == "atomic_add":
        x.atomic_add([m, n], value)
    elif OP == "atomic_min":
        x.atomic_min([m, n], value)
    elif OP == "atomic_max":
        x.atomic_max([m, n], value)
    elif OP == "atomic_and":
        x.atomic_and([m, n], value)
    elif OP == "atomic_or":
        x.atomic_or([m, n], value)
    else:
        x.atomic_xor([m, n], value)


@pytest.mark.sweep
@sim_only
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("dtype", ["i32", "u32", "i64", "u64", "fp32", "fp16", "bf16"])
def test_updates(op, dtype):
    integer = np.dtype(KINDS[dtype]).kind in "iu"
    if op in ("atomic_and", "atomic_or", "atomic_xor") and not integer:
        return
    if op in ("atomic_min", "atomic_max") and not integer:
        return
    m, n = 5, 8
    x, v = values((11, 24), dtype, 7), values((8, 32), dtype, 8)
    want = x.copy()
    target, source = want[m:, n:], v[: 11 - m, : 24 - n]
    f = {
        "store": lambda a, b: b, "atomic_add": np.add, "atomic_min": np.minimum,
        "atomic_max": np.maximum, "atomic_and": np.bitwise_and, "atomic_or": np.bitwise_or,
        "atomic_xor": np.bitwise_xor,
    }[op]  # fmt: skip
    with np.errstate(over="ignore"):
        target[:] = 0
        target[:8, :] = f(x[m : m + 8, n:], source)
    update_kernel[(1,)](x, v, 11, 24, m, n, OP=op, BM=8, BN=32)
    np.testing.assert_array_equal(x, want)


@tile.jit
def rows_kernel(x_ptr, i_ptr, out_ptr, back_ptr, M, N, column, R: tl.constexpr, BN: tl.constexpr):
    rows = tl.load(i_ptr + tl.arange(0, R))
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, BN])
    back = tl.make_tensor_descriptor(back_ptr, [M, N], [N, 1], [1, BN])
    value = x.gather(rows, column)
    put(out_ptr, value)
    back.scatter(value + 1, rows, column)


@sim_only
@pytest.mark.parametrize("dtype", ["fp16", "fp32", "i32"])
@pytest.mark.parametrize("column", [0, 16, 24])
def test_rows_by_index(dtype, column):
    x = values((20, 32), dtype, 9) // 2
    rows = np.random.default_rng(10).permutation(20)[:8].astype(np.int32)
    out, back = np.zeros((8, 16), x.dtype), np.zeros_like(x)
    rows_kernel[(1,)](x, rows, out, back, 20, 32, column, R=8, BN=16)
    width = min(16, 32 - column)
    want = np.zeros((8, 16), x.dtype)
    want[:, :width] = x[rows, column : column + width]
    np.testing.assert_array_equal(out, want)
    expected = np.zeros_like(x)
    expected[rows, column : column + width] = x[rows, column : column + width] + x.dtype.type(1)
    np.testing.assert_array_equal(back, expected)
