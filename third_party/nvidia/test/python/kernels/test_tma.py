"""Descriptors as TMA copies on sm_90: dots, copies, stores, reductions, what stays pointers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import DTYPES, poisoned, random
from test_matmul_sweep import KINDS, operand

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

LOAD = "cp.async.bulk.tensor"
STORE = ".global.shared::cta.bulk_group"
REDUCE = "cp.reduce.async.bulk.tensor"


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """In place of the targets of the other kernels."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


@tile.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, TA: tl.constexpr, TB: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Persistent: every program multiplies several tiles, and stores through a descriptor, too."""
    if TA:
        a_desc = tl.make_tensor_descriptor(a_ptr, [K, M], [lda, 1], [BK, BM])
    else:
        a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [lda, 1], [BM, BK])
    if TB:
        b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [ldb, 1], [BN, BK])
    else:
        b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [ldb, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [ldc, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile_id in range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0)):
        i, j = tile_id // columns * BM, tile_id % columns * BN
        acc = tl.zeros((BM, BN), ACC)
        for k in range(0, K, BK):
            a = a_desc.load([k, i]).T if TA else a_desc.load([i, k])
            b = b_desc.load([j, k]).T if TB else b_desc.load([k, j])
            acc = tl.dot(a, b, acc, input_precision="tf32", out_dtype=ACC)
        c_desc.store([i, j], acc.to(c_ptr.dtype.element_ty))


def padded(array: np.ndarray) -> np.ndarray:
    """The same with rows that TMA can copy: their pitch is a multiple of 16 elements."""
    out = np.full((array.shape[0], -(-array.shape[1] // 16) * 16 + 16), 77, array.dtype)
    out[:, : array.shape[1]] = array
    return out


def multiply(name, sizes, tiles, transposed=(False, False), programs=2, **options):
    kind, accumulator, _, tolerance = KINDS[name]
    m, n, k = sizes
    a, b = operand((m, k), kind, 1, False), operand((k, n), kind, 2, False)
    in_memory = [padded(x.T if t else x) for x, t in zip((a, b), transposed, strict=True)]
    out = poisoned((m, -(-n // 16) * 16), "i32" if kind == np.int8 else "fp32")
    before = out.copy()
    kernel = product[(programs,)](
        *in_memory, out, m, n, k, *(x.shape[1] for x in in_memory), out.shape[1],
        *tiles, *transposed, accumulator, **options,
    )  # fmt: skip
    if kind == np.int8:
        np.testing.assert_array_equal(out[:, :n], a.astype(np.int32) @ b.astype(np.int32))
    else:
        expected = a.astype(np.float64) @ b.astype(np.float64)
        np.testing.assert_allclose(
            out[:, :n], expected, rtol=tolerance, atol=tolerance * np.sqrt(max(k, 1))
        )
    np.testing.assert_array_equal(out[:, n:].view(np.uint8), before[:, n:].view(np.uint8))
    return kernel


CASES = [
    *((name, (ta, tb)) for name in ("fp16", "bf16") for ta in (0, 1) for tb in (0, 1)),
    *((name, (0, 1)) for name in ("tf32", "int8", "e4m3", "e5m2")),
]


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "transposed"), CASES)
@pytest.mark.parametrize("warps", [4, 8])
def test_products(name, transposed, warps):
    bk = {2: 32, 4: 16, 1: 64}[np.dtype(KINDS[name][0]).itemsize]
    turned = tuple(map(bool, transposed))
    kernel = multiply(
        name, (144, 80, 5 * bk + 16), (128, 64, bk), turned, num_warps=warps, num_stages=3
    )
    ptx = kernel.asm["ptx"]
    assert LOAD in ptx and STORE in ptx and "wgmma" in ptx
    assert "cp.async.cg" not in ptx and "ld.global" not in ptx


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_stages(stages, steps):
    kernel = multiply("fp16", (128, 64, 32 * steps), (64, 64, 32), num_stages=stages, programs=1)
    assert LOAD in kernel.asm["ptx"]


@pytest.mark.parametrize(
    ("tiles", "warps"),
    [
        ((64, 16, 64), 4), ((64, 256, 32), 4), ((128, 128, 64), 4), ((256, 64, 32), 8),
        ((64, 128, 64), 8), ((128, 64, 128), 8), ((64, 64, 16), 4), ((16, 32, 32), 4),
    ],
)  # fmt: skip
def test_tiles(tiles, warps):
    bm, bn, bk = tiles
    multiply("bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles, num_warps=warps, num_stages=3)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (65, 63, 33), (200, 8, 100)])
def test_unaligned_sizes(sizes):
    """TMA clips by pieces of 16 bytes."""
    multiply("fp16", sizes, (64, 64, 32), num_stages=3)


@tile.jit
def copy_repeatedly(src, dst, n0, n1, n2, B1: tl.constexpr, B2: tl.constexpr, RANK: tl.constexpr):
    """Blocks of one to five dimensions, the outermost of size one."""
    if RANK == 1:
        x = tl.make_tensor_descriptor(src, [n2], [1], [B2])
        y = tl.make_tensor_descriptor(dst, [n2], [1], [B2])
        for i in range(0, n2, B2):
            y.store([i], x.load([i]))
    elif RANK == 2:
        x = tl.make_tensor_descriptor(src, [n1, n2], [n2, 1], [B1, B2])
        y = tl.make_tensor_descriptor(dst, [n1, n2], [n2, 1], [B1, B2])
        for i in range(0, n1, B1):
            for j in range(0, n2, B2):
                y.store([i, j], x.load([i, j]))
    elif RANK == 3:
        x = tl.make_tensor_descriptor(src, [n0, n1, n2], [n1 * n2, n2, 1], [2, B1, B2])
        y = tl.make_tensor_descriptor(dst, [n0, n1, n2], [n1 * n2, n2, 1], [2, B1, B2])
        for i in range(0, n0, 2):
            for j in range(0, n1, B1):
                y.store([i, j, 0], x.load([i, j, 0]))
    elif RANK == 4:
        x = tl.make_tensor_descriptor(
            src, [1, n0, n1, n2], [n0 * n1 * n2, n1 * n2, n2, 1], [1, 1, B1, B2]
        )
        y = tl.make_tensor_descriptor(
            dst, [1, n0, n1, n2], [n0 * n1 * n2, n1 * n2, n2, 1], [1, 1, B1, B2]
        )
        for i in range(0, n0):
            for j in range(0, n1, B1):
                y.store([0, i, j, 0], x.load([0, i, j, 0]))
    else:
        s = n0 * n1 * n2
        x = tl.make_tensor_descriptor(
            src, [1, 1, n0, n1, n2], [s, s, n1 * n2, n2, 1], [1, 1, 4, B1, B2]
        )
        y = tl.make_tensor_descriptor(
            dst, [1, 1, n0, n1, n2], [s, s, n1 * n2, n2, 1], [1, 1, 4, B1, B2]
        )
        for i in range(0, n0, 4):
            for j in range(0, n1, B1):
                y.store([0, 0, i, j, 0], x.load([0, 0, i, j, 0]))


@pytest.mark.sweep
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp64", "u8", "i8", "i16", "u32", "i64"])
def test_copies(rank, dtype):
    shape, block = (5, 20, 48), (8, 32)
    x, out = random(shape, dtype, rank), poisoned(shape, dtype)
    if rank <= 3:
        x, out = (a[:1] if rank == 2 else a for a in (x, out))
        x, out = (a[0, 0] if rank == 1 else a for a in (x, out))
    block = (8, 64) if rank > 2 else block
    kernel = copy_repeatedly[(1,)](x, out, *shape, *block, rank)
    np.testing.assert_array_equal(out.view(np.uint8), x.view(np.uint8))
    ptx = kernel.asm["ptx"]
    assert LOAD in ptx and STORE in ptx
    # Of copies that are predicated one by one, ptxas makes code in which lanes of the first warp
    # that are switched off start the last one. Kernels waited forever for the bytes of four boxes.
    assert not re.search(r"@!?%p\d+\s+cp\.(reduce\.)?async\.bulk", ptx)


@tile.jit
def sum_of_blocks(src, out, n, m, NAN: tl.constexpr):
    x = tl.make_tensor_descriptor(
        src, [n, m], [m, 1], [8, 32], padding_option="nan" if NAN else "zero"
    )
    total = tl.zeros((8, 32), tl.float32)
    for i in range(-8, 24, 8):
        total += x.load([i, 8])
    tl.store(out + tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :], total)


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("shape", [(16, 32), (11, 16), (0, 32), (16, 0), (0, 0)])
def test_out_of_bounds(nan, shape):
    n, m = shape
    memory = np.arange(16 * 32, dtype=np.float32).reshape(16, 32) + 1
    # The rows of an empty tensor are anywhere.
    out = poisoned((8, 32), "fp32")
    kernel = sum_of_blocks[(1,)](memory, out, n, m, nan)
    padding = np.nan if nan else 0.0
    whole = np.full((40, 64), padding, np.float32)
    rows = memory.reshape(-1)[: n * m].reshape(n, m)
    whole[8 : 8 + n, :m] = rows
    expected = sum(whole[i : i + 8, 8:40] for i in range(0, 32, 8))
    np.testing.assert_array_equal(out, expected)
    assert LOAD in kernel.asm["ptx"]


@tile.jit
def reduce_blocks(src, dst, n, m, KIND: tl.constexpr):
    x = tl.make_tensor_descriptor(src, [n, m], [m, 1], [8, 32])
    y = tl.make_tensor_descriptor(dst, [8, m], [m, 1], [8, 32])
    for i in range(0, n, 8):
        block = x.load([i, 0])
        if KIND == "add":
            y.atomic_add([0, 0], block)
        elif KIND == "min":
            y.atomic_min([0, 0], block)
        elif KIND == "max":
            y.atomic_max([0, 0], block)
        elif KIND == "and":
            y.atomic_and([0, 0], block)
        elif KIND == "or":
            y.atomic_or([0, 0], block)
        else:
            y.atomic_xor([0, 0], block)


UFUNCS = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("kind", UFUNCS)
@pytest.mark.parametrize("dtype", ["i32", "u32", "fp32", "fp16", "bf16"])
def test_reductions(kind, dtype):
    if dtype.startswith(("fp", "bf")) and kind != "add":
        pytest.skip("no reduction of floats")
    x, out = random((40, 48), dtype, 1), random((8, 48), dtype, 2)
    expected = out.copy()
    for i in range(0, 40, 8):
        expected[:, :32] = UFUNCS[kind](expected[:, :32], x[i : i + 8, :32])
    kernel = reduce_blocks[(1,)](x, out, 40, 48, kind)
    np.testing.assert_array_equal(out, expected.astype(DTYPES[dtype]))
    assert REDUCE in kernel.asm["ptx"]


@tile.jit
def write_then_read(src, middle, out, n, BARRIER: tl.constexpr, BY_POINTERS: tl.constexpr):
    """Blocks go through memory: what one iteration wrote, it reads again."""
    x = tl.make_tensor_descriptor(src, [n, 32], [32, 1], [8, 32])
    m = tl.make_tensor_descriptor(middle, [8, 32], [32, 1], [8, 32])
    y = tl.make_tensor_descriptor(out, [n, 32], [32, 1], [8, 32])
    at = tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :]
    for i in range(0, n, 8):
        if BY_POINTERS == 1:
            tl.store(middle + at, x.load([i, 0]))
        else:
            m.store([0, 0], x.load([i, 0]))
        if BARRIER:
            tl.debug_barrier()
        block = tl.load(middle + at) if BY_POINTERS == 2 else m.load([0, 0])
        if BARRIER:
            tl.debug_barrier()
        y.store([i, 0], block + 1)


@pytest.mark.parametrize(("barrier", "by_pointers"), [(0, 0), (1, 0), (1, 1), (1, 2)])
def test_memory_is_read_after_it_is_written(barrier, by_pointers):
    x, middle, out = random((32, 32), "fp32"), poisoned((8, 32), "fp32"), poisoned((32, 32), "fp32")
    kernel = write_then_read[(1,)](x, middle, out, 32, barrier, by_pointers)
    np.testing.assert_array_equal(out, x + 1)
    assert LOAD in kernel.asm["ptx"]


@tile.jit
def grouped(src, out, sizes, starts, groups, BM: tl.constexpr):
    """A descriptor for each group, made in a loop."""
    for g in range(groups):
        size, start = tl.load(sizes + g), tl.load(starts + g)
        x = tl.make_tensor_descriptor(src + start * 32, [size, 32], [32, 1], [BM, 32])
        y = tl.make_tensor_descriptor(out + start * 32, [size, 32], [32, 1], [BM, 32])
        for i in range(0, size, BM):
            y.store([i, 0], x.load([i, 0]) * (g + 1).to(tl.float32))


def test_descriptors_of_a_loop():
    sizes = np.array([5, 0, 17, 8, 1], np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    x, out = random((40, 32), "fp32"), poisoned((40, 32), "fp32")
    expected = out.copy()
    for g, (size, start) in enumerate(zip(sizes, starts, strict=True)):
        expected[start : start + size] = x[start : start + size] * np.float32(g + 1)
    kernel = grouped[(1,)](x, out, sizes, starts, len(sizes), 8)
    np.testing.assert_array_equal(out, expected)
    assert LOAD in kernel.asm["ptx"]


@tile.jit
def copy_rows(src, dst, n, m, stride, ONCE: tl.constexpr):
    x = tl.make_tensor_descriptor(src, [n, m], [stride, 1], [8, 32])
    y = tl.make_tensor_descriptor(dst, [n, m], [stride, 1], [8, 32])
    if ONCE:
        y.store([0, 0], x.load([0, 0]))
    else:
        for i in range(0, n, 8):
            y.store([i, 0], x.load([i, 0]))


# Strides that are not known to be multiples of 16 bytes; descriptors that are made to be used once.
@pytest.mark.parametrize(("stride", "once"), [(36, False), (33, False), (32, True)])
def test_what_stays_pointers(stride, once):
    n = 8 if once else 24
    x, out = random((n, stride), "fp32"), poisoned((n, stride), "fp32")
    expected = out.copy()
    expected[:, :32] = x[:, :32]
    kernel = copy_rows[(1,)](x, out, n, 32, stride, once)
    np.testing.assert_array_equal(out, expected)
    assert LOAD not in kernel.asm["ptx"]


@tile.jit
def mixed(a_ptr, b_ptr, bias_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One operand through a descriptor, the other and a vector by pointers."""
    a_desc = tl.make_tensor_descriptor(a_ptr, [BM, K], [K, 1], [BM, BK])
    rows, columns, ks = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        b = tl.load(b_ptr + (k + ks)[:, None] * BN + columns[None, :])
        acc = tl.dot(a_desc.load([0, k]), b, acc)
    acc += tl.load(bias_ptr + columns)[None, :]
    tl.store(c_ptr + rows[:, None] * BN + columns[None, :], acc)


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_pointers_beside_descriptors(stages):
    a, b, bias = random((64, 160), "fp16", 1), random((160, 64), "fp16", 2), random(64, "fp32", 3)
    out = poisoned((64, 64), "fp32")
    kernel = mixed[(1,)](a, b, bias, out, 160, 64, 64, 32, num_stages=stages)
    expected = a.astype(np.float64) @ b.astype(np.float64) + bias
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=2e-2)
    assert LOAD in kernel.asm["ptx"]


