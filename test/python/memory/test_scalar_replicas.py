"""A scalar is one number: all threads have the same copy of it, bit for bit.

What it decides they do together: a branch, a loop, an address.
"""

from __future__ import annotations

import numpy as np
import pytest
from reference import on_nvidia, poisoned, sim_only

import tile
import tile.language as tl

pytestmark = pytest.mark.every_target

THREADS = 1024


@tile.jit
def scalar_of(x, N: tl.constexpr, HOW: tl.constexpr):
    """A sum whose last bits depend on what is rounded when."""
    if HOW == "constant":
        return tl.sum(x * 0.73, 0)
    elif HOW == "square":
        return tl.sum(x * x, 0)
    elif HOW == "weights":
        return tl.sum(x * (0.1 + tl.arange(0, N) * 0.3), 0)
    elif HOW == "sums":
        rows = tl.reshape(x, (N // 4, 4))
        return tl.sum(tl.sum(rows * 0.73, 1) * 0.51, 0)
    elif HOW == "double":
        return tl.sum(x.to(tl.float64) * 0.73, 0)
    else:
        return tl.reduce(x * 0.73, 0, mean_of)


@tile.jit
def mean_of(a, b):
    return a * 0.5 + b * 0.5


@tile.jit
def store_copies(x_ptr, out_ptr, N: tl.constexpr, T: tl.constexpr, HOW: tl.constexpr):
    u = scalar_of(tl.load(x_ptr + tl.arange(0, N)), N, HOW)
    tl.store(out_ptr + tl.arange(0, T), tl.zeros((T,), u.dtype) + u)


WAYS = ["constant", "square", "weights", "sums", "double", "function"]


@pytest.mark.sweep
@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("how", WAYS)
def test_all_copies_are_one_number(how, warps):
    for seed in range(4):
        for n in (32, 64, 16, 512):
            x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
            out = poisoned(THREADS, "fp64" if how == "double" else "fp32")
            store_copies[(1,)](x, out, N=n, T=THREADS, HOW=how, num_warps=warps)
            assert len(set(out.view(f"u{out.itemsize}").tolist())) == 1


@tile.jit
def branch_kernel(x_ptr, t_ptr, y_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    u = tl.sum(x * 0.73, 0)
    bits = u.to(tl.int32, bitcast=True)
    result = 0
    if u >= tl.load(t_ptr):
        result += tl.sum((x * 8).to(tl.int32), 0)
    for _ in range(bits & 3):
        result += tl.max((x * 8).to(tl.int32), 0)
    element = tl.load(y_ptr + (bits & 63))
    tl.store(out_ptr, result)
    tl.store(out_ptr + 1, element)
    tl.store(out_ptr + 2, bits)


@pytest.mark.parametrize("warps", [1, 4])
def test_what_a_sum_decides(warps):
    y = np.random.default_rng(99).integers(0, 1000, 64, dtype=np.int32)
    for seed in range(8):
        n = 32 * warps
        x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
        # The threshold is what one of two roundings gives.
        t = np.array([(x * np.float32(0.73)).sum(dtype=np.float32)])
        out = poisoned(3, "i32")
        branch_kernel[(1,)](x, t, y, out, N=n, num_warps=warps)
        u, bits = out[2:].view(np.float32)[0], int(out[2])
        np.testing.assert_allclose(u, t[0], 1e-4, 1e-4)
        eighths = (x * 8).astype(np.int32)
        want = eighths.sum() * (u >= t[0]) + eighths.max() * (bits & 3)
        assert out[0] == want
        assert out[1] == y[bits & 63]


@tile.jit
def differing_kernel(out_ptr, LANE: tl.constexpr, N: tl.constexpr):
    lane = tl.inline_asm_elementwise(LANE, "=r" if LANE[0] == "m" else "=v", [], tl.int32, True, 1)
    if lane * 0 + tl.where(lane > 5, 1, 0) == 1:
        tl.store(out_ptr + tl.arange(0, N), tl.zeros((N,), tl.int32))


@tile.jit
def in_place_kernel(x_ptr, n, at, B: tl.constexpr):
    """What all threads read is overwritten by one of them, in a loop that may not run."""
    first = tl.load(x_ptr + at)
    for i in range(0, n, B):
        offsets = i + tl.arange(0, B)
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(x_ptr + offsets, x * 2 + first, mask=offsets < n)
    tl.debug_barrier()
    tl.store(x_ptr + at, first - 1)


@pytest.mark.parametrize("n", [0, 1, 100, 128, 500])
def test_blocks_over_a_scalar_that_was_read_before_the_loop(n):
    for at in (0, n // 2, n):
        x = np.random.default_rng(n).integers(-99, 99, n + 1).astype(np.int32)
        expected = x.copy()
        expected[:n] = x[:n] * 2 + x[at]
        expected[at] = x[at] - 1
        in_place_kernel[(1,)](x, n, at, B=128, num_warps=4)
        np.testing.assert_array_equal(x, expected)


@sim_only
@pytest.mark.compiled
def test_copies_are_compared_on_request():
    text = "mov.u32 $0, %laneid;" if on_nvidia() else "v_mbcnt_lo_u32_b32 $0, -1, 0"
    with pytest.raises(tile.TileError, match="different copies of a scalar that decides"):
        differing_kernel[(1,)](poisoned(64, "i32"), LANE=text, N=64, check_replicas=True)
    differing_kernel[(1,)](poisoned(64, "i32"), LANE=text, N=64)


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("warps", [1, 4])
def test_copies_that_are_compared_and_are_the_same(warps):
    x = np.random.default_rng(3).standard_normal(32 * warps).astype(np.float32)
    t = np.zeros(1, np.float32)
    y = np.arange(64, dtype=np.int32)
    plain, checked = poisoned(3, "i32"), poisoned(3, "i32")
    branch_kernel[(1,)](x, t, y, plain, N=x.size, num_warps=warps)
    kernel = branch_kernel[(1,)](x, t, y, checked, N=x.size, num_warps=warps, check_replicas=True)
    np.testing.assert_array_equal(plain, checked)
    stage = "ptx" if on_nvidia() else "amdgcn"
    assert "different copies" in bytes_of_strings(kernel.asm[stage])


def bytes_of_strings(text: str) -> str:
    """The characters that assembly spells as numbers, and the text itself."""
    numbers = [int(n) for n in text.replace(",", " ").split() if n.isdigit() and int(n) < 256]
    return text + "".join(map(chr, numbers))
