"""Matrix products of every type that the machine multiplies, and of those that it does not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import DTYPES, poisoned, sim_only

import tile
import tile.language as tl

FP8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


@tile.jit
def matmul_kernel(
    a, b, c, m, n, k,
    FP8_A: tl.constexpr, FP8_B: tl.constexpr, TRANS_A: tl.constexpr, TRANS_B: tl.constexpr,
    ACC: tl.constexpr, PRECISION: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    rows, cols, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), ACC)
    for start in range(0, k, K):
        if TRANS_A:
            x = tl.load(
                a + (start + inner[:, None]) * m + rows[None, :],
                mask=(start + inner[:, None] < k) & (rows[None, :] < m), other=0,
            ).trans()  # fmt: skip
        else:
            x = tl.load(
                a + rows[:, None] * k + start + inner[None, :],
                mask=(rows[:, None] < m) & (start + inner[None, :] < k), other=0,
            )  # fmt: skip
        if TRANS_B:
            y = tl.load(
                b + cols[:, None] * k + start + inner[None, :],
                mask=(cols[:, None] < n) & (start + inner[None, :] < k), other=0,
            ).trans()  # fmt: skip
        else:
            y = tl.load(
                b + (start + inner[:, None]) * n + cols[None, :],
                mask=(start + inner[:, None] < k) & (cols[None, :] < n), other=0,
            )  # fmt: skip
        if FP8_A is not None:
            x = x.to(FP8_A, bitcast=True)
        if FP8_B is not None:
            y = y.to(FP8_B, bitcast=True)
        total = tl.dot(x, y, total, input_precision=PRECISION, out_dtype=ACC)
    tl.store(
        c + rows[:, None] * n + cols[None, :], total, mask=(rows[:, None] < m) & (cols[None, :] < n)
    )


#: Operands, accumulator, tl type of the accumulator, precision, tolerance; whether from sm_80 (or
#: the one given) on there is an instruction.
KINDS = {
    "fp16": ("fp16", "fp32", tl.float32, None, 1e-3),
    "fp16-fp16": ("fp16", "fp16", tl.float16, None, 3e-2),
    "bf16": ("bf16", "fp32", tl.float32, None, 1e-3),
    "tf32": ("fp32", "fp32", tl.float32, "tf32", 2e-2),
    "tf32x3": ("fp32", "fp32", tl.float32, "tf32x3", 1e-5),
    "ieee": ("fp32", "fp32", tl.float32, "ieee", 1e-5),
    "fp64": ("fp64", "fp64", tl.float64, None, 1e-13),
    "i8": ("i8", "i32", tl.int32, None, 0),
    "e4m3": ("e4m3", "fp32", tl.float32, None, 1e-3),
    "e5m2": ("e5m2", "fp32", tl.float32, None, 1e-3),
    "e4m3-e5m2": ("e4m3-e5m2", "fp32", tl.float32, None, 1e-3),
}
INSTRUCTIONS = {
    "fp16": "m16n8k16.row.col.f32.f16.f16.f32",
    "fp16-fp16": "m16n8k16.row.col.f16.f16.f16.f16",
    "bf16": "m16n8k16.row.col.f32.bf16.bf16.f32",
    "tf32": "m16n8k8.row.col.f32.tf32.tf32.f32",
    "tf32x3": "m16n8k8.row.col.f32.tf32.tf32.f32",
    "fp64": "m8n8k4.row.col.f64.f64.f64.f64",
    "i8": "m16n8k32.row.col.s32.s8.s8.s32",
}


def operand(dtype: str, shape: tuple[int, int], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What the kernel gets, and its value."""
    rng = np.random.default_rng(seed)
    if dtype == "i8":
        x = rng.integers(-128, 128, shape).astype(np.int8)
        return x, x.astype(np.int64)
    x = rng.standard_normal(shape)
    if dtype in FP8:
        x = x.astype(FP8[dtype])
        return x.view(np.uint8), x.astype(np.float64)
    x = x.astype(DTYPES[dtype])
    return x, x.astype(np.float64)


