"""A misspelt name of the language, where `import triton` gives tile.

Modules look for more names there.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import tile
import tile.compat
import triton
import triton.language as tl

@triton.jit
def kernel(x):
    tl.store(x, {expression})

kernel[(1,)](np.zeros(4, np.float32))
"""


@pytest.mark.parametrize("interpret", ["0", "1"])
@pytest.mark.parametrize(
    ("expression", "end"),
    [
        ("tl.relu(1.0)", "no attribute `relu`; use `tl.maximum(x, 0)`"),
        ("tl.maximun(1.0, 0)", "no attribute `maximun`; did you mean `maximum`?"),
        ("tl.math.rsqrrt(1.0)", "no attribute `rsqrrt`; did you mean `rsqrt`?"),
    ],
)
def test_the_message_is_the_same(expression, end, interpret, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(expression=expression))
    run = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True,
        env={**os.environ, "TRITON_INTERPRET": interpret},
    )  # fmt: skip
    assert run.returncode == 1
    last = run.stderr.rstrip().splitlines()[-1]
    assert last.startswith("error: module `tile.language") and last.endswith(end), run.stderr
