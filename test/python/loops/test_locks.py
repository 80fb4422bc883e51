"""Loops that begin with an operation of one thread, behind another operation of that thread.

LLVM may lead that thread from one operation into the other, past the head of the loop. Then the
threads of its warp come to the next barrier one after the other.
"""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on

import tile
import tile.language as tl


@tile.jit
def locks_kernel(lock, out, ROUNDS: tl.constexpr):
    for _ in tl.range(0, ROUNDS):
        while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
            pass
        tl.atomic_add(out, 1)
        tl.atomic_xchg(lock, 0, sem="release")


@tile.jit
def empty_locks_kernel(lock, ROUNDS: tl.constexpr):
    for _ in tl.range(0, ROUNDS):
        while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
            pass
        tl.atomic_xchg(lock, 0, sem="release")


@tile.jit
def counted_kernel(counter, out, N: tl.constexpr, ROUNDS: tl.constexpr):
    for i in tl.range(0, ROUNDS):
        last = tl.atomic_add(counter, 1)
        while tl.atomic_add(counter + 1, 0) < last - N:
            pass
        tl.atomic_add(counter + 1, 1)
        tl.atomic_max(out + i, i)


@pytest.mark.sweep
@pytest.mark.parametrize("check_replicas", [False, True])
@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"])
def test_threads_stay_together(target, num_warps, check_replicas, monkeypatch):
    run_on(target, monkeypatch)
    options = {"num_warps": num_warps, "check_replicas": check_replicas}
    lock, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    locks_kernel[(4,)](lock, out, 3, **options)
    assert (lock[0], out[0]) == (0, 12)
    empty_locks_kernel[(4,)](lock, 2, **options)
    assert lock[0] == 0
    counter, order = np.zeros(2, np.int32), np.full(3, -1, np.int32)
    counted_kernel[(2,)](counter, order, 8, 3, **options)
    np.testing.assert_array_equal(counter, [6, 6])
    np.testing.assert_array_equal(order, [0, 1, 2])
