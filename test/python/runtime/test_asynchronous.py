"""Compiles in the processes of an executor."""

from __future__ import annotations

import importlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.compiler.stages import StagedCompile

pytestmark = sim_only

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
