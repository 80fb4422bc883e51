"""Operands of dots that programs load by pointers, and copy engines by descriptors, on sm_90."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile import _C
from tile.backends import find_backend
from tile.compiler import ASTSource

#: An H100 or H200 runs other programs by the same passes.
pytestmark = sim_only
ROOT = pathlib.Path(__file__).resolve().parents[5]


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setenv("TILE_RAISE_POINTERS", "1")
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "triton-raise-pointers-to-descriptors")


def raised(kernel) -> int:
    """How many loads go through descriptors in the program."""
    return len(re.findall(r"ttnvgpu\.async_tma_copy_global_to_local", kernel.asm["ttgir"]))


@tile.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, WRAPS: tl.constexpr, MASKED: tl.constexpr, MOVES: tl.constexpr,
    SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """As tutorials write it: rows and columns wrap around, or are masked."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rows = rm % M if WRAPS else rm
    cols = rn % N if WRAPS else rn
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * sam + rk[None, :] * sak
    b_ptrs = b_ptr + rk[:, None] * sbk + cols[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK), warp_specialize=SPECIALIZED):
        pa = a_ptrs if MOVES else a_ptrs + k * BK * sak
        pb = b_ptrs if MOVES else b_ptrs + k * BK * sbk
        if MASKED and WRAPS:
            a = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
            b = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        elif MASKED:
            at = k * BK + rk
            a = tl.load(pa, mask=(rm[:, None] < M) & (at[None, :] < K), other=0.0)
            b = tl.load(pb, mask=(K > at[:, None]) & (rn[None, :] <= N - 1), other=0.0)
        else:
            a = tl.load(pa)
            b = tl.load(pb)
        acc = tl.dot(a, b, acc)
        if MOVES:
            a_ptrs += BK * sak
            b_ptrs += BK * sbk
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=mask)


def multiply(
    sizes, blocks=(64, 64, 32), turned=(False, False), wraps=False, masked=True, moves=True,
    specialized=False, dtype="fp16", **options,
):  # fmt: skip
    m, n, k = sizes
    a, b = random((m, k), dtype, 1), random((k, n), dtype, 2)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if turned[0]:
        a = np.ascontiguousarray(a.T).T
    if turned[1]:
        b = np.ascontiguousarray(b.T).T
    strides = [s // x.itemsize for x in (a, b) for s in x.strides]
    out = poisoned((m, n), "fp32")
    kernel = matmul[(tile.cdiv(m, blocks[0]), tile.cdiv(n, blocks[1]))](
        a, b, out, m, n, k, *strides, *blocks, wraps, masked, moves, specialized, **options
    )
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=0.1)
    return kernel


@pytest.mark.parametrize("turned", [(a, b) for a in (False, True) for b in (False, True)])
@pytest.mark.parametrize("moves", [False, True])
def test_operands_in_any_order(turned, moves):
    kernel = multiply((128, 128, 96), turned=turned, masked=False, moves=moves)
    assert raised(kernel) >= 2


@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("turned", [(False, False), (True, True), (False, True)])
@pytest.mark.parametrize("sizes", [(144, 80, 112), (64, 64, 16), (16, 208, 64)])
def test_ragged_sizes(sizes, turned, wraps):
    kernel = multiply(sizes, turned=turned, wraps=wraps)
    assert raised(kernel) >= 2


@pytest.mark.parametrize("specialized", [False, True])
@pytest.mark.parametrize("k", [16, 64, 256])
def test_warp_groups(specialized, k):
    kernel = multiply((160, 192, k), (64, 128, 64), specialized=specialized, num_stages=3)
    assert raised(kernel) >= 2 and "wgmma" in kernel.asm["ptx"]


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
def test_types(dtype):
    assert raised(multiply((80, 96, 48), dtype=dtype)) >= 2


def test_nothing_to_do():
    multiply((64, 64, 0))


