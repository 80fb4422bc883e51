"""`tile link`"""

from __future__ import annotations

import click

from ..aot import link


@click.command("link")
@click.argument("headers", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--out", required=True, type=click.Path(), help="Write <out>.h and <out>.c.")
@click.option("--prefix", default="", help="What the names of the functions begin with.")
def command(headers: tuple[str, ...], out: str, prefix: str) -> None:
    """Write the C functions that choose among the variants in HEADERS."""
    for file in link(headers, out, prefix):
        print(file)