@tile.jit
def host_product(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a_desc.load([i, k]), b_desc.load([j, k]).T, acc)
    c_desc.store([i, j], acc)


@pytest.mark.parametrize("name", ["fp16", "bf16"])
@pytest.mark.parametrize("sizes", [(128, 128, 128), (100, 72, 88), (100, 72, 90)])
def test_descriptors_from_the_host(name, sizes):
    kind, _, _, tolerance = KINDS[name]
    m, n, k = sizes
    a, b = operand((m, k), kind, 1, False), operand((n, k), kind, 2, False)
    bm, bn, bk = tiles = (64, 64, 64)
    descriptors = [
        TensorDescriptor(memory, [rows, k], [memory.shape[1], 1], [block, bk])
        for memory, rows, block in ((padded(a), m, bm), (padded(b), n, bn))
    ]
    out = poisoned((m, n), "fp32")
    kernel = host_product[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        *descriptors, TensorDescriptor.from_tensor(out, [bm, bn]), k, *tiles, num_stages=3
    )
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(out, expected, rtol=tolerance, atol=tolerance * np.sqrt(k))
    # The host makes the maps, but for rows of which TMA would clip off too little.
    ptx = kernel.asm["ptx"]
    assert (LOAD in ptx) == (STORE in ptx) == (k != 90) and "wgmma" in ptx
    assert "tensormap.replace" not in ptx and not kernel._metadata["global_scratch_size"]


