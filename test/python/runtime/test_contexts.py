"""Contexts of MLIR that compiles take from each other: none shows what ran in it before."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import tile
import tile.language as tl
from tile import knobs
from tile.compiler import ASTSource, contexts


@tile.jit
def add(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i) + tl.sum(tl.load(x + i), 0))


@tile.jit
def product(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    acc = tl.zeros([N, N], tl.float32)
    for k in tl.range(0, 4):
        acc = tl.dot(tl.load(x + at + k), tl.load(x + at), acc)
    tl.store(out + at, acc.to(tl.float16))


@tile.jit
def wrong(x, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), tl.load(x + tl.arange(0, 2 * N)))


NVIDIA, AMD = tile.GPUTarget("cuda", 90, 32), tile.GPUTarget("hip", "gfx942", 64)
KERNELS = [(fn, target) for fn in (add, product) for target in (NVIDIA, AMD)]


def text_of(fn, target):
    pointer = "*fp32" if fn is add else "*fp16"
    source = ASTSource(fn, {"x": pointer, "out": pointer}, {"N": 64})
    last = "ptx" if target is NVIDIA else "amdgcn"
    return dict(tile.compile(source, target=target, stop_at=last).asm)


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """No contexts yet, and no cache."""
    monkeypatch.setattr(contexts, "_idle", [])
    knobs.compilation.always_compile = True


@pytest.fixture
def alone(monkeypatch):
    """What each kernel is compiled to in a context of its own."""
    with monkeypatch.context() as patch:
        patch.setattr(contexts, "_COMPILES", 0)
        return [text_of(*kernel) for kernel in KERNELS]


def test_a_compile_does_not_depend_on_those_before(alone):
    assert not contexts._idle
    for _ in range(2):
        assert [text_of(*kernel) for kernel in KERNELS] == alone
    assert [text_of(*kernel) for kernel in KERNELS[::-1]] == alone[::-1]
    ((_, compiles),) = contexts._idle
    assert compiles == 3 * len(KERNELS)


def test_a_context_ends_after_some_compiles(monkeypatch):
    monkeypatch.setattr(contexts, "_COMPILES", 2)
    for left in (1, 0, 1):
        text_of(add, NVIDIA)
        assert len(contexts._idle) == left


def test_the_context_of_a_compile_that_failed_is_not_used_again(alone):
    text_of(add, NVIDIA)
    for _ in range(2):
        with pytest.raises(tile.CompilationError, match="128"):
            text_of(wrong, NVIDIA)
        assert not contexts._idle
    assert text_of(add, NVIDIA) == alone[0]


def test_threads_do_not_share_contexts(alone):
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda k: text_of(*k), KERNELS * 3))
    assert results == alone * 3
    kept = [context for context, _ in contexts._idle]
    assert 1 <= len(kept) <= 4 and len(set(map(id, kept))) == len(kept)
