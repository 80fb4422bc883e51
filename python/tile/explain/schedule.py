"""The schedule of pipelined loops: which operation is in which stage, read behind the scheduler."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ATTRIBUTES = re.compile(r"loop\.cluster = (\d+) : i32, loop\.stage = (\d+) : i32")
_SHORT = re.compile(r"\s*\{.*$")


@dataclass
class Scheduled:
    operation: str
    stage: int
    cluster: int


@dataclass
class Schedule:
    """Of one loop."""

    operations: list[Scheduled] = field(default_factory=list)

    @property
    def stages(self) -> int:
        return max(op.stage for op in self.operations) + 1

    @property
    def in_order(self) -> list[Scheduled]:
        """As an iteration of the pipelined loop runs them: by cluster."""
        return sorted(self.operations, key=lambda op: op.cluster)


def _name(line: str) -> str:
    return _SHORT.sub("", line).strip().removesuffix("<").strip() or line.strip()


def schedules(ir: str) -> list[Schedule]:
    """The loops of a module whose operations have stages."""
    found: list[Schedule] = []
    #: Indentation of the loops around the line, with their schedules.
    around: list[tuple[int, Schedule]] = []
    head = ""
    for line in ir.splitlines():
        indent = len(line) - len(line.lstrip())
        while around and line.strip() and indent <= around[-1][0]:
            around.pop()
        if re.search(r"\bscf\.(for|while)\b", line):
            around.append((indent, Schedule()))
        if re.match(r"\s*%[\w:]+ = \"", line):
            head = line  # An operation with a body has its attributes at the end of that.
        match = _ATTRIBUTES.search(line)
        if match and around:
            text = head if line.strip().startswith("})") else line
            schedule = around[-1][1]
            if not schedule.operations:
                found.append(schedule)
            schedule.operations.append(Scheduled(_name(text), int(match[2]), int(match[1])))
    return found
