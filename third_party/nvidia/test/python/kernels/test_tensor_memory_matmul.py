"""Dots whose sums are in tensor memory: types, tiles, warps, stages, descriptors, attention."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, sim_only
from test_attention import run as attend
from test_dot_scaled import operand as scaled_operand
from test_dot_scaled import run as multiply_scaled
from test_matmul_sweep import KINDS, matmul, operand, strides
from test_tma import multiply

import tile
import tile.language as tl

#: An H100 or H200 has none of this.
pytestmark = sim_only

MMA = "tcgen05.mma"


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    return name


def run(name, sizes, tiles, transposed=(False, False), expect=True, **options):
    """Multiplies matrices, and checks which instruction did it."""
    kind, accumulator, out_kind, tolerance = KINDS[name]
    (m, n, k), (bm, bn, bk) = sizes, tiles
    a, b = operand((m, k), kind, 1, transposed[0]), operand((k, n), kind, 2, transposed[1])
    out = poisoned((m, n), {np.float16: "fp16", np.int32: "i32"}.get(out_kind, "fp32"))
    precision = name if name in ("ieee", "tf32x3") else "tf32"
    kernel = matmul[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, *strides(a), *strides(b), *strides(out),
        BM=bm, BN=bn, BK=bk, ACC=accumulator, PRECISION=precision, **options,
    )  # fmt: skip
    assert (MMA in kernel.asm["ptx"]) == expect
    assert ("mma.sync" in kernel.asm["ptx"]) == (not expect and name != "ieee")
    if kind == np.int8:
        np.testing.assert_array_equal(out, a.astype(np.int32) @ b.astype(np.int32))
        return kernel
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(
        out.astype(np.float64), expected, rtol=tolerance, atol=tolerance * np.sqrt(k)
    )
    return kernel


CASES = [
    (name, (ta, tb))
    for name in ("fp16", "bf16", "tf32", "int8", "e4m3", "e5m2")
    for ta in (False, True)
    for tb in (False, True)
]


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "transposed"), CASES)
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, transposed, warps):
    bk = {2: 32, 4: 16, 1: 64}[np.dtype(KINDS[name][0]).itemsize]
    run(name, (144, 80, 3 * bk + 16), (128, 64, bk), transposed, num_warps=warps, num_stages=3)


@pytest.mark.parametrize("target", ["cuda:103", "cuda:110"], indirect=True)
@pytest.mark.parametrize("name", ["fp16", "int8"])
def test_targets(name, target):
    expect = (name, target) != ("int8", "cuda:103")
    run(name, (130, 70, 100), (128, 64, 32), expect=expect, num_warps=4, num_stages=3)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_stages(stages, steps):
    run("fp16", (128, 64, 32 * steps), (128, 64, 32), num_stages=stages)


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("warps", [4, 8])
def test_any_order_of_warps_and_copies(stages, warps, monkeypatch):
    """Dots and copies that complete as late as they may, warps that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    run("fp16", (128, 64, 160), (128, 64, 32), num_warps=warps, num_stages=stages)


