"""Products of 8-bit floats with 4-bit ones, each of which takes a byte where the tensor core reads
it: by TMA into shared memory, and in tensor memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from reference import sim_only

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_mma_scaled,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

sm100 = pytest.mark.parametrize("target", ["cuda:100"], indirect=True)
pytestmark = [sim_only, sm100]

KINDS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
TYPES = {"e4m3": gl.float8e4nv, "e5m2": gl.float8e5}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
PER_SCALE = 32


def operand(rng, format, rows, k):
    """Bytes, and what they are worth. Two 4-bit floats are in a byte, the first one lower."""
    if format == "e2m1":
        codes = rng.integers(0, 256, (rows, k // 2), np.uint8)
        single = np.stack([codes & 15, codes >> 4], -1).reshape(rows, k)
        return codes, E2M1[single & 7] * np.where(single & 8, -1, 1)
    # No infinities and NaNs.
    codes = rng.integers(0, 256, (rows, k), np.uint8) & 0xBF
    return codes, codes.view(KINDS[format]).astype(np.float64)


def random_scales(rng, rows, k):
    scales = rng.integers(122, 132, (rows, k // PER_SCALE), np.uint8)
    return scales, np.repeat(2.0 ** (scales.astype(int) - 127), PER_SCALE, 1)


def scales_layout(rows, groups):
    """A row to a lane, all of them in each warp."""
    registers = [[0, 1 << bit] for bit in range(groups.bit_length() - 1)]
    registers += [[32 << bit, 0] for bit in range((rows // 32).bit_length() - 1)]
    lanes = [[1 << bit, 0] for bit in range(5)]
    return gl.DistributedLinearLayout(registers, lanes, [[0, 0], [0, 0]], [], [rows, groups])


@gluon.jit
def load_scales(ptr, first, rows, k, groups, buffer, LAYOUT: gl.constexpr):
    row = first + gl.arange(0, buffer.shape[0], layout=gl.SliceLayout(1, LAYOUT))
    group = k * buffer.shape[1] + gl.arange(0, buffer.shape[1], layout=gl.SliceLayout(0, LAYOUT))
    mask = (row[:, None] < rows) & (group[None, :] < groups)
    buffer.store(gl.load(ptr + row[:, None] * groups + group[None, :], mask, other=0))


@gluon.jit
def matmul(
    a, b, a_scale_ptr, b_scale_ptr, c_ptr, M, N, groups, A: gl.constexpr, B: gl.constexpr,
    GROUPS: gl.constexpr, A_SCALES: gl.constexpr, B_SCALES: gl.constexpr, BYTES: gl.constexpr,
):  # fmt: skip
    """c = a @ b.T, both with scales. Their blocks come by TMA."""
    BM: gl.constexpr = a.block_shape[0]
    BN: gl.constexpr = b.block_shape[0]
    i, j = gl.program_id(0), gl.program_id(1)
    sa = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    sb = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    acc = allocate_tensor_memory(gl.float32, [BM, BN], TensorMemoryLayout([BM, BN], 1))
    a_scales = allocate_tensor_memory(gl.uint8, [BM, GROUPS], TensorMemoryScalesLayout())
    b_scales = allocate_tensor_memory(gl.uint8, [BN, GROUPS], TensorMemoryScalesLayout())
    ready, done = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(done, count=1)
    for k in range(gl.cdiv(groups, GROUPS)):
        mbarrier.expect(ready, a.nbytes_per_cta + b.nbytes_per_cta + BYTES)
        tma.async_load(a, [i * BM, k * a.block_shape[1]], ready, sa)
        tma.async_load(b, [j * BN, k * b.block_shape[1]], ready, sb)
        load_scales(a_scale_ptr, i * BM, M, k, groups, a_scales, A_SCALES)
        load_scales(b_scale_ptr, j * BN, N, k, groups, b_scales, B_SCALES)
        mbarrier.wait(ready, k & 1)
        tcgen05_mma_scaled(
            sa, sb.permute([1, 0]), acc, a_scales, b_scales, A, B, use_acc=k > 0, mbarriers=[done]
        )
        mbarrier.wait(done, k & 1)
    mbarrier.invalidate(ready)
    mbarrier.invalidate(done)
    OUT: gl.constexpr = acc.get_reg_layout()
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, OUT))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, OUT))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.load(OUT), mask)


def aligned(array, size=32):
    """A copy at an address that TMA takes."""
    memory = np.empty(array.nbytes + size, np.uint8)
    start = -memory.ctypes.data % size
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def descriptor(codes, format, rows, k):
    if format == "e2m1":
        codes = aligned(codes)
        layout = gl.NVMMASharedLayout(128, 8, 2, fp4_padded=True)
        return TensorDescriptor.from_tensor(codes, [rows, k // 2], layout)
    given = tile.reinterpret(codes, TYPES[format])
    layout = gl.NVMMASharedLayout.get_default_for([rows, k], TYPES[format])
    return TensorDescriptor.from_tensor(given, [rows, k], layout)


def prepare(left, right, m, n, k, block, seed=0, extra_bytes=0):
    """The arguments of `matmul`, its grid, where it writes, and what is expected there."""
    rng = np.random.default_rng(seed)
    bm, bn, bk = block
    a, a_values = operand(rng, left, m, k)
    b, b_values = operand(rng, right, n, k)
    a_scale, a_factors = random_scales(rng, m, k)
    b_scale, b_factors = random_scales(rng, n, k)
    c = np.full((m, n), np.nan, np.float32)
    groups = bk // PER_SCALE
    args = (
        descriptor(a, left, bm, bk), descriptor(b, right, bn, bk), a_scale,
        b_scale, c, m, n, k // PER_SCALE, left, right, groups, scales_layout(bm, groups),
        scales_layout(bn, groups), extra_bytes,
    )  # fmt: skip
    expected = (a_values * a_factors) @ (b_values * b_factors).T
    return args, (tile.cdiv(m, bm), tile.cdiv(n, bn)), c, expected


def close(c, expected):
    error = np.linalg.norm(c - expected) / np.linalg.norm(expected)
    assert error < 1e-5, error


@pytest.mark.parametrize("formats", [("e4m3", "e2m1"), ("e2m1", "e5m2"), ("e2m1", "e2m1")])
@pytest.mark.parametrize(
    ("m", "n", "k", "block"),
    [
        (128, 64, 256, (128, 64, 128)), (200, 72, 384, (128, 64, 128)),
        (136, 136, 512, (128, 128, 256)),
    ],
)  # fmt: skip
def test_blocks_by_tma(formats, m, n, k, block, target):
    args, grid, c, expected = prepare(*formats, m, n, k, block, seed=m)
    report = matmul.simulate(*args, grid=grid, schedule_seed=m)
    assert report.ok, report.messages
    close(c, expected)


def test_bytes_that_arrive_are_those_of_the_tensor(target):
    """Who waits for the padding, too, waits forever."""
    args, grid, _, _ = prepare("e4m3", "e2m1", 128, 64, 128, (128, 64, 128), extra_bytes=64 * 64)
    with pytest.raises(tile.sim.SimulationError) as error:
        matmul[grid](*args)
    assert "deadlock" in {finding["kind"] for finding in error.value.report.findings}


def test_rows_of_any_length_have_no_map(target):
    args, grid, _, _ = prepare("e4m3", "e2m1", 128, 64, 192, (128, 64, 128))
    with pytest.raises(tile.TileError):
        matmul[grid](*args)


@gluon.jit
def store_kernel(out, SHAPE: gl.constexpr, LAYOUT: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.uint8, SHAPE, LAYOUT)
    tma.async_store(out, [0, 0], buffer)
    tma.store_wait(0)


def test_stores_are_refused(target):
    out = descriptor(np.zeros((128, 64), np.uint8), "e2m1", 128, 128)
    with pytest.raises(
        tile.CompilationError, match="padded 4-bit elements are loaded in blocks only"
    ):
        store_kernel[(1,)](out, [128, 64], out.layout)


# The left operand in tensor memory.


@gluon.jit
def left_in_tensor_memory(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr,
    K: gl.constexpr, B: gl.constexpr, RIGHT: gl.constexpr, SHIFT: gl.constexpr,
    A_SCALES: gl.constexpr, B_SCALES: gl.constexpr, GRID: gl.constexpr,
):  # fmt: skip
    groups: gl.constexpr = K // 32
    bytes = allocate_tensor_memory(gl.uint8, [M, K], TensorMemoryLayout([128, K], 1))
    REGISTERS: gl.constexpr = bytes.get_reg_layout()
    row = gl.arange(0, M, layout=gl.SliceLayout(1, REGISTERS))[:, None]
    column = gl.arange(0, K, layout=gl.SliceLayout(0, REGISTERS))[None, :]
    pair = gl.load(a_ptr + row * (K // 2) + column // 2)
    # An element is in bits 5 to 2 of its byte.
    element = gl.where(column & 1 == 0, pair & 15, pair >> 4).to(gl.uint8)
    bytes.store((element << SHIFT).to(gl.uint8))
    a = bytes.reinterpret(
        gl.uint8, [M, K // 2], TensorMemoryLayout([128, K // 2], 1, fp4_padded=True)
    )
    b = gl.allocate_shared_memory(
        b_ptr.dtype.element_ty, [N, K], B, gl.load(pointers(b_ptr, N, K, GRID))
    )
    acc = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([128, N], 1))
    a_scales = allocate_tensor_memory(gl.uint8, [M, groups], TensorMemoryScalesLayout())
    b_scales = allocate_tensor_memory(gl.uint8, [N, groups], TensorMemoryScalesLayout())
    a_scales.store(gl.load(pointers(a_scale_ptr, M, groups, A_SCALES)))
    b_scales.store(gl.load(pointers(b_scale_ptr, N, groups, B_SCALES)))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    tcgen05_mma_scaled(
        a, b.permute([1, 0]), acc, a_scales, b_scales, "e2m1", RIGHT, use_acc=False,
        mbarriers=[done],
    )  # fmt: skip
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    OUT: gl.constexpr = acc.get_reg_layout()
    gl.store(pointers(c_ptr, M, N, OUT), acc.load(OUT))


def run_left(m, n, k, right, shift):
    rng = np.random.default_rng(m + n + k)
    a, a_values = operand(rng, "e2m1", m, k)
    b, b_values = operand(rng, right, n, k)
    a_scale, a_factors = random_scales(rng, m, k)
    b_scale, b_factors = random_scales(rng, n, k)
    c = np.full((m, n), np.nan, np.float32)
    shared = gl.NVMMASharedLayout.get_default_for([n, k], TYPES[right])
    grid = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    left_in_tensor_memory[(1,)](
        a, tile.reinterpret(b, TYPES[right]), a_scale, b_scale, c, m, n, k, shared, right, shift,
        scales_layout(m, k // 32), scales_layout(n, k // 32), grid,
    )  # fmt: skip
    return c, (a_values * a_factors) @ (b_values * b_factors).T


@pytest.mark.parametrize("right", ["e4m3", "e5m2"])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 64, 128), (256, 32, 64), (128, 128, 256)])
def test_left_operand_in_tensor_memory(m, n, k, right, target):
    close(*run_left(m, n, k, right, 2))


def test_elements_in_other_bits_are_other_numbers(target):
    c, expected = run_left(128, 32, 64, "e4m3", 0)
    assert np.linalg.norm(c - expected) > 0.1 * np.linalg.norm(expected)


@gluon.jit
def formats_kernel(FORMAT: gl.constexpr, LAYOUT: gl.constexpr):
    a = gl.allocate_shared_memory(gl.uint8, [128, 128], LAYOUT)
    b = gl.allocate_shared_memory(gl.uint8, [128, 128], LAYOUT)
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], 1))
    scales = allocate_tensor_memory(gl.uint8, [128, 4], TensorMemoryScalesLayout())
    tcgen05_mma_scaled(a, b.permute([1, 0]), acc, scales, scales, FORMAT, FORMAT)


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("e2m3", r"takes no 6-bit elements \(e2m3\)"),
        ("e3m2", r"takes no 6-bit elements \(e3m2\)"),
        ("bf16", "a format of tcgen05_mma_scaled is e2m1, e4m3, e5m2, not 'bf16'"),
    ],
)
def test_other_formats_are_refused(format, message, target):
    with pytest.raises(tile.CompilationError, match=message):
        formats_kernel[(1,)](format, gl.NVMMASharedLayout(128, 8))


def test_a_layout_of_padded_floats_has_a_stride_of_one(target):
    with pytest.raises(tile.TileError, match="with fp4_padded, col_stride is 1, not 2"):
        TensorMemoryLayout([128, 64], 2, fp4_padded=True)
