"""Products of block-scaled matrices on sm_100: one scale belongs to 32 elements along K, or to 16.
Elements are e4m3, e5m2 (mxfp8) or e2m1, two in a byte (mxfp4; nvfp4 with scales of e4m3). The
scales go through registers to tensor memory, where the tensor cores read them. Beside 8-bit
elements, 4-bit ones need padding in shared memory. The copy engine puts it in."""

from __future__ import annotations

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma_scaled,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

#: Of a format: the type of elements, how many are in a byte, the type of scales, elements for each.
FORMATS = {
    "mxfp8": ("e4m3", 1, gl.uint8, 32),
    "mxfp8-e5m2": ("e5m2", 1, gl.uint8, 32),
    "mxfp4": ("e2m1", 2, gl.uint8, 32),
    "nvfp4": ("e2m1", 2, gl.float8e4nv, 16),
}
DTYPES = {"e4m3": gl.float8e4nv, "e5m2": gl.float8e5, "e2m1": gl.uint8}


@gluon.jit
def load_scales(ptr, first, rows, k, groups, buffer, LAYOUT: gl.constexpr):
    """Stores a tile of scales to tensor memory; those outside of the matrix are zero."""
    ROWS: gl.constexpr = buffer.shape[0]
    GROUPS: gl.constexpr = buffer.shape[1]
    row = first + gl.arange(0, ROWS, layout=gl.SliceLayout(1, LAYOUT))
    group = k * GROUPS + gl.arange(0, GROUPS, layout=gl.SliceLayout(0, LAYOUT))
    mask = (row[:, None] < rows) & (group[None, :] < groups)
    scales = gl.load(ptr + row[:, None] * groups + group[None, :], mask, other=0)
    buffer.store(scales)


@gluon.jit
def scaled_kernel(
    a, b, a_scale_ptr, b_scale_ptr, c_ptr, M, N, groups, A_FORMAT: gl.constexpr,
    B_FORMAT: gl.constexpr, GROUPS: gl.constexpr, A_SCALES: gl.constexpr, B_SCALES: gl.constexpr,
    ACC: gl.constexpr, OUT: gl.constexpr,
):  # fmt: skip
    BM: gl.constexpr = a.block_shape[0]
    BN: gl.constexpr = b.block_shape[0]
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(groups, GROUPS)
    sa = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    sb = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    acc = allocate_tensor_memory(gl.float32, [BM, BN], ACC)
    dtype: gl.constexpr = a_scale_ptr.dtype.element_ty
    a_scales = allocate_tensor_memory(dtype, [BM, GROUPS], TensorMemoryScalesLayout())
    b_scales = allocate_tensor_memory(dtype, [BN, GROUPS], TensorMemoryScalesLayout())
    ready = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(done, count=1)
    for k in range(steps):
        mbarrier.expect(ready, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [i * BM, k * a.block_shape[1]], ready, sa)
        tma.async_load(b, [j * BN, k * b.block_shape[1]], ready, sb)
        load_scales(a_scale_ptr, i * BM, M, k, groups, a_scales, A_SCALES)
        load_scales(b_scale_ptr, j * BN, N, k, groups, b_scales, B_SCALES)
        mbarrier.wait(ready, k & 1)
        tcgen05_mma_scaled(
            sa, sb.permute([1, 0]), acc, a_scales, b_scales, A_FORMAT, B_FORMAT, use_acc=k > 0
        )
        tcgen05_commit(done)
        # The next step overwrites the operands and the scales.
        mbarrier.wait(done, k & 1)
    mbarrier.invalidate(ready)
    mbarrier.invalidate(done)
    rows = i * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, OUT))
    columns = j * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, OUT))
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    gl.store(c_ptr + rows[:, None] * N + columns[None, :], acc.load(OUT), mask)