@pytest.mark.parametrize(
    ("tiles", "warps"),
    [
        ((64, 16, 64), 4), ((64, 64, 32), 4), ((64, 256, 32), 4), ((64, 64, 32), 8),
        ((128, 16, 64), 4), ((128, 128, 64), 4), ((128, 256, 64), 8), ((256, 64, 32), 8),
        ((256, 128, 32), 4), ((128, 64, 128), 16), ((128, 64, 16), 4), ((128, 512, 32), 8),
    ],
)  # fmt: skip
def test_tiles(tiles, warps):
    bm, bn, bk = tiles
    run("bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles, num_warps=warps, num_stages=2)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (129, 63, 33), (200, 8, 100), (64, 64, 1)])
@pytest.mark.parametrize("name", ["fp16", "int8"])
def test_unaligned_sizes(sizes, name):
    run(name, sizes, (128, 64, 32), (False, True), num_stages=3)


@pytest.mark.parametrize(
    ("name", "tiles", "warps"),
    [
        ("fp16", (32, 64, 32), 4),
        ("fp16", (128, 64, 32), 2),
        ("fp16 into fp16", (128, 64, 32), 4),
        ("ieee", (64, 64, 16), 4),
    ],
)
def test_what_stays(name, tiles, warps):
    run(name, (80, 96, 128), tiles, expect=False, num_warps=warps, num_stages=3)


@pytest.mark.parametrize("options", [{"tensor_memory": False}, {}])
def test_without_tensor_memory(options, monkeypatch):
    if not options:
        monkeypatch.setenv("TILE_TENSOR_MEMORY", "0")
    run("fp16", (80, 96, 128), (128, 64, 32), expect=False, **options)


@pytest.mark.parametrize("stages", [2, 3, 4, 7])
def test_loops_get_fewer_stages_where_operands_do_not_fit(stages):
    """Two stages fit, three do not."""
    run("tf32", (130, 258, 200), (128, 256, 64), num_warps=8, num_stages=stages)


@pytest.mark.parametrize(
    ("options", "expect"),
    [
        ({"instrumentation_mode": "consan"}, False),
        ({"instrumentation_mode": "memcheck"}, True),
        ({"launch_cooperative_grid": True}, False),
        ({"launch_cooperative_grid": True, "tensor_memory": True}, True),
    ],
)
def test_launches_that_do_without(options, expect):
    run("fp16", (80, 96, 128), (128, 64, 32), expect=expect, **options)


def test_three_products_of_tf32():
    run("tf32x3", (144, 80, 48), (128, 64, 16), num_stages=2)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "transposed"),
    [
        *((name, (ta, tb)) for name in ("fp16", "bf16") for ta in (0, 1) for tb in (0, 1)),
        *((name, (0, 1)) for name in ("tf32", "int8", "e4m3", "e5m2")),
        *((name, (0, 0)) for name in ("tf32", "int8", "e4m3", "e5m2")),
    ],
)
@pytest.mark.parametrize("stages", [1, 3])
def test_descriptors(name, transposed, stages):
    bk = {2: 32, 4: 16, 1: 64}[np.dtype(KINDS[name][0]).itemsize]
    turned = tuple(map(bool, transposed))
    kernel = multiply(name, (144, 80, 5 * bk + 16), (128, 64, bk), turned, num_stages=stages)
    ptx = kernel.asm["ptx"]
    assert "cp.async.bulk.tensor" in ptx and MMA in ptx and "mma.sync" not in ptx


@pytest.mark.sweep
@pytest.mark.parametrize("schedules", [1, 4])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
def test_attention(dtype, causal, schedules, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", str(schedules))
    kernel = attend(dtype, 150, 150, 64, causal, bm=128, bn=64, num_stages=2)
    assert MMA in kernel.asm["ptx"]


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("d", [16, 32, 128])
def test_attention_heads(d, warps):
    kernel = attend("fp16", 140, 200, d, True, bm=128, bn=64, num_warps=warps, num_stages=3)
    assert MMA in kernel.asm["ptx"]


@tile.jit
def flattened(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile_id in tl.range(
        tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0), flatten=FLATTEN
    ):
        i, j = tile_id // columns * BM, tile_id % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a_desc.load([i, k]), b_desc.load([k, j]), acc)
        c_desc.store([i, j], acc)


@pytest.mark.sweep
@pytest.mark.parametrize("k", [0, 64, 200])
@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("stages", [1, 3])
def test_loops_over_tiles(k, flatten, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    m, n = 300, 144
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n))
    out = poisoned((m, n), "fp32")
    kernel = flattened[(2,)](
        a, b.astype(np.float16), out, m, n, k, 128, 64, 64, flatten, num_stages=stages
    )
    assert MMA in kernel.asm["ptx"]
    np.testing.assert_allclose(
        out, a.astype(np.float64) @ b.astype(np.float16).astype(np.float64), atol=2e-2
    )


