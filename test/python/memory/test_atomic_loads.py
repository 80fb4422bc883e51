"""Atomic loads and stores, and waiting for a value."""

from __future__ import annotations

import numpy as np
import pytest
from frontend import refusal
from reference import DTYPES, on_nvidia, poisoned, random

import tile
import tile.language as tl

TYPES = [t for t in DTYPES if t not in ("i8", "u8")]


@tile.jit
def copy_kernel(x_ptr, out_ptr, n, LOAD: tl.constexpr, STORE: tl.constexpr, N: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    mask = offsets < n
    x = tl.atomic_load(x_ptr + offsets, mask, *LOAD)
    (out_ptr + offsets).atomic_store(x, mask, *STORE)


@pytest.mark.parametrize("dtype", TYPES)
def test_blocks_under_a_mask(dtype):
    n = 150
    x, out = random(n, dtype), poisoned(n + 10, dtype)
    expected = np.concatenate([x, out[n:]])
    copy_kernel[(3,)](x, out, n, (), (), 64)
    assert (out.view(np.uint8) == expected.view(np.uint8)).all()


@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
@pytest.mark.parametrize("ordered", [True, False])
def test_orders_and_scopes(ordered, scope):
    load, store = ("acquire", "release") if ordered else ("relaxed", "relaxed")
    x, out = random(100, "i32"), poisoned(100, "i32")
    copy_kernel[(2,)](x, out, 100, (load, scope), (store, scope), 64)
    assert (out == x).all()


@tile.jit
def hand_over_kernel(flag_ptr, data_ptr, out_ptr, N: tl.constexpr):
    """Each program takes what the one before it left, adds one, and leaves it for the next."""
    pid = tl.program_id(0)
    offsets = tl.arange(0, N)
    found = tl.atomic_poll(flag_ptr, pid)
    x = tl.load(data_ptr + offsets)
    tl.store(data_ptr + offsets, x + 1)
    tl.store(out_ptr + pid, found)
    tl.debug_barrier()
    tl.atomic_store(flag_ptr, pid + 1)


@pytest.mark.parametrize("dtype", ["i16", "i32", "i64", "u32", "u64"])
def test_programs_wait_for_one_another(dtype):
    x = random(128, "i32")
    flag, data, out = np.zeros(1, DTYPES[dtype]), x.copy(), poisoned(5, "i32")
    hand_over_kernel[(5,)](flag, data, out, 128)
    assert flag[0] == 5 and (data == x + 5).all() and (out == 1).all()


@tile.jit
def poll_block_kernel(flags_ptr, out_ptr, TIMEOUT: tl.constexpr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    found = (flags_ptr + offsets).atomic_poll(offsets, sem="relaxed", timeout_ns=TIMEOUT)
    tl.store(out_ptr + offsets, found)


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("timeout", [None, 0, 2000])
def test_blocks_wait_for_all_elements(timeout, num_warps):
    if timeout is not None and not on_nvidia():
        pytest.skip("only NVIDIA GPUs have the clock")
    flags, out = np.arange(64, dtype=np.int32), poisoned(64, "i32")
    expected = np.ones(64, np.int32)
    if timeout is not None:
        late = np.random.default_rng(1).choice(64, 9, replace=False)
        flags[late] += 1
        expected[late] = 0
    poll_block_kernel[(1,)](flags, out, timeout, 64, num_warps=num_warps)
    assert (out == expected).all()


def test_time_ends_for_one_flag():
    if not on_nvidia():
        pytest.skip("only NVIDIA GPUs have the clock")

    @tile.jit
    def kernel(flag_ptr, out_ptr, timeout):
        tl.store(out_ptr, tl.atomic_poll(flag_ptr, 7, timeout_ns=timeout))

    for flag, expected in ((7, 1), (6, 0)):
        out = poisoned(1, "i32")
        kernel[(1,)](np.full(1, flag, np.int32), out, 0)
        assert out[0] == expected


@tile.jit
def load_release(p):
    tl.atomic_load(p, sem="release")


@tile.jit
def store_both(p):
    tl.atomic_store(p, 1, sem="acq_rel")


@tile.jit
def load_one(p):
    tl.atomic_load(p)


@tile.jit
def poll_one(p):
    tl.atomic_poll(p, 1)


@tile.jit
def poll_before_now(p):
    tl.atomic_poll(p, 1, timeout_ns=-1)


@pytest.mark.parametrize(
    ("kernel", "pointer", "text"),
    [
        (load_release, "*i32", "atomic_load takes the sem 'acquire' or 'relaxed', not 'release'"),
        (store_both, "*i32", "atomic_store takes the sem 'release' or 'relaxed', not 'acq_rel'"),
        (load_one, "*i8", "atomic_load does not support int8"),
        (poll_one, "*fp32", "atomic_poll takes pointers to integers of 16 to 64 bits"),
        (poll_one, "*i8", "atomic_poll takes pointers to integers of 16 to 64 bits"),
        (poll_before_now, "*i32", "atomic_poll waits for no less than 0 ns, not for -1"),
    ],
)
def test_refused(kernel, pointer, text):
    assert text in str(refusal(kernel, {"p": pointer}))
