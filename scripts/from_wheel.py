#!/usr/bin/env python3
"""Does what a newcomer does: installs a wheel into a new environment, and follows the pages.

    scripts/from_wheel.py WHEEL [--python python3.12]

These are the quick start, command by command, and three tutorials. Nothing of this checkout but the
pages is used, and nothing of the environment. What each command prints is compared with the page.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
TUTORIALS = ("01-vector-add", "02-softmax", "05-matmul")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)


class Differs(Exception):
    """A command does not do what a page says."""


def without_numbers(page: str) -> str:
    """Counters, addresses and lines of assembly change with the compiler; they may do so here."""
    return re.sub(r"\s+", " ", re.sub(r"0x[0-9a-f]+|\d[\d.,]*(e[-+]\d+)?", "#", page)).strip()


def steps(page: str) -> Iterator[tuple[str, str, str]]:
    """The blocks of a page, each with the file that the sentence before it names."""
    for block in BLOCK.finditer(page):
        before = page[: block.start()].rstrip().rsplit("\n\n", 1)[-1]
        named = re.match(r"Write this to `([\w.]+)`", before)
        yield block[1], block[2], named[1] if named else ""


def execute(command: str, work: Path, environment: Mapping[str, str]) -> str:
    """What a command prints. It must succeed."""
    done = subprocess.run(
        ["bash", "-ec", command], cwd=work, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise Differs(f"{command.strip()}\nended with {done.returncode}:\n{done.stderr}")
    return done.stdout.replace(f"{work}/", "")


def follow(page: Path, work: Path, environment: Mapping[str, str]) -> tuple[int, int]:
    """Writes the programs of a page and runs its commands; how many of both there were."""
    printed, programs, commands = "", 0, 0
    for language, text, name in steps(page.read_text()):
        if language == "python":
            if not name:
                raise Differs("the sentence before a program does not name its file")
            (work / name).write_text(text)
            programs += 1
        elif language == "sh":
            if printed:
                raise Differs(f"the page does not show what a command prints:\n{printed}")
            printed = execute(text, work, environment)
            commands += text.count("\n")
        else:
            if without_numbers(printed) != without_numbers(text):
                raise Differs(f"the page shows\n{text}\nbut printed was\n{printed}")
            printed = ""
    if printed:
        raise Differs(f"the page does not show what a command prints:\n{printed}")
    return programs, commands


def run_tutorial(name: str, work: Path, environment: Mapping[str, str]) -> None:
    """Runs a tutorial by itself. It prints what its page shows, part for part."""
    program = work / f"{name}.py"
    program.write_text((DOCS / "tutorials" / f"{name}.py").read_text())
    printed = execute(f"python {program.name}", work, environment)
    page = (DOCS / "tutorials" / f"{name}.md").read_text()
    shown = "".join(re.findall(r"^Output:\n\n```text\n(.*?)^```", page, re.S | re.M))
    shown = shown.replace("docs/tutorials/", "")
    times = re.compile(r"in (\.\.\.|\d+\.\d+) s$", re.M)
    addresses = re.compile(r"0x(\.\.\.|[0-9a-f]+)")
    both = [addresses.sub("0x0", times.sub("in s", text)) for text in (printed, shown)]
    if without_numbers(both[0]) != without_numbers(both[1]):
        raise Differs(f"{name}: the page shows\n{shown}\nbut printed was\n{printed}")


def check_help(work: Path, environment: Mapping[str, str]) -> int:
    """`tile help` prints every page about a message; how many there are."""
    pages = {p.stem: p for p in (DOCS / "diagnostics").glob("*.md") if p.stem != "index"}
    if sorted(execute("tile help", work, environment).split()) != sorted(pages):
        raise Differs("tile help does not list the pages of docs/diagnostics")
    for name, page in pages.items():
        title = page.read_text().splitlines()[0]
        if not execute(f"tile help {name}", work, environment).startswith(title):
            raise Differs(f"tile help {name} does not print its page")
    return len(pages)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"==> {text} ({time.monotonic() - start:.0f} s)", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        work = root / "work"
        work.mkdir()
        # A newcomer has a PATH, a home, and what leads to the package index.
        environment = {name: v for name, v in os.environ.items() if name.lower().endswith("_proxy")}
        environment |= {
            "PATH": f"{root}/env/bin:/usr/bin:/bin", "HOME": folder, "TILE_DRIVER": "sim",
            "TILE_CACHE_DIR": f"{root}/cache",
        }  # fmt: skip
        try:
            subprocess.run([arguments.python, "-m", "venv", root / "env"], check=True)
            wheel = f"{arguments.wheel.resolve()}[interpreter]"
            execute(f"pip install -q --disable-pip-version-check '{wheel}'", work, environment)
            say(f"installed {arguments.wheel.name}")
            if "self test  " not in execute("tile env", work, environment):
                raise Differs("tile env has no self test")
            say(f"tile help: {check_help(work, environment)} pages")
            programs, commands = follow(DOCS / "quickstart.md", work, environment)
            say(f"quick start: {programs} programs, {commands} commands")
            for name in TUTORIALS:
                run_tutorial(name, work, environment)
                say(f"tutorial {name}")
        except Differs as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
