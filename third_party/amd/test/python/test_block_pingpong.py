"""Loops in which waves take turns at memory and dots, executed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tile
import tile.language as tl
import tile.sim


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx942")


@tile.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    left, right = a + m[:, None] * K + k[None, :], b + k[:, None] * N + n[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(left), tl.load(right), acc)
        left += BK
        right += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc)


def operands(m, n, k):
    rng = np.random.default_rng(k)
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
    return a.astype(np.float16), b.astype(np.float16), (a @ b).astype(np.float32)


#: Rows, columns, columns of A in an iteration, waves; what the loop then has.
CASES = [
    (64, 64, 32, 4, {"rocdl.s.setprio": 2}),
    (256, 128, 64, 8, {"rocdl.s.setprio": 4, "amdg.cond_barrier": 2}),
    (256, 256, 64, 8, {"rocdl.s.setprio": 8, "amdg.cond_barrier": 2}),
    (128, 64, 32, 8, {}),
]


@pytest.mark.parametrize(("m", "n", "bk", "waves", "operations"), CASES)
def test_products(m, n, bk, waves, operations, monkeypatch):
    # Programs of four waves ask for it.
    monkeypatch.setenv("TRITON_HIP_USE_BLOCK_PINGPONG", str(int(waves == 4)))
    for iterations in (0, 1, 3):
        a, b, want = operands(m, n, max(iterations, 1) * bk)
        out = np.full((m, n), 7, np.float32)
        kernel = product.warmup(
            a, b, out, iterations * bk, M=m, N=n, BK=bk, num_warps=waves, grid=(1,)
        )
        found = re.findall(r"rocdl\.s\.setprio|amdg\.cond_barrier", kernel.asm["ttgir"])
        assert {name: found.count(name) for name in found} == operations
        product.simulate(
            a, b, out, iterations * bk, M=m, N=n, BK=bk, num_warps=waves, grid=(1,), schedules=3
        )
        assert (out == (want if iterations else 0)).all()


def test_programs_of_four_waves_keep_their_priority():
    a, b, _ = operands(64, 64, 32)
    out = np.zeros((64, 64), np.float32)
    kernel = product.warmup(a, b, out, 32, M=64, N=64, BK=32, num_warps=4, grid=(1,))
    assert "rocdl.s.setprio" not in kernel.asm["ttgir"]


def test_a_missing_barrier_is_found():
    a, b, _ = operands(256, 128, 192)
    out = np.zeros((256, 128), np.float32)
    kernel = product.warmup(a, b, out, 192, M=256, N=128, BK=64, num_warps=8, grid=(1,))
    text = kernel.asm["amdgcn"]
    # The one before the loop's first store to LDS: others read what it overwrites.
    loop = re.search(r"^(\.LBB\w+):.*?s_cbranch\w+ \1$", text, re.M | re.S)
    body = loop[0]
    assert body.count("s_barrier") == 4
    before, after = body[: body.index("ds_write")], body[body.index("ds_write") :]
    first, _, last = before.rpartition("s_barrier\n")
    broken = text.replace(body, first + last + after)
    name = kernel.metadata.name
    kinds = {}
    for which, assembly in (("right", text), ("wrong", broken)):
        arguments = [a, b, out, np.int32(192)]
        report = tile.sim.launch(
            assembly, name, 1, 512, arguments, dynamic_shared=kernel.metadata.shared,
            raise_on_finding=False, schedules=2,
        )  # fmt: skip
        kinds[which] = {finding["kind"] for finding in report.to_dict()["findings"]}
    assert not kinds["right"]
    assert "race" in " ".join(kinds["wrong"])


@tile.jit
def attention(q, k, v, out, n, M: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m, d, j = tl.arange(0, M), tl.arange(0, D), tl.arange(0, BN)
    queries = tl.load(q + m[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    total = tl.zeros((M,), tl.float32)
    for s in range(0, n, BN):
        keys = tl.load(k + (s + j)[None, :] * D + d[:, None])
        values = tl.load(v + (s + j)[:, None] * D + d[None, :])
        weights = tl.exp2(tl.dot(queries, keys))
        total += tl.sum(weights, 1)
        acc = tl.dot(weights.to(values.dtype), values, acc)
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None])


def check_attention(**options):
    """Runs it, and returns the kernel."""
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((64, 32)).astype(np.float16) for _ in range(3))
    q *= np.float16(0.1)
    out = np.zeros((64, 32), np.float32)
    kernel = attention[(1,)](q, k, v, out, 64, M=64, BN=32, D=32, **options)
    weights = np.exp2(q.astype(np.float64) @ k.T.astype(np.float64))
    want = weights @ v.astype(np.float64) / weights.sum(1, keepdims=True)
    assert np.allclose(out, want, atol=2e-3)
    return kernel


@pytest.mark.parametrize("hint", ["none", "attention", "memory-bound-attention"])
def test_schedule_hints(hint):
    kernel = check_attention(schedule_hint=hint)
    assert ("iglp.opt" in kernel.asm["llir"]) == (hint == "attention")
