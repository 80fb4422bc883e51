"""What gfx1250 has of its own: copies into LDS that lanes ask for, and of tiles of tensors."""

from __future__ import annotations

import re

import ml_dtypes  # noqa: F401 (the names of 8-bit floats)
import numpy as np
import pytest

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx1250")
    monkeypatch.setenv("TILE_DRIVER", "sim")


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
def test_operands_go_straight_to_lds(iterations, dtype):
    m, n, k = 200, 128, 64 * iterations - 16 * (iterations > 1)
    rng = np.random.default_rng(iterations)
    a = rng.integers(-4, 5, (m, max(k, 1))).astype(np.int8)
    b = rng.integers(-4, 5, (max(k, 1), n)).astype(np.int8)
    want = a.astype(int) @ b if k else np.zeros((m, n), int)
    a, b = (x.astype(np.float32).astype(dtype) for x in (a, b))
    out = np.full((m, n), 7, np.float32)
    kernel = product[(2, 2)](
        a, b, out, m, n, k, BM=128, BN=64, BK=64, num_warps=4, use_async_copy=True
    )
    assert (out == want).all()
    if k > 1:
        assert "global_load_async_to_lds_b128" in kernel.asm["amdgcn"]
        assert "ttg.local_store" not in kernel.asm["ttgir"]


def test_a_missing_wait_is_found():
    a, b = np.ones((32, 64), np.float16), np.ones((64, 32), np.float16)
    out = np.zeros((32, 32), np.float32)
    arguments = dict(BM=32, BN=32, BK=32, num_warps=1, use_async_copy=True)
    kernel = product[(1,)](a, b, out, 32, 32, 64, **arguments)
    text, count = re.subn("s_wait_asynccnt.*", "s_nop 0", kernel.asm["amdgcn"])
    assert count
    args = [a, b, out, 32, 32, 64]
    shared = kernel.metadata.shared
    report = tile.sim.launch(
        text, "product", 1, 32, args, dynamic_shared=shared, raise_on_finding=False
    )
    assert "async-race" in [f["kind"] for f in report.to_dict()["findings"]]


@tile.jit
def product_of_any_order(
    a, b, c, K, AM, AK: tl.constexpr, BK: tl.constexpr, BN, M: tl.constexpr, N: tl.constexpr,
    STEP: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    kind: tl.constexpr = tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32
    acc = tl.zeros((M, N), kind)
    for start in range(0, K, STEP):
        left = tl.load(a + m[:, None] * AM + (start + k)[None, :] * AK)
        right = tl.load(b + (start + k)[:, None] * BK + n[None, :] * BN)
        acc = tl.dot(left, right, acc, out_dtype=kind)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float32))


@pytest.mark.sweep
@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "int8"])
def test_operands_across_k_are_read_by_transposing_loads(dtype, warps, copies):
    """A and B as memory may have them; where it has both along K, there are no such loads."""
    m, n, k = 32, 64, 128
    rng = np.random.default_rng(warps)
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
    want = a @ b
    a, b = (x.astype(np.float32).astype(dtype) for x in (a, b))
    load = "ds_load_tr16_b128" if a.itemsize == 2 else "ds_load_tr8_b64"
    for a_along, b_along in ((True, False), (False, True), (False, False), (True, True)):
        left = a if a_along else np.ascontiguousarray(a.T)
        right = np.ascontiguousarray(b.T) if b_along else b
        strides = dict(AM=k, AK=1) if a_along else dict(AM=1, AK=m)
        strides |= dict(BN=k, BK=1) if b_along else dict(BN=1, BK=n)
        out = np.zeros((m, n), np.float32)
        kernel = product_of_any_order[(1,)](
            left, right, out, k, M=m, N=n, STEP=64, num_warps=warps, use_async_copy=copies,
            **strides,
        )  # fmt: skip
        assert (out == want).all(), (a_along, b_along)
        text = kernel.asm["amdgcn"]
        assert (load in text) == (not (a_along and b_along)), (a_along, b_along)
        assert "ds_load_u8" not in text and "ds_load_u16" not in text


@tile.jit
def copy(x, y, M, N, i, j, BM: tl.constexpr, BN: tl.constexpr):
    tl.assume(i >= 0)
    tl.assume(j >= 0)
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    target.store([i, j], source.load([i, j]) + 1)


@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_blocks_are_copied_as_tiles(dtype, warps):
    """Also where a block is beyond the end of the tensor, or has fewer rows than waves."""
    rng = np.random.default_rng(warps)
    for block, at in (((64, 32), (0, 0)), ((64, 32), (20, 48)), ((2, 64), (38, 0)),
                      ((32, 32), (64, 0)), ((1, 16), (39, 64))):  # fmt: skip
        x = rng.integers(0, 99, (40, 80)).astype(dtype)
        y = np.zeros_like(x)
        kernel = copy[(1,)](x, y, 40, 80, *at, BM=block[0], BN=block[1], num_warps=warps)
        want = np.zeros_like(x)
        part = tuple(slice(a, a + b) for a, b in zip(at, block, strict=True))
        want[part] = x[part] + 1
        assert (y == want).all(), (block, at)
        text = kernel.asm["amdgcn"]
        assert "tensor_load_to_lds" in text and "tensor_store_from_lds" in text


