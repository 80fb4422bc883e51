"""`tile surface`"""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import TileError
from .table import print_json, with_json


@click.command("surface")
@click.option("-o", "--output", type=click.Path(), help="Write to this file.")
@click.option("--examples", is_flag=True, help="Print the page of functions with examples.")
@with_json
def command(output: str | None, examples: bool, as_json: bool) -> None:
    """Print the page of the language's names, with their signatures."""
    from ..tools import surface

    if as_json:
        print_json(surface.to_dict())
        return
    text = surface.render_examples() if examples else surface.render()
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TileError(f"cannot write '{output}': {error.strerror}") from None