@pytest.mark.parametrize("sizes", [(64, 68, 64), (64, 64, 36)])
def test_rows_that_begin_anywhere(sizes, capfd):
    multiply(sizes)
    assert "the distance of its rows is not known to be a multiple" in capfd.readouterr().err


@pytest.mark.parametrize("others_launch", [False, True])
def test_rows_that_are_one(others_launch):
    """No distance between rows: the loop by pointers runs, or the launch has another kernel."""
    a, b, out = random((1, 64), "fp16", 1), random((64, 64), "fp16", 2), poisoned((64, 64), "fp32")
    rows = np.broadcast_to(a, (64, 64))
    kernel = matmul[(1, 1)](
        a, b, out, 64, 64, 64, 0, 1, 64, 1, 64, 64, 32, False, False, True, False,
        overlapping_arguments=others_launch,
    )  # fmt: skip
    np.testing.assert_allclose(out, rows.astype(np.float64) @ b, rtol=1e-2, atol=0.1)
    assert raised(kernel) >= 2
    assert not any("code" in facts for facts in kernel._metadata["tensor_maps"])


def test_clusters():
    assert raised(multiply((64, 64, 64), num_ctas=2)) == 0


@tile.jit
def written_before(a_ptr, b_ptr, c_ptr, flag_ptr, n, KIND: tl.constexpr):
    """Threads write what the loop reads, or hear that others did; or write it afterwards."""
    i, j = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    if KIND == "store":
        tl.store(a_ptr + i * 64 + j, tl.load(b_ptr + i * 64 + j) * 2.0)
    if KIND == "atomic":
        tl.atomic_add(flag_ptr, 1)
    acc = tl.zeros((64, 64), tl.float32)
    for t in range(0, n):
        at = a_ptr + t * 64 * 64 + i * 64 + j
        a = tl.load(at)
        acc = tl.dot(a, tl.load(b_ptr + i * 64 + j), acc)
        if KIND == "store in the loop":
            tl.store(at + 64 * 64, a + 1.0)
        if KIND == "atomic in the loop":
            tl.atomic_add(flag_ptr, 1)
    if KIND == "atomic behind":
        tl.atomic_add(flag_ptr, 1)
    if KIND == "store behind":
        tl.store(a_ptr + i * 64 + j, acc.to(tl.float16))
    tl.store(c_ptr + i * 64 + j, acc)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("store", "the kernel may have written what it reads"),
        ("atomic", "'tt.atomic_rmw' may order it behind what others write"),
        ("store in the loop", "the kernel may have written what it reads"),
        ("atomic in the loop", "'tt.atomic_rmw' may order it behind what others write"),
        ("atomic behind", None),
        ("store behind", None),
    ],
)
def test_order(kind, why, capfd):
    a, b = random((4, 64, 64), "fp16", 1), random((64, 64), "fp16", 2)
    out, flag = poisoned((64, 64), "fp32"), np.zeros(1, np.int32)
    tiles = a.copy()
    if kind == "store":
        tiles[0] = b * np.float16(2)
    if kind == "store in the loop":
        for i in range(3):
            tiles[i + 1] = tiles[i] + np.float16(1)
    expected = tiles[:3].astype(np.float64).sum(axis=0) @ b
    kernel = written_before[(1,)](a, b, out, flag, 3, kind)
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=0.5)
    assert flag[0] == {"atomic": 1, "atomic behind": 1, "atomic in the loop": 3}.get(kind, 0)
    said = capfd.readouterr().err
    assert why in said if why else raised(kernel) >= 1


@tile.jit
def batched(a_ptr, b_ptr, c_ptr, K, batch_a, batch_b, B: tl.constexpr):
    """One matrix of a batch for each program, its offset in 64 bits."""
    z = tl.program_id(0).to(tl.int64)
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    a_ptrs = a_ptr + z * batch_a + i * K + j
    b_ptrs = b_ptr + z * batch_b + j * K + i
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        a = tl.load(a_ptrs + k, mask=j < K - k, other=0.0)
        b = tl.load(b_ptrs + k, mask=i < K - k, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + z * B * B + i * B + j, acc)


