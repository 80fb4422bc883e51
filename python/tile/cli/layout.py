"""`tile layout`"""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import TileError
from .table import print_json, with_json


def _shape(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> list[int] | None:
    if text is None:
        return None
    try:
        shape = [int(size) for size in text.replace(",", "x").split("x")]
    except ValueError:
        shape = []
    if not shape or any(size < 1 or size & (size - 1) for size in shape):
        raise click.BadParameter(f"'{text}' is no shape; expected powers of two such as 32x64")
    return shape


@click.command("layout")
@click.argument("layout")
@click.option("--shape", callback=_shape, help="The shape of the tensor, as in 32x64.")
@click.option(
    "--format", "form", type=click.Choice(["text", "svg", "bases"]), default="text",
    show_default=True, help="A table, a picture of it, or the bases of the linear layout.",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Name all owners of each element.")
@click.option("-o", "--output", type=click.Path(), help="Write to this file.")
@with_json
def command(
    layout: str, shape: list[int] | None, form: str, everything: bool, output: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Show which thread owns which element of a tensor, or where it lies in shared memory.

    LAYOUT is an encoding, as in '#ttg.blocked<...>', or a type that has one.
    """
    from tile._C import ir

    from ..tools import layout as tool

    try:
        found = tool.load_layout(layout, shape)
    except (ValueError, ir.MLIRError) as error:
        raise TileError(f"cannot read {layout!r}: {error}") from None
    if as_json:
        print_json(tool.to_dict(found))
        return
    if form == "bases":
        text = f"{found}\n"
    elif form == "svg":
        text = tool.render_svg(found)
    else:
        text = tool.render_text(found, everything)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TileError(f"cannot write '{output}': {error.strerror}") from None
