"""Tensor descriptors: made on the host and in kernels, executed."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from frontend import make_module, raw_ttir
from machines import run_on
from reference import poisoned, random

import tile
import tile.language as tl
from tile.errors import TileError
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.both_ways


@tile.jit
def copy(src, dst, rows, columns, N: tl.constexpr):
    for i in range(0, rows, src.block_shape[0]):
        for j in range(0, columns, N):
            dst.store([i, j], src.load([i, j]))


@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "i8", "u32", "i64", "fp64"])
def test_host_descriptors_copy(dtype):
    x, out = random((24, 80), dtype), poisoned((24, 80), dtype)
    blocks = [TensorDescriptor.from_tensor(a, [8, 32]) for a in (x, out)]
    copy[(1,)](*blocks, 24, 80, N=32)
    np.testing.assert_array_equal(out, x)


def test_blocks_are_bounded_and_strided():
    x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)
    out = np.full((16, 32), -1, np.float32)
    # A part of a matrix: rows are farther apart than they are long.
    source = TensorDescriptor(x[4:], [5, 20], [64, 1], [16, 32])
    copy[(1,)](source, TensorDescriptor.from_tensor(out, [16, 32]), 16, 32, N=32)
    expected = np.zeros((16, 32), np.float32)
    expected[:5, :20] = x[4:9, :20]
    np.testing.assert_array_equal(out, expected)


@tile.jit
def double(src, dst, rows, columns, N: tl.constexpr):
    for i in range(0, rows, src.block_shape[0]):
        for j in range(0, columns, N):
            dst.store([i, j], src.load([i, j]) * 2)


@pytest.mark.compiled
@pytest.mark.nvidia("its assembly is PTX")
def test_rows_of_whole_and_of_broken_vectors(monkeypatch):
    """Where rows are multiples of 16 bytes, the elements of a vector are all in bounds or all out
    of them. Kernels that were compiled for that are not launched for other rows. These may break a
    vector, and access its elements one by one."""
    run_on("cuda:80", monkeypatch)
    x = random((16, 64), "fp16")
    for columns in (64, 40, 44, 63, 24):
        out = np.zeros((16, 64), np.float16)
        there = [TensorDescriptor(a, [16, columns], [64, 1], [16, 64]) for a in (x, out)]
        kernel = double[(1,)](*there, 16, 64, N=64, num_warps=4)
        np.testing.assert_array_equal(out[:, :columns], x[:, :columns] * 2)
        assert not out[:, columns:].any()
        for access in ("ld", "st"):
            assert f"{access}.global.v4.b32" in kernel.asm["ptx"], (columns, access)
            breaks_vectors = f"{access}.global.b16" in kernel.asm["ptx"]
            assert breaks_vectors == (columns % 8 != 0), (columns, access)


def test_nan_padding():
    x, out = np.ones((8, 20), np.float32), np.zeros((8, 32), np.float32)
    source = TensorDescriptor(x, [8, 20], [20, 1], [8, 32], padding="nan")
    copy[(1,)](source, TensorDescriptor.from_tensor(out, [8, 32]), 8, 32, N=32)
    assert np.isnan(out[:, 20:]).all() and (out[:, :20] == 1).all()


@pytest.mark.compiled
def test_what_is_padded_with_zeros_is_compiled_for_that():
    x, out = np.ones((8, 20), np.float32), np.zeros((8, 32), np.float32)
    target = TensorDescriptor.from_tensor(out, [8, 32])
    kernels = []
    for padding in ("zero", "nan", "zero"):
        source = TensorDescriptor(x, [8, 20], [20, 1], [8, 32], padding=padding)
        kernels.append(copy[(1,)](source, target, 8, 32, N=32))
        assert np.isnan(out[:, 20:]).all() == (padding == "nan")
    assert kernels[0] is kernels[2] is not kernels[1]
    texts = [kernel.asm["ttir"] for kernel in kernels]
    assert [text.count("tt.zero_padded") for text in texts] == [2, 1, 2]


@pytest.mark.compiled
def test_each_block_and_type_is_compiled():
    x, out = random((32, 64), "fp16"), poisoned((32, 64), "fp16")
    kernels = set()
    for shape in ([8, 64], [16, 64], [16, 32]):
        source = TensorDescriptor.from_tensor(x, shape)
        kernel = copy[(1,)](source, TensorDescriptor.from_tensor(out, shape), 32, 64, N=shape[1])
        kernels.add(kernel.hash)
        np.testing.assert_array_equal(out, x)
    y = x.astype(np.float32)
    kernels.add(copy[(1,)](
        TensorDescriptor.from_tensor(y, [8, 64]),
        TensorDescriptor.from_tensor(np.empty_like(y), [8, 64]), 32, 64, N=64,
    ).hash)  # fmt: skip
    assert len(kernels) == 4
    # Setting the block of a descriptor, as configurations of the autotuner do.
    source.block_shape = [8, 64]
    again = copy[(1,)](source, TensorDescriptor.from_tensor(out, [8, 64]), 32, 64, N=64)
    assert again.hash in kernels


@tile.jit
def describe(desc, pair, out):
    for d in tl.static_range(len(desc.shape)):
        tl.store(out + d, desc.shape[d])
        tl.store(out + 4 + d, desc.strides[d])
    tl.store(out + 8, tl.sum(pair[0].load([0])) + pair[1])


def test_shape_strides_and_tuples():
    x, y, out = np.zeros((6, 8, 16), np.float16), np.arange(8, dtype=np.int32), np.zeros(9, int)
    d = TensorDescriptor.from_tensor(x, [2, 4, 16])
    describe[(1,)](d, (TensorDescriptor.from_tensor(y, [8]), 100), out)
    assert out.tolist() == [6, 8, 16, 0, 128, 16, 1, 0, 128]


def test_the_ir_has_the_descriptor():
    signature = {
        "src": "tensordesc<u32[16, 64]>", "dst": "tensordesc<fp16[16, 64]>", "rows": "i32",
        "columns": "i32",
    }  # fmt: skip
    text = raw_ttir(copy, signature, {"N": 64})
    head = next(line for line in text.splitlines() if "tt.func" in line)
    assert (
        "(%src: !tt.tensordesc<tensor<16x64xui32>>, %src_0: i32, %src_1: i32, %src_2: i64, "
        "%src_3: i64, %dst: !tt.tensordesc<tensor<16x64xf16>>, "
    ) in head
    assert "-> tensor<16x64xi32>" in text


@tile.jit
def make_signed(p, q, n):
    for pointer in (p, q):
        d = tl.make_tensor_descriptor(pointer, [n, n], [n, 1], [8, 32])
        d.atomic_max([0, 0], d.load([0, 0]))


def test_integers_say_whether_they_are_signed():
    text = str(make_module(make_signed, {"p": "*u32", "q": "*i64", "n": "i32"}))
    assert "<i32>, <tensor<8x32xui32>>" in text
    assert "<i64>, <tensor<8x32xsi64>>" in text


@tile.jit
def reduce_blocks(out, value, KIND: tl.constexpr):
    block = value.load([0, 0])
    if KIND == "add":
        out.atomic_add([0, 0], block)
    elif KIND == "min":
        out.atomic_min([0, 0], block)
    elif KIND == "max":
        out.atomic_max([0, 0], block)
    elif KIND == "and":
        out.atomic_and([0, 0], block)
    elif KIND == "or":
        out.atomic_or([0, 0], block)
    else:
        out.atomic_xor([0, 0], block)


@pytest.mark.parametrize("kind", ["add", "min", "max", "and", "or", "xor"])
@pytest.mark.parametrize("dtype", ["i32", "u32", "i64"])
def test_atomics(kind, dtype):
    out, value = random((8, 16), dtype, 1), random((8, 16), dtype, 2)
    out[0, 0] = np.iinfo(out.dtype).max
    expected = {
        "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
        "or": np.bitwise_or, "xor": np.bitwise_xor,
    }[kind](out, value)  # fmt: skip
    descriptors = [TensorDescriptor.from_tensor(a, [8, 16]) for a in (out, value)]
    reduce_blocks[(1,)](*descriptors, KIND=kind)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp64"])
def test_smaller_and_larger_floats(kind, dtype):
    """As IEEE 754 orders all numbers: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    dtype = random(1, dtype).dtype
    tiny, big = (3e-8, 6e4) if dtype == np.float16 else (1e-40, 3e38)
    positive = np.array([0.0, tiny, 1.5, 2.5, big, np.inf, np.nan], np.float32).astype(dtype)
    numbers = np.concatenate([np.copysign(positive, -1)[::-1].astype(dtype), positive])
    places = np.random.default_rng(3).integers(0, numbers.size, (2, 8, 16))
    out, value = numbers[places]
    expected = numbers[places.min(0) if kind == "min" else places.max(0)]
    descriptors = [TensorDescriptor.from_tensor(a, [8, 16]) for a in (out, value)]
    reduce_blocks[(1,)](*descriptors, KIND=kind)
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("kind", "dtype"), [("and", "fp32"), ("xor", "fp16"), ("add", "i8"), ("max", "i8")]
)
def test_reductions_that_no_hardware_has(kind, dtype):
    descriptors = [TensorDescriptor.from_tensor(random((8, 16), dtype, 1), [8, 16])] * 2
    with pytest.raises(TileError, match=f"atomic_{kind} of a descriptor takes integers of 16 to"):
        reduce_blocks[(1,)](*descriptors, KIND=kind)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_atomic_add_of_floats(dtype):
    out, value = random((8, 16), dtype, 1), random((8, 16), dtype, 2)
    expected = out + value
    descriptors = [TensorDescriptor.from_tensor(a, [8, 16]) for a in (out, value)]
    reduce_blocks[(2,)](*descriptors, KIND="add")
    np.testing.assert_allclose(
        out.astype(np.float32), (expected + value).astype(np.float32), rtol=2e-2, atol=2e-2
    )


