"""Options of a launch that choose what a kernel is compiled for."""

from __future__ import annotations

import numpy as np
import pytest
from machines import run_on
from reference import sim_only

import tile
import tile.language as tl
from tile.language.extra import libdevice


@tile.jit
def which(out):
    tl.store(out, 1 if tl.target_info.cuda_capability_geq(9, 0) else 2)


@sim_only
@pytest.mark.both_ways
@pytest.mark.nvidia("names of architectures")
@pytest.mark.parametrize(
    ("arch", "expected"), [("sm80", 2), (86, 2), ("90", 1), ("sm_90a", 1), (None, 1)]
)
def test_the_architecture_that_a_launch_names(arch, expected, machine, monkeypatch):
    run_on("cuda:90", monkeypatch)
    out = np.zeros(1, np.int32)
    kernel = which[(1,)](out, arch=arch)
    assert out[0] == expected
    if machine == "compiled":
        number = str(arch or 90).strip("sm_a")
        assert f".target sm_{number}" in kernel.asm["ptx"]
        assert kernel.metadata.target.arch == int(number)


@pytest.mark.nvidia("names of architectures")
@pytest.mark.parametrize("arch", ["volta", "gfx942", True, 9.0])
def test_names_that_are_no_architecture(arch):
    with pytest.raises(tile.TileError, match="the option `arch` is an architecture such as sm90"):
        which[(1,)](np.zeros(1, np.int32), arch=arch)


@tile.jit
def roots(x, out):
    i = tl.arange(0, 4)
    tl.store(out + i, libdevice.sqrt(tl.load(x + i)))


@sim_only
@pytest.mark.nvidia("an option of its device library")
def test_denormals_of_the_device_library():
    """Flushed to zero only where that is asked for."""
    x = np.array([1e-40, 1e-41, 4, 1e-45], np.float32)
    out = np.zeros(4, np.float32)
    roots[(1,)](x, out)
    np.testing.assert_allclose(out, np.sqrt(x), rtol=1e-6)
    roots[(1,)](x, out, enable_reflect_ftz=True)
    assert out.tolist() == [0, 0, 2, 0]
