"""Random explicit programs: what the compiler orders, and what the program does, is told apart by
the tokens, waits and barriers of the program alone."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import random_products as rq
import random_programs as rp
from reference import poisoned, sim_only

from tile.experimental.gluon import language as gl
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

pytestmark = [sim_only, pytest.mark.sweep]


def load(text, folder, seed):
    """The kernel of a program, from a file, where its source is looked for."""
    path = folder / f"random_program_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


@pytest.mark.sweep(4)
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)
@pytest.mark.parametrize("make", [rp.program, rp.looped])
@pytest.mark.parametrize("seed", range(24))
def test_random_program(seed, make, target, tmp_path):
    made, x = make(seed)
    kernel = load(made.text, tmp_path, seed)
    for schedule in range(3):
        out = poisoned(made.expected.shape, "i32")
        report = kernel.simulate(x, out, 2, grid=(1,), schedule_seed=schedule)
        assert report.ok, (report.messages, made.text)
        np.testing.assert_array_equal(out, made.expected, err_msg=made.text)


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("seed", range(32))
def test_random_program_with_bulk_copies(seed, target, tmp_path):
    made, x = rp.bulk_program(seed)
    kernel = load(made.text, tmp_path, seed)
    layout = gl.NVMMASharedLayout([0, 32, 64, 128][seed % 4], 32)
    block = [rp.N, rp.N]
    for schedule in range(3):
        out = poisoned(made.expected.shape, "i32")
        descs = [TensorDescriptor.from_tensor(t.reshape(-1, rp.N), block, layout) for t in (x, out)]
        report = kernel.simulate(x, descs[0], out, descs[1], grid=(1,), schedule_seed=schedule)
        assert report.ok, (report.messages, made.text)
        np.testing.assert_array_equal(out, made.expected, err_msg=made.text)


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("seed", range(32))
def test_random_program_with_products(seed, target, tmp_path):
    made, x = rq.product_program(seed)
    kernel = load(made.text, tmp_path, seed)
    for schedule in range(2):
        out = poisoned(made.expected.shape, "fp32")
        report = kernel.simulate(x, out, grid=(1,), schedule_seed=schedule)
        assert report.ok, (report.messages, made.text)
        np.testing.assert_array_equal(out, made.expected, err_msg=made.text)
