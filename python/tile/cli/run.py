"""`tile run`"""

from __future__ import annotations

import os

import click

from ..backends import kinds
from ..programs import check, run
from .complete import targets


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option("--driver", type=click.Choice([*kinds(), "sim"]), help="What runs the kernels.")
@click.option(
    "--target",
    shell_complete=targets,
    help="What the simulator stands for, as in cuda:90 or hip:gfx942.",
)
@click.option("--interpret", is_flag=True, help="Run kernels as Python.")
@click.option("--debug", is_flag=True, help="Compile assertions in kernels.")
@click.option("--always-compile", is_flag=True, help="Do not look into the cache.")
@click.option("--compat", is_flag=True, help="Let `import triton` give tile.")
@click.option("-m", "module", is_flag=True, help="Take PROGRAM for the name of a module.")
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
    check(program, module)
    return run(program, arguments, module)
