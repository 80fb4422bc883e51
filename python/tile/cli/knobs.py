"""`tile knobs`"""

from __future__ import annotations

import click

from .. import knobs
from ..errors import TileError
from .table import print_json, show, with_json


@click.command("knobs")
@click.option("--all", "everything", is_flag=True, help="Also those that mean nothing to tile.")
@with_json
def command(everything: bool, as_json: bool) -> None:
    """Show all settings, their values, and where those came from."""
    rows = []
    for group_name, group in sorted(knobs.groups().items()):
        for name, knob in group.settings().items():
            if not knob.honoured and not everything:
                continue
            found = knob.find()
            try:
                value = repr(getattr(group, name))
            except TileError as error:
                value = f"wrong: {error}"
            source = "default" if found is None else found[0]
            rows.append((f"{group_name}.{name}", knob.variable, value, source, knob.doc))
    header = ("setting", "variable", "value", "from", "what it does")
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        show(header, rows)
