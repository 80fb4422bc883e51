"""Dots of warp groups on sm_90: types, tiles, warps, stages, transposes, ragged edges."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned
from test_attention import run as attend
from test_matmul_sweep import KINDS, matmul, operand, strides

import tile
import tile.language as tl


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """In place of the targets of the other kernels."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


def run(name, sizes, tiles, transposed=(False, False), expect="wgmma.mma_async", **options):
    """Multiplies matrices and checks which instruction did it."""
    kind, accumulator, out_kind, tolerance = KINDS[name]
    (m, n, k), (bm, bn, bk) = sizes, tiles
    a, b = operand((m, k), kind, 1, transposed[0]), operand((k, n), kind, 2, transposed[1])
    out = poisoned((m, n), {np.float16: "fp16", np.int32: "i32"}.get(out_kind, "fp32"))
    kernel = matmul[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, *strides(a), *strides(b), *strides(out),
        BM=bm, BN=bn, BK=bk, ACC=accumulator, PRECISION="tf32", **options,
    )  # fmt: skip
    ptx = kernel.asm["ptx"]
    other = {"wgmma.mma_async": "mma.sync", "mma.sync": "wgmma.mma_async"}[expect]
    assert expect in ptx and other not in ptx
    if kind == np.int8:
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32))
        return kernel
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(
        out.astype(np.float64), expected, rtol=tolerance, atol=tolerance * np.sqrt(k)
    )
    return kernel


# 16-bit operands may lie either way round in memory; others are exchanged where A lies along K and
# B along N. Of 8 bits, a left one along M comes from registers, and a right one is then turned.
CASES = [
    *(
        (name, (ta, tb))
        for name in ("fp16", "bf16")
        for ta in (False, True)
        for tb in (False, True)
    ),
    *(("tf32", (ta, tb)) for ta, tb in ((False, True), (True, True), (False, False))),
    *(
        (name, (ta, tb))
        for name in ("int8", "e4m3", "e5m2")
        for ta in (False, True)
        for tb in (False, True)
    ),
    ("fp16 into fp16", (False, False)),
]


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "transposed"), CASES)
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, transposed, warps):
    bk = {2: 32, 4: 16, 1: 64}[np.dtype(KINDS[name][0]).itemsize]
    kernel = run(
        name, (144, 80, 3 * bk + 16), (128, 64, bk), transposed, num_warps=warps, num_stages=3
    )
    # Not where an element of A is gathered from another row.
    assert "cp.async" in kernel.asm["ptx"]


