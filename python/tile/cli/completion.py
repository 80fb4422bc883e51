"""`tile completion`"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the shell code that completes `tile`: eval "$(tile completion bash)"."""
    from . import tile

    cls = get_completion_class(shell)
    assert cls is not None
    print(cls(tile, {}, "tile", "_TILE_COMPLETE").source())
