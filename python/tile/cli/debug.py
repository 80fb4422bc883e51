"""`tile debug`"""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import TileError
from .complete import targets
from .sim import launch_options, prepare


def _commands(files: tuple[str, ...], given: tuple[str, ...]) -> list[str] | None:
    """The commands of a script; None: a user is asked."""
    lines = list(given)
    for file in files:
        try:
            lines += Path(file).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise TileError(f"cannot read '{file}': {error.strerror}") from None
    return lines if files or given else None


@click.command("assembly")
@launch_options
@click.pass_obj
def _assembly(debugger: object, **options: object) -> int:
    """Debug a kernel of a file with PTX or AMDGCN assembly."""
    import tile.sim

    from ..debugger.program import debug

    launch = prepare(**options)  # type: ignore[arg-type]

    def start() -> int:
        report = tile.sim.launch(*launch.arguments, **launch.options, raise_on_finding=False)
        report.file = launch.file
        for error in report.errors:
            click.echo(error)
        return 0 if report.ok else 1

    return debug(debugger, start)  # type: ignore[arg-type]


@click.command("debug", context_settings={"allow_interspersed_args": False})
@click.option("--kernel", help="Debug only launches of this kernel.")
@click.option(
    "--target",
    shell_complete=targets,
    help="What the simulator stands for, as in cuda:90 or hip:gfx942.",
)
@click.option("-x", "files", multiple=True, type=click.Path(), help="Take commands from a file.")
@click.option(
    "-e", "given", multiple=True, metavar="COMMAND", help="Run a command of the debugger."
)
@click.option("--dap", is_flag=True, help="Speak the Debug Adapter Protocol, for editors.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="With --dap: listen at a port, not on stdio."
)
@click.option(
    "--no-variables", is_flag=True, help="Debug the code that runs else, which knows no variables."
)
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module's name.")
@click.argument("program", type=click.Path(), required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    kernel: str | None, target: str | None, files: tuple[str, ...], given: tuple[str, ...],
    dap: bool, port: int | None, no_variables: bool, module: bool, program: str | None,
    arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a program in the simulator, and stop in its kernels.

    Kernels stop at lines, at conditions, where memory changes, and at the first finding. They go
    forwards and backwards. PROGRAM may be a file of PTX or AMDGCN assembly. Then options of
    `tile sim` follow it.
    """
    if dap:
        from ..debugger.dap.server import serve

        return serve(port)
    if program is None:
        raise click.UsageError("Missing argument 'PROGRAM'.")
    from ..debugger.program import debug_program
    from ..debugger.terminal import Terminal

    terminal = Terminal(_commands(files, given))
    debugger = terminal.debugger
    debugger.kernel = kernel
    debugger.stops_at_entry = True
    if is_assembly(program):
        return _assembly.main(
            [program, *arguments], prog_name="tile debug", standalone_mode=False, obj=debugger
        )
    status = debug_program(
        debugger, program, arguments, module=module, target=target, variables=not no_variables
    )
    if status == 0 and not debugger.launches:
        raise TileError(f"{program} launched no kernel in the simulator")
    if status == 0 and debugger.session is None:
        click.echo(f"tile debug: {program} launched no kernel `{kernel}`", err=True)
    return status


def is_assembly(program: str) -> bool:
    return Path(program).suffix in (".ptx", ".s", ".S", ".amdgcn", ".asm")
