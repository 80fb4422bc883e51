"""Atomic operations: of every type, with and without results, whatever the layout repeats."""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import DTYPES, poisoned, random

import tile
import tile.language as tl

pytestmark = pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)


@pytest.fixture
def target(request, monkeypatch):
    run_on(request.param, monkeypatch)
    return request.param


@tile.jit
def add_kernel(x, sums, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sums + i, tl.load(x + i, mask=i < n), mask=i < n, sem="relaxed")


@pytest.mark.parametrize("dtype", ["fp32", "fp64", "fp16", "bf16", "i32", "i64"])
@pytest.mark.parametrize("n", [64, 100, 512])
def test_add(dtype, n, target):
    # Small integers: sums are exact in every type.
    x = (random(n, "i8", 1) % 8).astype(DTYPES[dtype])
    sums = (random(n, "i8", 2) % 8).astype(DTYPES[dtype])
    expected = x + sums
    kernel = add_kernel[(tile.cdiv(n, 256),)](x, sums, n, 256)
    np.testing.assert_array_equal(sums, expected)
    if dtype == "fp32":
        assert (".add.v2.f32" in kernel.asm["ptx"]) == (target == "cuda:90" and n % 16 == 0)
    if dtype == "fp16":
        assert ("f16x2" in kernel.asm["ptx"]) == (n % 16 == 0)


@tile.jit
def rmw_kernel(
    x, value, old, OP: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr, N: tl.constexpr
):
    i = tl.arange(0, N)
    v = tl.load(value + i)
    if OP == "add":
        r = tl.atomic_add(x + i, v, sem=SEM, scope=SCOPE)
    elif OP == "max":
        r = tl.atomic_max(x + i, v, sem=SEM, scope=SCOPE)
    elif OP == "min":
        r = tl.atomic_min(x + i, v, sem=SEM, scope=SCOPE)
    elif OP == "and":
        r = tl.atomic_and(x + i, v, sem=SEM, scope=SCOPE)
    elif OP == "or":
        r = tl.atomic_or(x + i, v, sem=SEM, scope=SCOPE)
    elif OP == "xor":
        r = tl.atomic_xor(x + i, v, sem=SEM, scope=SCOPE)
    else:
        r = tl.atomic_xchg(x + i, v, sem=SEM, scope=SCOPE)
    tl.store(old + i, r)


OPERATIONS = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": lambda a, b: b,
}


def run(op, dtype, n, num_warps=4, sem="acq_rel", scope="gpu"):
    x, value = random(n, dtype, 1), random(n, dtype, 2)
    before, old = x.copy(), poisoned(n, dtype)
    kernel = rmw_kernel[(1,)](x, value, old, op, sem, scope, n, num_warps=num_warps)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(x, OPERATIONS[op](before, value))
    return kernel


# Fewer elements than threads: several threads hold one and need its old value.
@pytest.mark.parametrize("n", [1, 8, 32, 64, 256])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_results_of_repeated_elements(n, num_warps, target):
    run("add", "i32", n, num_warps)
    run("xchg", "fp32", n, num_warps)


@pytest.mark.sweep
@pytest.mark.parametrize("op", list(OPERATIONS))
@pytest.mark.parametrize("dtype", ["i32", "i64", "u32", "fp32", "fp64"])
def test_operations(op, dtype, target):
    if dtype.startswith("fp") and op in ("and", "or", "xor"):
        pytest.skip("not for floats")
    if dtype == "fp64" and op == "xchg":
        pytest.skip("needs a 64-bit integer pointer")
    run(op, dtype, 64)


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_orders_and_scopes(sem, scope, target):
    ptx = run("add", "i32", 128, sem=sem, scope=scope).asm["ptx"]
    assert f"atom.{sem}.{scope}.global.add" in ptx
    # A loop around compare-and-swap on sm_80.
    run("add", "bf16", 128, sem=sem, scope=scope)


@tile.jit
def cas_kernel(x, compare, value, old, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(old + i, tl.atomic_cas(x + i, tl.load(compare + i), tl.load(value + i)))


@pytest.mark.parametrize("dtype", ["i16", "i32", "i64"])
@pytest.mark.parametrize("n", [16, 128])
def test_compare_and_swap(dtype, n, target):
    x, value = random(n, dtype, 1), random(n, dtype, 2)
    compare = np.where(np.arange(n) % 3 == 0, x, x + 1).astype(x.dtype)
    before, old = x.copy(), poisoned(n, dtype)
    cas_kernel[(1,)](x, compare, value, old, n)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(x, np.where(before == compare, value, before))


@tile.jit
def ticket_kernel(counter, tickets, order):
    # A scalar: one thread acts, all learn the result.
    ticket = tl.atomic_add(counter, 1)
    tl.store(tickets + tl.program_id(0), ticket)
    tl.store(order + ticket * 64 + tl.arange(0, 64), tl.program_id(0))


@pytest.mark.parametrize("num_warps", [1, 4])
def test_scalar(num_warps, target):
    counter, tickets, order = np.zeros(1, np.int32), poisoned(7, "i32"), poisoned((7, 64), "i32")
    ticket_kernel[(7,)](counter, tickets, order, num_warps=num_warps)
    assert counter[0] == 7
    np.testing.assert_array_equal(np.sort(tickets), np.arange(7))
    np.testing.assert_array_equal(order[tickets, 5], np.arange(7))


@tile.jit
def lock_kernel(lock, total, log, ROUNDS: tl.constexpr):
    for i in range(ROUNDS):
        while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
            pass
        # Plain accesses, which must stay between the two atomics.
        value = tl.load(total)
        tl.store(total, value + 1)
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0, sem="release")
        tl.store(log + tl.program_id(0) * ROUNDS + i, value)


def test_spin_lock(target):
    lock, total, log = np.zeros(1, np.int32), np.zeros(1, np.int32), poisoned((6, 3), "i32")
    lock_kernel[(6,)](lock, total, log, 3)
    assert total[0] == 18 and lock[0] == 0
    np.testing.assert_array_equal(np.sort(log.ravel()), np.arange(18))


@tile.jit
def relay_kernel(flag, data, out, N: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    while tl.load(flag, volatile=True) != pid:
        pass
    tl.debug_barrier()
    value = tl.load(data + i)
    tl.store(out + pid * N + i, value)
    tl.store(data + i, value * 2 + 1)
    tl.debug_barrier()
    tl.atomic_add(flag, 1, sem="release")


def test_waiting_on_a_volatile_load(target):
    flag, data = np.zeros(1, np.int32), np.arange(64, dtype=np.int32)
    out, expected = poisoned((5, 64), "i32"), np.empty((5, 64), np.int32)
    value = data.copy()
    for pid in range(5):
        expected[pid] = value
        value = value * 2 + 1
    relay_kernel[(5,)](flag, data, out, 64)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(data, value)
