"""Sums of matrix instructions, bit for bit as an H200 forms them.

matrix_sums.npz has a part of what test/gpu/measure_sums.py wrote there: of some blocks' output the
first 128 words. wgmma_descriptors.npz is what test/gpu/measure_descriptors.py wrote.
"""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pytest

import tile.sim

HERE = pathlib.Path(__file__).parent


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, HERE.parents[1] / "gpu" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


measure = script("measure_sums")
REAL = np.load(HERE / "matrix_sums.npz")


@pytest.mark.parametrize("name", REAL.files)
def test_sums_are_those_of_the_hardware(name):
    real = REAL[name]
    instruction, edges = name.removesuffix("/edges"), name.endswith("/edges")
    blocks = slice(0, 48, 3) if edges else slice(0, 12)
    words = np.ascontiguousarray(measure.inputs(instruction, edges=edges)[blocks])
    out = np.zeros((len(real), measure.output_words(instruction)), np.uint32)
    is_mma = instruction in measure.MMA
    ptx = (measure.mma if is_mma else measure.wgmma)(instruction)
    tile.sim.launch(ptx, "sums", len(real), 32 if is_mma else 128, [words, out])
    np.testing.assert_array_equal(out[:, : real.shape[1]], real)


def test_descriptors_name_the_bytes_that_they_name_on_hardware():
    """Swizzles, base offsets, and starts within the pattern."""
    descriptors = script("measure_descriptors")
    given = descriptors.descriptors()
    out = np.zeros((len(given), 2, 128, 4), np.float32)
    tile.sim.launch(descriptors.PTX, "descriptors", len(given), 128, [given, out])
    real = np.load(HERE / "wgmma_descriptors.npz")["chunks"]
    np.testing.assert_array_equal(descriptors.chunks_of_rows(out), real)
