#!/usr/bin/env python3
"""Runs the programs in docs/tutorials and writes a page of each, with the output of every part.

A program has parts. A line `# %% [markdown]` begins a part of text, whose lines are comments; a
line `# %%` begins a part of code. Editors and notebooks know this form.

    python scripts/tutorials.py            # all of them
    python scripts/tutorials.py softmax    # those whose names contain a word
"""

from __future__ import annotations

import io
import os
import re
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "tutorials"
BEGINNING = re.compile(r"^# %%(?P<text> \[markdown\])?\n", re.M)


@dataclass
class Part:
    """A piece of a program, and the line on which it begins."""

    is_text: bool
    source: str
    line: int


def programs() -> list[Path]:
    return sorted(FOLDER.glob("[0-9]*.py"))


def parts_of(program: Path) -> list[Part]:
    text = program.read_text()
    marks = list(BEGINNING.finditer(text))
    if not marks or text[: marks[0].start()].strip():
        raise ValueError(f"{program.name} does not begin with a line `# %%`")
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [
        Part(bool(mark["text"]), text[mark.end() : end], text.count("\n", 0, mark.end()) + 1)
        for mark, end in zip(marks, ends, strict=True)
    ]


def prose(part: Part) -> str:
    """The comments of a part of text, without their signs."""
    lines = part.source.strip().splitlines()
    for line in lines:
        if not line.startswith("#"):
            raise ValueError(f"line {part.line}: text that is no comment: {line}")
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


def repeatable(output: str) -> str:
    """Output without what differs in each run or on each machine: addresses, times, folders."""
    output = re.sub(r"\b0x[0-9a-f]{8,}", "0x...", output.replace(f"{ROOT}/", ""))
    return re.sub(r"\bin \d+\.\d+ s$", "in ... s", output, flags=re.M).rstrip()


def run(program: Path) -> str:
    """Runs a program, part by part, and returns its page."""
    name = program.relative_to(ROOT)
    blocks = []
    space = {"__name__": "__main__", "__file__": str(program)}
    for part in parts_of(program):
        if part.is_text:
            blocks.append(prose(part))
            continue
        out = io.StringIO()
        # Errors and kernels name the lines of the file.
        code = compile("\n" * (part.line - 1) + part.source, str(program), "exec")
        with redirect_stdout(out):
            exec(code, space)
        blocks.append(f"```python\n{part.source.strip()}\n```")
        if out.getvalue():
            text = "\n".join(line.rstrip() for line in repeatable(out.getvalue()).splitlines())
            blocks.append(f"Output:\n\n```text\n{text}\n```")
    title, rest = blocks[0].split("\n", 1)
    where = f"This page is made of a program. Run it: `python {name}`."
    return "\n\n".join([title, where, rest.strip(), *blocks[1:]]) + "\n"


def main() -> None:
    os.chdir(ROOT)
    for program in programs():
        if not sys.argv[1:] or any(word in program.name for word in sys.argv[1:]):
            program.with_suffix(".md").write_text(run(program))
            print(f"wrote {program.with_suffix('.md').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