@pytest.mark.parametrize("k", [32, 80])
def test_batches(k):
    a, b = random((3, 32, k), "fp16", 1), random((3, 32, k), "fp16", 2)
    out = poisoned((3, 32, 32), "fp32")
    kernel = batched[(3,)](a, b, out, k, 32 * k, 32 * k, 32)
    expected = a.astype(np.float64) @ b.astype(np.float64).transpose(0, 2, 1)
    np.testing.assert_allclose(out, expected, rtol=1e-2, atol=0.1)
    assert raised(kernel) >= 2


@tile.jit
def by_block_pointers(a_ptr, b_ptr, c_ptr, M, N, K, B: tl.constexpr):
    first = tl.program_id(0) * B
    a = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (first, 0), (B, B), (1, 0))
    b = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, 0), (B, B), (1, 0))
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(0, tl.cdiv(K, B)):
        x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, tl.load(b, boundary_check=(0, 1), padding_option="zero"), acc)
        a = tl.advance(a, (0, B))
        b = tl.advance(b, (B, 0))
    c = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (first, 0), (B, B), (1, 0))
    tl.store(c, acc, boundary_check=(0, 1))


def test_block_pointers():
    m, n, k = 80, 32, 48
    a, b, out = random((m, k), "fp16", 1), random((k, n), "fp16", 2), poisoned((m, n), "fp32")
    kernel = by_block_pointers[(2,)](a, b, out, m, n, k, 64)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-2, atol=0.1)
    assert raised(kernel) >= 2


def load_example(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("specialized", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("length", "size"), [(128, 64), (150, 64), (192, 128)])
def test_attention(length, size, causal, specialized):
    example = load_example("attention")
    q, k, v = np.random.default_rng(7).standard_normal((3, 2, length, size)).astype(np.float16)
    out = poisoned(q.shape, "fp16")
    kernel = example.attention(q, k, v, out, causal, bm=64, bn=32, specialized=specialized)
    expected = example.reference(q, k, v, causal)
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=2e-2, atol=2e-3)
    assert raised(kernel) >= 2


@pytest.fixture
def of_compiler(monkeypatch):
    """Loops are chosen by the compiler."""
    monkeypatch.delenv("TILE_RAISE_POINTERS")


def attend(length: int, size: int, blocks: tuple[int, int], causal: bool = False, **options):
    """One head of attention, as the example writes it."""
    example = load_example("attention")
    q, k, v = np.random.default_rng(8).standard_normal((3, 1, length, size)).astype(np.float16)
    out = poisoned(q.shape, "fp16")
    kernel = example.attention(q, k, v, out, causal, bm=blocks[0], bn=blocks[1], **options)
    wanted = example.reference(q, k, v, causal)
    np.testing.assert_allclose(out.astype(np.float64), wanted, rtol=2e-2, atol=2e-3)
    return kernel


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("default", (0, 0, 1)), (False, (0, 0, 0)), (True, (1, 1, 1))],
)
def test_which_loops(setting, expected, of_compiler):
    """By default, those with two dots, one behind the other, that leave no room for others."""
    options = {} if setting == "default" else {"raise_pointers": setting}
    plain = multiply((64, 64, 64), num_stages=1, **options)
    small = attend(128, 64, (64, 64), num_stages=1, **options)
    large = attend(128, 128, (128, 128), num_warps=8, num_stages=2, **options)
    assert tuple(int(raised(k) > 0) for k in (plain, small, large)) == expected


