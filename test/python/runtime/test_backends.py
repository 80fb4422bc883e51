"""Backends are loaded when somebody compiles for them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.backends import GPUTarget, backends, find_backend, parse_target

PROGRAM = """
import sys
import tile
from tile.backends import GPUTarget, find_backend
for name in sys.argv[1:]:
    kind, arch = name.split(":")
    find_backend(GPUTarget(kind, int(arch) if kind == "cuda" else arch, 32))
print(*(n for n in ("amd", "nvidia") if f"tile.backends.{n}.compiler" in sys.modules))
"""


@pytest.mark.parametrize(
    ("targets", "loaded"),
    [
        ("", ""),
        ("cuda:90", "nvidia"),
        ("hip:gfx1100", "amd"),
        ("cuda:80 hip:gfx1100", "amd nvidia"),
    ],
)
def test_the_other_vendor_costs_nothing(targets, loaded):
    command = [sys.executable, "-c", PROGRAM, *targets.split()]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == loaded


def test_what_backends_say_they_compile_for():
    for name, backend in backends().items():
        assert sys.modules[f"tile.backends.{name}"].TARGETS == backend.target_names()
    with pytest.raises(tile.TileError, match=r"no backend compiles for 'vpu'.*are cuda, hip"):
        find_backend(GPUTarget("vpu", 1, 32))


@tile.jit
def double(x, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(x + at, tl.load(x + at) * 2)


@sim_only
@pytest.mark.parametrize(
    ("target", "stage"),
    [("cuda:80", "ptx"), ("cuda:90", "ptx"), ("hip:gfx942", "amdgcn"), ("hip:gfx1100", "amdgcn")],
)
def test_the_cpu_is_the_machine_that_the_simulator_is(target, stage, monkeypatch):
    """As torch.compile asks for kernels on the CPU's tensors."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    source = tile.compiler.ASTSource(double, {"x": "*fp32"}, {"n": 64})
    kernel = tile.compile(source, target=GPUTarget("cpu", "", 0))
    assert (
        stage in kernel.asm and kernel.metadata.target == find_backend(parse_target(target)).target
    )
    x = np.arange(64, dtype=np.float32)
    kernel[(1,)](x, 64)
    np.testing.assert_array_equal(x, 2.0 * np.arange(64))
