"""How long one warp takes alone, read from machine code.

ptxas says which registers it took, and not in which order it put the loads. Each instruction has
control bits: how many cycles the next one waits, which barrier it sets, and for which it waits.
So one walk through the code tells how often a warp waits for memory, and for how many loads at
once. The walk takes no branch. A loop counts once. That compares codes of one kernel, and no more.
"""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Iterator

#: Bytes of an instruction.
_SIZE = 16
#: Loads of global memory, by the low bits of the first word.
_GLOBAL_LOADS = frozenset({0x381, 0x981})
#: What fills a section behind the last exit: no operation, and a branch to itself.
_FILLING = frozenset({0x918, 0x947})
#: Cycles until memory has answered, on a GPU that is busy, and until another unit has.
_MEMORY, _OTHER = 800, 30
#: Barriers of a warp; the number 7 is none.
_BARRIERS = 6


def _find_codes(cubin: bytes) -> Iterator[bytes]:
    """The machine code of each function of an ELF file. None of another file."""
    if not cubin.startswith(b"\x7fELF\x02"):
        return
    (at,) = struct.unpack_from("<Q", cubin, 0x28)
    count, of_names = struct.unpack_from("<HH", cubin, 0x3C)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + 64 * i) for i in range(count)]
    names = sections[of_names][4]
    for name, _, _, _, offset, size, *_ in sections:
        if cubin.startswith(b".text.", names + name):
            yield cubin[offset : offset + size]


@dataclasses.dataclass(frozen=True)
class Walk:
    """What one warp does, from the first instruction to the last."""

    instructions: int = 0
    #: Cycles, where no other warp is there.
    alone: int = 0
    #: How often it waits for memory.
    trips: int = 0

    def get_cycles(self, neighbours: float) -> float:
        """About what it takes of a part of the multiprocessor that `neighbours` warps share. Each
        issues its instructions, and they wait at the same time."""
        return self.instructions + self.alone / neighbours


def _walk(code: bytes) -> Walk:
    now = trips = instructions = 0
    free = [0] * _BARRIERS
    for_memory = [False] * _BARRIERS
    end = len(code) - _SIZE
    while end > 0 and struct.unpack_from("<Q", code, end)[0] & 0xFFF in _FILLING:
        end -= _SIZE
    for at in range(0, end + _SIZE, _SIZE):
        low, high = struct.unpack_from("<QQ", code, at)
        loads = low & 0xFFF in _GLOBAL_LOADS
        control = high >> 41
        stall, sets, reads = control & 0xF, control >> 5 & 7, control >> 8 & 7
        waits = [i for i in range(_BARRIERS) if control >> (11 + i) & 1 and free[i] > now]
        if waits:
            last = max(waits, key=free.__getitem__)
            trips += for_memory[last] and free[last] - now > _OTHER
            now = free[last]
        for barrier, cycles in ((sets, _MEMORY if loads else _OTHER), (reads, _OTHER)):
            if barrier < _BARRIERS and free[barrier] < now + cycles:
                free[barrier] = now + cycles
                for_memory[barrier] = loads and barrier == sets
        now += max(stall, 1)
        instructions += 1
    return Walk(instructions, now, trips)


@functools.lru_cache(maxsize=4)  # The same code is compared with several others.
def walk_through(cubin: bytes) -> Walk:
    """One walk through all functions."""
    walks = [_walk(code) for code in _find_codes(cubin)]
    return Walk(*(sum(column) for column in zip(*map(dataclasses.astuple, walks), strict=True)))
