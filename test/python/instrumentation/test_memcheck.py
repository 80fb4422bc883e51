"""`instrumentation_mode="memcheck"`: accesses outside of the memory of an argument.

Kernels run in the simulator, whose own checks would find the same: what is looked for is the
message of the check in the kernel.
"""

from __future__ import annotations

from pathlib import Path

import machines
import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile import knobs
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = [
    sim_only,
    pytest.mark.skipif(machines.interpreting(), reason="the interpreter runs no passes"),
]
TARGETS = ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"]


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", "memcheck")


@tile.jit
def strided(x, out, n, first, step, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + first + at * step, at < n, other=0.0)
    tl.store(out + at, values)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(6))
def test_exactly_what_is_outside_is_found(
    target: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random accesses of random views, judged by NumPy."""
    machines.run_on(target, monkeypatch)
    random = np.random.default_rng(seed)
    for _ in range(8):
        size = int(random.integers(1, 200))
        whole = random.standard_normal(size + 64).astype(np.float32)
        begin = int(random.integers(0, 64))
        x, out = whole[begin : begin + size], np.full(64, np.nan, np.float32)
        n, step = int(random.integers(0, 65)), int(random.integers(-3, 4))
        first = int(random.integers(-20, size + 20))
        at = first + np.arange(n) * step
        is_inside = bool(((0 <= at) & (at < size)).all())
        try:
            strided[(1,)](x, out, n, first, step, BLOCK=64)
        except TileError as error:
            assert not is_inside and "out of bounds: a load through `x`" in str(error)
        else:
            assert is_inside
            np.testing.assert_array_equal(out[:n], x[at])
            assert not out[n:].any()


@tile.jit
def access(x, y, n, what: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if what == "load":
        tl.store(y + at, tl.load(x + at, at < n), at < 8)
    elif what == "store":
        tl.store(x + at, at.to(tl.float32), at < n)
    elif what == "atomic":
        tl.atomic_add(x + at, 1.0, at < n)
    elif what == "exchange":
        tl.atomic_cas(x.to(tl.pointer_type(tl.int32)) + n - 1, 0, 1)
    elif what == "in a loop":
        p = x
        for _ in range(n):
            tl.store(p, 1.0)
            p += 1
    elif what == "in a branch":
        if n > 0:
            tl.store(x + n - 1, 1.0)
    elif what == "descriptor":
        d = tl.make_tensor_descriptor(x, [n // 4, 4], [4, 1], [4, 4])
        tl.store(y + at, tl.sum(tl.sum(d.load([0, 0]), 0), 0), at < 1)


WORDS = {
    "load": "a load", "store": "a store", "atomic": "an atomic operation",
    "exchange": "an atomic operation", "in a loop": "a store", "in a branch": "a store",
    "descriptor": "a descriptor",
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("what", WORDS)
def test_each_kind_of_access(what: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 16 elements all may be used, and no more; the message has the place and the argument."""
    machines.run_on(target, monkeypatch)
    x, y = np.zeros(16, np.float32), np.zeros(32, np.float32)
    access[(1,)](x, y, 16, what, BLOCK=32)
    over = 20 if what == "descriptor" else 17
    with pytest.raises(TileError) as caught:
        access[(1,)](x, y, over, what, BLOCK=32)
    text = str(caught.value)
    assert f"out of bounds: {WORDS[what]} through `x`" in text
    assert Path(__file__).name in text and "access: assertion" in text
    assert "program (0, 0, 0)" in text


@tile.jit
def through_descriptor(d, out, BLOCK: tl.constexpr):
    total = tl.sum(tl.sum(d.load([0, 0]), 0), 0)
    tl.store(out, total)


@pytest.mark.parametrize("target", TARGETS)
def test_descriptors_of_the_host(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machines.run_on(target, monkeypatch)
    x, out = np.ones((16, 16), np.float32), np.zeros(1, np.float32)
    through_descriptor[(1,)](TensorDescriptor(x, [16, 16], [16, 1], [16, 16]), out, BLOCK=16)
    assert out[0] == 256
    longer = TensorDescriptor(x, [17, 16], [16, 1], [16, 16])
    with pytest.raises(TileError, match="out of bounds: the descriptor `d` of"):
        through_descriptor[(1,)](longer, out, BLOCK=16)


@tile.jit
def product(a, b, out, M, N, K, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, K, BLOCK):
        k = first + tl.arange(0, BLOCK)
        left = tl.load(a + i[:, None] * K + k, (i[:, None] < M) & (k < K), other=0.0)
        right = tl.load(b + k[:, None] * N + j, (k[:, None] < K) & (j < N), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(out + i[:, None] * N + j, total, (i[:, None] < M) & (j < N))


@pytest.mark.parametrize("target", TARGETS)
def test_a_pipelined_product(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays right; with one row too many, the program that has it is named."""
    machines.run_on(target, monkeypatch)
    random = np.random.default_rng(0)
    M, N, K = 41, 70, 90
    a = random.standard_normal((M, K)).astype(np.float16)
    b = random.standard_normal((K, N)).astype(np.float16)
    out = np.full((M, N), np.nan, np.float32)
    product[(2, 3)](a, b, out, M, N, K, BLOCK=32)
    np.testing.assert_allclose(out, a.astype(np.float32) @ b, rtol=1e-2, atol=1e-2)
    with pytest.raises(TileError, match="out of bounds: a load through `a`"):
        product[(2, 3)](a, b, out, M + 1, N, K, BLOCK=32)


@gluon.jit
def explicit(x, out, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    at = gl.arange(0, BLOCK, layout=layout)
    gl.store(out + at, gl.load(x + at, at < n), at < n)


def test_programs_with_explicit_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    machines.run_on("cuda:90", monkeypatch)
    x, out = np.arange(100, dtype=np.float32), np.zeros(128, np.float32)
    explicit[(1,)](x, out, 100, BLOCK=128)
    np.testing.assert_array_equal(out[:100], x)
    with pytest.raises(TileError, match="out of bounds: a load through `x`"):
        explicit[(1,)](x, out, 101, BLOCK=128)


def test_what_is_not_asked_for_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = np.zeros(64, np.float32), np.zeros(64, np.float32)
    kernel = strided[(1,)](x, out, 64, 0, 1, BLOCK=64)
    assert kernel.metadata.takes_bounds and "tt.assert" in kernel.asm["ttir"]
    monkeypatch.delenv("TRITON_INSTRUMENTATION_MODE")
    kernel = strided[(1,)](x, out, 64, 0, 1, BLOCK=64)
    assert "tt.assert" not in kernel.asm["ttir"]


@pytest.mark.parametrize("name", ["iisan", "gsan"])
def test_sanitizers_of_others_are_refused_in_a_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", name)
    x = np.zeros(64, np.float32)
    with pytest.raises(TileError, match=f"instrumentation_mode='{name}' is not built in tile: "):
        strided[(1,)](x, x, 64, 0, 1, BLOCK=64)


def test_an_unknown_mode_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    knobs.compilation.instrumentation_mode = "memchk"
    try:
        x = np.zeros(64, np.float32)
        with pytest.raises(TileError, match="no instrumentation_mode 'memchk'; there are default"):
            strided[(1,)](x, x, 64, 0, 1, BLOCK=64)
    finally:
        del knobs.compilation.instrumentation_mode
