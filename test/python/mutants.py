"""Kernels that have lost, or have weaker, one of the instructions that order what they do.

A launch is recorded where it runs in the simulator. Each mutant of its PTX then runs on the same
memory: it is found if the simulator reports something, or if the results differ.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tile
from tile.sim import group
from tile.sim.launcher import assumption_bits
from tile.sim.schedules import memory_of

#: A predicate in front of an instruction.
GUARD = r"(?:@!?%\w+\s+)?"
Match = re.Match[str]


def instead_of_more(by: int) -> Callable[[Match], str]:
    """The number at the end is larger by so much."""
    return lambda match: f"{match[1]}{int(match[2]) + by}{match[3]}"


#: What is planted, the instruction, and what stands there instead.
RULES: list[tuple[str, str, str | Callable[[Match], str]]] = [
    ("no block barrier",
     rf"{GUARD}(?<![\w.])bar(?:rier)?\.(?:cta\.)?(?:sync|red|arrive)\b[^;]*;", ""),
    ("no warp barrier", rf"{GUARD}bar\.warp\.sync[^;]*;", ""),
    ("no wait for a phase", r"\{[^{}]*?mbarrier\.(?:try|test)_wait[^{}]*\}", ""),
    ("a wait acquires nothing", r"(mbarrier\.try_wait\.parity)(?:\.acquire\.cluster)?(\.shared)",
     r"\1.relaxed.cta\2"),
    ("no arrival", rf"{GUARD}(?<![\w.])mbarrier\.arrive\.(?!expect_tx)[^;]*;", ""),
    ("an arrival releases nothing",
     r"mbarrier\.arrive(?:\.release\.(?:cta|cluster))?\.(shared::\w+)",
     r"mbarrier.arrive.relaxed.cta.\1"),
    ("no bytes are announced", rf"{GUARD}mbarrier\.arrive\.expect_tx[^;]*;", ""),
    ("16 bytes more are announced", r"(mbarrier\.arrive\.expect_tx[^;]*, )(\d+)(;)",
     instead_of_more(16)),
    ("no barrier is made", rf"{GUARD}mbarrier\.init[^;]*;", ""),
    ("one arrival more is needed", r"(mbarrier\.init[^;]*, )(\d+)(;)", instead_of_more(1)),
    ("one arrival fewer is needed", r"(mbarrier\.init[^;]*, )((?!1;)\d+)(;)", instead_of_more(-1)),
    ("no barrier is given back", rf"{GUARD}mbarrier\.inval[^;]*;", ""),
    ("no fence", rf"{GUARD}(?<![\w.])fence\.[^;]*;", ""),
    ("no fence of tensor memory", rf"{GUARD}tcgen05\.fence[^;]*;", ""),
    ("no wait for tensor memory", rf"{GUARD}tcgen05\.wait[^;]*;", ""),
    ("no commit of products", rf"{GUARD}tcgen05\.commit[^;]*;", ""),
    ("one block hears of products",
     r"(tcgen05\.commit\S*)\.multicast::cluster(\.b64 \[[^\]]*\]), [^;]*;", r"\1\2;"),
    ("no group of copies", rf"{GUARD}cp\.async\.(?:bulk\.)?commit_group;", ""),
    ("no wait for copies", rf"{GUARD}cp\.async\.(?:bulk\.)?wait_(?:group|all)[^;]*;", ""),
    ("a wait for one group of copies fewer",
     r"(cp\.async\.(?:bulk\.)?wait_group(?:\.read)? )(\d+)(;)", instead_of_more(1)),
    ("a wait for reads alone", r"cp\.async\.bulk\.wait_group (\d+);",
     r"cp.async.bulk.wait_group.read \1;"),
    ("copies do not arrive", rf"{GUARD}cp\.async\.mbarrier\.arrive[^;]*;", ""),
    ("no fence of products", r"wgmma\.fence[^;]*;", ""),
    ("no group of products", r"wgmma\.commit_group[^;]*;", ""),
    ("no wait for products", r"wgmma\.wait_group[^;]*;", ""),
    ("a wait for one group of products fewer", r"(wgmma\.wait_group\S* )(\d+)(;)",
     instead_of_more(1)),
    ("blocks do not meet",
     rf"{GUARD}barrier\.cluster\.arrive[^;]*;\s*{GUARD}barrier\.cluster\.wait[^;]*;", ""),
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Mutant:
    rule: str
    #: Of the PTX, from 1.
    line: int
    removed: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}, line {self.line}: {' '.join(self.removed.split())}"


def mutants_of(ptx: str, lines: set[int]) -> Iterator[Mutant]:
    """Those of instructions on `lines`."""
    for rule, pattern, instead in RULES:
        for match in re.finditer(pattern, ptx):
            line = ptx.count("\n", 0, match.start()) + 1
            if lines.isdisjoint(range(line, ptx.count("\n", 0, match.end()) + 2)):
                continue
            new = instead(match) if callable(instead) else match.expand(instead)
            if new != match[0]:
                text = ptx[: match.start()] + new + ptx[match.end() :]
                yield Mutant(rule, line, match[0], text)


class RecordedLaunch:
    """A launch that was right, with the memory that it found and left."""

    def __init__(self, run: Callable[[], Any]) -> None:
        """`run` launches, and compares the results with a reference."""
        taken = []
        real = group.run

        def record(launches: Any) -> Any:
            memory = memory_of(launches[0].allocations)
            before = [data.copy() for _, data in memory]
            reports = real(launches)
            after = [data.copy() for _, data in memory]
            taken.append((launches[0], memory, before, after, reports[0]))
            return reports

        group.run = record
        try:
            run()
        finally:
            group.run = real
        self.launch, self.memory, self.before, self.after, report = taken[-1]
        self.ptx = report.ptx
        self.lines = {line for line, counts in report.assembly_lines.items() if counts[0]}
        self.instructions = report.warp_instructions

    def mutants(self) -> list[Mutant]:
        """Of instructions that ran."""
        return list(mutants_of(self.ptx, self.lines))

    def what_is_found(self, text: str, seed: int, schedules: int) -> str | None:
        """The kind of a finding, or that results differ, if `text` runs instead."""
        for (_, data), old in zip(self.memory, self.before, strict=True):
            data[:] = old
        changed = dataclasses.replace(
            self.launch, module=tile.sim.load(text), schedule_seed=seed, schedules=schedules,
            max_instructions=100 * self.instructions + 1_000_000,
            # What the manual says of fences of tensor memory, to the letter.
            assumptions=assumption_bits(["tensor-fences"]),
        )  # fmt: skip
        report = group.run([changed])[0]
        differs = any(
            name != "scratch" and not np.array_equal(data, result)
            for (name, data), result in zip(self.memory, self.after, strict=True)
        )
        for (_, data), result in zip(self.memory, self.after, strict=True):
            data[:] = result
        if not report.ok:
            return report.findings[0]["kind"]
        return "results" if differs else None

    def survives(self, mutant: Mutant, schedules: int) -> bool:
        """Whether nothing is found in the plain order and in so many others."""
        return not (
            self.what_is_found(mutant.text, 0, 1)
            or self.what_is_found(mutant.text, 1, schedules)
        )  # fmt: skip
