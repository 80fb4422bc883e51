"""Sums of matrix instructions, bit for bit as an H200 forms them.

matrix_sums.npz has a part of what test/gpu/measure_sums.py wrote there: of each block's output the
first 128 words.
"""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pytest

import tile.sim

HERE = pathlib.Path(__file__).parent
_spec = importlib.util.spec_from_file_location(
    "measure_sums", HERE.parents[1] / "gpu" / "measure_sums.py"
)
measure = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(measure)

REAL = np.load(HERE / "matrix_sums.npz")


@pytest.mark.parametrize("name", REAL.files)
def test_sums_are_those_of_the_hardware(name):
    real = REAL[name]
    instruction, edges = name.removesuffix("/edges"), name.endswith("/edges")
    words = measure.inputs(instruction, edges=edges)[: len(real)]
    out = np.zeros((len(real), measure.output_words(instruction)), np.uint32)
    is_mma = instruction in measure.MMA
    ptx = (measure.mma if is_mma else measure.wgmma)(instruction)
    tile.sim.launch(ptx, "sums", len(real), 32 if is_mma else 128, [words, out])
    np.testing.assert_array_equal(out[:, : real.shape[1]], real)
