"""What each pass changed."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from ..compiler.watch import PipelineRun, Remark

_HEAD = re.compile(r"^// -----// IR Dump After .*?\(([\w-]+)\).*//----- //\n", re.M)
#: Numbers of values and of aliases change with everything before them.
_NUMBER = re.compile(r"(%|#[a-z_]+|\^bb)\d+")
#: Texts with more lines are not compared: it takes too long, and nobody reads it.
_MOST_LINES = 4000
#: Lines of a difference that are kept.
_MOST_SHOWN = 1500


@dataclass
class ChangedBy:
    """A pass that changed the IR."""

    stage: str
    name: str
    added: int = 0
    removed: int = 0
    #: The difference: ("+", "-", " " or "@", a line).
    lines: list[tuple[str, str]] = field(default_factory=list)
    #: Why there is no difference to see.
    note: str = ""
    remarks: list[Remark] = field(default_factory=list)


def stage_of(pipeline: str) -> str:
    """The stage that a pipeline makes, as its name says it: tile-BACKEND-STAGE."""
    return pipeline.partition("{")[0].rpartition("-")[2]


def split_dump(dump: str) -> list[tuple[str, str]]:
    """(pass, the IR after it), in order."""
    parts = _HEAD.split(dump)
    return [(name, ir.strip("\n")) for name, ir in zip(parts[1::2], parts[2::2], strict=True)]


def _keys(text: str) -> list[str]:
    return [_NUMBER.sub(r"\1", line) for line in text.splitlines()]


def _difference(before: str, after: str, change: ChangedBy) -> None:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > _MOST_LINES:
        change.added, change.removed = len(new), len(old)
        change.note = f"{len(old)} lines became {len(new)}: too many to compare"
        return
    matcher = difflib.SequenceMatcher(None, _keys(before), _keys(after), autojunk=False)
    for group in matcher.get_grouped_opcodes(2):
        change.lines.append(("@", f"line {group[0][3] + 1}"))
        for tag, i, j, k, m in group:
            if tag == "equal":
                change.lines += [(" ", line) for line in new[k:m]]
                continue
            change.lines += [("-", line) for line in old[i:j]]
            change.lines += [("+", line) for line in new[k:m]]
            change.removed += j - i
            change.added += m - k
    if len(change.lines) > _MOST_SHOWN:
        change.note = f"{len(change.lines) - _MOST_SHOWN} more lines are left out"
        del change.lines[_MOST_SHOWN:]


def changes(runs: list[PipelineRun], remarks: list[Remark]) -> list[ChangedBy]:
    """The passes that changed something beyond the numbers of values, or that said something."""
    found: list[ChangedBy] = []
    said: dict[str, list[Remark]] = {}
    for remark in remarks:
        said.setdefault(remark.name, []).append(remark)
    for run in runs:
        before = run.before.strip("\n")
        keys = _keys(before)
        for name, after in split_dump(run.dump):
            its_keys = _keys(after)
            if its_keys != keys or name in said:
                change = ChangedBy(stage_of(run.pipeline), name, remarks=said.pop(name, []))
                _difference(before, after, change)
                found.append(change)
            before, keys = after, its_keys
    # What is no pass of MLIR speaks, too.
    found += [ChangedBy("", name, remarks=its) for name, its in said.items()]
    return found
