"""A program that imports triton, run by `python -m tile.compat`."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
import tile

@triton.jit
def kernel(out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), triton.cdiv(N, 3))

out = np.zeros(16, np.float32)
kernel[(1,)](out, N=16)
print(out[0], triton.jit is tile.jit, tl is tile.language, triton.__name__, sys.argv[1])
"""


def test_programs_that_import_triton(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "TILE_DRIVER": "sim"}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    result = subprocess.run(
        [sys.executable, "-m", "tile.compat", str(program), "argument"],
        env=environment,
        capture_output=True,
        text=True,
    )
    expected = ["6.0", "True", "True", "tile.compat.triton", "argument"]
    assert result.stdout.split() == expected, result.stderr
