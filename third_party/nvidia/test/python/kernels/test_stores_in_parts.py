"""Tiles that examples/linear.py stores in parts: each has a buffer, or they take some in turns."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, random

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

EXAMPLE = Path(__file__).resolve().parents[5] / "examples" / "linear.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("example_linear", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


#: Type, tile, stages, parts; after how many copies of parts a buffer is written again, with loads
#: in the pipeline and in warps of their own. None: each part has its own.
CASES = [
    ("fp32", (128, 256, 32), 4, 4, 1, 1),
    ("fp32", (128, 256, 32), 4, 8, 2, 2),
    ("fp32", (128, 256, 32), 3, 2, 1, 1),
    ("fp16", (128, 256, 64), 4, 4, 2, None),
    ("fp16", (128, 256, 64), 4, 2, 1, None),
    ("fp16", (128, 256, 64), 3, 4, None, None),
    ("fp16", (128, 128, 64), 3, 2, None, None),
]


@pytest.mark.parametrize("specialized", [False, True])
@pytest.mark.parametrize(("dtype", "tile", "stages", "parts", "piped", "divided"), CASES)
def test_parts(example, dtype, tile, stages, parts, piped, divided, specialized, monkeypatch):
    run_on("cuda:90", monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    m, n, k = 200, 600, 72
    x, w, bias = random((m, k), dtype, 1), random((n, k), dtype, 2), random((n,), dtype, 3)
    y = poisoned((m, n), dtype)
    kernel = example.linear(
        x, w, bias, y, *tile, activation="none", programs=2, specialize=specialized, parts=parts,
        num_warps=8, num_stages=stages,
    )  # fmt: skip
    expected = x.astype(np.float64) @ w.T.astype(np.float64) + bias
    np.testing.assert_allclose(y, expected, rtol=2e-2, atol=5e-2)
    buffers = divided if specialized else piped
    waits = re.findall(r"wait_group\.read (\d+)", kernel.asm["ptx"])
    in_turns = [int(n) for n in waits if n != "0"] if buffers != 1 else waits[1:]
    assert set(map(int, in_turns)) == (set() if buffers is None else {buffers - 1})


@tile.jit
def write_again(out, x_ptr, steps, BACK: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Rows of 2 N columns; the last store writes to columns that an earlier one wrote to."""
    for t in tl.range(0, steps):
        places = (t * M + tl.arange(0, M))[:, None] * N + tl.arange(0, N)[None, :]
        x = tl.load(x_ptr + places)
        out.store([t * M, 0], x)
        if BACK:
            out.store([t * M, N], x + 1)
        out.store([t * M, 0], x + 2)


@pytest.mark.parametrize("back", [False, True])
def test_what_is_written_last_stays(back, monkeypatch):
    run_on("cuda:90", monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    steps, m, n = 4, 32, 64
    x = random((steps * m, n), "fp32", 1)
    y = np.zeros((steps * m, 2 * n), np.float32)
    out = TensorDescriptor(y, [steps * m, 2 * n], [2 * n, 1], [m, n])
    kernel = write_again[(1,)](out, x, steps, BACK=back, M=m, N=n)
    assert kernel.asm["ptx"].count("cp.async.bulk.tensor") >= 2
    np.testing.assert_array_equal(y[:, :n], x + 2)
    np.testing.assert_array_equal(y[:, n:], x + 1 if back else 0)
