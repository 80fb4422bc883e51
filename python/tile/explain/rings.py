"""Rings of buffers and the barriers at which they are handed over: who fills, who empties, who
waits for whom. Read from the `ttg` IR behind all passes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .findings.finding import place_of
from .stage_texts import StageText

_ALLOC = re.compile(r"\s*%([\w$.-]+) = ttg\.local_alloc\b")
_TYPE = re.compile(r"!ttg\.memdesc<(\d+)x((?:\d+x)*)([a-zA-Z]\w*)")
_VIEW = re.compile(r"\s*%([\w$.-]+) = ttg\.(memdesc_\w+) %([\w$.-]+)")
_VALUE = re.compile(r"%([\w$.-]+)")
_SPECIALIZE = re.compile(r"ttg\.warp_specialize\(([^)]*)\)")
_PARTITION = re.compile(r"\s*(default\b|partition\d+\()(.*)")
#: What operations do to a buffer, or to a barrier, by the ends of their names.
_FILLS = ("async_copy_global_to_local", "async_tma_copy_global_to_local", "async_tma_gather",
          "local_store", "async_copy_to_local", "buffer_load_to_local")  # fmt: skip
_EMPTIES = ("local_load", "warp_group_dot", "async_tma_copy_local_to_global", "tc_gen5_mma",
            "async_tma_reduce", "local_load_transposed")  # fmt: skip
_ARRIVES = ("arrive_barrier", "barrier_expect", "async_copy_mbarrier_arrive")
_WAITS = ("wait_barrier",)
#: A kernel that hands nothing over to partitions.
_ALL = "all warps"


@dataclass(frozen=True)
class User:
    """An operation that uses a ring, in a partition of the warps."""

    who: str
    operation: str
    #: The line of the source, or 0.
    line: int

    @property
    def text(self) -> str:
        where = f", line {self.line}" if self.line else ""
        return f"{self.who}: {self.operation}{where}"


@dataclass
class Ring:
    name: str
    slots: int
    #: The type of a slot, as in 128x64xf16; of barriers, `barrier`.
    slot: str
    #: Who fills a slot, or arrives at a barrier; and who empties it, or waits there.
    before: list[User] = field(default_factory=list)
    after: list[User] = field(default_factory=list)

    @property
    def is_barrier(self) -> bool:
        return self.slot == "barrier"

    @property
    def height(self) -> int:
        """Lines of text that a drawing of it has."""
        return max(2, len(self.before), len(self.after))


def rings(stage: StageText) -> list[Ring]:
    """Those of a module: memory that is indexed by a slot, and barriers."""
    lines = stage.text.splitlines()
    found: dict[str, Ring] = {}
    owner: dict[str, Ring] = {}
    indexed: set[str] = set()
    operands: list[str] = []
    who = _ALL
    #: Indentation of the operation that has partitions.
    around = -1
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if match := _SPECIALIZE.search(line):
            operands = _VALUE.findall(match[1])
            around = indent
        elif around >= 0 and (match := _PARTITION.match(line)):
            who = match[1].rstrip("(")
            # The arguments of a partition are the operands of the operation, in order.
            for name, operand in zip(re.findall(r"%([\w$.-]+):", line), operands, strict=False):
                if operand in owner:
                    owner[name] = owner[operand]
        elif around >= 0 and indent <= around and not line.strip().startswith("}"):
            who, around = _ALL, -1
        if (match := _ALLOC.match(line)) and (type_ := _TYPE.search(line.rpartition("->")[2])):
            slot = "barrier" if type_[3] == "i64" else f"{type_[2]}{type_[3]}"
            found[match[1]] = owner[match[1]] = Ring(match[1], int(type_[1]), slot)
            continue
        if match := _VIEW.match(line):
            if match[3] in owner:
                owner[match[1]] = owner[match[3]]
                if match[2] == "memdesc_index":
                    indexed.add(owner[match[3]].name)
            continue
        places = stage.places[i] if i < len(stage.places) else ()
        _note(line, owner, who, place_of(places)[1])
    return [ring for ring in found.values() if ring.name in indexed and ring.before + ring.after]


def _note(line: str, owner: dict[str, Ring], who: str, number: int) -> None:
    """What the operation of a line does to the rings among its operands."""
    made, equals, body = line.strip().partition(" = ")
    body = body if equals and made.startswith("%") else line.strip()
    operation = re.match(r'"?([\w.]+)', body)
    if operation is None:
        return
    name = operation[1].rpartition(".")[2]
    user = User(who, name, number)
    for value in _VALUE.findall(body.split(" : ")[0].partition(" deps ")[0]):
        ring = owner.get(value)
        if ring is None:
            continue
        if ring.is_barrier:
            # A copy is given the barrier at which its bytes arrive.
            arrives = name in _ARRIVES or name in _FILLS or name in _EMPTIES
            side = ring.before if arrives else ring.after if name in _WAITS else None
        else:
            side = ring.before if name in _FILLS else ring.after if name in _EMPTIES else None
        if side is not None and user not in side:
            side.append(user)