def test_without_tma(monkeypatch):
    monkeypatch.setenv("TILE_TMA", "0")
    assert LOAD not in multiply("fp16", (64, 64, 64), (64, 64, 32)).asm["ptx"]


@tile.jit
def host_copy(src, dst, rows, COLUMNS: tl.constexpr):
    for i in range(0, rows, src.block_shape[0]):
        dst.store([i, 0], src.load([i, 0]))


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32", "fp64", "i32"])
def test_padding_of_descriptors_from_the_host(padding, dtype):
    if padding == "nan" and dtype == "i32":
        pytest.skip("integers have no NaN")
    x, out = random((20, 48), dtype), poisoned((24, 64), dtype)
    source = TensorDescriptor.from_tensor(x, [8, 64], padding)
    kernel = host_copy[(1,)](source, TensorDescriptor.from_tensor(out, [8, 64]), 24, 64)
    expected = np.full((24, 64), np.nan if padding == "nan" else 0, x.dtype)
    expected[:20, :48] = x
    np.testing.assert_array_equal(out.astype(np.float64), expected.astype(np.float64))
    assert LOAD in kernel.asm["ptx"]


@tile.jit
def alternate(src, out, n):
    """The descriptor of an iteration is used in the next one, beside that one's own."""
    now = tl.make_tensor_descriptor(src, [8, 32], [32, 1], [8, 32])
    for i in range(1, n):
        then = tl.make_tensor_descriptor(src + i * 256, [8, 32], [32, 1], [8, 32])
        total = now.load([0, 0]) * 2
        for j in range(0, 8, 8):
            total += then.load([j, 0])
        at = (i * 8 + tl.arange(0, 8))[:, None] * 32 + tl.arange(0, 32)[None, :]
        tl.store(out + at, total)
        now = then


