"""Two explanations of a kernel side by side: versions, options, targets, or other compilers."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import TileError
from .assembly import explain_assembly
from .explanation import SCHEMA

#: Names of instructions and lines of the source that are shown.
_MOST = 12


@dataclass
class Row:
    name: str
    a: float | None
    b: float | None
    #: Whether less of it is better; None where neither is.
    less_is_better: bool | None = True

    @property
    def ratio(self) -> float | None:
        return self.b / self.a if self.a and self.b is not None else None

    @property
    def verdict(self) -> str:
        if self.a is None or self.b is None or self.less_is_better is None or self.a == self.b:
            return ""
        return "better" if (self.b < self.a) == self.less_is_better else "worse"


@dataclass
class Comparison:
    name: str
    a: str
    b: str
    rows: list[Row] = field(default_factory=list)
    opcodes: list[Row] = field(default_factory=list)
    #: By the text of the source line: numbers of lines move between versions.
    lines: list[Row] = field(default_factory=list)
    #: Findings that only one has.
    gone: list[dict[str, Any]] = field(default_factory=list)
    new: list[dict[str, Any]] = field(default_factory=list)
    #: Findings that both have.
    stay: int = 0
    #: Whether findings of both are known.
    looked: bool = False


def read_side(
    side: str, program: str | None, arguments: Sequence[str], target: str | None
) -> list[dict[str, Any]]:
    """What one side of a comparison stands for: JSON that --json wrote, a target (with a program),
    assembly of any compiler, or a program with its arguments."""
    from ..backends import all_stages

    words = shlex.split(side)
    if not words:
        raise TileError("a side of --compare is empty")
    path = Path(words[0])
    if path.suffix == ".json":
        return _read_json(path)
    if path.suffix[1:] in {s.name for _, s in all_stages() if s.kernel_pattern and s.is_code}:
        return [explain_assembly(path)]
    if path.suffix == ".py" or path.is_dir():
        return _run([*(["--target", target] if target else []), "--", *words])
    if ":" in side:
        if program is None:
            raise TileError(f"--compare {side}: for which program?")
        return _run(["--target", side, "--", program, *arguments])
    raise TileError(
        f"--compare {side}: a program, a target such as cuda:90 with a program, assembly, or a "
        "file that --json wrote"
    )


def _read_json(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TileError(f"cannot read '{path}': {error.strerror}") from None
    except ValueError as error:
        raise TileError(f"'{path}' is no JSON: {error}") from None
    if not isinstance(found, list) or any(one.get("schema") != SCHEMA for one in found):
        raise TileError(f"'{path}' was not written by this version of tile explain --json")
    return found


def _run(words: list[str]) -> list[dict[str, Any]]:
    """Another process: programs change what they run in."""
    command = [sys.executable, "-m", "tile", "explain", "--json", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode:
        raise TileError(f"{' '.join(words)}: it could not be explained")
    return json.loads(done.stdout)


def _get(one: dict[str, Any], *path: str) -> Any:
    value: Any = one
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


#: What is compared: a name, where it is, and whether less is better.
_ROWS: tuple[tuple[str, tuple[str, ...], bool | None], ...] = (
    ("registers", ("resources", "registers"), True),
    ("spilled registers", ("resources", "spills"), True),
    ("shared memory, bytes", ("resources", "shared"), True),
    ("warps of a block", ("resources", "warps"), None),
    ("instructions in the text", ("resources", "instructions"), True),
    ("resident warps", ("resources", "occupancy", "warps"), False),
    ("executed warp instructions", ("counters", "warp_instructions"), True),
    ("sectors loaded", ("counters", "global_load_sectors"), True),
    ("sectors stored", ("counters", "global_store_sectors"), True),
    ("bytes of asynchronous copies", ("counters", "async_bytes"), None),
    ("bank conflicts", ("counters", "bank_conflicts"), True),
    ("barriers", ("counters", "barriers"), True),
    ("tensor-core operations", ("counters", "tensor_flops"), None),
    ("roofline, seconds", ("roofline", "seconds"), True),
)


def _rows(a: dict[str, Any], b: dict[str, Any]) -> Iterator[Row]:
    for name, path, less in _ROWS:
        row = Row(name, _get(a, *path), _get(b, *path), less)
        if row.a is not None or row.b is not None:
            yield row


def _counted(name: str, a: Counter[str], b: Counter[str]) -> list[Row]:
    """Of two tables, what differs most."""
    rows = [Row(key, a[key], b[key]) for key in {**a, **b} if a[key] != b[key]]
    rows.sort(key=lambda row: -abs((row.a or 0) - (row.b or 0)))
    return rows[:_MOST]


def _lines(one: dict[str, Any]) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in one["lines"]:
        name = line["text"] or (f"line {line['line']}" if line["line"] else "no line")
        found[name] += line["with_helpers"]["warp_instructions"]
    return found


def _finding_key(finding: dict[str, Any]) -> tuple[str, str]:
    return finding["kind"], finding["text"]


def compare(a: dict[str, Any], b: dict[str, Any]) -> Comparison:
    name = a["name"] if a["name"] == b["name"] else f"{a['name']} and {b['name']}"
    result = Comparison(name, _title(a), _title(b), list(_rows(a, b)))
    codes = [Counter(_get(one, "resources", "opcodes") or {}) for one in (a, b)]
    result.opcodes = _counted("instructions", *codes)
    if a["lines"] and b["lines"]:
        result.lines = _counted("lines", _lines(a), _lines(b))
    # Nobody looked for findings in assembly alone.
    if a["findings"] is None or b["findings"] is None:
        return result
    result.looked = True
    keys = [{_finding_key(f) for f in one["findings"]} for one in (a, b)]
    result.gone = [f for f in a["findings"] if _finding_key(f) not in keys[1]]
    result.new = [f for f in b["findings"] if _finding_key(f) not in keys[0]]
    result.stay = len(keys[0] & keys[1])
    return result


def _title(one: dict[str, Any]) -> str:
    options = {**one["options"], **one["constants"]}
    words = [one["target"], *(f"{name}={value}" for name, value in options.items())]
    return ", ".join(words)


def compare_all(
    a: list[dict[str, Any]], b: list[dict[str, Any]], kernel: str | None
) -> list[Comparison]:
    """Kernels of one name belong together, in their order; so do the only ones of both sides."""
    if kernel is not None:
        # A side that has one kernel only may call it otherwise.
        a = [one for one in a if one["name"] == kernel] or (a if len(a) == 1 else [])
        b = [one for one in b if one["name"] == kernel] or (b if len(b) == 1 else [])
    if len(a) == len(b) == 1:
        return [compare(a[0], b[0])]
    result, left = [], list(b)
    for one in a:
        other = next((o for o in left if o["name"] == one["name"]), None)
        if other is not None:
            left.remove(other)
            result.append(compare(one, other))
    if not result:
        sides = (", ".join(one["name"] for one in side) or "none" for side in (a, b))
        raise TileError(f"no kernel is on both sides: {' | '.join(sides)}")
    return result


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def cells(row: Row) -> tuple[str, str, str, str, str]:
    """A row as people read it."""
    ratio = f"x {row.ratio:.2f}" if row.ratio is not None else ""
    return row.name, _number(row.a), _number(row.b), ratio, row.verdict


def _table(title: str, rows: list[Row]) -> Iterator[str]:
    if not rows:
        return
    lines = [(title, "A", "B", "B / A", ""), *map(cells, rows)]
    width = min(60, max(len(line[0]) for line in lines))
    yield ""
    for name, a, b, ratio, verdict in lines:
        yield f"{name[:width]:<{width}} {a:>14} {b:>14} {ratio:>9}  {verdict}".rstrip()


def render(one: Comparison) -> str:
    """For a terminal."""
    out = [one.name, f"  A: {one.a}", f"  B: {one.b}", *_table("", one.rows)]
    out += _table("instructions of the text that differ", one.opcodes)
    out += _table("executed instructions by line", one.lines)
    if not one.looked:
        return "\n".join([*out, "", "findings: of assembly alone there are none"]) + "\n"
    out.append("")
    for title, findings in (("only A has", one.gone), ("only B has", one.new)):
        for finding in findings:
            where = f"{Path(finding['file']).name}:{finding['line']}" if finding["file"] else ""
            out.append(f"{title}: {finding['kind']} {where}".rstrip())
    out.append(f"findings of both: {one.stay}")
    return "\n".join(out) + "\n"
