"""What GPUs of the Blackwell generation have beyond Hopper's in single instructions, executed."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl

#: An H100 or H200 has none of this.
pytestmark = sim_only

TARGETS = ["cuda:100", "cuda:103", "cuda:110", "cuda:120", "cuda:121"]


@pytest.fixture(autouse=True)
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", getattr(request, "param", "cuda:120"))


def accesses(kernel) -> set[str]:
    """Vectors and types of all accesses of global memory."""
    found = re.findall(r"^.*\b(?:ld|st)(?:\.volatile)?\.global(\S*)", kernel.asm["ptx"], re.M)
    return {".".join(text.split(".")[-2:]) for text in found}


def aligned(count: int, dtype: type, by: int = 64) -> np.ndarray:
    """An array at a multiple of `by` bytes, and of no more."""
    room = np.zeros(count * np.dtype(dtype).itemsize + 4 * by, np.uint8)
    start = -room.ctypes.data % (2 * by) + by
    return room[start : start + count * np.dtype(dtype).itemsize].view(dtype)


@tile.jit
def copy_kernel(
    x_ptr, out_ptr, n, BLOCK: tl.constexpr, ALIGNED: tl.constexpr, MASKED: tl.constexpr,
    HOW: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source = tl.multiple_of(x_ptr + at, ALIGNED)
    to = tl.multiple_of(out_ptr + at, ALIGNED)
    if MASKED:
        x = tl.load(source, at < n * 32, 0)
        tl.store(to, x + x, at < n * 32)
    elif HOW == "volatile":
        tl.store(to, tl.load(source, volatile=True) + 1)
    elif HOW == "hinted":
        x = tl.load(source, cache_modifier=".cg", eviction_policy="evict_last")
        tl.store(to, x + x, eviction_policy="evict_first")
    else:
        x = tl.load(source)
        tl.store(to, x + x)


#: Both have 32 bytes.
WIDE = {"v8.b32", "v4.b64"}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", TARGETS, indirect=True)
@pytest.mark.parametrize("how", ["plain", "hinted", "volatile", "masked"])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.int64])
def test_accesses_of_32_bytes(dtype, how, target):
    masked = how == "masked"
    # Elements of a thread that are neighbours in memory have 32 bytes.
    n = 8192 - 160 * masked
    x, out = aligned(n, dtype), aligned(n, dtype)
    x[:] = np.random.default_rng(0).integers(-40, 40, n)
    out[:] = 99
    kernel = copy_kernel[(2,)](x, out, n // 32, 4096, 32, masked, how)
    np.testing.assert_array_equal(out, x + (1 if how == "volatile" else x))
    assert accesses(kernel) <= WIDE


@pytest.mark.parametrize("aligned_to", [16, 8])
def test_accesses_are_no_wider_than_their_alignment(aligned_to):
    x, out = aligned(4096, np.float32, aligned_to), aligned(4096, np.float32, aligned_to)
    x[:] = np.arange(4096)
    kernel = copy_kernel[(1,)](x, out, 128, 4096, aligned_to, False, "plain")
    np.testing.assert_array_equal(out, 2 * x)
    assert accesses(kernel) == {f"v{aligned_to // 4}.b32"}


@tile.jit
def product_kernel(
    a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr,
    ALIGNED: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(tl.multiple_of(a_ptr + m[:, None] * K + start + k[None, :], [1, ALIGNED]))
        b = tl.load(tl.multiple_of(b_ptr + n[None, :] * K + start + k[:, None], [ALIGNED, 1]))
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("target", ["cuda:100", "cuda:120"], indirect=True)
def test_copies_to_shared_memory_have_16_bytes(target, stages):
    """There are no wider ones, whatever the alignment."""
    k = 256
    a, b = (aligned(64 * k, np.float16).reshape(64, k) for _ in range(2))
    for seed, x in enumerate((a, b)):
        x[:] = np.random.default_rng(seed).integers(-2, 3, x.shape)
    out = poisoned((64, 64), "fp32")
    kernel = product_kernel[(1,)](a, b, out, k, 64, 64, 64, 32, num_stages=stages)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32).T)
    assert ("cp.async" in kernel.asm["ptx"]) == (stages > 1)
    assert bool(WIDE & accesses(kernel)) == (stages == 1)
