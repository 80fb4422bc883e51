"""Compiles in the processes of an executor."""

from __future__ import annotations

import importlib
import multiprocessing
from concurrent.futures import Executor, Future, ProcessPoolExecutor

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.compiler.stages import StagedCompile

pytestmark = sim_only


class Later(Executor):
    """Does what it is given when it is told to."""

    def __init__(self) -> None:
        self.tasks: list = []

    def submit(self, fn, *args, **kwargs):
        future: Future = Future()
        self.tasks.append((future, fn))
        return future

    def run(self) -> None:
        for future, fn in self.tasks:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn())
                except Exception as error:
                    future.set_exception(error)
        self.tasks.clear()


@tile.jit
def put(out, N: tl.constexpr):
    tl.static_assert(N < 9)
    tl.store(out, N)


def test_what_is_under_way_is_known_and_begun_once(compiled_here):
    fn, later = tile.jit(put.fn), Later()
    out = np.zeros(1, np.int32)
    with tile.AsyncCompileMode(later):
        first = fn.warmup(out, 1, grid=(1,))
        assert fn.warmup(out, 1, grid=(1,)) is first
        fn.warmup(out, 2, grid=(1,))
        (kernels, *_) = fn.device_caches[tile.runtime.driver.active.get_current_device()]
        assert len(kernels) == len(later.tasks) == 2 and not compiled_here
        later.run()
        count = len(compiled_here)
        for n in (2, 1):
            fn[(1,)](out, n)
            assert out[0] == n
        assert len(compiled_here) == count
    fn[(1,)](out, 2)
    assert out[0] == 2 and len(compiled_here) == count


def test_a_compile_that_failed_may_be_tried_again():
    fn, later = tile.jit(put.fn), Later()
    out = np.zeros(1, np.int32)
    with pytest.raises(tile.TileError, match="static assert"), tile.AsyncCompileMode(later):
        for _ in range(2):
            kernel = fn.warmup(out, 10, grid=(1,))
            later.run()
            with pytest.raises(tile.TileError):
                kernel.result()


def test_an_error_does_not_wait_for_what_has_not_begun():
    fn, later = tile.jit(put.fn), Later()
    with pytest.raises(ZeroDivisionError), tile.AsyncCompileMode(later):
        fn.warmup(np.zeros(1, np.int32), 3, grid=(1,))
        raise ZeroDivisionError
    assert later.tasks[0][0].cancelled()
    # It is begun again in another one.
    out = np.zeros(1, np.int32)
    with tile.AsyncCompileMode(later):
        kernel = fn.warmup(out, 3, grid=(1,))
        later.run()
        assert kernel.result() is not None
    fn[(1,)](out, 3)
    assert out[0] == 3


def test_kernels_that_are_there_are_looked_at_again(monkeypatch):
    """What they were compiled with may have changed."""
    fn, later = tile.jit(read_limit.fn), Later()
    out = np.zeros(1, np.int32)
    fn[(1,)](out)
    with tile.AsyncCompileMode(later):
        fn.warmup(out, grid=(1,))
        later.run()
    monkeypatch.setitem(globals(), "LIMIT", tl.constexpr(2))
    with pytest.raises(tile.TileError, match="LIMIT has changed"), tile.AsyncCompileMode(later):
        fn.warmup(out, grid=(1,))
        later.run()


LIMIT = tl.constexpr(1)


@tile.jit
def read_limit(out):
    tl.store(out, LIMIT)


MODULE = """
import tile
import tile.language as tl

@tile.autotune([tile.Config({}, num_warps=2)], key=[])
@tile.jit
def fill(out, value, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), value)

@tile.jit
def wrong(out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), undefined)
"""


@pytest.fixture
def compiled_here(monkeypatch):
    keys = []
    run = StagedCompile._run

    def counted(self):
        keys.append(self.key)
        return run(self)

    monkeypatch.setattr(StagedCompile, "_run", counted)
    return keys


def test_in_processes(tmp_path, monkeypatch, compiled_here):
    (tmp_path / "some_kernels.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    kernels = importlib.import_module("some_kernels")
    fill, out = kernels.fill.fn, np.zeros(16, np.int32)

    @tile.jit
    def local(out, N: tl.constexpr):
        tl.store(out + tl.arange(0, N), N)

    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        with tile.AsyncCompileMode(executor):
            made = [fill.warmup(out, 3, N=n, grid=(1,)) for n in (4, 16)]
            assert not compiled_here
            other = local.warmup(out, N=8, grid=(1,))
        assert len(compiled_here) == 1, "a function that no other process finds is compiled here"
        assert ["@fill" in kernel.asm["llir"] for kernel in made] == [True, True]
        assert "@local" in other.asm["llir"]
        fill[(1,)](out, 3, N=16)
        assert (out == 3).all() and len(compiled_here) == 1
        with pytest.raises(tile.CompilationError, match="undefined"):
            with tile.AsyncCompileMode(executor):
                kernels.wrong.warmup(out, N=4, grid=(1,))
        with tile.AsyncCompileMode(executor, ignore_errors=True):
            kernels.wrong.warmup(out, N=4, grid=(1,))