def test_descriptors_that_go_on():
    x, out = random((40, 32), "fp32"), poisoned((40, 32), "fp32")
    alternate[(1,)](x, out, 5)
    np.testing.assert_array_equal(out[8:], x[:-8] * 2 + x[8:])


@tile.jit
def running(src, out, n):
    """A loaded block goes on to the next iteration, in registers."""
    x = tl.make_tensor_descriptor(src, [n * 16, 64], [64, 1], [16, 64])
    acc = tl.zeros((16, 16), tl.float32)
    before = x.load([0, 0])
    for i in tl.range(n, num_stages=3):
        block = x.load([i * 16, 0])
        acc = tl.dot(before, block.T, acc)
        before = block
    tl.store(out + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], acc)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_blocks_that_go_on(n):
    x, out = random((80, 64), "fp16"), poisoned((16, 16), "fp32")
    running[(1,)](x, out, n)
    blocks = x.astype(np.float64).reshape(5, 16, 64)
    pairs = [(blocks[max(i - 1, 0)], blocks[i]) for i in range(n)]
    expected = sum((a @ b.T for a, b in pairs), np.zeros((16, 16)))
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=2e-2)


@tile.jit
def sum_of_short_blocks(src, out, n, SIZE: tl.constexpr):
    total = tl.zeros((SIZE,), tl.float32)
    for i in tl.range(0, n, num_stages=3):
        total += src.load([i * SIZE])
    tl.store(out + tl.arange(0, SIZE), total)


