"""Commands with subcommands."""

from __future__ import annotations

from typing import Any

import click

from ..hints import closest


class Group(click.Group):
    """Says which commands there are, where one is misspelt."""

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        names = self.list_commands(context)
        if args and args[0] not in names and not args[0].startswith("-"):
            raise click.UsageError(
                f"no command '{args[0]}'; there are: {', '.join(names)}{closest(args[0], names)}"
            )
        return super().resolve_command(context, args)
