"""Which ptxas assembles what."""

from __future__ import annotations

import os
import sys
import warnings

import pytest

from tile.backends import backends

tools = sys.modules[backends()["nvidia"].__module__].tools

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
