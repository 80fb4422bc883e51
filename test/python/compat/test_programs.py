"""Programs written for Triton, unchanged, through `tile.compat`."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from reference import sim_only

from tile import compat

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
#: What makes some of them programs for NVIDIA's GPUs.
NVIDIA = {"dependent_launch": "launches that overlap", "matmul": "asks for CUDA"}
CASES = [
    pytest.param(
        p, id=p.stem, marks=[pytest.mark.nvidia(NVIDIA[p.stem])] if p.stem in NVIDIA else []
    )
    for p in PROGRAMS
]


@sim_only
@pytest.mark.parametrize("path", CASES)
def test_program(path):
    compat.install()
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        compat.uninstall()


@sim_only
def test_command():
    run = subprocess.run(
        [sys.executable, "-m", "tile.compat", str(PROGRAMS[-1])], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


@sim_only  # Where there is a GPU, there may be Triton, and tests compare with it.
def test_uninstalled_again():
    assert not any(name.split(".")[0] == "triton" for name in sys.modules)
