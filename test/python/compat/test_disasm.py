"""Machine code as `triton.tools.disasm` prints it, from what cuobjdump says."""

from __future__ import annotations

import pytest

import tile
from tile import knobs
from tile.compat.triton.tools import disasm


def instruction(address: int, text: str, high: int) -> str:
    gap = " " * 10
    return (
        f"        /*{address:04x}*/    {text} ;    /* 0x000000000000794d */\n"
        f"{gap}/* 0x{high:016x} */\n"
    )


def bits(wait: int, read: int, write: int, busy: int, stall: int) -> int:
    return wait << 52 | read << 49 | write << 46 | busy << 45 | stall << 41 | 0xABC


def function(name: str, *code: str) -> str:
    head = f'\t\tFunction : {name}\n\t.headerflags\t@"EF_CUDA_SM90 EF_CUDA_PTX_SM(EF_CUDA_SM90)"\n'
    return head + "".join(code) + "\t\t..........\n"


@pytest.fixture
def cuobjdump(tmp_path, monkeypatch):
    """A program that prints a text, and writes its arguments to a file."""
    program = tmp_path / "cuobjdump"

    def prints(text: str, status: int = 0):
        (tmp_path / "text").write_text(text)
        program.write_text(
            f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\ncat {tmp_path}/text\nexit {status}\n'
        )
        program.chmod(0o755)
        return tmp_path / "arguments"

    with knobs.nvidia.scope():
        knobs.nvidia.cuobjdump = str(program)
        yield prints


def test_instructions_labels_and_control_bits(cuobjdump):
    loop = function(
        "loop",
        instruction(0x0, "LDC R1, c[0x0][0x28]", bits(0, 7, 7, 1, 1)),
        instruction(0x10, "S2R R0, SR_TID.X", bits(0, 7, 0, 1, 1)),
        instruction(0x20, "@!P0 BRA 0x10", bits(1, 7, 7, 1, 5)),
        instruction(0x30, "@UP1 BRA 0x10000", bits(63, 2, 5, 0, 15)),
        instruction(0xFFF0, "MOV R3, 0x10", bits(42, 7, 7, 1, 10)),
        instruction(0x10000, "EXIT", bits(0, 7, 7, 0, 0)),
    )
    cuobjdump(loop + function("other", instruction(0, "EXIT", bits(0, 7, 7, 1, 5))))
    expected = (
        "Function:loop\n"
        "--:-:-:-:1\tLDC R1, c[0x0][0x28];\n"
        "LBB0:\n"
        "--:-:0:-:1\tS2R R0, SR_TID.X;\n"
        "01:-:-:-:5\t@!P0 BRA LBB0;\n"
        "63:2:5:Y:f\t@UP1 BRA LBB1;\n"
        "42:-:-:-:a\tMOV R3, 0x10;\n"
        "LBB1:\n"
        "--:-:-:Y:0\tEXIT;\n"
    )
    assert disasm.extract("x.cubin") == expected + "\nFunction:other\n--:-:-:-:5\tEXIT;\n"


def test_which_kernel_is_asked_for(cuobjdump):
    arguments = cuobjdump(function("k", instruction(0, "EXIT", 0)))
    assert disasm.get_sass(b"a cubin", "k") == "Function:k\n--:0:0:Y:0\tEXIT;\n"
    words = arguments.read_text().split()
    assert words[:3] == ["-fun", "k", "-sass"] and words[3].endswith(".cubin")
    disasm.extract("x.cubin")
    assert arguments.read_text().split() == ["-sass", "x.cubin"]


def test_a_file_without_code_and_a_program_that_fails(cuobjdump):
    cuobjdump("no code here\n")
    assert disasm.extract("x.cubin") == ""
    cuobjdump("", status=3)
    with pytest.raises(tile.CompilerToolError, match="cuobjdump failed: it returned 3"):
        disasm.extract("x.cubin")
