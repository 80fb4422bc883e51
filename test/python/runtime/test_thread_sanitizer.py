"""ThreadSanitizer sees what threads of the module do: a race that is planted is found."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    "SHARED_BY_THREADS" not in os.environ, reason="scripts/test_threads.sh runs it"
)

PROGRAM = """
import sys, threading
import tsan_module
import numpy as np
import tile, tile.language as tl

@tile.jit
def fill(out, value, N: tl.constexpr):
    for i in range(200):
        tl.store(out + tl.arange(0, N), value + i)

out = np.zeros((2, 64), np.int32)
fill.warmup(out[0], 5, 64, grid=(1,))
start = threading.Barrier(2)
def work(i):
    start.wait()
    for _ in range(20):
        fill[(1,)](out[i if "apart" in sys.argv else 0], 5, 64)
threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


@pytest.mark.parametrize(("way", "races"), [("together", True), ("apart", False)])
def test_kernels_that_write(way, races, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    options = os.environ["TSAN_OPTIONS"].split(":log_path")[0].replace("exitcode=0", "exitcode=66")
    done = subprocess.run(
        [sys.executable, path, way], env={**os.environ, "TSAN_OPTIONS": options},
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, "data race" in done.stderr) == ((66, True) if races else (0, False)), (
        done.stderr
    )
