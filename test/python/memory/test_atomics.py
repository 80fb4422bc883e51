"""Atomic operations of every kind, type, order and scope; their results are used."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

KINDS = {
    "i16": np.int16, "u16": np.uint16,
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64,
}  # fmt: skip
OPERATIONS = {
    "add": tl.atomic_add, "max": tl.atomic_max, "min": tl.atomic_min, "and": tl.atomic_and,
    "or": tl.atomic_or, "xor": tl.atomic_xor, "xchg": tl.atomic_xchg,
}  # fmt: skip
FLOATS = ("fp16", "bf16", "fp32", "fp64")


def supported(op: str, dtype: str) -> bool:
    if op in ("and", "or", "xor"):
        return dtype not in FLOATS
    if op in ("max", "min"):
        return dtype not in ("fp16", "bf16")
    return True


CASES = [(op, dtype) for op in OPERATIONS for dtype in KINDS if supported(op, dtype)]


def combine(op: str, a, b):
    with np.errstate(over="ignore"):
        return {
            "add": lambda: a + b, "max": lambda: max(a, b), "min": lambda: min(a, b),
            "and": lambda: a & b, "or": lambda: a | b, "xor": lambda: a ^ b, "xchg": lambda: b,
        }[op]()  # fmt: skip


def values(n: int, dtype: str, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    kind = KINDS[dtype]
    if dtype in FLOATS:
        return (generator.integers(-64, 64, n) / 4).astype(kind)
    info = np.iinfo(kind)
    return generator.integers(info.min, info.max, n, dtype=kind, endpoint=True)


@tile.jit
def distinct_kernel(
    x_ptr, v_ptr, old_ptr, n, OP: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr,
    N: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, N)
    v = tl.load(v_ptr + i)
    old = OP(x_ptr + i, v, mask=i < n, sem=SEM, scope=SCOPE)
    tl.store(old_ptr + i, old, mask=i < n)


@pytest.mark.sweep
@pytest.mark.parametrize(("op", "dtype"), CASES)
@pytest.mark.parametrize("n", [64, 37])
def test_distinct_addresses(op, dtype, n):
    x, v = values(64, dtype, 1), values(64, dtype, 2)
    memory, old = x.copy(), np.zeros(64, KINDS[dtype])
    distinct_kernel[(1,)](memory, v, old, n, OP=OPERATIONS[op], SEM=None, SCOPE=None, N=64)
    want = x.copy()
    for i in range(n):
        want[i] = combine(op, x[i], v[i])
    np.testing.assert_array_equal(memory, want)
    np.testing.assert_array_equal(old[:n], x[:n])
    assert not old[n:].astype(bool).any()


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_orders_and_scopes(sem, scope):
    for op, dtype in [("add", "i32"), ("add", "fp16"), ("max", "fp32"), ("xchg", "i64")]:
        x, v = values(64, dtype, 3), values(64, dtype, 4)
        memory, old = x.copy(), np.zeros(64, KINDS[dtype])
        distinct_kernel[(1,)](memory, v, old, 64, OP=OPERATIONS[op], SEM=sem, SCOPE=scope, N=64)
        want = np.array([combine(op, a, b) for a, b in zip(x, v, strict=True)], KINDS[dtype])
        np.testing.assert_array_equal(memory, want)
        np.testing.assert_array_equal(old, x)


@tile.jit
def shared_kernel(x_ptr, v_ptr, i_ptr, old_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    old = OP(x_ptr + tl.load(i_ptr + i), tl.load(v_ptr + i))
    tl.store(old_ptr + i, old)


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_many_at_one_address(op, dtype):
    programs, n = 3, 64
    kind = KINDS[dtype]
    x, v = values(4, dtype, 5), values(programs * n, dtype, 6)
    if dtype in ("fp16", "bf16"):
        x, v = (x / kind(16)).astype(kind), (np.sign(v.astype(np.float32)) / 4).astype(kind)
    where = np.random.default_rng(7).integers(0, 4, programs * n).astype(np.int32)
    memory, old = x.copy(), np.zeros(programs * n, kind)
    shared_kernel[(programs,)](memory, v, where, old, OP=OPERATIONS[op], N=n, num_warps=2)
    for slot in range(4):
        here = np.flatnonzero(where == slot)
        if op == "xchg":  # What was there, and all that was written, comes back or stays.
            seen = sorted([*old[here].tolist(), memory[slot].item()])
            assert seen == sorted([x[slot].item(), *v[here].tolist()])
            continue
        want = x[slot]
        for value in v[here]:
            want = combine(op, want, value)
        if dtype not in ("fp16", "bf16"):
            assert memory[slot] == want
        assert len(here) == 0 or x[slot] in old[here], "somebody was first"


@tile.jit
def scalar_kernel(x_ptr, old_ptr, v, OP: tl.constexpr):
    old = OP(x_ptr, v)
    tl.store(old_ptr + tl.program_id(0), old)


@pytest.mark.parametrize("dtype", ["i32", "fp32", "i64", "fp16"])
def test_scalars(dtype):
    for warps in (1, 4):
        x, old = np.array([5], KINDS[dtype]), np.zeros(4, KINDS[dtype])
        scalar_kernel[(4,)](x, old, 2, OP=tl.atomic_add, num_warps=warps)
        assert x[0] == 13, "once in each program"
        assert sorted(old.tolist()) == [5, 7, 9, 11]


@tile.jit
def cas_kernel(x_ptr, c_ptr, v_ptr, old_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    old = tl.atomic_cas(x_ptr + i, tl.load(c_ptr + i), tl.load(v_ptr + i))
    tl.store(old_ptr + i, old)


@pytest.mark.parametrize("dtype", KINDS)
def test_compare_and_swap(dtype):
    x, v = values(64, dtype, 8), values(64, dtype, 9)
    c = x.copy()
    c[::3] = v[::3]
    memory, old = x.copy(), np.zeros(64, KINDS[dtype])
    cas_kernel[(1,)](memory, c, v, old, N=64)
    np.testing.assert_array_equal(memory, np.where(x == c, v, x))
    np.testing.assert_array_equal(old, x)


@tile.jit
def lock_kernel(lock_ptr, x_ptr, count_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
        pass
    tl.store(x_ptr, tl.load(x_ptr, volatile=True) + tl.program_id(0))
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0, sem="release")
    tl.atomic_add(count_ptr, 1)


def test_a_lock():
    lock, x, count = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
    lock_kernel[(9,)](lock, x, count)
    assert (x[0], count[0], lock[0]) == (36, 9, 0)


@tile.jit
def unused_kernel(x_ptr, v_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(v_ptr + m[:, None] * N + n[None, :])
    tl.atomic_add(x_ptr + n[None, :] + tl.zeros((M, 1), tl.int32), v)


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16", "i32"])
@pytest.mark.parametrize("warps", [1, 8])
def test_results_that_nobody_uses(dtype, warps):
    v = (np.random.default_rng(1).integers(-4, 4, (8, 32))).astype(KINDS[dtype])
    x = np.ones(32, KINDS[dtype])
    unused_kernel[(1,)](x, v, M=8, N=32, num_warps=warps)
    np.testing.assert_array_equal(x, (1 + v.astype(np.float32).sum(0)).astype(KINDS[dtype]))


@tile.jit
def unused_cas_kernel(x_ptr, c_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_cas(x_ptr + i, tl.load(c_ptr + i), tl.zeros((N,), tl.int32))
    tl.atomic_cas(x_ptr, 5, 6)


@pytest.mark.parametrize("warps", [1, 8])
def test_swaps_whose_results_nobody_uses(warps):
    x = np.arange(1, 33, dtype=np.int32)
    c = np.where(x % 2 == 0, x, -1).astype(np.int32)
    x[0] = 5
    unused_cas_kernel[(1,)](x, c, N=32, num_warps=warps)
    want = np.where(c == np.arange(1, 33), 0, np.arange(1, 33))
    want[0] = 6
    np.testing.assert_array_equal(x, want)


def identities(dtype: str) -> dict[str, int]:
    """What an operation on integers may be given to leave memory as it is."""
    info = np.iinfo(KINDS[dtype])
    ones = info.max if info.min == 0 else -1
    least, most = int(info.min), int(info.max)
    return {"add": 0, "or": 0, "xor": 0, "and": ones, "max": least, "min": most}


@tile.jit
def read_kernel(
    x_ptr, old_ptr, n, OP: tl.constexpr, VALUE: tl.constexpr, SEM: tl.constexpr, N: tl.constexpr
):
    i = tl.arange(0, N)
    value = tl.full((N,), VALUE, x_ptr.dtype.element_ty)
    tl.store(old_ptr + i, OP(x_ptr + i, value, mask=i < n, sem=SEM), mask=i < n)
    tl.store(old_ptr + N, OP(x_ptr, tl.full((), VALUE, x_ptr.dtype.element_ty), sem=SEM))


@pytest.mark.sweep
@pytest.mark.parametrize("sem", ["relaxed", "acquire", "acq_rel"])
@pytest.mark.parametrize("dtype", ["i32", "u32", "i64", "u64"])
def test_operations_that_only_read(dtype, sem):
    for op, value in identities(dtype).items():
        x = values(64, dtype, 8)
        memory, old = x.copy(), np.zeros(65, KINDS[dtype])
        read_kernel[(1,)](memory, old, 37, OP=OPERATIONS[op], VALUE=value, SEM=sem, N=64)
        np.testing.assert_array_equal(memory, x)
        np.testing.assert_array_equal(old[:37], x[:37])
        assert not old[37:64].any() and old[64] == x[0]


@tile.jit
def chain_kernel(flag_ptr, data_ptr, SEM: tl.constexpr):
    turn = tl.program_id(0)
    while tl.atomic_add(flag_ptr, 0, sem=SEM) != turn:
        pass
    tl.debug_barrier()
    before = tl.load(data_ptr + turn, cache_modifier=".cg")
    tl.store(data_ptr + turn + 1, before * 2 + turn)
    tl.debug_barrier()
    tl.atomic_add(flag_ptr, 1, sem="release")


@pytest.mark.parametrize("sem", ["acquire", "acq_rel"])
def test_programs_that_wait_for_others(sem):
    flag, data, want = np.zeros(1, np.int32), np.zeros(8, np.int32), np.zeros(8, np.int32)
    data[0] = want[0] = 3
    for turn in range(7):
        want[turn + 1] = want[turn] * 2 + turn
    chain_kernel[(7,)](flag, data, SEM=sem)
    np.testing.assert_array_equal(data, want)
    assert flag[0] == 7
