"""Loops of dots, and kernels, on AMD GPUs are no longer than those of Triton 3.6.0, as
`bench/regress.py beside` counts their instructions. They take registers for as many waves."""

from __future__ import annotations

import dataclasses
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from measured import quality

from tile.backends import parse_target

amd, cases, compiled = map(quality, ("amd", "cases", "compiled"))

#: Target and case: Triton's instructions in loops for 8192 dots.
PEER = {
    ("gfx942", "matmul fp16 64x64x64, 4 warps, 2 stages"): 9.88,
    ("gfx942", "matmul int8 64x64x64, 4 warps, 2 stages"): 13.75,
    ("gfx942", "matmul int8 128x64x32, 4 warps, 2 stages"): 9.25,
    ("gfx942", "attention fp16 D64 64x64, 4 warps, 2 stages"): 16.92,
    ("gfx1100", "matmul fp16 64x64x32, 4 warps, 2 stages"): 36.75,
    ("gfx1100", "matmul fp16 128x128x32, 4 warps, 2 stages"): 17.69,
    ("gfx1100", "matmul int8 64x64x64, 4 warps, 2 stages"): 59.0,
}


#: Target and case: Triton's instructions.
PEER_CODE = {
    ("gfx942", "softmax fp16 5008, 8 warps"): 543,
    ("gfx1100", "softmax fp16 5008, 8 warps"): 1086,
    # One offset for three buffers.
    ("gfx1201", "add fp32 1024, 8 warps"): 29,
    ("gfx942", "add fp32 4096, 8 warps"): 40,
}

#: Target and case: the registers that the portions of Triton's leave.
PEER_REGISTERS = {
    ("gfx90a", "matmul fp16 64x128x64, 4 warps, 2 stages"): 96,
    ("gfx90a", "matmul fp16 128x128x64, 8 warps, 2 stages"): 96,
    ("gfx942", "attention fp16 D128 64x64, 4 warps, 2 stages"): 168,
    ("gfx950", "corpus gemm fp32"): 72,
    ("gfx90a", "matmul fp16 128x256x64, 8 warps, 2 stages"): 136,
    ("gfx942", "matmul fp16 128x128x64, 8 warps, 2 stages"): 104,
    ("gfx950", "matmul fp16 128x256x64, 8 warps, 2 stages"): 128,
    # Divisors of known magnitude.
    ("gfx942", "layernorm fp16 1024, 4 warps"): 16,
    ("gfx942", "layernorm fp16 5008, 8 warps"): 48,
    # A wave more each.
    ("gfx1100", "matmul int8 64x128x64, 4 warps, 2 stages"): 144,
    ("gfx1100", "matmul int8 128x256x64, 8 warps, 2 stages"): 216,
    # All waves fit, and LDS has room for more than a SIMD unit holds.
    ("gfx1100", "matmul int8 64x64x32, 4 warps, 2 stages"): 96,
}

#: Target and case: registers that are spilled at most; Triton spills 519, 47, 140, 29.
SPILLS = {
    ("gfx1100", "attention fp16 D128 128x64, 4 warps, 2 stages"): 160,
    ("gfx1100", "attention fp16 D128 64x64, 4 warps, 2 stages"): 0,
    ("gfx1100", "attention fp16 D64 causal 128x64, 4 warps, 2 stages"): 40,
    ("gfx1201", "attention fp16 D128 causal 64x64, 4 warps, 2 stages"): 0,
}


