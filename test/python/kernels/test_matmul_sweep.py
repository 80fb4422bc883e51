"""Matrix products: operand types, tiles, warps, stages and layouts, with ragged sizes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl


@tile.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    ACC: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * sam + rk[None, :] * sak
    b_ptrs = b_ptr + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < left), other=0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0)
        acc = tl.dot(a, b, acc, out_dtype=ACC, input_precision=PRECISION)
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    c_ptrs = c_ptr + rm[:, None] * scm + rn[None, :] * scn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


KINDS = {
    "fp16": (np.float16, tl.float32, np.float32, 1e-3),
    "bf16": (ml_dtypes.bfloat16, tl.float32, np.float32, 1e-3),
    "fp16 into fp16": (np.float16, tl.float16, np.float16, 2e-2),
    "tf32": (np.float32, tl.float32, np.float32, 4e-3),
    "ieee": (np.float32, tl.float32, np.float32, 1e-5),
    "tf32x3": (np.float32, tl.float32, np.float32, 1e-5),
    "fp64": (np.float64, tl.float64, np.float64, 1e-12),
    "int8": (np.int8, tl.int32, np.int32, 0),
    "e4m3": (ml_dtypes.float8_e4m3fn, tl.float32, np.float32, 1e-2),
    "e5m2": (ml_dtypes.float8_e5m2, tl.float32, np.float32, 1e-2),
}


def operand(shape, kind, seed: int, transposed: bool) -> np.ndarray:
    """Random values, in row-major memory or the transpose of it."""
    rng = np.random.default_rng(seed)
    memory = shape[::-1] if transposed else shape
    values = (
        rng.integers(-128, 128, memory)
        if np.dtype(kind) == np.int8
        else rng.standard_normal(memory)
    ).astype(kind)
    return values.T if transposed else values


def strides(array: np.ndarray) -> list[int]:
    return [s // array.itemsize for s in array.strides]


def run(name, sizes, tiles, transposed=(False, False), **options) -> None:
    """Launches the kernel on random operands and compares with a dot in float64."""
    kind, accumulator, out_kind, tolerance = KINDS[name]
    m, n, k = sizes
    bm, bn, bk = tiles
    a, b = operand((m, k), kind, 1, transposed[0]), operand((k, n), kind, 2, transposed[1])
    out = poisoned(
        (m, n), {np.float16: "fp16", np.float64: "fp64", np.int32: "i32"}.get(out_kind, "fp32")
    )
    precision = name if name in ("ieee", "tf32", "tf32x3") else "ieee"
    matmul[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, *strides(a), *strides(b), *strides(out),
        BM=bm, BN=bn, BK=bk, ACC=accumulator, PRECISION=precision, **options,
    )  # fmt: skip
    if kind == np.int8:
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32))
        return
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(
        out.astype(np.float64), expected, rtol=tolerance, atol=tolerance * np.sqrt(k)
    )


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_warps_and_stages(warps, stages):
    run("fp16", (70, 50, 100), (64, 64, 32), num_warps=warps, num_stages=stages)


@pytest.mark.sweep
@pytest.mark.parametrize("name", list(KINDS))
@pytest.mark.parametrize(("warps", "stages"), [(1, 1), (4, 3), (8, 2)])
def test_operand_types(name, warps, stages):
    run(name, (45, 37, 75), (32, 32, 32), num_warps=warps, num_stages=stages)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["fp16", "tf32", "int8", "fp64", "e4m3"])
@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)])
def test_transposed_operands(name, transposed):
    run(name, (64, 48, 70), (32, 64, 32), transposed)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["fp16", "tf32", "int8"])
@pytest.mark.parametrize(
    "tiles",
    [(16, 16, 16), (16, 128, 32), (128, 16, 64), (128, 32, 16), (32, 256, 32), (256, 32, 64)],
)
def test_tiles(name, tiles):
    if name == "int8" and tiles[2] < 32:
        tiles = (*tiles[:2], 32)
    # What 64 KiB have room for.
    if (tiles[0] + tiles[1]) * tiles[2] * np.dtype(KINDS[name][0]).itemsize > 65536:
        tiles = (*tiles[:2], tiles[2] // 2)
    run(name, (tiles[0] + 3, tiles[1] - 5, 2 * tiles[2] + 7), tiles)


@pytest.mark.every_target
@pytest.mark.parametrize("sizes", [(1, 1, 1), (64, 64, 64), (33, 65, 17), (128, 1, 200)])
def test_sizes(sizes):
    run("bf16", sizes, (64, 32, 32), num_stages=3)
