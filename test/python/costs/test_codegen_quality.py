"""What kernels cost in the simulator must not grow: instructions, barriers, bank conflicts.

The limits are 1.05 times what Triton 3.6.0 needs for the same kernels, as `bench/static.py`
measured (bench/STATIC.md).
"""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

#: Case: instructions and barriers of the peer.
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


@pytest.fixture(scope="module")
def static():
    """bench/static.py and its cases by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        patch.setenv("TRITON_ALWAYS_COMPILE", "1")
        spec = importlib.util.spec_from_file_location("bench_static", BENCH / "static.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module, {case.name: case for case in module.cases_of("cuda", 80)}


def test_cases_name_the_parameters_of_their_kernels(static):
    """Those of all targets, and what is compiled for its time alone."""
    import peer
    import static_cases

    lists = (static_cases.cases(True), static_cases.amd_cases(), static_cases.hopper_kernels())
    for case in itertools.chain(*lists):
        kernel = getattr(peer.load(case.example), case.kernel)
        assert {*case.types, *case.constants} == set(kernel.arg_names), case.name


@pytest.mark.parametrize("name", PEER)
def test_executed_instructions_and_barriers(static, name):
    module, cases = static
    case = cases[name]
    target = module.parse_target("cuda:80")
    compiled = module.compile_ours(case, target)
    assert "error" not in compiled, compiled.get("error")
    # Checks the result, too, with every check of the simulator on.
    counters = module.execute(case, target, compiled["text"], compiled["shared"])
    instructions, barriers = PEER[name]
    assert counters["instructions"] <= 1.05 * instructions
    assert counters["barriers"] <= 1.05 * barriers
    assert counters["conflicts"] == 0