@pytest.mark.parametrize("size", [4, 16, 32])
def test_buffers_of_few_bytes(size):
    """The engine writes at multiples of 128 bytes: buffers of fewer are no ring."""
    x, out = random(5 * size, "fp32"), poisoned(size, "fp32")
    source = TensorDescriptor.from_tensor(x, [size])
    kernel = sum_of_short_blocks[(1,)](source, out, 5, size)
    expected = np.zeros(size, np.float32)
    for block in x.reshape(5, size):
        expected += block
    np.testing.assert_array_equal(out, expected)
    assert LOAD in kernel.asm["ptx"]
    assert ("ttg.memdesc_index" in kernel.asm["ttgir"]) == (size * 4 >= 128)


def test_descriptors_that_tma_cannot_use():
    """They and others come to one launch after the other."""
    x, out = random((24, 64), "fp16"), poisoned((24, 64), "fp16")
    target = TensorDescriptor.from_tensor(out, [8, 64])
    row = TensorDescriptor(x, [24, 64], [0, 1], [8, 64])
    for source, expected in (
        (TensorDescriptor.from_tensor(x, [8, 64]), x),
        (row, np.broadcast_to(x[:1], x.shape)),
        (TensorDescriptor.from_tensor(x, [8, 64]), x),
    ):
        out[:] = np.nan
        kernel = host_copy[(1,)](source, target, 24, 64)
        np.testing.assert_array_equal(out, expected)
        assert (LOAD in kernel.asm["ptx"]) == (source is not row)