@tile.jit
def copy_anywhere(x, y, M, N, i, j, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(y, [BM, BN], [BN, 1], [BM, BN])
    target.store([0, 0], source.load([i, j]))


def test_blocks_that_start_before_the_tensor_take_pointers():
    x, y = np.arange(1, 65, dtype=np.float32).reshape(8, 8), np.zeros((8, 8), np.float32)
    kernel = copy_anywhere[(1,)](x, y, 8, 8, -3, -2, BM=8, BN=8)
    want = np.zeros((8, 8), np.float32)
    want[3:, 2:] = x[:5, :6]
    assert (y == want).all()
    text = kernel.asm["amdgcn"]
    assert "tensor_load_to_lds" not in text and "tensor_store_from_lds" in text


@tile.jit
def transpose_blocks(x, y, A, B, C, D: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [A, B, C], [B * C, C, 1], [4, 2, D])
    target = tl.make_tensor_descriptor(y, [C, B, A], [B * A, A, 1], [D, 2, 4])
    i, j = tl.program_id(0) * 4, tl.program_id(1) * 2
    for k in range(0, C, D):
        target.store([k, j, i], tl.permute(source.load([i, j, k]), (2, 1, 0)))


def test_tiles_of_three_dimensions():
    x = np.random.default_rng(3).integers(0, 99, (3, 5, 24)).astype(np.float32)
    y = np.zeros((24, 5, 3), np.float32)
    kernel = transpose_blocks[(1, 3)](x, y, 3, 5, 24, D=16)
    assert (y == x.transpose(2, 1, 0)).all()
    assert "tensor_load_to_lds" in kernel.asm["amdgcn"]


@tile.jit
def product_of_blocks(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    result = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(left.load([m, k]), right.load([k, n]), acc)
    result.store([m, n], acc.to(tl.float16))


@pytest.mark.parametrize("k", [0, 32, 150])
def test_products_of_blocks(k):
    m, n = 100, 72
    rng = np.random.default_rng(k)
    a = rng.integers(-4, 5, (m, max(k, 1))).astype(np.float16)
    b = rng.integers(-4, 5, (max(k, 1), n)).astype(np.float16)
    want = a @ b if k else np.zeros((m, n))
    out = np.full((m, n), 7, np.float16)
    kernel = product_of_blocks[(2, 2)](a, b, out, m, n, k, BM=64, BN=64, BK=32, num_warps=4)
    assert (out == want).all()
    text = kernel.asm["amdgcn"]
    assert "tensor_load_to_lds" in text and "ds_load_tr16_b128" in text
    if k < 32:
        return
    arguments = [a, b, out, m, n, k]
    report = tile.sim.launch(
        text, "product_of_blocks", (2, 2), 128, arguments, dynamic_shared=kernel.metadata.shared
    )
    assert report.to_dict()["counters"]["bank_conflicts"] == 0
    # Each iteration has one barrier, between its wait and the copies for the next one.
    loop = re.search(r"^(\.LBB\d+_\d+):(?:(?!^\.LBB).)*?s_cbranch\w+ \1", text, re.M | re.S).group()
    assert loop.count("s_barrier_wait") == 1 and loop.count("tensor_load_to_lds") == 2
    broken = text.replace(
        loop, loop.replace("s_barrier_signal -1", "").replace("s_barrier_wait -1", "")
    )
    report = tile.sim.launch(
        broken, "product_of_blocks", (2, 2), 128, arguments,
        dynamic_shared=kernel.metadata.shared, raise_on_finding=False,
    )  # fmt: skip
    assert report.to_dict()["findings"]


@tile.jit
def product_of_descriptors(left, right, result, K, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, left.block_shape[1]):
        acc = tl.dot(left.load([m, k]), right.load([k, n]), acc)
    result.store([m, n], acc.to(tl.float16))


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptors_from_the_host(padding):
    """Blocks are copied as tiles if elements outside of the tensor are zeros."""
    m, n, k = 56, 72, 96
    rng = np.random.default_rng(5)
    a = rng.integers(-4, 5, (m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (k, n)).astype(np.float16)
    out = np.full((m, n), 7, np.float16)
    left = TensorDescriptor.from_tensor(a, [32, 32], padding)
    right = TensorDescriptor.from_tensor(b, [32, 64], padding)
    result = TensorDescriptor.from_tensor(out, [32, 64])
    kernel = product_of_descriptors[(2, 2)](left, right, result, k, BM=32, BN=64, num_warps=4)
    assert (out == a @ b).all()
    text = kernel.asm["amdgcn"]
    assert "tensor_store_from_lds" in text
    assert ("tensor_load_to_lds" in text) == (padding == "zero")


def test_a_missing_wait_for_a_tile_is_found():
    x, y = np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)
    kernel = copy[(1,)](x, y, 32, 32, 0, 0, BM=32, BN=32, num_warps=1)
    text = kernel.asm["amdgcn"]
    waits = [m.start() for m in re.finditer("s_wait_tensorcnt", text)]
    assert len(waits) == 2
    for at in waits:
        broken = text[:at] + "s_nop 0 ;" + text[at:]
        args = [x, y, 32, 32, 0, 0]
        report = tile.sim.launch(
            broken, "copy", 1, 32, args, dynamic_shared=kernel.metadata.shared,
            raise_on_finding=False,
        )  # fmt: skip
        assert report.to_dict()["findings"], broken[at : at + 40]
