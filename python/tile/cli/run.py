"""`tile run`"""

from __future__ import annotations

import os
import runpy
import sys
from types import TracebackType

import click

from ..errors import TileError


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option("--driver", type=click.Choice(["cuda", "hip", "sim"]), help="What runs the kernels.")
@click.option("--target", help="What the simulator stands for, as in cuda:90 or hip:gfx942.")
@click.option("--interpret", is_flag=True, help="Run kernels as Python.")
@click.option("--debug", is_flag=True, help="Compile assertions in kernels.")
@click.option("--always-compile", is_flag=True, help="Do not look into the cache.")
@click.option("--compat", is_flag=True, help="`import triton` gives tile.")
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module's name.")
@click.argument("program", type=click.Path())
@click.argument("arguments", nargs=-1, type=click.Path())
def command(
    driver: str | None, target: str | None, interpret: bool, debug: bool, always_compile: bool,
    compat: bool, module: bool, program: str, arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a program whose kernels run in the simulator, for a target, or as Python."""
    # In the environment, so that processes it starts see it too.
    if target is not None:
        from ..backends import parse_target

        parse_target(target)
    chosen = {
        "TILE_DRIVER": "sim" if target and not driver else driver,
        "TILE_SIM_TARGET": target,
        "TILE_INTERPRET": "1" if interpret else None,
        "TILE_DEBUG": "1" if debug else None,
        "TILE_ALWAYS_COMPILE": "1" if always_compile else None,
    }
    os.environ.update({name: value for name, value in chosen.items() if value is not None})
    if compat:
        from ..compat import install

        install()
    sys.argv = [program, *arguments]
    try:
        if module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
            return 0
        if not os.path.isfile(program):
            raise TileError(f"there is no program {program}")
        sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
        runpy.run_path(program, run_name="__main__")
        return 0
    except TileError:
        raise
    except Exception as error:
        error.__traceback__ = _frames_of_program(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1


def _frames_of_program(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without what starts the program: this file's, and runpy's."""
    while trace and trace.tb_frame.f_code.co_filename in (
        __file__,
        "<frozen runpy>",
        runpy.__file__,
    ):
        trace = trace.tb_next
    return trace
