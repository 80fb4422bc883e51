"""Random explicit programs: what the compiler orders, and what the program does, is told apart by
the tokens, waits and barriers of the program alone."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
import random_programs as rp
from reference import poisoned, sim_only

pytestmark = [
    sim_only,
    pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True),
]


def load(text, folder, seed):
    """The kernel of a program, from a file, where its source is looked for."""
    path = folder / f"random_program_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


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
