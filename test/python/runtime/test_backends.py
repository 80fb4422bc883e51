"""Backends are loaded when somebody compiles for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tile
from tile.backends import GPUTarget, backends, find_backend

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