@tile.jit
def exchange(a, b, n):
    """Through the host's descriptors; both may be of one memory."""
    for i in range(0, n, 8):
        block = a.load([i, 0])
        b.store([i, 0], block + 1)


@pytest.mark.parametrize("rows", [0, 8])
def test_descriptors_of_one_memory(rows):
    memory = random((32, 64), "fp32")
    a = TensorDescriptor(memory, [24, 64], [64, 1], [8, 64])
    b = TensorDescriptor(memory[rows:], [24, 64], [64, 1], [8, 64])
    expected = memory.copy()
    for i in range(0, 24, 8):
        expected[i + rows : i + rows + 8] = expected[i : i + 8] + 1
    exchange[(1,)](a, b, 24)
    np.testing.assert_array_equal(memory, expected)


@tile.jit
def move(src, dst, x, y, M: tl.constexpr, N: tl.constexpr):
    for row in range(0, 4 * M, M):
        dst.store([row, y], src.load([row, x]))


@pytest.mark.parametrize(("x", "y"), [(0, 0), (-16, 16), (16, -16), (-32, -48), (48, 48), (5, 0)])
def test_blocks_that_start_before_the_tensor(x, y):
    """The engine loads them, but does not store them: stores by an argument that is negative, and
    was compiled for such ones, go by pointers."""
    values = random((64, 64), "fp16")
    out = np.full((64, 64), 7, np.float16)
    src, dst = (TensorDescriptor(a, [64, 64], [64, 1], [16, 32]) for a in (values, out))
    kernel = move[(1,)](src, dst, x, y, 16, 32)
    assert (LOAD + ".2d.shared" in kernel.asm["ptx"]) == (x % 16 == 0)
    assert (STORE in kernel.asm["ptx"]) == (y >= 0)
    wide = np.zeros((64, 192), np.float16)
    wide[:, 64:128] = values
    want = np.full((64, 192), 7, np.float16)
    want[:, 64 + y : 96 + y] = wide[:, 64 + x : 96 + x]
    np.testing.assert_array_equal(out, want[:, 64:128])
