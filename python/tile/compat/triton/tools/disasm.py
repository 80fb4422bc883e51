"""Machine code of NVIDIA's GPUs as text, with what it tells the scheduler.

A line is an instruction behind its control bits, ``wait:read:write:yield:stall``. The first is the
mask of the barriers that it waits for. The next two are barriers: one is set when its operands were
read, the other when its result is there. ``Y`` means that another warp should be next. The last is
how many cycles later this warp goes on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable

from tile import knobs
from tile.errors import CompilerToolError

_FUNCTION = re.compile(r"\s*Function\s*:\s*(\S+)")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*/\* 0x[0-9a-f]{16} \*/")
#: The second half of an instruction is on the next line. The control bits are in it.
_CONTROL = re.compile(r"\s*/\* (0x[0-9a-f]{16}) \*/")
_BRANCH = re.compile(r"(?:@!?U?P\d+ )?BRA\b")
_ADDRESS = re.compile(r"0x([0-9a-f]+)")
#: The number that says that no barrier is set.
_NO_BARRIER = 7


def path_to_cuobjdump() -> str:
    """Where cuobjdump is."""
    found = knobs.nvidia.cuobjdump or shutil.which("cuobjdump")
    if found is None and os.path.exists("/usr/local/cuda/bin/cuobjdump"):
        found = "/usr/local/cuda/bin/cuobjdump"
    if found is None:
        raise CompilerToolError(
            "no cuobjdump: put it on the PATH, or name it in TILE_CUOBJDUMP_PATH"
        )
    return found


def extract(file_path: str, fun: str | None = None) -> str:
    """The machine code in a cubin file, of one kernel or of all."""
    command = [path_to_cuobjdump(), *(["-fun", fun] if fun else []), "-sass", file_path]
    try:
        printed = subprocess.check_output(command).decode(errors="replace")
    except subprocess.CalledProcessError as error:
        raise CompilerToolError(f"cuobjdump failed: it returned {error.returncode}") from None
    found: dict[str, list[tuple[int, str, int]]] = {}
    code: list[tuple[int, str, int]] = []
    lines = iter(printed.splitlines())
    for line in lines:
        if function := _FUNCTION.match(line):
            code = found.setdefault(function[1], [])
        elif instruction := _INSTRUCTION.match(line):
            control = _CONTROL.match(next(lines, ""))
            bits = int(control[1], 16) if control else 0
            code.append((int(instruction[1], 16), instruction[2], bits))
    return "\n".join(f"Function:{name}\n{_text(code)}" for name, code in found.items())


def _text(code: Iterable[tuple[int, str, int]]) -> str:
    """The lines of one function. Addresses that branches go to are labels."""
    code = list(code)
    targets = {int(a, 16) for _, text, _ in code if _BRANCH.match(text) for a in _addresses(text)}
    labels = {address: f"LBB{i}" for i, address in enumerate(sorted(targets))}
    lines = []
    for address, text, bits in code:
        if address in labels:
            lines.append(f"{labels[address]}:")
        if _BRANCH.match(text):
            text = _ADDRESS.sub(lambda found: labels[int(found[1], 16)], text)
        lines.append(f"{_control(bits)}\t{text};")
    return "".join(f"{line}\n" for line in lines)


def _addresses(text: str) -> list[str]:
    return _ADDRESS.findall(text)


def _control(bits: int) -> str:
    """The control bits of an instruction, from its second half."""
    wait = bits >> 52 & 0x3F
    read, write = (bits >> shift & 7 for shift in (49, 46))
    waits = f"{wait:02d}" if wait else "--"
    sets = ["-" if barrier == _NO_BARRIER else str(barrier) for barrier in (read, write)]
    yields = "-" if bits >> 45 & 1 else "Y"
    return ":".join([waits, *sets, yields, f"{bits >> 41 & 0xF:x}"])


def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """The machine code of a cubin."""
    with tempfile.NamedTemporaryFile(suffix=".cubin", delete=False) as file:
        file.write(cubin_asm)
    try:
        return extract(file.name, fun)
    finally:
        os.remove(file.name)


__all__ = ["extract", "get_sass", "path_to_cuobjdump"]
