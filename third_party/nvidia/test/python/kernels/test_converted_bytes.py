"""Integers of 8 bits become floats: all of them, packed in registers and one by one."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl

#: Targets are named, and what is compiled for them is looked at.
pytestmark = sim_only

TYPES = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32}


@pytest.fixture(autouse=True)
def target():
    """Each test names its own, in place of the targets of the other kernels."""


@tile.jit
def convert_kernel(x_ptr, out_ptr, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * STRIDE)
    # Not a number of the byte alone, so that it is one of the register's, too.
    tl.store(out_ptr + i * STRIDE, x.to(out_ptr.dtype.element_ty) * 2 + 1)


@pytest.mark.parametrize("machine", ["cuda:80", "cuda:90", "cuda:100"])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("source", [np.int8, np.uint8])
@pytest.mark.parametrize("stride", [1, 3])
def test_all_bytes(source, kind, stride, machine, monkeypatch):
    """Two strides: elements that share a register, and others."""
    monkeypatch.setenv("TILE_SIM_TARGET", machine)
    x = np.repeat(np.random.default_rng(5).permutation(np.arange(256, dtype=np.uint8)), stride)
    x = x.view(source)
    out = poisoned((256 * stride,), kind)
    kernel = convert_kernel[(1,)](x, out, STRIDE=stride, BLOCK=256, num_warps=1)
    # Rounded once behind each operation, as the kernel does.
    number = x[::stride].astype(np.float32).astype(TYPES[kind])
    expected = (number * TYPES[kind](2) + TYPES[kind](1)).astype(np.float32)
    np.testing.assert_array_equal(out[::stride].astype(np.float32), expected)
    if machine != "cuda:80" and kind != "fp32":
        assert not re.search(r"cvt\.rn\.\S*\.[su]8", kernel.asm["ptx"])


@tile.jit
def nibbles_kernel(x_ptr, out_ptr, ZERO: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * STRIDE)
    for k in tl.static_range(8):
        weight = (x >> (4 * k) & 15) - ZERO
        tl.store(out_ptr + (k * BLOCK + i) * STRIDE, weight.to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize("machine", ["cuda:80", "cuda:90"])
@pytest.mark.parametrize("kind", ["fp16", "bf16"])
@pytest.mark.parametrize("zero", [0, 8, 120, 200, -240, -300])
@pytest.mark.parametrize("stride", [1, 3])
def test_wider_integers_that_are_small(stride, zero, kind, machine, monkeypatch):
    """Weights of four bits in integers of 32, minus a number that may take them out of a byte."""
    monkeypatch.setenv("TILE_SIM_TARGET", machine)
    x = np.random.default_rng(9).integers(-(2**31), 2**31, 128 * stride, np.int32)
    out = poisoned((8 * 128 * stride,), kind)
    kernel = nibbles_kernel[(1,)](x, out, ZERO=zero, STRIDE=stride, BLOCK=128, num_warps=1)
    nibbles = np.concatenate([(x[::stride] >> (4 * k)) & 15 for k in range(8)]) - zero
    np.testing.assert_array_equal(
        out[::stride].astype(np.float32), nibbles.astype(np.float32).astype(TYPES[kind])
    )
    is_slow = re.search(r"cvt\.rn\.\S*\.[su](16|32)", kernel.asm["ptx"]) is not None
    # Of -120 to -105, LLVM does not say that eight bits hold them.
    if zero != 120 and (kind == "fp16" or machine == "cuda:90"):
        assert is_slow == (zero in (200, -300))


@tile.jit
def zero_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 1 / tl.load(x_ptr + i).to(out_ptr.dtype.element_ty).to(tl.float32))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("source", [np.int8, np.uint8])
def test_zero_is_positive(source, kind, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    out = poisoned((128,), kind)
    zero_kernel[(1,)](np.zeros(128, source), out, BLOCK=128, num_warps=1)
    assert (out.astype(np.float32) == np.inf).all()


@tile.jit
def product_kernel(
    a_ptr, b_ptr, scale_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        mask = (m[:, None] < M) & (first + k < K)
        a = tl.load(a_ptr + m[:, None] * K + first + k, mask=mask, other=0)
        b_mask = (first + k[:, None] < K) & (n < N)
        b = tl.load(b_ptr + (first + k[:, None]) * N + n, mask=b_mask, other=0.0)
        acc = tl.dot(a.to(b.dtype), b, acc)
    scale = tl.load(scale_ptr + m, mask=m < M, other=0.0)
    mask = (m[:, None] < M) & (n < N)
    tl.store(out_ptr + m[:, None] * N + n, acc * scale[:, None], mask=mask)


@pytest.mark.parametrize("machine", ["cuda:80", "cuda:90", "cuda:100"])
@pytest.mark.parametrize("kind", ["fp16", "bf16"])
@pytest.mark.parametrize("source", [np.int8, np.uint8])
def test_weights_of_eight_bits(source, kind, machine, monkeypatch):
    """Their dot with others, of ragged sizes."""
    monkeypatch.setenv("TILE_SIM_TARGET", machine)
    rng = np.random.default_rng(11)
    m, n, k = 100, 16, 208
    limits = np.iinfo(source)
    a = rng.integers(limits.min, limits.max, (m, k), source, endpoint=True)
    b = rng.standard_normal((k, n)).astype(TYPES[kind])
    scale = rng.random(m).astype(np.float32) / 64
    out = poisoned((m, n), "fp32")
    product_kernel[(2,)](a, b, scale, out, m, n, k, BM=64, BN=16, BK=64, num_warps=4)
    expected = a.astype(np.float64) @ b.astype(np.float64) * scale[:, None].astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-3)