@pytest.mark.parametrize("stages", [2, 3])
def test_any_order_of_warps_and_copies(stages, monkeypatch):
    """Copies that complete as late as they may, warps that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    run("fp16", (128, 64, 160), (64, 64, 32), num_warps=8, num_stages=stages)


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_stages(stages, steps):
    kernel = run("fp16", (64, 64, 32 * steps), (64, 64, 32), num_stages=stages)
    pending = "wgmma.wait_group.sync.aligned 1" in kernel.asm["ptx"]
    # Of an empty matrix nothing is known.
    assert pending == (stages > 1) or steps == 0


@pytest.mark.parametrize(
    ("tiles", "warps"),
    [
        ((64, 16, 64), 4), ((64, 256, 32), 4), ((128, 128, 64), 4), ((256, 64, 32), 8),
        ((64, 128, 64), 8), ((128, 256, 64), 8), ((128, 64, 128), 16), ((64, 64, 16), 4),
    ],
)  # fmt: skip
def test_tiles(tiles, warps):
    bm, bn, bk = tiles
    run("bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles, num_warps=warps, num_stages=3)


def test_rows_of_multiples_of_eight():
    """Enough for copies of 16 bytes; a launch with others takes another kernel."""
    copies = {}
    for size in (88, 84, 88):
        kernel = run("fp16", (72, 104, size), (64, 64, 32), num_stages=3)
        copies[size] = len(re.findall(r"cp\.async\.cg.*\], 16", kernel.asm["ptx"]))
    assert copies[88] > copies[84]


@pytest.mark.parametrize("sizes", [(1, 1, 1), (65, 63, 33), (200, 8, 100), (64, 64, 1)])
@pytest.mark.parametrize("name", ["fp16", "int8"])
def test_unaligned_sizes(sizes, name):
    run(name, sizes, (64, 64, 32), (False, True), num_stages=3)


# Too few rows; words that would both have to be turned.
@pytest.mark.parametrize(
    ("name", "tiles", "transposed"),
    [
        ("fp16", (32, 64, 32), (False, False)),
        ("tf32", (64, 64, 32), (True, False)),
    ],
)
def test_what_stays(name, tiles, transposed):
    run(name, (80, 96, 128), tiles, transposed, expect="mma.sync", num_stages=3)


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize(
    ("tiles", "warps"), [((64, 64, 32), 4), ((128, 128, 128), 4), ((128, 256, 64), 8)]
)
def test_turned_operands(tiles, warps, stages, monkeypatch):
    """Rows of one swizzle and less; copies and dots that are as late as they may be."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    bm, bn, bk = tiles
    kernel = run(
        "int8", (bm, bn + 16, 3 * bk + 16), tiles, (True, False), num_warps=warps, num_stages=stages
    )
    # In pipelines bytes are packed in registers, not stored one by one.
    assert stages == 1 or not re.search(r"st\.shared(\.v\d)?\.[bu]8", kernel.asm["ptx"])


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize(
    ("tiles", "warps"), [((64, 64, 32), 4), ((16, 64, 16), 4), ((64, 128, 32), 8)]
)
def test_exchanged_operands(tiles, warps, stages, monkeypatch):
    """Words with B along N: the transposed dot, B from registers; copies of 16 bytes."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    bm, bn, bk = tiles
    kernel = run("tf32", (bm + 8, bn + 16, 3 * bk + 8), tiles, num_warps=warps, num_stages=stages)
    ptx, ttgir = kernel.asm["ptx"], kernel.asm["ttgir"]
    assert stages == 1 or (", 16, " in ptx and not re.search(r"cp\.async.*\], 4", ptx))
    assert stages == 1 or "ttg.local_alloc %" not in ttgir.split("scf.for")[1]


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("transposed", [(False, False), (True, True)])
@pytest.mark.parametrize(
    ("tiles", "warps"), [((64, 64, 32), 4), ((128, 128, 64), 4), ((64, 256, 32), 8)]
)
def test_bytes_across_k(tiles, warps, transposed, stages, monkeypatch):
    """Whole warps read rows of 64, 128 and 256 bytes, without conflicts of banks."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    bm, bn, bk = tiles
    sizes = (bm + 16, bn + 16, 3 * bk + 16)
    kernel = run("int8", sizes, tiles, transposed, num_warps=warps, num_stages=stages)
    ptx = kernel.asm["ptx"]
    assert "ldmatrix.sync.aligned.m8n8.x4.trans" in ptx
    assert stages == 1 or not re.search(r"(ld|st)\.shared(\.v\d)?\.[bu]8", ptx)