def check(kind, tiles, sizes, trans=(False, False), num_warps=4):
    dtypes, out_dtype, acc, precision, tolerance = KINDS[kind]
    of_a, of_b = dtypes.split("-") if "-" in dtypes else (dtypes, dtypes)
    m, n, k = sizes
    a, a_value = operand(of_a, (m, k), 1)
    b, b_value = operand(of_b, (k, n), 2)
    a = np.ascontiguousarray(a.T) if trans[0] else a
    b = np.ascontiguousarray(b.T) if trans[1] else b
    names = {"e4m3": tl.float8e4nv, "e5m2": tl.float8e5}
    out = poisoned((m, n), out_dtype)
    kernel = matmul_kernel[(1,)](
        a, b, out, m, n, k, names.get(of_a), names.get(of_b), *trans, acc, precision, *tiles,
        num_warps=num_warps,
    )  # fmt: skip
    expected = a_value @ b_value
    if tolerance:
        np.testing.assert_allclose(
            out.astype(np.float64), expected, rtol=tolerance, atol=tolerance * np.sqrt(k)
        )
    else:
        np.testing.assert_array_equal(out, expected)
    return kernel


@pytest.fixture(params=["cuda:80", "cuda:89"])
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", request.param)
    return request.param


@pytest.mark.parametrize("kind", list(KINDS))
def test_types(kind, target):
    kernel = check(kind, (32, 32, 64), (32, 32, 128))
    expected = INSTRUCTIONS.get(kind, "")
    if kind.startswith("e") and target == "cuda:89":
        a, b = kind.split("-") if "-" in kind else (kind, kind)
        expected = f"m16n8k32.row.col.f32.{a}.{b}.f32"
    assert expected in kernel.asm["ptx"]


@pytest.mark.parametrize("trans", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("kind", ["fp16", "tf32", "fp64", "i8", "e4m3", "ieee"])
def test_transposed(kind, trans, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:89")
    check(kind, (32, 32, 32), (32, 32, 64), trans)


@pytest.mark.parametrize("kind", ["bf16", "tf32", "fp64", "i8", "e5m2"])
def test_ragged(kind, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:89")
    check(kind, (64, 32, 32), (51, 29, 71))


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("kind", ["fp16", "fp64", "i8"])
def test_warps(kind, num_warps, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    check(kind, (64, 32, 32), (64, 32, 32), num_warps=num_warps)


@pytest.mark.parametrize("tiles", [(16, 16, 16), (16, 16, 32), (16, 8, 16), (32, 16, 16)])
@pytest.mark.parametrize("kind", ["fp16", "tf32", "fp64", "i8", "e4m3"])
def test_small_tiles(kind, tiles, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:89")
    if tiles[2] < 32 and KINDS[kind][0] in ("i8", "e4m3"):
        tiles = (*tiles[:2], 32)
    check(kind, tiles, tiles, num_warps=2)


@tile.jit
def batched_kernel(
    a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr
):
    batch = tl.arange(0, B)[:, None, None]
    rows, cols = tl.arange(0, M), tl.arange(0, N)
    inner = tl.arange(0, K)
    x = tl.load(a + (batch * M + rows[None, :, None]) * K + inner[None, None, :])
    y = tl.load(b + (batch * K + inner[None, :, None]) * N + cols[None, None, :])
    total = tl.dot(x, y, out_dtype=ACC)
    tl.store(c + (batch * M + rows[None, :, None]) * N + cols[None, None, :], total)


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("kind", ["fp16", "tf32", "fp64", "i8"])
def test_batched(kind, num_warps, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    dtype, out_dtype, acc, _, tolerance = KINDS[kind]
    a, a_value = operand(dtype, (4, 32, 32), 1)
    b, b_value = operand(dtype, (4, 32, 16), 2)
    out = poisoned((4, 32, 16), out_dtype)
    kernel = batched_kernel[(1,)](a, b, out, 4, 32, 16, 32, acc, num_warps=num_warps)
    assert INSTRUCTIONS[kind] in kernel.asm["ptx"]
    np.testing.assert_allclose(
        out.astype(np.float64), a_value @ b_value, rtol=tolerance, atol=tolerance * 6
    )


@sim_only
def test_below_sm_80(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:75")
    for kind in ("fp16", "ieee", "fp64", "i8"):
        kernel = check(kind, (16, 16, 16), (16, 16, 32))
        assert "mma" not in kernel.asm["ptx"]
