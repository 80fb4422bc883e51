"""Eviction priorities in the L2 cache: of loads, stores, asynchronous and bulk tensor copies."""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, random

import tile
import tile.language as tl


@tile.jit
def pass_on(x, out, n, N: tl.constexpr, POLICY: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.load(x + i, mask=i < n, eviction_policy=POLICY)
    tl.store(out + i, value, mask=i < n, eviction_policy=POLICY)


@pytest.mark.parametrize("policy", ["", "evict_normal", "evict_first", "evict_last"])
@pytest.mark.parametrize("target", ["cuda:75", "cuda:80", "cuda:90"])
def test_loads_and_stores(target, policy, monkeypatch):
    run_on(target, monkeypatch)
    x, out = random(1000, "fp32", 1), poisoned(1000, "fp32")
    ptx = pass_on[(1,)](x, out, 1000, 1024, policy).asm["ptx"]
    np.testing.assert_array_equal(out, x)
    special = policy in ("evict_first", "evict_last")
    assert ptx.count(f".L1::{policy}") == 4 * special
    # One policy is enough for all accesses of a kernel.
    with_policies = special and target != "cuda:75"
    assert ptx.count("createpolicy") == with_policies
    assert ptx.count(".L2::cache_hint") == 4 * with_policies


@tile.jit
def multiply(
    a, b, out, K, A_POLICY: tl.constexpr, B_POLICY: tl.constexpr, SIZE: tl.constexpr,
    BY_DESCRIPTORS: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, SIZE)
    acc = tl.zeros((SIZE, SIZE), tl.float32)
    if BY_DESCRIPTORS:
        a_desc = tl.make_tensor_descriptor(a, [SIZE, K], [K, 1], [SIZE, SIZE])
        b_desc = tl.make_tensor_descriptor(b, [K, SIZE], [SIZE, 1], [SIZE, SIZE])
    for k in range(0, K, SIZE):
        if BY_DESCRIPTORS:
            x = a_desc.load([0, k], eviction_policy=A_POLICY)
            y = b_desc.load([k, 0], eviction_policy=B_POLICY)
        else:
            x = tl.load(a + i[:, None] * K + k + i[None, :], eviction_policy=A_POLICY)
            y = tl.load(b + (k + i[:, None]) * SIZE + i[None, :], eviction_policy=B_POLICY)
        acc = tl.dot(x, y, acc)
    tl.store(out + i[:, None] * SIZE + i[None, :], acc)


@pytest.mark.parametrize("by_descriptors", [False, True])
def test_copies(by_descriptors, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    a, b = random((64, 256), "fp16", 1), random((256, 64), "fp16", 2)
    out = poisoned((64, 64), "fp32")
    policies = ("evict_first", "evict_last")
    kernel = multiply[(1,)](a, b, out, 256, *policies, 64, by_descriptors, num_stages=3)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b, rtol=1e-3, atol=1e-2)
    copy = "cp.async.bulk.tensor" if by_descriptors else "cp.async.cg"
    lines = [line for line in kernel.asm["ptx"].splitlines() if copy in line]
    assert lines and all(".L2::cache_hint" in line for line in lines)
    for policy in policies:
        assert kernel.asm["ptx"].count(f"createpolicy.fractional.L2::{policy}.b64") == 1
