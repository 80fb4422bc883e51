"""`tile explain`"""

from __future__ import annotations

import json

import click


@click.command(
    "explain", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True}
)
@click.option("--kernel", help="Only the kernel of this name.")
@click.option("--target", help="What the simulator stands for, as in cuda:90 or hip:gfx942.")
@click.option("--text", "as_text", is_flag=True, help="Print what is found, for terminals.")
@click.option("--json", "as_json", is_flag=True, help="Print what is found, for programs.")
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module's name.")
@click.argument("program", type=click.Path())
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    kernel: str | None, target: str | None, as_text: bool, as_json: bool, module: bool,
    program: str, arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a program in the simulator, and say of each kernel what it takes, what it did, and what
    makes it slow, with the line and the remedy."""
    from ..explain.program import choose_target, explain_program
    from ..explain.text import render

    choose_target(target)
    found = explain_program(program, arguments, module=module, kernel=kernel)
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=1))
    else:
        click.echo("\n".join(render(one) for one in found), nl=False)
    return 0
