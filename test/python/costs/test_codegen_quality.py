"""What kernels cost in the simulator must not grow: instructions, barriers, bank conflicts.

The limits are 1.05 times what Triton 3.6.0 needs for the same kernels, as
`bench/regress.py beside` measured (bench/RESULTS.md).
"""

from __future__ import annotations

import itertools

import pytest
from measured import quality

from tile.backends import parse_target

TARGET = parse_target("cuda:80")

#: Case: instructions and barriers of Triton.
PEER = {
    "add fp32 1024, 4 warps": (816, 0),
    "softmax fp16 4096, 8 warps": (7008, 160),
    "layernorm fp16 4096, 8 warps": (9632, 160),
    "matmul fp16 64x64x32, 4 warps, 3 stages": (5840, 140),
    "matmul fp16 64x256x32, 4 warps, 4 stages": (12156, 200),
    "matmul bf16 128x128x32, 8 warps, 2 stages": (12024, 272),
    "matmul tf32 128x128x32, 4 warps, 3 stages": (21692, 164),
    "matmul int8 64x64x64, 4 warps, 3 stages": (7756, 84),
    "attention fp16 D64 64x64, 4 warps, 3 stages": (110368, 608),
    "attention fp16 D128 causal 128x128, 8 warps, 2 stages": (109576, 256),
}


cases, beside, compiled = map(quality, ("cases", "beside", "compiled"))


@pytest.fixture(autouse=True)
def compile_always(monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")


def test_cases_name_the_parameters_of_their_kernels():
    """Those of all targets, and what is compiled for its time alone."""
    for case in itertools.chain(cases.cases(True), cases.amd_cases(), cases.hopper_kernels()):
        kernel = compiled.source_of(case, TARGET).fn
        assert {*case.types, *case.constants} == set(kernel.arg_names), case.name


@pytest.mark.parametrize("name", PEER)
def test_executed_instructions_and_barriers(name):
    case = next(case for case in cases.cases() if case.name == name)
    found = compiled.compile_ours(case, TARGET)
    assert "error" not in found, found.get("error")
    # Checks the result, too, with every check of the simulator on.
    counters = beside.execute(case, TARGET, found["text"], found["shared"])
    instructions, barriers = PEER[name]
    assert counters["instructions"] <= 1.05 * instructions
    assert counters["barriers"] <= 1.05 * barriers
    assert counters["conflicts"] == 0
