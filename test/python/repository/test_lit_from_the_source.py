"""`lit` takes paths of the source, and finds the build by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.skipif(not (ROOT / "build/bin/tile-opt").exists(), reason="no build beside the source")
@pytest.mark.parametrize("where", ["test/lit/Tools/targets.mlir", "test/lit/Tools"])
def test_a_path_of_the_source(where):
    lit = Path(sys.executable).with_name("lit")
    if not lit.exists():
        pytest.skip("lit is not installed")
    done = subprocess.run([lit, "-v", where], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS: " in done.stdout and "targets.mlir" in done.stdout
