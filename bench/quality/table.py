"""The table in the repository: a file of tab-separated rows for each target, sorted by kernel."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from .rows import REFUSED, Row

#: NVIDIA's GPUs from Ampere on, and AMD's of both families.
TARGETS = ("cuda:80", "cuda:90", "cuda:100", "cuda:120", "hip:gfx942", "hip:gfx950", "hip:gfx1100")
FOLDER = Path(__file__).resolve().parents[1] / "tables"
#: A row is worse that has more than so much of something, or as much less of resident warps.
LIMIT = 1.05
#: What ptxas decides.
OF_PTXAS = ("registers", "spills", "instructions", "warps")
_METRICS = ("registers", "spills", "instructions", "shared", "warps")
_COLUMNS = [field.name for field in fields(Row)]


class Table(NamedTuple):
    #: The assembler whose numbers these are.
    assembler: str
    rows: dict[str, Row]


def path_of(target: str, folder: Path = FOLDER) -> Path:
    return folder / f"{target.replace(':', '-')}.tsv"


def read(target: str, folder: Path = FOLDER) -> Table:
    """An empty table where there is none."""
    path = path_of(target, folder)
    if not path.exists():
        return Table("", {})
    head, _, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [_parse(line) for line in lines]
    return Table(head.partition(", ")[2], {row.kernel: row for row in rows})


def write(target: str, table: Table, folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {target}, {table.assembler}", "\t".join(_COLUMNS)]
    lines += [_render(table.rows[name]) for name in sorted(table.rows)]
    path_of(target, folder).write_text("\n".join(lines) + "\n", encoding="utf-8")


def line_of(target: str, kernel: str, folder: Path = FOLDER) -> int | None:
    """In which line of the file a kernel is."""
    lines = path_of(target, folder).read_text(encoding="utf-8").splitlines()
    return next((i for i, x in enumerate(lines, 1) if x.startswith(f"{kernel}\t")), None)


def _render(row: Row) -> str:
    def show(value: Any) -> str:
        return "-" if value is None else f"{value:.2g}" if isinstance(value, float) else str(value)

    return "\t".join(show(getattr(row, name)) for name in _COLUMNS)


def _parse(line: str) -> Row:
    cells = dict(zip(_COLUMNS, line.split("\t"), strict=True))
    numbers = {name: None if cells[name] == "-" else int(cells[name]) for name in _METRICS}
    time = None if cells["compile"] == "-" else float(cells["compile"])
    return Row(cells["kernel"], compile=time, text=cells["text"], **numbers)


class Change(NamedTuple):
    """Something of a row that is another than the table says."""

    target: str
    kernel: str
    what: str
    before: Any
    now: Any
    worse: bool

    def __str__(self) -> str:
        ratio = f" (x {self.now / self.before:.2f})" if _are_numbers(self.before, self.now) else ""
        word = "worse" if self.worse else "better"
        return (
            f"{word}: {self.target}  {self.kernel}: {self.what} {self.before} -> {self.now}{ratio}"
        )


def _are_numbers(before: Any, now: Any) -> bool:
    return isinstance(before, int) and isinstance(now, int) and before > 0


def changes(target: str, before: Row, now: Row, same_assembler: bool) -> list[Change]:
    """What is worse by more than the limit, or better by as much. What another ptxas decided is
    not compared."""
    if (before.text == REFUSED) != (now.text == REFUSED):
        refused = now.text == REFUSED
        states = ("compiled", "refused") if refused else ("refused", "compiled")
        return [Change(target, now.kernel, "it was", *states, refused)]
    found = []
    for what in _METRICS:
        old, new = getattr(before, what), getattr(now, what)
        if old is None or new is None or (what in OF_PTXAS and not same_assembler):
            continue
        less, more = (new, old) if what == "warps" else (old, new)
        if more > LIMIT * less:
            found.append(Change(target, now.kernel, what, old, new, True))
        elif less > LIMIT * more:
            found.append(Change(target, now.kernel, what, old, new, False))
    return found


def kept_time(before: Row | None, now: float) -> float:
    """Processor time cannot be measured as well as the other columns: what is near the old value
    leaves it as it was."""
    old = before.compile if before is not None else None
    return old if old and 0.7 < now / old < 1.4 else float(f"{now:.2g}")


_HEAD = """\
# What the code of kernels takes

`python bench/regress.py update` writes this page and [the table](tables): a file for each target
with a row for each kernel. `make test` fails where a row is worse by more than 5%
([how that is done](../docs/testing.md#numbers-that-cannot-rot)).

Registers and resident warps are geometric means over the kernels that compile. Spills are
registers that live in memory for a while. Instructions are those of the machine's code. Compile is
the processor time of a compile to PTX or AMDGCN. Its unit is the time that LLVM takes for one
fixed text (`recorded/reference.ll`).
"""
_TITLES = (
    "target", "kernels", "refused", "registers", "kernels that spill", "spills", "instructions",
    "resident warps", "compile", "assembler",
)  # fmt: skip


def summary(tables: dict[str, Table]) -> str:
    """The page for people."""
    lines = [_HEAD, f"| {' | '.join(_TITLES)} |", "|---" * len(_TITLES) + "|"]
    for target, table in tables.items():
        rows = [row for row in table.rows.values() if row.text != REFUSED]
        spilled = [row.spills for row in rows if row.spills]
        cells = [
            target, len(rows), len(table.rows) - len(rows),
            _mean([row.registers for row in rows]), len(spilled), f"{sum(spilled):,}",
            f"{sum(row.instructions or 0 for row in rows):,}", _mean([row.warps for row in rows]),
            f"{sum(row.compile or 0 for row in rows):.0f}", table.assembler,
        ]  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _mean(values: list[int | None]) -> str:
    known = [math.log(value) for value in values if value]
    return f"{math.exp(sum(known) / len(known)):.1f}" if known else "-"
