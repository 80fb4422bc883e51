"""`instrumentation_mode="fpsan"`: arithmetic on residues, which no order of operations changes.

The reference computes with Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import machines
import ml_dtypes
import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl

pytestmark = [
    sim_only,
    pytest.mark.skipif(machines.interpreting(), reason="the interpreter runs no passes"),
]
TARGETS = ["cuda:80", "cuda:90", "hip:gfx942"]
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]


@pytest.fixture(autouse=True)
def sanitized(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", "fpsan")


def prime(dtype: Any) -> int:
    return {8: 2**31 - 1, 4: 2**31 - 1, 2: 2**13 - 1}[np.dtype(dtype).itemsize]


def residues(array: np.ndarray) -> list[int]:
    """What the bits of numbers stand for."""
    bits = array.reshape(-1).view(f"u{array.itemsize}")
    return [int(v) % prime(array.dtype) for v in bits]


def centred(x: int, p: int) -> int:
    return x - p if x > p // 2 else x


def of_fraction(value: Fraction, p: int) -> int:
    return value.numerator * pow(value.denominator, p - 2, p) % p


def numbers(random: np.random.Generator, count: int, dtype: Any) -> np.ndarray:
    return random.standard_normal(count).astype(dtype)


@tile.jit
def elementwise(x, y, out, n, op: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at, at < n), tl.load(y + at, at < n)
    if op == "add":
        r = a + b
    elif op == "sub":
        r = a - b
    elif op == "mul":
        r = a * b
    elif op == "div":
        r = a / b
    elif op == "max":
        r = tl.maximum(a, b)
    elif op == "min":
        r = tl.minimum(a, b)
    elif op == "neg":
        r = -a
    elif op == "abs":
        r = tl.abs(a)
    elif op == "fma":
        r = tl.fma(a, b, a)
    elif op == "where":
        r = tl.where(a < b, a, b + 1.0)
    tl.store(out + at, r.to(out.dtype.element_ty), at < n)


REFERENCE: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, p: a + b,
    "sub": lambda a, b, p: a - b,
    "mul": lambda a, b, p: a * b,
    "div": lambda a, b, p: a * pow(b, p - 2, p),
    "max": lambda a, b, p: max(a, b, key=lambda v: centred(v, p)),
    "min": lambda a, b, p: min(a, b, key=lambda v: centred(v, p)),
    "neg": lambda a, b, p: -a,
    "abs": lambda a, b, p: abs(centred(a, p)),
    "fma": lambda a, b, p: a * b + a,
    "where": lambda a, b, p: a if centred(a, p) < centred(b, p) else b + 1,
}


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("op", REFERENCE)
def test_elementwise(op: str, dtype: Any) -> None:
    if op == "fma" and np.dtype(dtype).itemsize == 2:
        pytest.skip("fma of 16 bits goes by way of others on some targets")
    if op == "div" and np.dtype(dtype).itemsize == 2:
        pytest.skip("quotients of 16 bits are those of 32 bits, rounded")
    random = np.random.default_rng(0)
    x, y = numbers(random, 100, dtype), numbers(random, 100, dtype)
    out = np.zeros(100, dtype)
    elementwise[(1,)](x, y, out, 100, op, BLOCK=128)
    p = prime(dtype)
    pairs = zip(residues(x), residues(y), strict=True)
    assert residues(out) == [REFERENCE[op](a, b, p) % p for a, b in pairs]


@tile.jit
def constants(out, C: tl.constexpr):
    tl.store(out, tl.full((1,), C, out.dtype.element_ty).sum(0))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("seed", range(8))
def test_constants_are_the_residues_of_their_values(dtype: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    value = float(np.dtype(dtype).type(random.standard_normal() * 2.0 ** random.integers(-6, 7)))
    out = np.zeros(1, dtype)
    constants[(1,)](out, value)
    assert residues(out) == [of_fraction(Fraction(value), prime(dtype))]


@tile.jit
def row_sums(x, out, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, N, BLOCK):
        inside = first + at < N
        total += tl.load(x + tl.program_id(0) * N + first + at, inside, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(total, 0))


@pytest.mark.parametrize("target", TARGETS)
def test_no_order_changes_a_sum(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machines.run_on(target, monkeypatch)
    rows, N = 3, 701
    x = np.random.default_rng(1).standard_normal((rows, N)).astype(np.float32)
    expected = [sum(residues(row)) % prime(np.float32) for row in x]
    for block, warps in ((32, 1), (128, 4), (256, 2), (1024, 8)):
        out = np.zeros(rows, np.float32)
        row_sums[(rows,)](x, out, N, BLOCK=block, num_warps=warps)
        assert residues(out) == expected, (block, warps)


@tile.jit
def product(a, b, out, M, N, K, DROP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, K - DROP, BLOCK):
        k = first + tl.arange(0, BLOCK)
        left = tl.load(a + i[:, None] * K + k, (i[:, None] < M) & (k < K), other=0.0)
        right = tl.load(b + k[:, None] * N + j, (k[:, None] < K) & (j < N), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(out + i[:, None] * N + j, total, (i[:, None] < M) & (j < N))


def product_reference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Operands of 16 bits stand for the same integer in the larger field."""
    p, q = prime(a.dtype), prime(np.float32)
    left = np.array([centred(v, p) for v in residues(a)], object).reshape(a.shape)
    right = np.array([centred(v, p) for v in residues(b)], object).reshape(b.shape)
    return (left @ right) % q


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("block, warps, stages", [(16, 1, 1), (32, 4, 3)])
def test_products(
    target: str, block: int, warps: int, stages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of any blocks they are the same. One that leaves out the last row of K is not."""
    machines.run_on(target, monkeypatch)
    random = np.random.default_rng(2)
    M, N, K = 19, 33, 49
    a = random.standard_normal((M, K)).astype(np.float16)
    b = random.standard_normal((K, N)).astype(np.float16)
    expected = product_reference(a, b).reshape(-1).tolist()
    grid = (tile.cdiv(M, block), tile.cdiv(N, block))
    found = {}
    for drop in (0, K % block):
        out = np.zeros((M, N), np.float32)
        product[grid](a, b, out, M, N, K, drop, BLOCK=block, num_warps=warps, num_stages=stages)
        found[drop] = residues(out)
    assert found[0] == expected
    assert found[K % block] != expected


@tile.jit
def softmax(x, out, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + at, at < N, other=-float("inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(out + at, e / tl.sum(e, 0), at < N)


def test_masked_elements_have_no_effect() -> None:
    """A row is the same in blocks of any size."""
    N = 100
    x = np.random.default_rng(3).standard_normal(N).astype(np.float32)
    found = []
    for block in (128, 256, 1024):
        out = np.zeros(N, np.float32)
        softmax[(1,)](x, out, N, BLOCK=block)
        found.append(residues(out))
    assert found[0] == found[1] == found[2] and len(set(found[0])) == N
    assert sum(found[0]) % prime(np.float32) == 1


@tile.jit
def adds(x):
    tl.atomic_add(x, 1.0)


@gluon.jit
def explicit(x):
    gl.store(x, gl.load(x) + 1.0)


def test_what_it_does_not_know_is_refused() -> None:
    x = np.zeros(1, np.float32)
    with pytest.raises(TileError, match=r"floating point does not know 'tt\.atomic_rmw'"):
        adds[(1,)](x)
    with pytest.raises(TileError, match="programs with explicit layouts"):
        explicit[(1,)](x)
