"""CTAs, warps and engines that share work as CUDA authors write it, right and with mistakes.

The programs are in test/unit/Simulator/ptx/sharing.cu.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_ptx_programs import run

import tile.sim

rng = np.random.default_rng(29)


def integers(*shape):
    return rng.integers(-9, 9, shape).astype(np.int32)


def floats(*shape):
    return integers(*shape).astype(np.float32)


def zeros(*shape, dtype=np.int32):
    return np.zeros(shape, dtype)


# Each gives the grid, the threads, the arguments, CTAs of a cluster, and a function of what it got
# and what it should have.
def last_block():
    x, out = floats(3000), zeros(1, dtype=np.float32)
    arguments = [x, zeros(6, dtype=np.float32), zeros(1, dtype=np.uint32), out, 3000]
    return 6, 128, arguments, 1, lambda: (out[0], x.sum())


def split_k():
    a, b, c = floats(2, 32), floats(32, 64), zeros(2, 64, dtype=np.float32)
    work, flags = zeros(2, 4, 64, dtype=np.float32), zeros(2, 4, dtype=np.uint32)
    return (2, 4), 64, [a, b, work, flags, c, 32], 1, lambda: (c, a @ b)


def turnstile():
    x, total = floats(5, 64), zeros(64, dtype=np.float32)
    return 5, 64, [x, total, zeros(1, dtype=np.uint32), 64], 1, lambda: (total, x.sum(0))


def ring():
    n = 8
    x, out = integers(n, 128), zeros(128)
    steps = range(n)
    return (
        1,
        160,
        [x, out, n],
        1,
        lambda: (
            out,
            sum(x[i] * (i + 1) + np.roll(x[i], -17) for i in steps),
        ),
    )


def ping_pong():
    n = 4
    x, out = integers(n, 2, 128), zeros(2, 128)
    return 1, 256, [x, out, n], 1, lambda: (out, sum(x[i][:, ::-1] * (i + 1) for i in range(n)))


def cluster_histogram():
    x, out = integers(500), zeros(32)
    return 4, 64, [x, out, 500], 4, lambda: (out, np.bincount(x & 31, minlength=32))


def ring_shift():
    x, out = integers(4, 64), zeros(4, 64)
    return (
        4,
        64,
        [x, out],
        4,
        lambda: (
            out,
            x + sum(np.roll(x, i + 1, 0) * (i + 2) for i in range(7)),
        ),
    )


def bulk_store():
    n = 5
    x, out = integers(n, 64), zeros(n, 64)
    return 1, 64, [x, out, n], 1, lambda: (out, x * 3 + np.arange(n)[:, None])


def persistent():
    n = 9
    x, out = integers(n, 64), zeros(n, 64)
    return 3, 64, [x, out, zeros(1), n], 1, lambda: (out, x * np.arange(n)[:, None])


def multicast():
    n = 6
    x, out = integers(n, 128), zeros(2, 128)
    weights = np.arange(n)[:, None]
    return (
        2,
        128,
        [x, out, n],
        2,
        lambda: (
            out,
            np.stack([(x * (r + 1 + weights)).sum(0) for r in (0, 1)]),
        ),
    )


def look_back():
    x, out = rng.integers(0, 9, (6, 64)).astype(np.uint32), zeros(6, 64, dtype=np.uint32)
    state, plain = zeros(6, dtype=np.uint64), zeros(6, dtype=np.uint32)
    arguments = [x, state, plain, zeros(1, dtype=np.uint32), out]
    return 6, 64, arguments, 1, lambda: (out.ravel(), x.ravel().cumsum())


def spin_lock():
    data = zeros(40)
    entries = np.repeat(range(4), 6)
    return (
        4,
        64,
        [zeros(1), data, 3],
        1,
        lambda: (
            [*np.sort(data[1:25]), data[0]],
            [*entries, 24],
        ),
    )


def roles():
    n = 5
    x, out = integers(n, 96), zeros(96)
    return 1, 128, [x, out, n], 1, lambda: (out, (x + 2 * x[:, ::-1]).sum(0))


def jacobi():
    a, b = integers(200), zeros(200)
    want = a.copy()
    for _ in range(3):
        want = want + np.roll(want, -1) + np.roll(want, 1)
    return 3, 64, [a, b, 200, 3], 1, lambda: (b, want)


def group_product():
    a, b = floats(64, 16).astype(np.float16), floats(16, 8).astype(np.float16)

    def core_matrices(m):
        return np.ascontiguousarray(m.reshape(-1, 8, 2, 8).transpose(2, 0, 1, 3))

    out = zeros(64, 8, dtype=np.float32)
    arguments = [core_matrices(a), core_matrices(b.T.copy()), out]
    return 1, 128, arguments, 1, lambda: (out, a.astype(np.float32) @ b.astype(np.float32))


def specialized():
    m, n, k = 256, 128, 320
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    out = zeros(m, n, dtype=np.float32)

    def tensor_map(array, element, swizzle):
        return tile.sim.tensor_map(
            array.ctypes.data, element, array.shape[::-1], [array.strides[0]], (64, 64),
            swizzle=swizzle,
        )  # fmt: skip

    maps = [tensor_map(a, "f16", 128), tensor_map(b, "f16", 128), tensor_map(out, "f32", 0)]
    memory = {"allocations": {"a": a, "b": b, "out": out}, "dynamic_shared": 9 * 8192 + 32768 + 64}
    want = a.astype(np.float32) @ b.T.astype(np.float32)
    return 3, 384, [*maps, m // 128, n // 64, k // 64], 1, lambda: (out, want), memory


PROGRAMS = [
    last_block, split_k, turnstile, ring, ping_pong, cluster_histogram, ring_shift, bulk_store,
    persistent, multicast, look_back, spin_lock, roles, jacobi, group_product,
    specialized,
]  # fmt: skip


def simulate(program, bug, seed, module="sharing"):
    grid, block, arguments, cluster, results, *memory = program()
    report = run(
        module, program.__name__, grid, block, *arguments, bug,
        cluster=cluster, schedule_seed=seed, raise_on_finding=False, max_instructions=2_000_000,
        **(memory[0] if memory else {}),
    )  # fmt: skip
    return report, results


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_right(program):
    for seed in range(4):
        report, results = simulate(program, 0, seed)
        assert report.ok, report.messages
        np.testing.assert_array_equal(*results())


#: What is wrong in the first, second, third, ... variant, and what is found.
MISTAKES = {
    "last_block": [
        ("no fence before the counter", "race"),
        ("the last but one adds up", "race"),
        ("nobody waits for the answer", "race"),
    ],
    "split_k": [
        ("a flag before all have stored", "race"),
        ("a relaxed flag", "race"),
        ("one thread has seen the flag", "race"),
    ],
    "turnstile": [
        ("no barrier and no fence behind the turn", "race"),
        ("no barrier behind the turn", "race"),
        ("no fence before the next turn", "race"),
    ],
    "ring": [
        ("the producer waits for nobody", "async-race|mbarrier-misuse"),
        ("consumers wait for the phase before", "deadlock|race|uninitialized"),
        ("one lane arrives before the others have read", "race"),
    ],
    "ping_pong": [
        ("one turn is taken without waiting", "race"),
        ("a group does not wait for itself", "race"),
        ("nobody hands over", "deadlock"),
    ],
    "cluster_histogram": [
        ("bins that may not be there yet", "unstarted-cta"),
        ("sums without atomics", "race"),
        ("no barrier at the end", "exited-cta"),
    ],
    "ring_shift": [
        ("a neighbour that may not be there yet", "unstarted-cta"),
        ("boxes that are not empty", "async-race"),
        ("a neighbour that may be gone", "exited-cta"),
    ],
    "bulk_store": [
        ("a slot that is still read", "async-race"),
        ("no fence between the proxies", "missing-proxy-fence"),
        ("stores in no group", "async-exit"),
    ],
    "persistent": [
        ("a counter without atomics", "race"),
        ("a tile that others may not see", "race"),
        ("a tile that is replaced too early", "race"),
    ],
    "multicast": [
        ("a neighbour that may not be there yet", "unstarted-cta"),
        ("slots that are not empty", "async-race"),
        ("a neighbour that may be gone", "exited-cta"),
    ],
    "look_back": [
        ("a barrier too few in the scan", "race"),
        ("a value beside its flag", "race"),
        ("a sum that others may not see", "race"),
    ],
    "spin_lock": [
        ("no fence behind the lock", "race"),
        ("no fence before the release", "race"),
        ("a plain store releases the lock", "race"),
    ],
    "roles": [
        ("one stage for all", "async-race"),
        ("nobody waits for copies", "race"),
        ("a read behind the release", "race"),
    ],
    "jacobi": [
        ("a barrier of the CTA alone", "race"),
        ("one barrier of the grid too few", "race"),
        ("a step in place", "race"),
    ],
    "group_product": [
        ("copies that are not waited for", "async-race"),
        ("no fence between the proxies", "missing-proxy-fence"),
        ("a product that is not waited for", "async-register"),
    ],
    "specialized": [
        ("the producer waits for nobody", "async-race|mbarrier-misuse"),
        ("too few bytes are expected", "async-race"),
        ("consumers wait for nothing", "async-race"),
        ("a slot is given back before its product is done", "async-race"),
        ("the wrong slot is given back", "deadlock|async-race|mbarrier-misuse"),
        ("the last product is not waited for", "async-register"),
        ("the store's buffer is overwritten", "async-race"),
        ("no fence between the proxies", "missing-proxy-fence"),
        ("copies may signal what is not yet there", "missing-proxy-fence"),
        ("the last store is not waited for", "async-exit"),
    ],
}


def find_mistakes(program, mistakes, module="sharing"):
    """One of four schedules finds each."""
    for number, (what, kinds) in enumerate(mistakes, 1):
        found = set()
        for seed in range(4):
            found |= {f["kind"] for f in simulate(program, number, seed, module)[0].findings}
            if found & set(kinds.split("|")):
                break
        assert found & set(kinds.split("|")), (what, found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_mistakes(program):
    find_mistakes(program, MISTAKES[program.__name__])