@tile.jit
def chained(
    a_ptr, b_ptr, c_ptr, out_ptr, sums_ptr, steps,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Of two dots, one multiplies what the other gives; a branch uses a third one now and then."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    out = tl.zeros((M, N), tl.float32)
    third = tl.zeros((M, N), tl.float32)
    for t in tl.range(0, steps, num_stages=STAGES):
        a = tl.load(a_ptr + t * M * K + m[:, None] * K + k[None, :])
        b = tl.load(b_ptr + t * K * N + k[:, None] * N + n[None, :])
        c = tl.load(c_ptr + t * N * N + n[:, None] * N + n[None, :])
        first = tl.dot(a, b)
        third = tl.dot(a, b, third)
        if t % 3 == 2:
            tl.store(sums_ptr + t * M * N + m[:, None] * N + n[None, :], third)
            third = tl.zeros((M, N), tl.float32)
        out = tl.dot(first.to(tl.float16), c, out)
    tl.store(out_ptr + m[:, None] * N + n[None, :], out)


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("rows", [64, 128])
def test_chained_dots(stages, warps, rows, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    steps, m, n, k = 7, rows, 64, 32
    rng = np.random.default_rng(stages)
    a, b, c = (
        rng.integers(-2, 3, (steps, *shape)).astype(np.float16)
        for shape in ((m, k), (k, n), (n, n))
    )
    out, sums = poisoned((m, n), "fp32"), poisoned((steps, m, n), "fp32")
    kernel = chained[(1,)](a, b, c, out, sums, steps, m, n, k, stages, num_warps=warps)
    assert kernel.asm["ptx"].count(MMA) >= 3
    firsts = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(out, (firsts @ c.astype(np.float64)).sum(0))
    for t in (2, 5):
        np.testing.assert_array_equal(sums[t], firsts[t - 2 : t + 1].sum(0))


@tile.jit
def straight(a_ptr, b_ptr, out_ptr, some, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    x = tl.dot(a, b)
    if some > 0:
        x = tl.dot(a * 2, b, x)
    tl.store(out_ptr + m[:, None] * N + n[None, :], x)


@pytest.mark.parametrize("some", [-1, 7])
def test_without_a_loop(some):
    rng = np.random.default_rng(0)
    a = rng.integers(-3, 4, (128, 64)).astype(ml_dtypes.bfloat16)
    b = rng.integers(-3, 4, (64, 32)).astype(ml_dtypes.bfloat16)
    out = poisoned((128, 32), "fp32")
    kernel = straight[(1,)](a, b, out, some, 128, 32, 64)
    assert MMA in kernel.asm["ptx"]
    np.testing.assert_array_equal(
        out, a.astype(np.float64) @ b.astype(np.float64) * (3 if some > 0 else 1)
    )


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("formats", "kind"),
    [
        (("e4m3", "e4m3"), "mxf8f6f4"),
        (("e4m3", "e5m2"), "mxf8f6f4"),
        (("e5m2", "e4m3"), "mxf8f6f4"),
        (("e2m1", "e2m1"), "mxf4"),
        (("e4m3", "e2m1"), "mxf8f6f4"),
        (("e2m1", "e5m2"), "mxf8f6f4"),
    ],
)
@pytest.mark.parametrize(("n", "k"), [(32, 64), (64, 128), (128, 256), (256, 64)])
@pytest.mark.parametrize("warps", [4, 8])
def test_scales(formats, kind, n, k, warps):
    kernel = multiply_scaled(*formats, m=128, n=n, k=k, num_warps=warps)
    assert f"kind::{kind}" in kernel.asm["ptx"] and "mma.sync" not in kernel.asm["ptx"]


@pytest.mark.parametrize(("a_scaled", "b_scaled"), [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("formats", [("e4m3", "e5m2"), ("e2m1", "e2m1"), ("e2m1", "e4m3")])
def test_missing_scales_are_one(formats, a_scaled, b_scaled):
    kernel = multiply_scaled(*formats, a_scaled, b_scaled, m=256, n=64, k=128)
    assert "block_scale" in kernel.asm["ptx"] and "mma.sync" not in kernel.asm["ptx"]


@pytest.mark.parametrize(
    ("formats", "m"), [(("e4m3", "bf16"), 128), (("e4m3", "e4m3"), 64), (("e4m3", "e2m1"), 64)]
)
def test_what_has_no_scaled_instruction(formats, m):
    kernel = multiply_scaled(*formats, m=m, n=64, k=64)
    assert "block_scale" not in kernel.asm["ptx"]


@pytest.mark.parametrize(
    ("formats", "fits"),
    [(("e2m1", "e4m3"), True), (("e5m2", "e2m1"), True), (("e2m1", "e2m1"), False)],
)
def test_rows_of_16_bytes(formats, fits):
    """Of 4-bit elements: an instruction takes 32 bytes, and two such operands become bf16. Beside
    fp8, 4-bit elements take a byte each."""
    kernel = multiply_scaled(*formats, m=128, n=64, k=32)
    assert ("block_scale" in kernel.asm["ptx"]) == fits


@tile.jit
def scaled_loop(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, K,
    FORMAT: tl.constexpr, GROUP: tl.constexpr, PER_BYTE: tl.constexpr, M: tl.constexpr,
    N: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr, SPECIALIZE: tl.constexpr,
    B_FORMAT: tl.constexpr, B_PER_BYTE: tl.constexpr,
):  # fmt: skip
    m, n = tl.arange(0, M), tl.arange(0, N)
    k, s = tl.arange(0, BK // PER_BYTE), tl.arange(0, BK // GROUP)
    b_k = tl.arange(0, BK // B_PER_BYTE)
    acc = tl.zeros((M, N), tl.float32)
    for t in tl.range(0, K // BK, num_stages=STAGES, warp_specialize=SPECIALIZE):
        at, group = t * (BK // PER_BYTE) + k, t * (BK // GROUP) + s
        a = tl.load(a_ptr + m[:, None] * (K // PER_BYTE) + at[None, :])
        b_at = t * (BK // B_PER_BYTE) + b_k
        b = tl.load(b_ptr + n[None, :] * (K // B_PER_BYTE) + b_at[:, None])
        a_scale = tl.load(a_scale_ptr + m[:, None] * (K // GROUP) + group[None, :])
        b_scale = tl.load(b_scale_ptr + n[:, None] * (K // GROUP) + group[None, :])
        acc = tl.dot_scaled(a, a_scale, FORMAT, b, b_scale, B_FORMAT, acc)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize(
    ("kinds", "group"),
    [
        (("e4m3", "e4m3"), 32),
        (("e2m1", "e2m1"), 32),
        (("e2m1", "e2m1"), 16),
        (("e4m3", "e2m1"), 32),
        (("e2m1", "e5m2"), 32),
    ],
)
@pytest.mark.parametrize("specialize", [False, True])
def test_scales_in_a_loop(kinds, group, steps, stages, specialize, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    m, n, bk = 128, 64, 128
    k = steps * bk
    a, a_values = scaled_operand(kinds[0], m, k, 1, True, 1)
    b, b_values = scaled_operand(kinds[1], k, n, 0, True, 2)
    per_byte = [2 if kind == "e2m1" else 1 for kind in kinds]
    rng = np.random.default_rng(3)
    if group == 16:
        scales = [
            rng.uniform(0.25, 4, (rows, k // 16)).astype(ml_dtypes.float8_e4m3fn) for rows in (m, n)
        ]
        factors = [x.astype(np.float64) for x in scales]
    else:
        scales = [rng.integers(124, 131, (rows, k // 32)).astype(np.uint8) for rows in (m, n)]
        factors = [2.0 ** (x.astype(int) - 127) for x in scales]
    out = poisoned((m, n), "fp32")
    kernel = scaled_loop[(1,)](
        a, np.ascontiguousarray(b.T), *scales, out, k, kinds[0], group, per_byte[0],
        m, n, bk, stages, specialize, kinds[1], per_byte[1],
    )  # fmt: skip
    assert "block_scale" in kernel.asm["ptx"]
    assert not specialize or steps == 1 or "ttg.warp_specialize" in kernel.asm["ttgir"]
    exact = (a_values * np.repeat(factors[0], group, 1)) @ (
        b_values * np.repeat(factors[1], group, 1).T
    )
    np.testing.assert_allclose(out, exact, rtol=1e-5, atol=1e-3)
