"""Where buffers lie in shared memory, and from when to when, read from the IR with their places."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

_OFFSET = re.compile(r"allocation\.offset = (\d+)")
_VALUE = re.compile(r"%[\w#]+")
_RESULT = re.compile(r"^\s*(%\w+)(?::\d+)? = (\"?[\w.]+)")
#: Their result is the buffer of their first operand.
_VIEWS = "ttg.memdesc_"


@dataclass
class Buffer:
    name: str
    what: str
    offset: int
    #: Bytes; None of scratch memory, whose size the IR does not say.
    size: int | None
    #: Lines of the IR between which it is in use.
    first: int
    last: int


@dataclass
class MemoryMap:
    buffers: list[Buffer] = field(default_factory=list)
    #: Bytes in all, and lines of the IR.
    size: int = 0
    lines: int = 0
    #: Loops, as lines.
    loops: list[tuple[int, int]] = field(default_factory=list)


def buffer_bytes(type_text: str) -> int | None:
    """Of a memory descriptor: its elements without padding."""
    found = re.search(r"memdesc<((?:\d+x)+)[a-zA-Z]*?(\d+)", type_text)
    if found is None:
        return None
    shape = [int(size) for size in found[1].split("x") if size]
    bits = 8 if re.search(r"memdesc<(?:\d+x)+f8", type_text) else int(found[2])
    return math.prod(shape) * max(1, bits) // 8


def _loops(lines: list[str]) -> list[tuple[int, int]]:
    """From a label to the last branch behind it that goes there."""
    labels = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r"\s*(\^bb\d+)", line))}
    ends: dict[int, int] = {}
    for i, line in enumerate(lines):
        if "cf." not in line and "llvm.br" not in line:
            continue
        for target in re.findall(r"\^bb\d+", line):
            if labels.get(target, i + 1) <= i:
                ends[labels[target]] = i
    return sorted(ends.items())


def memory_map(ir: str) -> MemoryMap:
    """Of IR whose operations have `allocation.offset`."""
    lines = ir.splitlines()
    result = MemoryMap(lines=len(lines), loops=_loops(lines))
    found = re.search(r"ttg\.shared = (\d+)", ir)
    result.size = int(found[1]) if found else 0
    owner: dict[str, Buffer] = {}
    for i, line in enumerate(lines):
        made = _RESULT.match(line)
        body = line.partition(" = ")[2] if made else line
        for value in _VALUE.findall(body.split(" : ")[0]):
            if value in owner:
                owner[value].last = i
        if made and made[2].startswith(_VIEWS):
            operands = [v for v in _VALUE.findall(body) if v in owner]
            if operands:
                owner[made[1]] = owner[operands[0]]
        offset = _OFFSET.search(line)
        if offset is None:
            continue
        name = made[1] if made else ""
        what = made[2].strip('"') if made else line.split()[0].strip('"')
        size = buffer_bytes(line.rpartition("->")[2]) if "local_alloc" in what else None
        buffer = Buffer(name, what, int(offset[1]), size, i, i)
        result.buffers.append(buffer)
        if size is not None and name:
            owner[name] = buffer
    for buffer in result.buffers:
        # What lives on entry of a loop and is used in it lives until its end.
        for start, end in result.loops:
            if buffer.first < start <= buffer.last < end:
                buffer.last = end
    result.size = max([1, result.size, *(b.offset + (b.size or 0) for b in result.buffers)])
    return result
