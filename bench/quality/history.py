"""Whose change it is: the commit that measured a row last, those since, and a bisection."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import table
from .table import Change

ROOT = Path(__file__).resolve().parents[2]
#: What kernels are compiled by.
COMPILER = tuple(
    f":(top){folder}"
    for folder in ("include", "lib", "python", "third_party", "examples", "bench/recorded")
)
#: How a commit is named.
_ONE = "%h of %as, %s"
#: Commits that are named.
_MOST = 12
#: `git bisect run` takes this for a commit that says nothing.
_SKIP = 125


def _git(*words: str, folder: Path = ROOT) -> str:
    """What git says; empty where there is no git, or no repository."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, encoding="utf-8")
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def commits() -> int:
    """How many there are: a number that each commit moves on by one."""
    return int(_git("rev-list", "--count", "HEAD") or 0)


def measured_at(path: Path, line: int) -> str:
    """The commit that wrote a line of a file; empty where none did yet."""
    said = _git("blame", "--porcelain", "-L", f"{line},{line}", "--", str(path), folder=path.parent)
    commit = said.split(" ", 1)[0]
    return "" if not commit or re.fullmatch("0+", commit) else commit


def since(commit: str, folder: Path = ROOT) -> list[str]:
    """The commits after it that changed what kernels are compiled by, the latest first."""
    return _git(
        "log", "--format=%h %s", f"{commit}..HEAD", "--", *COMPILER, folder=folder
    ).splitlines()


def explain(worse: Iterable[Change], tables: Path = table.FOLDER) -> str:
    """For each commit that measured rows which are worse now: which commits may have done it."""
    rows: dict[str, list[Change]] = {}
    for change in worse:
        line = table.line_of(change.target, change.kernel, tables)
        commit = measured_at(table.path_of(change.target, tables), line) if line else ""
        rows.setdefault(commit, []).append(change)
    return "\n".join(_explain(commit, changes, tables) for commit, changes in rows.items())


def _explain(commit: str, changes: list[Change], tables: Path) -> str:
    count = len({(change.target, change.kernel) for change in changes})
    if not commit:
        return f"{count} rows: the table with them is in no commit yet, or there is no git."
    head = _git("log", "-1", f"--format={_ONE}", commit, folder=tables).strip()
    lines = [f"{count} rows were measured last at {head}"]
    between = since(commit, tables)
    dirty = _git("status", "--porcelain", "--", *COMPILER, folder=tables).strip()
    if dirty:
        lines.append("  the working tree has changes of the compiler that are in no commit")
    if between:
        lines.append(f"  {len(between)} commits since changed what kernels are compiled by:")
        lines += [f"    {one}" for one in between[:_MOST]]
        lines += [f"    and {len(between) - _MOST} before these"] if len(between) > _MOST else []
    if len(between) > 1:
        one = changes[0]
        lines.append("  To find the commit (each step builds):")
        lines.append(f"    python bench/regress.py bisect {one.target} {shlex.quote(one.kernel)}")
    return "\n".join(lines)


def add_bisect_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", choices=table.TARGETS)
    parser.add_argument("kernel")
    parser.add_argument("--good", help="a commit; by default the one that measured the row last")
    parser.add_argument("--bad", default="HEAD")
    parser.add_argument("--build", default="make build", help="what builds a commit")
    parser.add_argument("--tables", type=Path, default=table.FOLDER, help=argparse.SUPPRESS)


def run_bisect(arguments: argparse.Namespace) -> int:
    """Names the commit since which the row is worse. Kernels and this program are those of now."""
    good = arguments.good
    if good is None:
        line = table.line_of(arguments.target, arguments.kernel, arguments.tables)
        if line is None:
            sys.exit(f"{arguments.target} has no row {arguments.kernel}")
        good = measured_at(table.path_of(arguments.target, arguments.tables), line)
        if not good:
            sys.exit("the row is in no commit: name a good commit with --good")
    with tempfile.TemporaryDirectory(prefix="tile-bisect-") as folder:
        program = _copy_of_program(Path(folder, "now"))
        words = [
            "check", "--target", arguments.target, "--match", f"^{re.escape(arguments.kernel)}$",
            "--tables", str(arguments.tables.resolve()), "--jobs", "1",
        ]  # fmt: skip
        check = f".venv/bin/python {shlex.quote(str(program))} {shlex.join(words)}"
        step = judge(arguments.build, check, Path(folder, "said"))
        found = bisect(ROOT, Path(folder, "tree"), good, arguments.bad, step)
    if not found:
        print("With none of these commits the row is worse.")
        return 1
    print("The row is worse since:" if len(found) == 1 else "It could be any of:")
    print("\n".join(found))
    return 0


def judge(build: str, check: str, said: Path) -> list[str]:
    """What decides whether a commit is bad. One that does not build, or with which `check` ends in
    another way than by its report, says nothing."""
    file = shlex.quote(str(said))
    steps = (
        f"({build}) || exit {_SKIP}",
        f"{check} > {file}",
        f"grep -q '^worse: ' {file} && exit 1",
        f"grep -q ' compiles; ' {file} || exit {_SKIP}",
    )
    return ["sh", "-c", "\n".join(steps)]


def _copy_of_program(folder: Path) -> Path:
    """This program and the kernels, which old commits have in other states or not at all."""
    for part in ("bench", "examples", "test/python/corpus"):
        shutil.copytree(ROOT / part, folder / part)
    return folder / "bench" / "regress.py"


def bisect(repository: Path, tree: Path, good: str, bad: str, command: Sequence[str]) -> list[str]:
    """The first commit for which `command` fails, in a work tree of its own. There are several
    where it could be any of them, because those in between say nothing; none where it never
    fails."""
    _git("worktree", "add", "--detach", str(tree), bad, folder=repository)
    try:
        _git("bisect", "start", bad, good, folder=tree)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        done = subprocess.run(
            ["git", "bisect", "run", *command],
            cwd=tree, stdout=subprocess.PIPE, encoding="utf-8", env=environment,
        )  # fmt: skip
        found = re.findall(r"^([0-9a-f]{40}) is the first bad commit", done.stdout, re.M)
        _, could_be, rest = done.stdout.partition("could be any of:\n")
        if could_be:
            found = re.findall(r"^([0-9a-f]{40})$", rest, re.M)
        return [_git("log", "-1", f"--format={_ONE}", one, folder=tree).strip() for one in found]
    finally:
        _git("bisect", "reset", folder=tree)
        _git("worktree", "remove", "--force", str(tree), folder=repository)