def scales_layout(rows: int, groups: int, num_warps: int) -> gl.DistributedLinearLayout:
    """A row to a lane, all of them in each warp: every warp writes its lanes of tensor memory."""
    registers = [[0, 1 << bit] for bit in range(groups.bit_length() - 1)]
    registers += [[32 << bit, 0] for bit in range((rows // 32).bit_length() - 1)]
    lanes = [[1 << bit, 0] for bit in range(5)]
    warps = [[0, 0]] * (num_warps.bit_length() - 1)
    return gl.DistributedLinearLayout(registers, lanes, warps, [], [rows, groups])


def rows_layout(rows: int, columns: int) -> gl.DistributedLinearLayout:
    """Of an accumulator: a row to a lane, 32 rows to a warp."""
    registers = [[0, 1 << bit] for bit in range(columns.bit_length() - 1)]
    lanes = [[1 << bit, 0] for bit in range(5)]
    return gl.DistributedLinearLayout(registers, lanes, [[32, 0], [64, 0]], [], [rows, columns])


def arguments(a, b, a_scale, b_scale, c, kinds, block):
    bm, bn, bk = block
    formats = [FORMATS[kind][0] for kind in kinds]
    _, _, scale_type, per_scale = FORMATS[kinds[0]]
    is_mixed = len({format == "e2m1" for format in formats}) == 2
    descs = []
    for tensor, rows, kind in ((a, bm, kinds[0]), (b, bn, kinds[1])):
        format, packed, *_ = FORMATS[kind]
        shape, element = [rows, bk // packed], DTYPES[format]
        given = tensor if format == "e2m1" else tile.reinterpret(tensor, element)
        padded = is_mixed and format == "e2m1"
        layout = gl.NVMMASharedLayout.get_default_for(shape, element, fp4_padded=padded)
        descs.append(TensorDescriptor.from_tensor(given, shape, layout))
    scales = [
        s if scale_type == gl.uint8 else tile.reinterpret(s, scale_type) for s in (a_scale, b_scale)
    ]
    groups = bk // per_scale
    return (
        *descs, *scales, c, *c.shape, a_scale.shape[1], *formats, groups,
        scales_layout(bm, groups, 4), scales_layout(bn, groups, 4), TensorMemoryLayout([bm, bn], 1),
        rows_layout(bm, bn),
    )  # fmt: skip


def matmul(
    a, b, a_scale, b_scale, c, kinds=("mxfp8", "mxfp8"), block=(128, 128, 128), **options
):  # fmt: skip
    """``c = (a * its scales) @ (b * its scales).T`` in fp32. Elements and scales are bytes,
    and lie along K; rows of `a` and `b` are multiples of 16 bytes. `kinds` are their formats. Rows
    of 4-bit elements beside 8-bit ones are multiples of 64 bytes."""
    grid = (tile.cdiv(c.shape[0], block[0]), tile.cdiv(c.shape[1], block[1]))
    given = arguments(a, b, a_scale, b_scale, c, kinds, block)
    return scaled_kernel[grid](*given, **options)


#: What the bytes of a format are worth.
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def values_of(code: np.ndarray, format: str) -> np.ndarray:
    """The elements of a row of bytes."""
    if format == "e2m1":
        code = np.stack([code & 15, code >> 4], -1).reshape(code.shape[0], -1)
        return E2M1[code & 7] * np.where(code & 8, -1, 1)
    mantissa, bias = {"e4m3": (3, 7), "e5m2": (2, 15)}[format]
    exponent = (code >> mantissa & (0x7F >> mantissa)).astype(int)
    fraction = (code & ((1 << mantissa) - 1)) / (1 << mantissa)
    size = np.where(
        exponent > 0, (1 + fraction) * 2.0 ** (exponent - bias), fraction * 2.0 ** (1 - bias)
    )
    return np.where(code >> 7, -size, size)


def random_operand(rng, rows: int, k: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bytes of elements and of scales, and the values of the matrix."""
    format, packed, scale_type, per_scale = FORMATS[kind]
    codes = rng.integers(0, 256, (rows, k // packed), np.uint8)
    if format != "e2m1":
        # Neither infinities nor NaN, nor anything that is much larger than the rest.
        codes &= 0xBF
    if scale_type == gl.uint8:
        scales = rng.integers(120, 134, (rows, k // per_scale), np.uint8)
        factor = 2.0 ** (scales.astype(int) - 127)
    else:
        scales = rng.integers(40, 80, (rows, k // per_scale), np.uint8)
        factor = values_of(scales, "e4m3")
    return codes, scales, values_of(codes, format) * np.repeat(factor, per_scale, 1)


def main(device) -> None:
    rng = np.random.default_rng(10)
    mixed = [("mxfp8", "mxfp4"), ("mxfp4", "mxfp8-e5m2")]
    for kinds in [*((kind, kind) for kind in FORMATS), *mixed]:
        for m, n, k in ((128, 128, 256), (200, 136, 384)):
            a, a_scale, left = random_operand(rng, m, k, kinds[0])
            b, b_scale, right = random_operand(rng, n, k, kinds[1])
            expected = (left @ right.T).astype(np.float32)
            c = device.empty_like(expected)
            scales = device.put(a_scale), device.put(b_scale)
            kernel = matmul(device.put(a), device.put(b), *scales, c, kinds)
            device.check(" by ".join(kinds), kernel, device.get(c), expected)


if __name__ == "__main__":
    import os

    # Tensor memory is what these GPUs have.
    os.environ.setdefault("TILE_SIM_TARGET", "cuda:100")
    from demo import run_examples

    run_examples(main)
