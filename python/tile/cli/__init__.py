"""The command `tile`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from .. import __version__
from ..errors import TileError
from ..programs import NoProgram
from .group import Group

#: The commands, with what they are for; each is in the module of its name.
_COMMANDS = {
    "run": "Run a program: in the simulator, for a target, with checks.",
    "debug": "Stop in kernels, in the simulator; step forwards and backwards.",
    "explain": "Say what makes kernels slow, and show how they were compiled.",
    "sim": "Run a kernel of PTX without a GPU, with every access checked.",
    "compile": "Compile a kernel to C, for programs without Python.",
    "link": "Write the C functions that choose among compiled kernels.",
    "profile": "Profile a program: times of its kernels, by call path.",
    "view": "Show profiles.",
    "cache": "Look at the cache of compiled kernels; tidy it.",
    "autotune": "Look at what autotuning chose.",
    "knobs": "Show all settings, and where their values came from.",
    "env": "Show what is installed, which driver is used and why.",
    "completion": "Print the shell code that completes this command.",
    "help": "Explain a message: what it means, and what to write.",
    "layout": "Show which thread owns which element of a layout.",
    "surface": "Print the page of the language's names.",
}


class _Commands(Group):
    """Loads a command when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        return importlib.import_module(f"{__name__}.{name}").command

    def format_commands(self, context: click.Context, formatter: Any) -> None:
        # Without loading any.
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()), col_spacing=3)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tile")
def tile() -> None:
    """A compiler for GPU kernels written in Python."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command that the arguments name; returns the exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args:
        tile.main(["--help"], prog_name="tile", standalone_mode=False)
        return 2
    return run_command(tile, args, "tile")


#: A group without a command; older releases of click print its page themselves.
_NO_COMMAND: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())


def run_command(command: click.Command, args: list[str], name: str) -> int:
    """Runs a command with its arguments; returns the exit status."""
    try:
        result = command.main(args, prog_name=name, standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort as error:
        if where := str(error.__cause__ or ""):  # Where a kernel was.
            print(where, file=sys.stderr)
        return 130
    except _NO_COMMAND as error:  # The page of a group of commands, which names them.
        print(error.format_message())
        return 2
    except click.ClickException as error:
        print(f"{name}: error: {' '.join(error.format_message().split())}", file=sys.stderr)
        return 2
    except TileError as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return 2 if isinstance(error, NoProgram) else 1
    except OSError as error:
        if args and args[0] in ("run", "debug", "profile", "explain"):  # The program's own.
            raise
        where = f"{error.filename}: " if error.filename is not None else ""
        print(f"{name}: error: {where}{error.strerror or error}", file=sys.stderr)
        return 1
