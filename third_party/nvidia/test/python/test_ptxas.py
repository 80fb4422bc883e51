"""Which ptxas assembles what."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings

import pytest

import tile
import tile.language as tl
from tile.backends import backends, parse_target
from tile.compiler import ASTSource

compiler = sys.modules[backends()["nvidia"].__module__]
tools = compiler.tools

WGMMA = ".target sm_90a\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"


@pytest.fixture
def ptxas(request, tmp_path, monkeypatch):
    """A program that says it is ptxas of some version and assembles anything."""
    path = tmp_path / "ptxas"
    path.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && echo "Cuda compilation tools, release {request.param}, '
        f'V{request.param}.1" && exit\n'
        'for out in "$@"; do :; done; : > "$out"\n'
    )
    os.chmod(path, 0o755)
    monkeypatch.setenv("TILE_PTXAS_PATH", str(path))
    return str(path)


@pytest.mark.parametrize("ptxas", ["12.8", "13.0", "13.2"], indirect=True)
def test_an_old_ptxas_is_warned_about_once(ptxas):
    with pytest.warns(UserWarning, match=f"{ptxas} is ptxas .* 13.3 or later"):
        tools.run_ptxas(WGMMA, 90, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tools.run_ptxas(WGMMA, 90, None)


@pytest.mark.parametrize("ptxas", ["13.3", "13.5", "14.0"], indirect=True)
def test_a_new_one_is_not(ptxas):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tools.run_ptxas(WGMMA, 90, None)


@pytest.mark.parametrize("ptxas", ["12.8"], indirect=True)
def test_other_kernels_may_have_an_old_one(ptxas):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tools.run_ptxas(".target sm_90a\nmma.sync", 90, None)


@tile.jit
def add_one(x_ptr):
    at = tl.arange(0, 128)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


@pytest.mark.skipif(tools.ptxas_path() is None, reason="needs ptxas")
def test_a_text_is_assembled_once(monkeypatch):
    """Where configurations differ in what changes nothing."""
    runs = []
    run = tools.run_ptxas

    def noted(ptx, arch, extra):
        runs.append(extra)
        return run(ptx, arch, extra)

    monkeypatch.setattr(tools, "run_ptxas", noted)
    compiler._assemble_once.cache_clear()
    source = ASTSource(add_one, {"x_ptr": "*fp32"})

    def compile(**options):
        return tile.compile(source, parse_target("cuda:90"), options).asm["cubin"]

    with tile.knobs.cache.scope(), tempfile.TemporaryDirectory() as folder:
        tile.knobs.cache.dir = folder
        first = compile(num_stages=1)
        assert compile(num_stages=2) == compile(num_stages=3) == first and len(runs) == 1
        compile(num_warps=2)
        compile(ptx_options="-O2")
        with tile.knobs.nvidia.scope():
            tile.knobs.nvidia.ptxas_options = "-O1"
            compile()
        assert len(runs) == 4
        with tile.knobs.compilation.scope():
            tile.knobs.compilation.always_compile = True
            assert compile(num_stages=1) == first
        assert len(runs) == 5