@pytest.mark.parametrize(("rows", "early"), [(256, True), (128, False)])
@pytest.mark.parametrize(("name", "step"), [("tf32", 16), ("e4m3", 64)])
def test_operands_are_read_early(name, step, rows, early, monkeypatch):
    """While the tensor core works, where no second block does that on the multiprocessor."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    sizes = (rows, 128, 5 * step + 16)
    kernel = run(name, sizes, (rows, 128, step), num_warps=8, num_stages=3)
    # What goes on to the next step is words.
    assert not re.search(r"mov\.b16", kernel.asm["ptx"])
    loop = kernel.asm["ttgir"].split("scf.for")[1]
    order = re.findall(r"ttg.local_load|isAsync = true|warp_group_dot_wait", loop)
    assert order[0] == ("isAsync = true" if early else "ttg.local_load")


@tile.jit
def scaled_products(
    a_ptr, b_ptr, scale_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr
):
    """The sum is changed in the loop, and used behind it, twice."""
    rows, cols, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * K + k + ks[None, :])
        b = tl.load(b_ptr + (k + ks[:, None]) * N + cols[None, :])
        acc = tl.dot(a, b, acc * tl.load(scale_ptr + rows)[:, None])
    acc += tl.sum(acc, 1)[:, None]
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


def test_exchanged_operands_of_changing_sums():
    m, n, k, bk = 64, 128, 96, 32
    a, b = operand((m, k), np.float32, 1, False), operand((k, n), np.float32, 2, False)
    scale, out = operand((m,), np.float32, 3, False), poisoned((m, n), "fp32")
    kernel = scaled_products[(1,)](a, b, scale, out, k, m, n, bk, num_stages=3)
    assert "wgmma" in kernel.asm["ptx"]
    expected = np.zeros((m, n))
    for i in range(0, k, bk):
        expected = expected * scale[:, None] + a[:, i : i + bk].astype(float) @ b[i : i + bk]
    expected += expected.sum(1, keepdims=True)
    np.testing.assert_allclose(out, expected, rtol=2e-2, atol=0.3)


@tile.jit
def squares(a_ptr, c_ptr, K, M: tl.constexpr, BK: tl.constexpr):
    """One block is both operands, one of them in registers."""
    rows, ks = tl.arange(0, M), tl.arange(0, BK)
    acc = tl.zeros((M, M), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + (k + ks[:, None]) * M + rows[None, :])
        acc = tl.dot(a.T, a, acc)
    tl.store(c_ptr + rows[:, None] * M + rows[None, :], acc)


@pytest.mark.parametrize("kind", ["fp16", "tf32"])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_one_load_for_both_operands(kind, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    m, k, bk = 64, 256, 32
    a, out = operand((k, m), KINDS[kind][0], 1, False), poisoned((m, m), "fp32")
    squares[(1,)](a, out, k, m, bk, num_stages=stages)
    expected = a.astype(np.float64).T @ a.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=0.2)


@tile.jit
def partial_sums(
    a_ptr, b_ptr, c_ptr, K, sam, sak, sbk, sbn, LIMIT: tl.constexpr,
):  # fmt: skip
    rows, ks = tl.arange(0, 64), tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 64):
        a = tl.load(a_ptr + rows[:, None] * sam + (k + ks[None, :]) * sak)
        b = tl.load(b_ptr + (k + ks[:, None]) * sbk + rows[None, :] * sbn)
        acc = tl.dot(a, b, acc, max_num_imprecise_acc=LIMIT)
    tl.store(c_ptr + rows[:, None] * 64 + rows[None, :], acc)


# Without a limit, the whole sum stays on the tensor core.
@pytest.mark.parametrize(("limit", "additions"), [(None, 0), (32, 64)])
def test_imprecise_accumulation_of_fp8(limit, additions):
    k = 256
    a, b = (operand((64, k), ml_dtypes.float8_e4m3fn, seed, False) for seed in (1, 2))
    out = poisoned((64, 64), "fp32")
    kernel = partial_sums[(1,)](a, b.T, out, k, k, 1, 1, k, limit, num_stages=3)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-2)
    found = re.findall(r"\badd(?:\.rn)?(?:\.f32x2|\.f32)\b", kernel.asm["ptx"])
    assert len(found) == additions


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("limit", [None, 64])
def test_mixed_formats_of_fp8(limit, turned):
    k = 192
    a = operand((64, k), ml_dtypes.float8_e4m3fn, 1, turned)
    b = operand((k, 64), ml_dtypes.float8_e5m2, 2, not turned)
    out = poisoned((64, 64), "fp32")
    kernel = partial_sums[(1,)](a, b, out, k, *strides(a), *strides(b), LIMIT=limit, num_stages=3)
    assert "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2" in kernel.asm["ptx"]
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-2)


@tile.jit
def two_sums(a_ptr, b_ptr, c_ptr, d_ptr, steps, K: tl.constexpr):
    """Two dots in one loop, of which one shares its operand."""
    rows, ks = tl.arange(0, 64), tl.arange(0, 32)
    first = tl.zeros((64, 64), tl.float32)
    second = tl.zeros((64, 64), tl.float32)
    for step in range(steps):
        a = tl.load(a_ptr + rows[:, None] * K + step * 32 + ks[None, :])
        b = tl.load(b_ptr + rows[:, None] * K + step * 32 + ks[None, :])
        first = tl.dot(a, b.T, first)
        second = tl.dot(b, a.T, second)
    at = rows[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(c_ptr + at, first)
    tl.store(d_ptr + at, second)


@pytest.mark.parametrize("stages", [2, 4])
def test_two_products(stages):
    k = 256
    a, b = operand((64, k), np.float16, 1, False), operand((64, k), np.float16, 2, False)
    c, d = poisoned((64, 64), "fp32"), poisoned((64, 64), "fp32")
    kernel = two_sums[(1,)](a, b, c, d, k // 32, k, num_stages=stages)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(c, expected, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(d, expected.T, rtol=1e-3, atol=1e-2)
    assert "wgmma.wait_group.sync.aligned 2" in kernel.asm["ptx"]


@pytest.mark.parametrize(("bm", "warps"), [(64, 4), (128, 8)])
@pytest.mark.parametrize(("causal", "stages"), [(False, 2), (False, 3), (True, 3)])
def test_products_of_attention(bm, warps, causal, stages):
    """The dot with the values runs on while the next scores are started."""
    options = {"bn": 64, "num_warps": warps, "num_stages": stages}
    kernel = attend("fp16", 2 * bm - 16, 200, 64, causal, bm=bm, **options)
    assert "wgmma.mma_async" in kernel.asm["ptx"]


@tile.jit
def two_of_registers(a_ptr, b_ptr, d_ptr, out_ptr, steps, K: tl.constexpr):
    """Two products of an operand in registers."""
    rows, ks = tl.arange(0, 64), tl.arange(0, 32)
    first = tl.zeros((64, 64), tl.float32)
    second = tl.zeros((64, 64), tl.float32)
    for step in range(steps):
        a = -tl.load(a_ptr + rows[:, None] * K + step * 32 + ks[None, :])
        b = tl.load(b_ptr + rows[:, None] * K + step * 32 + ks[None, :])
        d = tl.load(d_ptr + rows[:, None] * K + step * 32 + ks[None, :])
        first = tl.dot(a, b.T, first)
        second = tl.dot(a, d.T, second)
    at = rows[:, None] * 64 + rows[None, :]
    tl.store(out_ptr + at, first)
    tl.store(out_ptr + 4096 + at, second)


@pytest.mark.parametrize("steps", [1, 5])
def test_two_products_of_one_operand_in_registers(steps):
    """The second dot cannot run on while the operand of the next iteration is made, which is in
    other registers."""
    k = 5 * 32
    a, b, d = (operand((64, k), np.float16, seed, False) for seed in (1, 2, 3))
    out = poisoned((2, 64, 64), "fp32")
    kernel = two_of_registers[(1,)](a, b, d, out, steps, k, num_stages=3)
    assert "wgmma" in kernel.asm["ptx"]
    a, b, d = (x[:, : steps * 32].astype(np.float64) for x in (a, b, d))
    np.testing.assert_allclose(out, [-a @ b.T, -a @ d.T], rtol=1e-3, atol=1e-2)


@tile.jit
def rows_of_products(
    a_ptr, b_ptr, out_ptr, N, sam, sak, sbk, sbn,
    BM: tl.constexpr, BN: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """One block of rows by all columns: every step reads the same left operand."""
    rows, ks, cols = tl.arange(0, BM), tl.arange(0, K), tl.arange(0, BN)
    a = tl.load(a_ptr + rows[:, None] * sam + ks[None, :] * sak)
    for start in range(0, N, BN):
        b = tl.load(b_ptr + ks[:, None] * sbk + (start + cols)[None, :] * sbn)
        product = tl.dot(a, b, out_dtype=ACC, input_precision="tf32")
        tl.store(out_ptr + rows[:, None] * N + (start + cols)[None, :], product)


@pytest.mark.parametrize("name", ["fp16", "bf16", "tf32", "int8", "e4m3"])
@pytest.mark.parametrize("transposed", [False, True])
def test_left_operand_of_all_steps(name, transposed):
    """It stays in registers, which have it in the order of its type's instruction."""
    kind, accumulator, out_kind, tolerance = KINDS[name]
    m, n = 64, 4 * 64
    k = 64 * 2 // np.dtype(kind).itemsize
    a, b = operand((m, k), kind, 1, transposed), operand((k, n), kind, 2, True)
    out = poisoned((m, n), {np.float16: "fp16", np.int32: "i32"}.get(out_kind, "fp32"))
    kernel = rows_of_products[(1,)](
        a, b, out, n, *strides(a), *strides(b), BM=m, BN=64, K=k, ACC=accumulator, num_warps=4
    )
    # A list of registers, not the address of shared memory.
    assert re.search(r"wgmma\.mma_async\S+ \{[^}]*\}, \{", kernel.asm["ptx"])
    wide = np.int64 if kind == np.int8 else np.float64
    np.testing.assert_allclose(
        out.astype(wide), a.astype(wide) @ b.astype(wide), rtol=tolerance, atol=tolerance * k**0.5
    )