@pytest.fixture(autouse=True)
def compile_always(monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")


def assembly(arch, name, **changes):
    """Of a case, or of the same with other constants or options."""
    case = next(case for case in cases.cases_of("hip", arch) if case.name == name)
    case = dataclasses.replace(case, **{k: getattr(case, k) | v for k, v in changes.items()})
    found = compiled.compile_ours(case, parse_target(f"hip:{arch}"))
    assert "error" not in found, found.get("error")
    return found["text"]


def describe(arch, name):
    return amd.describe(assembly(arch, name), None)


@pytest.mark.parametrize("arch, name", PEER)
def test_instructions_in_loops(arch, name):
    assert describe(arch, name)["loop"] <= PEER[arch, name]


@pytest.mark.parametrize("arch, name", PEER_CODE)
def test_instructions_of_kernels(arch, name):
    assert describe(arch, name)["code"] <= PEER_CODE[arch, name]


@pytest.mark.parametrize("arch, name", PEER_REGISTERS)
def test_registers(arch, name):
    found = describe(arch, name)
    assert found["registers"] <= PEER_REGISTERS[arch, name] and found["spills"] == 0


@pytest.mark.parametrize("arch, name", SPILLS)
def test_spills(arch, name):
    assert describe(arch, name)["spills"] <= SPILLS[arch, name]


def test_tiles_that_are_too_large_compile_soon():
    """Sums alone take twice the registers. What LLVM makes of it without fences, which took
    33 s, is not tried."""
    before = time.process_time()
    text = assembly(
        "gfx1100",
        "matmul fp16 128x256x64, 8 warps, 2 stages",
        constants={"BM": 256, "BN": 256, "BK": 32},
        options={"num_warps": 4},
    )
    assert time.process_time() - before < 12
    assert "sched_barrier" in text and amd.describe(text, None)["spills"] < 1600


def test_code_is_the_same_beside_other_targets():
    """Targets differ in an option that all of LLVM has in common."""
    name = "matmul fp16 64x64x64, 4 warps, 2 stages"
    wanted = ["gfx942", "gfx1201"]
    alone = [assembly(arch, name) for arch in wanted]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda arch: assembly(arch, name), wanted * 4))
    assert together == alone * 4


def innermost_loop(text: str) -> str:
    return re.search(r"^(\.LBB0_\d+):[^\n]*Inner Loop.*?s_cbranch\w* \1\b", text, re.M | re.S)[0]


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_products_do_not_wait_for_what_is_loaded_ahead(arch):
    text = assembly(arch, "matmul fp16 64x128x64, 4 warps, 2 stages")
    loop = innermost_loop(text)
    products = [m.start() for m in re.finditer(r"^\s+v_mfma", loop, re.M)]
    waits = [m.start() for m in re.finditer(r"s_waitcnt vmcnt", loop)]
    assert products and waits and products[-1] < waits[0]


def waits_for_nothing(text: str) -> list[str]:
    """Waits for LDS before barriers behind another wait for all of it, with no access since: of
    a block that accesses LDS, whose waits LLVM places well."""
    found, accessed, pending = [], False, True
    for line in text.splitlines():
        if re.match(r"(; %bb\.|\.LBB)\w+:", line):
            accessed, pending = False, True
        elif re.match(r"\s+(ds_|s_load|s_buffer_load|s_memtime|s_sendmsg)", line):
            accessed |= re.match(r"\s+ds_(read|write|load|store)", line) is not None
            pending = True
        elif re.search(r"s_waitcnt .*lgkmcnt\(0\)|s_wait_(loadcnt_)?dscnt 0x0", line):
            if accessed and not pending:
                found.append(line.strip())
            pending = False
    return found


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1100", "gfx1201"])
@pytest.mark.parametrize(
    "name",
    [
        "matmul fp16 128x128x32, 4 warps, 2 stages",
        "matmul int8 64x128x64, 4 warps, 2 stages",
        "attention fp16 D64 64x64, 4 warps, 2 stages",
        "softmax fp16 5008, 8 warps",
    ],
)
def test_barriers_wait_for_lds_once(arch, name):
    """A wait of a barrier's own stays where a loop begins: LLVM drops the fence's there."""
    text = assembly(arch, name)
    assert "s_barrier" in text
    assert not waits_for_nothing(text)


@pytest.mark.parametrize(
    "arch, waits", [("gfx942", r"s_waitcnt .*lgkmcnt\(0\)"), ("gfx1201", r"s_wait_\w*dscnt 0x0")]
)
def test_barriers_at_the_start_of_loops_wait_for_lds(arch, waits):
    """What the iteration before has written to LDS: LLVM has dropped the fence's own wait."""
    text = assembly(arch, "matmul fp16 64x64x32, 4 warps, 2 stages")
    lines = [line.split(";")[0].strip() for line in innermost_loop(text).splitlines()]
    lines = [line for line in lines if line and not line.startswith((".loc", "s_nop"))]
    barrier = next(i for i, line in enumerate(lines) if line.startswith("s_barrier"))
    assert not any(line.startswith("ds_") for line in lines[:barrier])
    assert re.match(waits, lines[barrier - 1])