@tile.jit
def gather_rows(src, dst, rows, y, ROWS: tl.constexpr):
    index = tl.load(rows + tl.arange(0, ROWS))
    block = src.gather(index, y)
    dst.scatter(block, index, y)


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "u8"])
def test_gather_and_scatter(dtype):
    width = 32
    x, out = random((20, 64), dtype), np.zeros_like(random((20, 64), dtype))
    rows = np.array([3, 19, 0, 7, 8, 2, 40, 5], np.int32)
    source, target = (TensorDescriptor.from_tensor(a, [1, width]) for a in (x, out))
    gather_rows[(1,)](source, target, rows, 48, ROWS=8)
    expected = np.zeros_like(out)
    for row in rows:
        if row < 20:
            expected[row, 48:64] = x[row, 48:64]
    np.testing.assert_array_equal(out, expected)


def _unaligned() -> np.ndarray:
    raw = np.zeros(4096 + 64, np.uint8)
    start = -raw.ctypes.data % 16 + 4
    return raw[start : start + 4096].view(np.float32).reshape(16, 64)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: TensorDescriptor.from_tensor(_unaligned(), [8, 32]),
         "the base of a TensorDescriptor must be aligned to 16 bytes, but its address is 0x..., 4 "
         "more than a multiple"),
        (lambda x: TensorDescriptor(x, [16, 63], [63, 1], [8, 32]),
         "the strides of a TensorDescriptor must be multiples of 16 bytes, but stride 0 is 63 "
         "elements of 4 bytes; pad the rows"),
        (lambda x: TensorDescriptor(x, [16, 64], [1, 64], [8, 32]),
         "the last dimension of a TensorDescriptor must be contiguous, but its stride is 64"),
        (lambda x: TensorDescriptor(x, [16, 32], [64, 2], [8, 32]),
         "the last dimension of a TensorDescriptor must be contiguous, but its stride is 2"),
        (lambda x: TensorDescriptor(x, [16, 64], [64], [8, 32]),
         "a TensorDescriptor of 2 dimensions needs as many entries in strides, not 1"),
        (lambda x: TensorDescriptor(x, [16, 64], [64, 1], [32]),
         "a TensorDescriptor of 2 dimensions needs as many entries in block_shape, not 1"),
        (lambda x: TensorDescriptor(x, [], [], []),
         "a TensorDescriptor has 1 to 5 dimensions, not 0"),
        (lambda x: TensorDescriptor(x, [16, -1], [64, 1], [8, 32]),
         "the extents of a TensorDescriptor are from 0 to 2**31 - 1, not [16, -1]"),
        (lambda x: TensorDescriptor(x, [16, 64], [64, 1], [8, 32], padding="one"),
         "the padding of a TensorDescriptor is 'zero' or 'nan', not 'one'"),
        (lambda x: TensorDescriptor.from_tensor(x.view(np.int32), [8, 32], padding="nan"),
         "integers cannot be padded with NaN; use padding='zero'"),
        (lambda x: TensorDescriptor.from_tensor(x, [0, 32]),
         "the block of a TensorDescriptor has elements in each dimension, not [0, 32]"),
        (lambda x: TensorDescriptor.from_tensor(x, [8, 2]),
         "the last dimension of a TensorDescriptor's block must have at least 16 bytes, but 2 x "
         "fp32 has 8"),
        (lambda x: TensorDescriptor.from_tensor(x, [2048, 1024]),
         "the block [2048, 1024] of a TensorDescriptor has 2097152 elements, more than the limit "
         "of 1048576"),
    ],
)  # fmt: skip
def test_refused(make, text):
    x = np.zeros((16, 64), np.float32)
    with pytest.raises(TileError) as caught:
        copy[(1,)](make(x), make(x), 16, 64, N=32)
    head, _, tail = str(caught.value).partition("0x")
    message = head + ("0x..." + tail[tail.index(",") :] if tail else "")
    assert message == text


