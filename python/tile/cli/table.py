"""Tables on a terminal: with `rich`, as wide as it is; in a pipe, whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click


def with_json(command: Callable) -> Callable:
    """Gives a listing the option `--json`, for programs that read it."""
    return click.option("--json", "as_json", is_flag=True, help="For programs: as JSON.")(command)


def print_json(value: Any) -> None:
    """Prints what a program asked for."""
    print(json.dumps(value, indent=1))


def show(header: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> None:
    """Prints a table."""
    rows = [list(map(str, row)) for row in rows]
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table

        table = Table(*header, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        Console().print(table)
        return
    if title:
        print(title)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in [list(header), *rows]:
        print("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip())


def size(count: float) -> str:
    """Bytes as people say them."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
