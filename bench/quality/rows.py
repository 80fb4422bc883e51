"""What is kept of a kernel on a target: what its code takes, and a hash of its text."""

from __future__ import annotations

import hashlib
import re
import struct
import time
from dataclasses import dataclass
from typing import Any

import tile
from tile.backends import find_backend
from tile.backends.compiler import GPUTarget

from . import amd
from .compiled import MACHINES
from .kernels import Kernel

#: The text of a kernel that the compiler refuses.
REFUSED = "refused"


@dataclass(frozen=True)
class Row:
    """`None` is what nobody counted: of a refused kernel, or for want of ptxas."""

    kernel: str
    registers: int | None = None
    #: Registers that live in memory for a while.
    spills: int | None = None
    #: Of the machine's code.
    instructions: int | None = None
    #: Bytes of shared memory that a block takes.
    shared: int | None = None
    #: Warps that one multiprocessor, or SIMD unit, holds at once.
    warps: int | None = None
    #: Processor time of the compile to the text, in that of the reference.
    compile: float | None = None
    #: A hash of the text.
    text: str = ""


@dataclass(frozen=True)
class Compiled:
    """A compile to the text; nothing was asked of the assembler."""

    kernel: str
    text: str
    seconds: float
    #: None where it was refused.
    code: Any
    refusal: str = ""


def text_hash(text: str, kind: str) -> str:
    """Of what the assembler reads: comments, and who wrote the text, are left out."""
    comment = "//" if kind == "cuda" else ";"
    lines = (line.partition(comment)[0].strip() for line in text.splitlines())
    code = "\n".join(line for line in lines if line and not line.startswith(".ident"))
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def compile_text(kernel: Kernel, target: GPUTarget) -> Compiled:
    start = time.process_time()
    try:
        code = kernel.compile(target)
    except tile.errors.TileError as error:
        said = str(error).splitlines()[0]
        return Compiled(kernel.name, REFUSED, time.process_time() - start, None, said)
    seconds = time.process_time() - start
    text = code.asm[MACHINES[target.backend].STAGE]
    return Compiled(kernel.name, text_hash(text, target.backend), seconds, code)


def measure(compiled: Compiled, target: GPUTarget) -> Row:
    """Asks ptxas, where code is for NVIDIA's; raises TileError where it refuses."""
    if compiled.code is None:
        return Row(compiled.kernel, text=REFUSED)
    describe = _of_ptx if target.backend == "cuda" else _of_amdgcn
    found = describe(compiled.code, target)
    return Row(compiled.kernel, shared=compiled.code.shared, text=compiled.text, **found)


def _of_ptx(code: Any, target: GPUTarget) -> dict[str, int | None]:
    occupancy = find_backend(target).occupancy(code, None)
    if occupancy is None:  # There is no ptxas.
        return {}
    return {
        "registers": code.n_regs, "spills": code.n_spills, "warps": occupancy.warps,
        "instructions": machine_instructions(code.asm["cubin"]),
    }  # fmt: skip


def _of_amdgcn(code: Any, target: GPUTarget) -> dict[str, int | None]:
    assembly = code.asm[amd.STAGE]
    found = amd.describe(assembly, None)
    waves = re.search(r"^; Occupancy: (\d+)", assembly, re.M)
    return {
        "registers": found["registers"], "spills": found["spills"], "instructions": found["code"],
        "warps": int(waves[1]) if waves else None,
    }  # fmt: skip


#: Bytes of an instruction, and the operations of those that follow the end of a kernel: NOP, and
#: a branch to itself. An operation is in the 12 lowest bits.
_BYTES, _NOP, _BRANCH = 16, 0x918, 0x947


def machine_instructions(cubin: bytes) -> int:
    """How many instructions a cubin has, without what fills its sections up."""
    return sum(_instructions(code) for name, code in _sections(cubin) if name.startswith(".text."))


def _instructions(code: bytes) -> int:
    operations = [
        struct.unpack_from("<H", code, at)[0] & 0xFFF for at in range(0, len(code), _BYTES)
    ]
    while operations and operations[-1] == _NOP:
        operations.pop()
    if operations and operations[-1] == _BRANCH:
        operations.pop()
    return len(operations)


def _sections(elf: bytes) -> list[tuple[str, bytes]]:
    """Names and contents of the sections of a 64-bit ELF file."""
    if elf[:5] != b"\x7fELF\x02":
        raise ValueError("this is no 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    strings = headers[names][4]
    result = []
    for name, kind, _, _, offset, length in headers:
        end = elf.index(b"\0", strings + name)
        text = elf[strings + name : end].decode()
        # Some sections have no bytes in the file (SHT_NOBITS).
        result.append((text, b"" if kind == 8 else elf[offset : offset + length]))
    return result
