"""What kernels cost on AMD GPUs in the simulator must not grow: instructions, barriers, registers.

The limits are 1.15 times what Triton 3.6.0 needs for the same kernels, as `bench/static.py`
measured (bench/STATIC-AMD.md).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[4] / "bench"
LIMIT = 1.15

#: Target and case: executed instructions, barriers and VGPRs of the peer.
PEER = {
    ("gfx942", "softmax fp16 4096, 8 warps"): (11040, 160, 17),
    ("gfx942", "matmul fp16 64x64x32, 4 warps, 2 stages"): (5252, 124, 72),
    ("gfx942", "matmul fp16 128x128x32, 4 warps, 2 stages"): (7792, 124, 152),
    ("gfx942", "matmul int8 64x64x64, 4 warps, 2 stages"): (4664, 60, 88),
    ("gfx1100", "softmax fp16 4096, 8 warps"): (19540, 160, 47),
    ("gfx1100", "matmul fp16 64x64x32, 4 warps, 2 stages"): (11516, 124, 98),
    ("gfx1100", "matmul fp16 128x128x32, 4 warps, 2 stages"): (23584, 124, 243),
}


@pytest.fixture(scope="module")
def static():
    """bench/static.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        patch.setenv("TRITON_ALWAYS_COMPILE", "1")
        spec = importlib.util.spec_from_file_location("bench_static", BENCH / "static.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


@pytest.mark.parametrize("arch, name", PEER)
def test_executed_instructions_barriers_and_registers(static, arch, name):
    case = next(case for case in static.amd_cases() if case.name == name)
    target = static.parse_target(f"hip:{arch}")
    compiled = static.compile_ours(case, target, {})
    assert "error" not in compiled, compiled.get("error")
    # Checks the result, too, with every check of the simulator on.
    found = static.measure(case, target, compiled, None)
    assert "failure" not in found, found.get("failure")
    instructions, barriers, registers = PEER[arch, name]
    assert found["instructions"] <= LIMIT * instructions
    assert found["barriers"] <= LIMIT * barriers
    assert found["registers"] <= LIMIT * registers
    assert found["spills"] == 0
    assert found["conflicts"] == 0
