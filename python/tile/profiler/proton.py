"""The command `proton`: profiles a program, or pytest, without changing it."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from typing import Any

import click

from .. import knobs
from ..programs import check
from . import backends
from .flags import flags
from .profile import DEFAULT_PROFILE_NAME, begin, end

_PROGRAM = {
    "ignore_unknown_options": True, "allow_interspersed_args": False,
    "help_option_names": ["-h", "--help"],
}  # fmt: skip


def is_pytest(script: str) -> bool:
    """Whether the program is pytest."""
    return os.path.basename(script) == "pytest"


def execute_as_main(script: str, args: Sequence[str]) -> int:
    """Runs a script as Python does; returns its exit status."""
    script = os.path.abspath(script)
    sys.argv = [script, *args]
    # Modules beside the script are found.
    sys.path.insert(0, os.path.dirname(script))
    return _status(lambda: runpy.run_path(script, run_name="__main__"))


def do_setup_and_execute(target: Sequence[str]) -> int:
    """Runs a script or pytest with its arguments."""
    script, args = target[0], list(target[1:])
    if is_pytest(script):
        import pytest

        return int(pytest.main(args))
    return execute_as_main(script, args)


def _status(run: Any) -> int:
    """What a program's end means as an exit status."""
    try:
        run()
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    return 0


def run_profiling(
    target: Sequence[str], name: str, context: str, data: str, backend: str | None,
    mode: str | None, hook: str | None,
) -> int:  # fmt: skip
    """Runs a program within a session. A program that ended well, but whose kernels nobody
    recorded, is an error, too."""
    if not is_pytest(target[0]):
        check(target[0])
    flags.command_line = True
    session = begin(name, context, data, backend, mode, hook)
    try:
        status = do_setup_and_execute(target)
    finally:
        ended = end(session)
        flags.command_line = False
    if status == 0 and not any(one.has_kernels for one in ended):
        why = ended[0].backend.why_empty()
        click.echo(f"tile: the profile has no kernels: {why}", err=True)
        return 1
    return status


@click.command("proton", context_settings=_PROGRAM)
@click.option("-n", "--name", default=DEFAULT_PROFILE_NAME, help="The file, without its suffix.")
@click.option(
    "-b",
    "--backend",
    type=click.Choice(backends.NAMES),
    help="Where records come from; by default, what runs the kernels.",
)
@click.option(
    "-c",
    "--context",
    type=click.Choice(["shadow", "python"]),
    default="shadow",
    help="What kernels are found under: scopes, or the Python stack with them.",
)
@click.option("-m", "--mode", help="What the backend records, as in pcsampling:interval=1024.")
@click.option(
    "-d",
    "--data",
    type=click.Choice(["tree", "trace"]),
    default="tree",
    help="Sums for each call path, or an event for each launch.",
)
@click.option(
    "-k",
    "--hook",
    type=click.Choice(["None", "triton"]),
    default="None",
    help="With triton, the launch_metadata of kernels names launches and measures them.",
)
@click.option(
    "--timeline",
    is_flag=True,
    help="One trace of scopes, launches and what warps record; in the simulator also of what they "
    "wait for, copies and barriers. As -d trace -b instrumentation with TILE_PROFILE_LAUNCHES=1.",
)
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    name: str, backend: str | None, context: str, mode: str | None, data: str, hook: str,
    timeline: bool, program: tuple[str, ...],
) -> int:  # fmt: skip
    """Profile a program: times of its kernels, by call path.

    PROGRAM is a script with its arguments, or pytest with its own. The program's `start` and
    `finalize` do nothing; its scopes count.
    """
    if timeline:
        data, backend = "trace", backend or "instrumentation"
        knobs.proton.launches_in_trace = True
    return run_profiling(
        program, name, context, data, backend, mode, None if hook == "None" else hook
    )  # fmt: skip


def main() -> None:
    """The command `proton`, from the shell: for programs that import triton."""
    from ..cli import run_command
    from ..compat import install

    install()
    sys.exit(run_command(command, sys.argv[1:], "proton"))


if __name__ == "__main__":
    main()
