"""What gfx950 has beyond gfx942, executed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_block_pingpong import check_attention
from test_dot_scaled import run

import tile
import tile.language as tl


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx950")


def matrix_instructions(kernel) -> set[str]:
    return set(re.findall(r"v_mfma_\w+", kernel.asm["amdgcn"]))


@pytest.mark.parametrize(
    ("left", "right"),
    [("e4m3", "e4m3"), ("e5m2", "e2m1"), ("e2m1", "e4m3"), ("e2m1", "e2m1"), ("e4m3", "e5m2")],
)
def test_scaled_products(left, right):
    for rows, name in ((32, "32x32x64"), (16, "16x16x128")):
        kernel = run(left, right, m=64, n=32, k=256, matrix_instr_nonkdim=rows)
        assert matrix_instructions(kernel) == {f"v_mfma_scale_f32_{name}_f8f6f4"}


@pytest.mark.parametrize(
    ("m", "n", "k", "warps"), [(16, 16, 128, 1), (16, 64, 128, 4), (128, 32, 64, 8)]
)
def test_sizes_of_scaled_products(m, n, k, warps):
    kernel = run("e4m3", "e2m1", m=m, n=n, k=k, num_warps=warps)
    assert all("mfma_scale" in name for name in matrix_instructions(kernel))


@pytest.mark.parametrize(("a_scaled", "b_scaled"), [(True, False), (False, True), (False, False)])
def test_missing_scales(a_scaled, b_scaled):
    kernel = run("e4m3", "e5m2", a_scaled, b_scaled, m=32, n=32, k=128)
    assert matrix_instructions(kernel) <= {
        "v_mfma_scale_f32_32x32x64_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"
    }  # fmt: skip


def test_what_no_instruction_scales_becomes_a_plain_product():
    # Too short, too wide, or packed along the rows.
    for kernel in (
        run("e4m3", "e4m3", m=16, n=16, k=32),
        run("e4m3", "bf16", b_scaled=False),
        run("e2m1", "e2m1", pack=False, m=32, n=32, k=128),
    ):
        assert not any("f8f6f4" in name for name in matrix_instructions(kernel))


@tile.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(
            a + m[:, None] * K + (start + k)[None, :],
            mask=(m < M)[:, None] & (start + k < K)[None, :],
            other=0.0,
        )
        right = tl.load(
            b + (start + k)[:, None] * N + n[None, :], mask=(start + k < K)[:, None], other=0.0
        )
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None])


@pytest.mark.parametrize("iterations", [0, 1, 4])
@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn"])
def test_operands_go_straight_to_lds(iterations, dtype, monkeypatch):
    monkeypatch.setenv("TRITON_HIP_USE_ASYNC_COPY", "1")
    m, n, k = 200, 128, 64 * iterations - 16 * (iterations > 1)
    rng = np.random.default_rng(iterations)
    a = rng.integers(-4, 5, (m, max(k, 1))).astype(np.int8)
    b = rng.integers(-4, 5, (max(k, 1), n)).astype(np.int8)
    want = a.astype(int) @ b if k else np.zeros((m, n), int)
    a, b = (x.astype(np.float32).astype(dtype) for x in (a, b))
    out = np.full((m, n), 7, np.float32)
    kernel = product[(2, 2)](a, b, out, m, n, k, BM=128, BN=64, BK=64, num_warps=4)
    assert (out == want).all()
    if k > 1:
        assert re.search(r"load_dwordx4 .* lds", kernel.asm["amdgcn"])
        assert "ttg.local_store" not in kernel.asm["ttgir"]
        assert ("f8f6f4" in kernel.asm["amdgcn"]) == (dtype != "float16")


@pytest.mark.parametrize("copies", [False, True])
def test_attention(copies):
    check_attention(use_async_copy=copies)


@tile.jit
def small_product(a, b, out):
    m, k = tl.arange(0, 16), tl.arange(0, 32)
    acc = tl.zeros([16, 16], tl.int32)
    for start in range(0, 64, 32):
        left = tl.load(a + m[:, None] * 64 + k[None, :] + start)
        right = tl.load(b + k[:, None] + m[None, :] * 64 + start)
        acc = tl.dot(left, right, acc)
    tl.store(out + m[:, None] * 16 + m[None, :], acc)


@pytest.mark.parametrize("warps", [1, 2, 4])
def test_lanes_that_do_not_write_side_by_side_take_registers(warps):
    """The halves of a row change places in every other eight rows, which are the second wave's."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, (16, 64)).astype(np.int8) for _ in range(2))
    out = np.zeros((16, 16), np.int32)
    small_product[(1,)](a, b, out, num_warps=warps, use_async_copy=True)
    assert (out == a.astype(int) @ b.T).all()
