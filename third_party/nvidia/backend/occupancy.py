"""How many blocks a multiprocessor holds at once, and machine code of which it holds more.

One register more may cost a block. ptxas does not take this into account. For example, with 256
threads a block, 40 warps are resident at 42 registers, and 48 at 40 registers. Kernels that wait
for memory are faster if more of their warps wait at the same time.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from tile import _C, knobs
from tile.backends.base import Occupancy
from tile.errors import OutOfResources

from . import latency, tools

_LANES = 32
#: What more blocks have to take of the register file, in percent of what fewer did: ptxas takes as
#: long again. Layernorm of 4096 columns on 4 warps had 9 blocks for 8 with 56 registers for 64.
#: That is 98 percent, and it was no faster: 3,435 for 3,449 GB/s. Where they become a power of two,
#: as grids are, they only have to take as much.
_LEAST_GAIN, _LEAST_GAIN_OF_POWERS = 105, 100
#: What registers that cost no block have to be of those that ptxas takes, in percent.
_LEAST_SPARE = 125
#: And what registers that cost blocks have to be.
_MUCH_SPARE = 150
#: Spilled registers that are worth a third more blocks. Decoding of Llama 70B has eight blocks for
#: six: its loop of 300 instructions reads four of them back, and writes none.
_FEW_SPILLS = 8
#: Multiplications for each byte that a loop loads, from which on dots do not wait for memory alone.
#: 16 rows of queries make 8, 64 make 32. An H200 does some 57 in the time of a byte.
_DENSE = 16
#: Registers that a loop loads in each iteration, where ptxas starts a few loads, stores what they
#: bring to shared memory, and starts others. Paged attention on one warp loads 128.
_MANY_WORDS = 64
#: Waits for memory, one after the other, of which more registers may leave fewer.
_MANY_TRIPS = 4
#: What code with fewer blocks, or for loops, takes at most of the time, by `latency.py`: that only
#: compares. SGLang's gelu_and_mul with 8 warps is said to take 0.78, and paged attention on one
#: warp 0.70. They took 1.11 and 1.74 of the time of Triton's, which is said to be 0.84 and 0.69.
_LESS_TIME = 0.9
#: And what code with more blocks may take. It waits more often, as fewer loads are under way.
#: `_reduce_grouped` of triton-kernels is said to take 1.68 in 32 blocks for 28, and took 1.41. The
#: gradient of Liger's group norm is said to take 1.11 in eight for seven, and took 0.93.
_MORE_TIME = 1.25
#: Bytes in each cycle, about twice a multiprocessor's share of what memory brings: that is 21 on an
#: H200, and 28 on a B200. With 32, norms of rows took a hundredth longer.
_ENOUGH_BYTES = 40
#: And three times. A third more blocks are worth it below: they load while others wait for a
#: barrier. Liger's RMSNorm of 8,192 columns asks for 51, and has four blocks for three in 0.96 of
#: the time. With one that adds a residual, which asks for 75, eight blocks for six gain nothing.
_PLENTY_OF_BYTES = 64
#: Waits from which on more loads at a time are tried before more blocks. Liger's DyT waits 4 times:
#: it takes 39.4 us with 16 blocks, and 40.9 where more loads leave nine.
_MOST_TRIPS = 7
#: The register file, and who issues instructions, are in as many parts.
_PARTS = 4
#: What a thread can have.
_MOST_REGISTERS = 255


def block_limits(
    facts: Any, registers: int, warps: int, shared: int, columns: int = 0
) -> dict[str, int]:
    """For each resource, how many blocks of `warps` warps a multiprocessor has it for. Their
    threads take `registers`, and they take `shared` bytes and `columns` of tensor memory. Passes
    ask the same (`Occupancy.cpp`)."""
    capability = facts.compute_capability
    return _C.llvm.block_limits(capability, registers, warps, shared, columns)


def resident_blocks(facts: Any, registers: int, warps: int, shared: int, columns: int = 0) -> int:
    """How many such blocks it holds."""
    return min(block_limits(facts, registers, warps, shared, columns).values())


def resident_warps(
    facts: Any, registers: int, warps: int, shared: int, processors: int
) -> Occupancy:
    """The same in warps, and with what limits them."""
    limits = block_limits(facts, registers, warps, shared)
    blocks = min(limits.values())
    return Occupancy(
        warps=blocks * warps,
        most=facts.max_threads_per_sm // _LANES,
        unit="multiprocessor",
        bound=min(limits, key=limits.__getitem__),
        limits={name: count * warps for name, count in limits.items()},
        blocks_at_once=blocks * processors,
    )


def registers_for_more(
    facts: Any, registers: int, warps: int, shared: int, least: int = 0
) -> int | None:
    """The most registers with which more blocks are resident, `least` at least, that fill the
    register file better. None where there are none, where it takes much fewer, or where something
    else limits blocks."""
    held = resident_blocks(facts, registers, warps, shared)
    fewer = _most_for_blocks(facts, registers, warps, shared, max(held + 1, least))
    if fewer is None:
        return None
    more = resident_blocks(facts, fewer, warps, shared)
    gain = _LEAST_GAIN if more & (more - 1) else _LEAST_GAIN_OF_POWERS
    fuller = 100 * more * fewer >= gain * held * registers
    enough = fewer > _C.llvm.registers_for_more_blocks(registers, warps)
    return fewer if fuller and enough else None


def _most_for_blocks(
    facts: Any, registers: int, warps: int, shared: int, blocks: int
) -> int | None:
    """The most registers below `registers` with which so many blocks are resident."""
    unit = facts.register_allocation_unit
    for fewer in range((registers - 1) // unit * unit, 0, -unit):
        if resident_blocks(facts, fewer, warps, shared) >= blocks:
            return fewer
    return None


def _blocks_by_registers(facts: Any, warps: int, shared: int) -> dict[int, int]:
    """How many blocks are resident with each number of registers that a thread may get."""
    unit = facts.register_allocation_unit
    counts = (*range(unit, _MOST_REGISTERS, unit), _MOST_REGISTERS)
    return {n: resident_blocks(facts, n, warps, shared) for n in counts}


def registers_to_spare(facts: Any, registers: int, warps: int, shared: int) -> int | None:
    """The most registers with which as many blocks are resident. None where these have half of the
    warps or more, which hide what they wait for, and where it is not many more registers."""
    held = resident_blocks(facts, registers, warps, shared)
    if held == 0 or 2 * held * warps * _LANES > facts.max_threads_per_sm:
        return None
    counts = _blocks_by_registers(facts, warps, shared)
    most = max(n for n, blocks in counts.items() if blocks >= held)
    return most if 100 * most >= _LEAST_SPARE * registers else None


def registers_of_fewer(facts: Any, registers: int, warps: int, shared: int) -> int | None:
    """The most registers with which fewer blocks are resident, as many as leave half as many
    registers again. None where there are none."""
    counts = _blocks_by_registers(facts, warps, shared)
    for held in range(resident_blocks(facts, registers, warps, shared) - 1, 0, -1):
        most = max(n for n, blocks in counts.items() if blocks >= held)
        if 100 * most >= _MUCH_SPARE * registers:
            return most
    return None


def _may_have_fewer(ptx: str, options: str) -> bool:
    """Whether neither the PTX nor an option says how many registers threads get."""
    stated = any(word in ptx for word in (".maxnreg ", ".minnctapersm ", "setmaxnreg."))
    return not (stated or "maxrregcount" in options or knobs.nvidia.disable_ptxas_opt)


def _waits_for_memory(ptx: str) -> bool:
    """Whether all loops with dots multiply so little with each byte that they wait for memory. A
    third more blocks are worth it there, and so are a few spills."""
    few = False
    for loop in _find_innermost_loops(ptx):
        if "mma_async" in loop or "tcgen05." in loop:
            return False
        shapes = re.findall(r"\bmma\.\S*?\.m(\d+)n(\d+)k(\d+)\.", loop)
        if not shapes:
            continue
        products = sum(int(m) * int(n) * int(k) for m, n, k in shapes)
        copies = re.findall(r"\bcp\.async\.\w+\.shared\S*\s[^;]*?\], *(\d+)", loop)
        loaded = _LANES * (sum(map(int, copies)) + 4 * _count_loaded_words(loop))
        if products >= _DENSE * loaded:
            return False
        few = True
    return few


def _gains_enough(ptx: str, held: int, more: int) -> bool:
    """Dots hide what they wait for by pipelines of their own, and lose by registers that are reused
    at once. Twice as many blocks are worth it: what one waits for, and its end, the other hides."""
    return more >= 2 * held or not _has_dots(ptx)


def _has_dots(ptx: str) -> bool:
    return "mma." in ptx and re.search(r"\b(wg)?mma\.", ptx) is not None


@functools.lru_cache(maxsize=2)
def _find_innermost_loops(ptx: str) -> list[str]:
    """The texts from a label to a branch back to it, in which there is no other such branch."""
    labels: dict[str, int] = {}
    loops: list[str] = []
    if "bra" not in ptx:
        return loops
    last_end = 0
    for match in re.finditer(r"^(\$\w+):|\bbra(?:\.uni)?\s+(\$\w+)", ptx, re.M):
        label, target = match.groups()
        if label:
            labels[label] = match.start()
        elif target in labels:
            if labels[target] >= last_end:
                loops.append(ptx[labels[target] : match.end()])
            last_end = match.end()
    return loops


def _count_loaded_words(ptx: str) -> int:
    """The registers of 32 bits that loads of memory fill."""
    return sum(
        int(count or 1) * max(int(bits) // 32, 1)
        for count, bits in re.findall(
            r"\bld\.(?:\w+\.)*?global\S*?(?:\.v(\d))?\.[a-z]+(\d+)\b", ptx
        )
    )


def _waits_at_once(ptx: str) -> bool:
    """Whether a kernel starts loads of memory, and no loop or dot does so while others arrive."""
    loops = _find_innermost_loops(ptx)
    return not loops and "ld.global" in ptx and not _has_dots(ptx)


def _bytes_in_a_cycle(ptx: str, cubin: bytes, warps: int) -> float:
    """How many bytes `warps` warps ask for while they wait. Kernels without a loop are meant: there
    all loads are in the text once. 0 where nobody knows."""
    cycles = latency.walk_through(cubin).alone
    return _LANES * 4 * _count_loaded_words(ptx) * warps / cycles if cycles else 0.0


def _loads_much_in_loops(ptx: str) -> bool:
    """Whether a loop loads so much that not all of it is under way together."""
    return any(_count_loaded_words(loop) >= _MANY_WORDS for loop in _find_innermost_loops(ptx))


def _waits_in_loops(ptx: str) -> bool:
    """Whether a loop without dots loads several times, and memory decides how long it takes."""
    return not _has_dots(ptx) and any(
        len(re.findall(r"\bld\.(?:\w+\.)*?global", loop)) >= 2
        for loop in _find_innermost_loops(ptx)
    )


def _multiplies_once(ptx: str) -> bool:
    """Whether a kernel loads and has dots, and no loop."""
    return _has_dots(ptx) and "ld.global" in ptx and not _find_innermost_loops(ptx)


def _without_needless_limit(ptx: str, facts: Any, warps: int) -> str | None:
    """The PTX without a limit that is as much as threads of the block can have. None where it
    states no such limit. ptxas takes it as leave to use as many, and fewer blocks are resident."""
    most = min(_MOST_REGISTERS, facts.registers_per_sm // (_LANES * warps))
    stated = _STATED.search(ptx)
    if not stated or int(stated[1]) < most or "setmaxnreg" in ptx:
        return None
    return ptx[: stated.start()] + ptx[stated.end() :]


#: The head of a kernel, and the end of a line before its block. Parameters have no braces.
_HEAD = re.compile(r"^[^\n/]*\.entry\b[^{]*?(?=\s*\{)", re.M)


_STATED = re.compile(r"^\.maxnreg (\d+)\n", re.M)


def state_limit(ptx: str, registers: int) -> str | None:
    """The PTX of a kernel whose threads have no more registers; None where the text has not one
    kernel: whose registers were counted, nobody knows."""
    ptx = _STATED.sub("", ptx)
    heads = list(_HEAD.finditer(ptx))
    if len(heads) != 1:
        return None
    at = heads[0].end()
    return f"{ptx[:at]}\n.maxnreg {registers}\n{ptx[at:].lstrip()}"


def _with_one_block_less(ptx: str, facts: Any, warps: int) -> int | None:
    """As many registers as threads can have where a block less is resident than fits with the limit
    that the PTX states. None where it states none, or where one block fits."""
    stated = _STATED.search(ptx)
    if not stated or "setmaxnreg" in ptx:
        return None
    blocks = facts.registers_per_sm // (_LANES * warps * int(stated[1])) - 1
    if blocks < 1:
        return None
    unit = facts.register_allocation_unit
    more = min(_MOST_REGISTERS, facts.registers_per_sm // (_LANES * warps * blocks) // unit * unit)
    return more if more > int(stated[1]) else None


#: Machine code, and what ptxas says about it.
_Code = tuple[bytes, dict[str, Any]]


def assemble(
    ptx: str, facts: Any, warps: int, shared: int, options: str = "", asked: int | None = None
) -> _Code:
    """The cubin, and what ptxas says about it. `asked` is the limit of registers that the launch
    asks for. Where a few registers fewer let more blocks reside and nothing is spilled for it, it
    is code with those, and `register_limit` says how many. Where the compiler stated a limit, and
    one block less spills nothing, it is code for that. Where many more registers cost no block, or
    leave fewer waits for memory, ptxas is told so: it starts more loads before it waits."""
    code = _Assembly(ptx, facts, warps, shared, options)
    if asked is None:
        code.drop_needless_limit()
        if roomier := code.with_one_block_less():
            return roomier
    if not _may_have_fewer(code.ptx, f"{options} {knobs.nvidia.ptxas_options}"):
        return code.made
    demand = code.find_demand()
    more = code.find_more_registers(demand)
    if more and more.trips >= _MOST_TRIPS:
        if freer := code.with_more_registers(more):
            return freer
        more = None
    denser = code.with_more_blocks(demand)
    freer = code.with_more_registers(more) if more and not denser else None
    return denser or freer or code.with_loads_together() or code.made


class _More(NamedTuple):
    """More registers, with which more loads may be under way at a time."""

    limit: int
    #: How many blocks have to reside then.
    least: int
    #: How long it may take; None where that is not compared.
    cycles: float | None
    #: How often the code waits now, where they cost blocks.
    trips: int = 0


class _Assembly:
    """The code of a kernel so far, and what other code is made with. Each way to make better code
    is a method; it gives None where its code is not better."""

    def __init__(self, ptx: str, facts: Any, warps: int, shared: int, options: str) -> None:
        self.ptx = ptx
        self.facts = facts
        self.warps = warps
        self.shared = shared
        self.options = options
        self.made: _Code = tools.run_ptxas(ptx, facts.compute_capability, options)
        #: Code with other limits of registers, made on the way.
        self.known: dict[int, _Code] = {}

    @property
    def registers(self) -> int:
        return self.made[1].get("n_regs", 0)

    @property
    def spills(self) -> int:
        return self.made[1].get("n_spills", 0)

    @property
    def held(self) -> int:
        """How many blocks reside."""
        return self.blocks(self.registers)

    def blocks(self, registers: int) -> int:
        return resident_blocks(self.facts, registers, self.warps, self.shared)

    def cycles(self, code: _Code) -> float:
        """How long code takes, by the blocks that reside with it."""
        reside = self.blocks(code[1].get("n_regs", 0))
        return latency.walk_through(code[0]).get_cycles(reside * self.warps / _PARTS)

    def within(self, limit: int) -> _Code | None:
        """Code with a limit of registers; None where there is none."""
        limited = state_limit(self.ptx, limit)
        if limited is None:
            return None
        try:
            cubin, usage = tools.run_ptxas(limited, self.facts.compute_capability, self.options)
        except OutOfResources:  # One instruction has more operands.
            return None
        return cubin, usage | {"register_limit": limit}

    def drop_needless_limit(self) -> None:
        """Takes away a limit that is as much as threads can have, where more blocks reside then."""
        wanted = _most_for_blocks(
            self.facts, self.registers, self.warps, self.shared, self.held + 1
        )
        # No code was seen that takes half as many registers without the limit.
        if not wanted or 2 * wanted <= self.registers or self.spills:
            return
        free = _without_needless_limit(self.ptx, self.facts, self.warps)
        if free is None:
            return
        made = tools.run_ptxas(free, self.facts.compute_capability, self.options)
        if self.blocks(made[1].get("n_regs", 0)) > self.held and not made[1].get("n_spills"):
            self.known[int(_STATED.findall(self.ptx)[0])] = self.made
            self.ptx, self.made = free, made

    def with_one_block_less(self) -> _Code | None:
        """Where the limit of the compiler makes ptxas spill: code for a block less, if nothing is
        spilled there."""
        roomier = _with_one_block_less(self.ptx, self.facts, self.warps) if self.spills else None
        other = None if roomier is None else self.within(roomier)
        return other if other and not other[1].get("n_spills") else None

    def find_demand(self) -> float:
        """The bytes that are asked for in a cycle, by kernels that wait once; 0 for others."""
        if not _waits_at_once(self.ptx):
            return 0.0
        return _bytes_in_a_cycle(self.ptx, self.made[0], self.held * self.warps)

    def find_waits(self) -> tuple[int, float] | None:
        """How often the code waits for memory, and how long it takes. None where it waits seldom,
        or where issuing instructions takes most of the time."""
        now = latency.walk_through(self.made[0])
        cycles = now.get_cycles(self.held * self.warps / _PARTS)
        seldom = now.trips < _MANY_TRIPS or 3 * now.instructions > 2 * cycles
        return None if seldom else (now.trips, cycles)

    def find_more_registers(self, demand: float) -> _More | None:
        """None where more registers do not help."""
        # More loads at a time help launches of few blocks, too: half of what resides is counted.
        if self.spills or demand >= 2 * _ENOUGH_BYTES:
            return None
        at_once = _waits_at_once(self.ptx)
        if (not at_once and not _loads_much_in_loops(self.ptx)) or self.held == 0:
            return None
        spare = registers_to_spare(self.facts, self.registers, self.warps, self.shared)
        if at_once and spare is not None:
            return _More(spare, self.held, None)  # This has been measured.
        waits = self.find_waits()
        if waits is None:
            return None
        trips, cycles = waits
        if not at_once:
            return None if spare is None else _More(spare, self.held, cycles)
        # Such registers cost blocks.
        fewer = registers_of_fewer(self.facts, self.registers, self.warps, self.shared)
        if fewer is None or demand >= _ENOUGH_BYTES:
            return None
        return _More(fewer, 1, cycles, trips)

    def with_more_registers(self, more: _More) -> _Code | None:
        """Code that may start more loads at a time."""
        if more.limit in self.known:
            cubin, usage = self.known[more.limit]
            freer: _Code | None = cubin, usage | {"register_limit": more.limit}
        else:
            freer = self.within(more.limit)
        if freer is None:
            return None
        if freer[1].get("n_spills", 0) > (0 if more.cycles is None else _FEW_SPILLS):
            return None
        if self.blocks(freer[1].get("n_regs", 0)) < max(more.least, 1):
            return None
        slow = more.cycles is not None and self.cycles(freer) > _LESS_TIME * more.cycles
        return None if slow else freer

    def with_loads_together(self) -> _Code | None:
        """Code that starts more loads before it waits, of loops and of dots without a loop. Without
        a limit ptxas settles for registers with which many blocks reside, and starts some loads
        when others have arrived. With a limit, even of as many, it takes what it may."""
        in_loops = _waits_in_loops(self.ptx)
        if self.spills or self.held == 0 or not (in_loops or _multiplies_once(self.ptx)):
            return None
        waits = self.find_waits()
        if waits is None:
            return None
        cycles = waits[1]
        counts = _blocks_by_registers(self.facts, self.warps, self.shared)
        most = {
            max(n for n, reside in counts.items() if reside >= blocks): blocks
            for blocks in ((self.held, self.held - 1) if in_loops else (self.held,))
            if blocks > 0
        }
        # Where a loop leaves much, registers are not what ptxas saves.
        spare = next(iter(most)) - self.registers
        if in_loops and spare >= self.facts.register_allocation_unit:
            return None
        made = (self.with_more_registers(_More(n, blocks, cycles)) for n, blocks in most.items())
        return next(filter(None, made), None)

    def with_more_blocks(self, demand: float) -> _Code | None:
        """Code of which more blocks reside."""
        limit = registers_for_more(self.facts, self.registers, self.warps, self.shared)
        least = 4 * self.held if demand >= _ENOUGH_BYTES else 0
        if limit is not None and (demand >= _PLENTY_OF_BYTES or 3 * self.blocks(limit) < least):
            limit = None
        if limit is not None and _gains_enough(self.ptx, self.held, self.blocks(limit)):
            denser = self.within(limit)
            if not denser or denser[1].get("n_spills", 0) > self.spills:
                return None
            slow = self.cycles(denser) > _MORE_TIME * self.cycles(self.made)
            return None if slow else denser
        return self.with_blocks_for_memory() if _waits_for_memory(self.ptx) else None

    def with_blocks_for_memory(self) -> _Code | None:
        """The same for dots that wait for memory, with a third more blocks and a few spills."""
        # Grids are powers of two more often than not, and multiprocessors a few more than such a
        # power: eight blocks of each run 1,024 at once. With seven, the last ones run alone.
        rounded = 1 << (-(-4 * self.held // 3) - 1).bit_length()
        limit = registers_for_more(self.facts, self.registers, self.warps, self.shared, rounded)
        denser = None if limit is None else self.within(limit)
        if not denser or denser[1].get("n_spills", 0) > self.spills + _FEW_SPILLS:
            return None
        return denser if self.cycles(denser) <= self.cycles(self.made) else None