@tile.jit
def chained(q_ptr, k_ptr, out_ptr, steps, D: tl.constexpr, B: tl.constexpr):
    """Each key is its value, too."""
    i, d = tl.arange(0, B), tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    acc = tl.zeros((B, D), tl.float32)
    for t in range(0, steps):
        k = tl.load(k_ptr + (t * B + i)[:, None] * D + d[None, :])
        weights = (tl.dot(q, k.T) > 0).to(tl.float16)
        acc = tl.dot(weights, k, acc)
    tl.store(out_ptr + i[:, None] * D + d[None, :], acc)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_any_number_of_iterations(steps, of_compiler):
    q, k = random((128, 128), "fp16", 1), random((max(steps, 1) * 128, 128), "fp16", 2)
    out = poisoned((128, 128), "fp32")
    kernel = chained[(1,)](q, k, out, steps, 128, 128, num_warps=8, num_stages=2)
    q, k = q.astype(np.float64), k[: steps * 128].astype(np.float64)
    np.testing.assert_allclose(out, (q @ k.T > 0) @ k, rtol=1e-3, atol=1e-2)
    # What is 1 at a launch is known to be it: then there is no loop.
    assert (raised(kernel) > 0) == (steps != 1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [256, 320])
def test_groups_of_warps_take_turns(length, causal, of_compiler):
    """Results of dots take half of the registers of a multiprocessor: copies get warps."""
    kernel = attend(length, 128, (128, 128), causal, num_warps=8, num_stages=2)
    assert kernel.asm["ttgir"].count("ttg.warp_specialize(") >= 1
    assert raised(kernel) >= 2


@pytest.mark.parametrize(
    ("blocks", "options"),
    [
        ((128, 64), {"num_warps": 8}),
        ((128, 128), {"num_warps": 8, "specialize_warps": False}),
        ((128, 128), {"num_warps": 8, "maxnreg": 255}),
        ((128, 128), {"num_warps": 8, "raise_pointers": False}),
    ],
)
def test_where_they_do_not(blocks, options, of_compiler):
    kernel = attend(128, 128, blocks, num_stages=2, **options)
    assert "ttg.warp_specialize(" not in kernel.asm["ttgir"]


@pytest.mark.parametrize("options", [{"launch_pdl": True}, {"num_ctas": 2}, {"tma": False}])
def test_launches_that_raise_nothing(options, of_compiler):
    """Programs of the next launch would overwrite descriptors that those of the last one use."""
    assert raised(attend(128, 128, (128, 128), num_warps=8, num_stages=2, **options)) == 0


@pytest.mark.parametrize("machine", ["cuda:80", "cuda:100", "cuda:120"])
def test_targets_that_were_not_measured(machine, of_compiler, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", machine)
    assert raised(attend(128, 128, (128, 128), num_warps=8, num_stages=1)) == 0


def test_no_room_for_descriptors(of_compiler, monkeypatch, capfd):
    """Where descriptors take too much of shared memory, the kernel is as before."""
    backend = type(find_backend(tile.GPUTarget("cuda", 90, 32)))
    shortage = {"message": "too much", "places": [], "severity": "error"}
    monkeypatch.setattr(backend, "_find_shortage", lambda *_: shortage)
    assert raised(attend(128, 128, (128, 128), num_warps=8, num_stages=1)) == 0
    assert "no loop gets descriptors where nobody asks for them: too much" in capfd.readouterr().err


def test_stages_by_hand_need_no_memory(of_compiler):
    """Who runs stages by hand launches the kernel without memory of ours."""
    target = tile.GPUTarget("cuda", 90, 32)
    backend = find_backend(target)
    options = backend.parse_options({"num_warps": 8, "num_stages": 2})
    module = make_source(target).make_ir(options, _C.ir.Context())
    metadata: dict = {}
    module = backend.make_ttir(module, metadata, options)
    module = backend.make_ttgir(module, metadata, options, 90)
    assert "ttnvgpu.tensor_map" not in str(module) and "tensormap_create" not in str(module)
    kernel = tile.compile(
        make_source(target), target=target, options={"num_warps": 8, "num_stages": 2}
    )
    assert "ttnvgpu.tensor_map" in kernel.asm["ttgir"]


def make_source(target):
    types = {"q_ptr": "*fp16", "k_ptr": "*fp16", "out_ptr": "*fp32", "steps": "i32"}
    constants = {"D": 128, "B": 128}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    signature = {**types, **dict.fromkeys(constants, "constexpr")}
    return ASTSource(chained, signature, constants, aligned)
