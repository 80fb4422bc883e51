"""Compares the code of kernels with the table, and writes the table anew."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tile.backends import backends

from . import history, table
from .kernels import known_kernels
from .rows import REFUSED, Row
from .sweep import Result, Task, run_tasks
from .table import TARGETS, Change, Table

#: `make test` compiles one of so many shares of the rows: 437 of 1,750, some 80 s of a processor.
SHARES = 4
#: The sum of the compile times of a run may be so much above the table's. A machine with other
#: things to do cannot measure better; what all compiles have in common shows in a sum.
TIME_LIMIT = 1.5


def nvidia_tools() -> Any:
    """The module that knows ptxas."""
    return sys.modules[backends()["nvidia"].__module__].tools


def assembler(target: str) -> str:
    """What turns the text into machine code here."""
    if not target.startswith("cuda:"):
        return "LLVM's assembler"
    tools = nvidia_tools()
    path = tools.ptxas_path()
    return "no ptxas" if path is None else f"ptxas {tools.release(path)}"


def all_tasks(targets: Iterable[str], match: str) -> list[tuple[str, str]]:
    names = [name for name in known_kernels() if re.search(match, name)]
    return [(name, target) for target in targets for name in names]


def share_of(pairs: Sequence[tuple[str, str]], number: int) -> list[tuple[str, str]]:
    """One share: each kernel for one target or two, and others in each share."""
    places = {name: i for i, name in enumerate(known_kernels())}
    return [
        (name, target)
        for name, target in pairs
        if (places[name] + TARGETS.index(target)) % SHARES == number % SHARES
    ]


@dataclass
class Comparison:
    compiled: int = 0
    #: Rows whose text is not the table's, and what they are now.
    other: list[tuple[str, Row]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    refusals: dict[tuple[str, str], str] = field(default_factory=dict)
    #: Targets whose numbers of ptxas were not compared, and why.
    notes: dict[str, str] = field(default_factory=dict)
    #: The sums of compile times: the table's, and those of now.
    times: list[float] = field(default_factory=lambda: [0.0, 0.0])

    @property
    def worse(self) -> list[Change]:
        return [change for change in self.changes if change.worse]

    @property
    def slower(self) -> bool:
        before, now = self.times
        return now > TIME_LIMIT * before


def compare(results: Iterable[Result], tables: dict[str, Table]) -> Comparison:
    found = Comparison()
    here = {target: assembler(target) for target in tables}
    for result in results:
        target, now = result.task.target, result.row
        found.compiled += 1
        before = tables[target].rows.get(now.kernel)
        if before is None:
            found.missing.append((target, now.kernel))
            continue
        if before.compile and now.compile:
            found.times[0] += before.compile
            found.times[1] += now.compile
        if before.text == now.text:
            continue
        found.other.append((target, now))
        if result.refusal:
            found.refusals[target, now.kernel] = result.refusal
        same = here[target] == tables[target].assembler
        if not same:
            found.notes[target] = (
                f"the table has {tables[target].assembler}, here is {here[target]}"
            )
        found.changes += table.changes(target, before, now, same)
    return found


def gone(tables: dict[str, Table]) -> list[tuple[str, str]]:
    """Rows of kernels that are no more."""
    return [
        (target, name)
        for target, one in tables.items()
        for name in one.rows
        if name not in known_kernels()
    ]


def read_tables(targets: Iterable[str], folder: Path) -> dict[str, Table]:
    return {target: table.read(target, folder) for target in targets}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", nargs="+", default=list(TARGETS), choices=TARGETS)
    parser.add_argument("--match", default="", help="kernels whose name matches the expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--tables", type=Path, default=table.FOLDER, help=argparse.SUPPRESS)


def add_check_options(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.add_argument(
        "--share",
        action="store_true",
        help=f"each kernel for a target or two only; {SHARES} commits in a row have all",
    )


def add_update_options(parser: argparse.ArgumentParser) -> None:
    add_options(parser)
    parser.add_argument("--again", action="store_true", help="rows whose text is the same, too")


def run_check(arguments: argparse.Namespace) -> int:
    """1 where a row is worse, or where the table lacks one."""
    tables = read_tables(arguments.target, arguments.tables)
    pairs = all_tasks(arguments.target, arguments.match)
    if arguments.share:
        pairs = share_of(pairs, history.commits())
    tasks = [Task(name, target, _text(tables[target], name)) for name, target in pairs]
    found = compare(run_tasks(tasks, arguments.jobs), tables)
    removed = [] if arguments.match else gone(tables)
    report(found, removed, arguments)
    return 1 if found.worse or found.missing or removed or found.slower else 0


def _text(one: Table, kernel: str) -> str:
    return one.rows[kernel].text if kernel in one.rows else ""


def report(
    found: Comparison, removed: list[tuple[str, str]], arguments: argparse.Namespace
) -> None:
    print(
        f"{found.compiled} compiles; {len(found.other)} texts differ from the table's: "
        f"{len(found.worse)} values are worse by more than 5%, "
        f"{len(found.changes) - len(found.worse)} better"
    )
    if found.times[0]:
        print(
            f"compile time: {found.times[1] / found.times[0]:.2f} of the table's "
            f"(at most {TIME_LIMIT})"
        )
    for target, why in found.notes.items():
        print(f"not compared on {target}: {', '.join(table.OF_PTXAS)} of texts that differ ({why})")
    for change in found.changes:
        print(change)
        if reason := found.refusals.get((change.target, change.kernel)):
            print(f"    {reason}")
    for target, name in found.missing:
        print(f"not in the table: {target}  {name}")
    for target, name in removed:
        print(f"in the table, and no kernel: {target}  {name}")
    if found.worse:
        print()
        print(history.explain(found.worse, arguments.tables))
    if found.other or found.missing or removed:
        print("`python bench/regress.py update` takes what there is now into the table.")


def run_update(arguments: argparse.Namespace) -> int:
    """Target by target, so that a run that is ended leaves what it has done."""
    tables = read_tables(TARGETS, arguments.tables)
    for target in arguments.target:
        tables[target] = updated(target, tables[target], arguments)
        table.write(target, tables[target], arguments.tables)
        print(f"{target}: {len(tables[target].rows)} rows", flush=True)
    page = arguments.tables.parent / "REGRESS.md"
    page.write_text(table.summary(tables), encoding="utf-8")
    return 0


def updated(target: str, old: Table, arguments: argparse.Namespace) -> Table:
    here = assembler(target)
    again = arguments.again or (here != old.assembler and not arguments.match)
    pairs = all_tasks([target], arguments.match)
    tasks = [Task(name, target, "" if again else _text(old, name)) for name, _ in pairs]
    rows = {name: row for name, row in old.rows.items() if name in known_kernels()}
    counts: dict[str, int] = defaultdict(int)
    for result in run_tasks(tasks, arguments.jobs):
        name, now = result.task.kernel, result.row
        before = rows.get(name)
        if before is not None and not again and before.text == now.text:
            continue
        time = None if now.text == REFUSED else table.kept_time(before, now.compile or 0.0)
        rows[name] = replace(now, compile=time)
        if result.refusal:
            counts[result.refusal] += 1
        for change in table.changes(target, before, now, True) if before else ():
            print(change)
    for reason, count in counts.items():
        print(f"{target}: {count} refused: {reason}")
    return Table(here if again or not old.assembler else old.assembler, rows)
