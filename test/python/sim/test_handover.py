"""Work that is handed over as libraries of dots and reductions do it, right and with mistakes.

The programs are in test/unit/Simulator/ptx/handover.cu.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_sharing import find_mistakes, floats, integers, simulate, zeros


# Each gives what those of test_sharing give.
def stream_k():
    tiles, steps, share = 5, 5, 2
    a, b = floats(tiles, steps), floats(tiles, steps, 64)
    ctas = -(-tiles * steps // share)
    c = zeros(tiles, 64, dtype=np.float32)
    arguments = [a, b, c, floats(ctas, 64), zeros(ctas, dtype=np.uint32), tiles, steps, share]
    return ctas, 64, arguments, 1, lambda: (c, (a[:, :, None] * b).sum(1))


def cluster_reduce():
    x, out = integers(1000), zeros(2)

    def results():
        # The grid's threads take elements by turns.
        part = np.arange(1000) // 64 % 8 // 4
        return out, [x[part == i].sum() for i in (0, 1)]

    return 8, 64, [x, out, 1000], 4, results


def bulk_add():
    x, out = integers(4, 5, 64), zeros(5, 64)
    return 4, 64, [x, out, 5], 1, lambda: (out, x.sum(0))


def rotate():
    n, steps = 256, 3
    a, b = integers(n), zeros(n)
    want = np.roll(a, -65 * steps) + sum(range(steps))
    arguments = [a, b, zeros(1, dtype=np.uint32), zeros(1, dtype=np.uint32), n, steps]
    return 4, 64, arguments, 1, lambda: (b, want)


def split_barriers():
    x, out = integers(5, 64), zeros(64)
    weights = np.arange(1, 6)[:, None]
    return 1, 128, [x, out, 5], 1, lambda: (out, (x[:, ::-1] * weights).sum(0))


def copy_ring():
    x, out = integers(7, 128), zeros(128)
    weights = np.arange(1, 8)[:, None]
    return 1, 128, [x, out, 7], 1, lambda: (out, (x[:, ::-1] * weights).sum(0))


def queue():
    x, out = integers(6, 64), zeros(64)
    weights = np.arange(1, 7)[:, None]
    counts = [zeros(1, dtype=np.uint32) for _ in range(2)]
    arguments = [x, zeros(2, 64), *counts, out, 6]
    return 2, 64, arguments, 1, lambda: (out, (x * weights).sum(0))


def bulk_after_flag():
    x, out = integers(64), zeros(64)
    arguments = [x, zeros(64), zeros(1, dtype=np.uint32), out]
    return 2, 64, arguments, 1, lambda: (out, x[::-1] * 3)


def borders():
    x, out = integers(4, 64), zeros(4, 64)
    want = x.ravel()
    for _ in range(3):
        want = want * 2 + np.roll(want, 1) + np.roll(want, -1)
    return 4, 64, [x, out, 3], 4, lambda: (out.ravel(), want)


def bins_and_scan():
    x, out = integers(900), zeros(32, dtype=np.uint32)
    arguments = [x, zeros(32, dtype=np.uint32), zeros(1, dtype=np.uint32), out, 900]
    return 5, 64, arguments, 1, lambda: (out, np.bincount(x & 31, minlength=32).cumsum())


PROGRAMS = [
    stream_k, cluster_reduce, bulk_add, rotate, split_barriers, copy_ring, queue, bulk_after_flag,
    borders, bins_and_scan,
]  # fmt: skip

#: What is wrong in the first, second, third, ... variant, and what is found.
MISTAKES = {
    "stream_k": [
        ("a flag before all have stored", "race"),
        ("a relaxed flag", "race"),
        ("only the first of the others is waited for", "race"),
        ("tiles share a slot", "race"),
    ],
    "cluster_reduce": [
        ("a sum too few is expected", "race|async-race|mbarrier-misuse"),
        ("a neighbour that may not be there yet", "unstarted-cta"),
        ("no barrier before the warps' sums are read", "race"),
        ("nobody waits for the sums", "async-race|uninitialized"),
    ],
    "bulk_add": [
        ("a slot that is still read", "async-race"),
        ("no fence between the proxies", "missing-proxy-fence"),
        ("no barrier before the engine reads", "async-race|race"),
        ("a copy in place of a sum", "race|async-race"),
    ],
    "rotate": [
        ("no fence before the barrier", "race"),
        ("thread 0 comes before the others have stored", "race"),
        ("no fence between the last arrival and the turn", "race"),
        ("the others do not wait for thread 0", "race"),
    ],
    "split_barriers": [
        ("buffers that are not empty", "race"),
        ("buffers that are not full", "race"),
        ("too few are counted", "race|mbarrier-misuse|deadlock"),
        ("barriers that may not be there yet", "race|mbarrier-misuse"),
    ],
    "copy_ring": [
        ("one group too few is waited for", "async-race"),
        ("each thread waits for its own copies alone", "async-race"),
        ("no empty groups at the end", "async-race"),
        ("a slot that is still read", "async-race|race"),
    ],
    "queue": [
        ("slots that are not empty", "race"),
        ("a relaxed head", "race"),
        ("a volatile head that one thread has seen", "race"),
        ("a slot is given back before all have read it", "race"),
    ],
    "bulk_after_flag": [
        ("no fence between the proxies", "missing-proxy-fence"),
        ("a relaxed flag", "race|async-race"),
        ("fences for shared memory", "missing-proxy-fence"),
    ],
    "borders": [
        ("a relaxed arrival", "race"),
        ("a barrier of the CTA", "race|exited-cta"),
        ("a look at a neighbour between arriving and waiting", "race"),
        ("a step in place", "race"),
    ],
    "bins_and_scan": [
        ("bins that are not yet empty", "race|uninitialized"),
        ("bins that are not yet full", "race"),
        ("sums without atomics", "race"),
        ("no fence before the last is counted", "race"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_right(program):
    for seed in range(4):
        report, results = simulate(program, 0, seed, "handover")
        assert report.ok, report.messages
        np.testing.assert_array_equal(*results())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_mistakes(program):
    find_mistakes(program, MISTAKES[program.__name__], "handover")
