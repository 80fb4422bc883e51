"""The marks in a kernel's text: where statements begin, and which registers hold variables."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

#: A file, a line and a column.
Place = tuple[str, int, int]
#: An activation of a function: the function of the assembly, and the calls around it, the
#: innermost first.
Scope = tuple[str, tuple[Place, ...]]

_KINDS = ("statement", "enter", "constant", "value")
_MARK = re.compile(r"(?://|;) tile\.debug (\w+)((?: [^\s{]+)*) (\{.*\})\s*$")


@dataclass
class Mark:
    """One line of the text."""

    number: int
    line: int
    kind: str
    registers: tuple[str, ...]
    facts: dict[str, Any]
    #: Of a value that takes several marks: the first of them.
    head: int = 0

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Where it is in the source, and the calls around it, the innermost first."""
        return tuple((file, line, column) for file, line, column in self.facts["at"])

    @property
    def place(self) -> Place:
        return self.places[0] if self.places else ("", 0, 0)

    @property
    def scope(self) -> Scope:
        return (self.facts.get("in", ""), self.places[1:])


@dataclass(frozen=True)
class Site:
    """One way in which a variable is assigned: marks that are alike in all but their registers."""

    name: str
    is_mask: bool
    type: str
    shape: tuple[int, ...] | None
    #: The images of the bits of register, lane, warp and block; none of scalars.
    layout: str
    #: The first warp that has it, and how many do.
    first_warp: int
    warps: int
    registers: int


@dataclass
class Marks:
    """All of a text, with the tables that a debugger needs."""

    list: list[Mark] = field(default_factory=list)
    #: The numbers of scopes.
    scopes: dict[Scope, int] = field(default_factory=dict)
    #: By the number of a head: all registers of the value.
    registers: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def native(self) -> list[tuple]:
        """As the simulator takes them."""
        functions: dict[str, int] = {}
        return [
            (
                m.line,
                _KINDS.index(m.kind),
                self.scopes[m.scope],
                functions.setdefault(m.scope[0], len(functions)),
                list(m.registers),
                m.head,
                m.facts.get("first", 0),
                m.facts.get("count", 0),
            )
            for m in self.list
        ]

    def statements_at(self, file: str, line: int) -> list[int]:
        return [
            m.number
            for m in self.list
            if m.kind == "statement" and m.place[0] == file and m.place[1] == line
        ]

    @cached_property
    def lines(self) -> dict[str, list[int]]:
        """By file: the lines at which statements begin."""
        found: dict[str, set[int]] = {}
        for m in self.list:
            if m.kind == "statement":
                found.setdefault(m.place[0], set()).add(m.place[1])
        return {file: sorted(lines) for file, lines in found.items()}

    @cached_property
    def variables(self) -> dict[Scope, dict[str, list[int]]]:
        """By scope and name: the marks that assign it; masks have names of their own."""
        found: dict[Scope, dict[str, list[int]]] = {}
        for m in self.list:
            if m.kind in ("constant", "value") and m.head == m.number:
                name = mask_name(m.facts["name"]) if m.facts.get("mask") else m.facts["name"]
                found.setdefault(m.scope, {}).setdefault(name, []).append(m.number)
        return found

    @cached_property
    def functions(self) -> dict[Scope, str]:
        return {m.scope: m.facts["function"] for m in self.list if m.kind == "enter"}

    @cached_property
    def partitions(self) -> list[tuple[int, int, int]]:
        """Groups of warps that run code of their own: (first warp, how many warps, number).

        The default group has the number 0, partition i has i + 1.
        """
        return sorted(
            {
                (m.facts["warp"], m.facts["warps"], m.facts["group"])
                for m in self.list
                if m.kind == "value"
            }
        )

    def partition_of(self, warp: int) -> str:
        """The partition of a warp; empty where there is only one."""
        for first, count, group in self.partitions if len(self.partitions) > 1 else ():
            if first <= warp < first + count:
                return f"partition {group - 1}" if group else "default partition"
        return ""

    def site(self, number: int) -> Site:
        facts = self.list[number].facts
        shape = facts.get("shape")
        return Site(
            facts["name"],
            bool(facts.get("mask")),
            facts["type"],
            None if shape is None else tuple(shape),
            json.dumps(facts["layout"], sort_keys=True) if "layout" in facts else "",
            facts["warp"],
            facts["warps"],
            facts["count"],
        )


def mask_name(name: str) -> str:
    """How the mask of a variable's load is kept."""
    return f"{name} (mask)"


def read_marks(text: str) -> Marks:
    """The marks of assembly; none where it was not compiled for a debugger."""
    marks = Marks()
    head = 0
    for at, line in enumerate(text.splitlines(), 1):
        if "tile.debug " not in line or (found := _MARK.search(line)) is None:
            continue
        kind, registers, facts = found[1], found[2].split(), json.loads(found[3])
        if kind not in _KINDS:
            continue
        mark = Mark(len(marks.list), at, kind, tuple(registers), facts)
        if not facts.get("first", 0):
            head = mark.number
        mark.head = head
        marks.list.append(mark)
        marks.scopes.setdefault(mark.scope, len(marks.scopes))
        if kind == "value":
            marks.registers[head] = marks.registers.get(head, ()) + mark.registers
    return marks
