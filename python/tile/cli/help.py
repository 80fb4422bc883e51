"""`tile help`"""

from __future__ import annotations

import re
from pathlib import Path

import click

from ..errors import TileError
from ..hints import closest

_PACKAGE = Path(__file__).parents[1]
#: Beside the package in a wheel, in the documentation of a checkout.
_FOLDERS = (_PACKAGE / "pages" / "diagnostics", _PACKAGE.parents[1] / "docs" / "diagnostics")


def pages() -> dict[str, Path]:
    """The pages, by their names."""
    for folder in _FOLDERS:
        if folder.is_dir():
            return {p.stem: p for p in sorted(folder.glob("*.md")) if p.stem != "index"}
    raise TileError("this installation has no pages; they are in docs/diagnostics of the source")


def _complete(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    return [name for name in pages() if name.startswith(text)]


def _plain(text: str) -> str:
    """A page for a terminal: links are their texts."""
    return re.sub(r"\[([^\[\]]*)\]\([^()\s]+\)", r"\1", text)


@click.command("help")
@click.argument("page", required=False, shell_complete=_complete)
@click.option("--json", "as_json", is_flag=True, help="Print the names of all pages as JSON.")
def command(page: str | None, as_json: bool) -> None:
    """Explain a message: what it means, and what to write instead.

    PAGE is what the last line of the message says. Without it, all pages are listed.
    """
    found = pages()
    if as_json:
        import json

        click.echo(json.dumps(list(found)))
    elif page is None:
        click.echo("\n".join(found))
    elif page not in found:
        names = ", ".join(found)
        raise click.UsageError(
            f"there is no page '{page}'; there are: {names}{closest(page, found)}"
        )
    else:
        click.echo_via_pager(_plain(found[page].read_text(encoding="utf-8")))