@tile.jit
def turned_products(a_ptr, b_ptr, c_ptr, COUNT, K, N, BM: tl.constexpr, BK: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [BM, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, 256])
    acc = tl.zeros((BM, 256), tl.float32)
    for i in range(COUNT):
        acc = tl.dot(a_desc.load([0, i * BK]), b_desc.load([i * BK, 0]), acc)
    rows, cols = tl.arange(0, BM), tl.arange(0, 256)
    tl.store(c_ptr + rows[:, None] * 256 + cols[None, :], acc)


@pytest.mark.parametrize("num_stages", [3, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_operands_read_early_in_loops_of_few_iterations(count, num_stages, monkeypatch):
    """The slots of iterations that do not exist were read, which nobody had written."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    bm, bk, k = 128, 64, 320
    kind = ml_dtypes.float8_e5m2
    a, b = (random(shape, "fp32", 7).astype(kind) for shape in ((bm, k), (k, 256)))
    c = poisoned((bm, 256), "fp32")
    turned_products[(1,)](a, b, c, count, k, 256, BM=bm, BK=bk, num_warps=8, num_stages=num_stages)
    wide_a, wide_b = (x.astype(np.float64) for x in (a[:, : count * bk], b[: count * bk]))
    np.testing.assert_allclose(c, wide_a @ wide_b, rtol=1e-3, atol=1e-2)
