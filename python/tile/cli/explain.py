"""`tile explain`"""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..errors import TileError
from .complete import targets
from .progress import track


def _paths(output: str | None, names: list[str]) -> list[Path]:
    """A page for each kernel: the file that was asked for; of several, its name with theirs."""
    if output is not None and len(names) == 1:
        return [Path(output)]
    base = Path(output if output is not None else "explain.html")
    suffix = base.suffix or ".html"
    used: dict[str, int] = {}
    paths = []
    for name in names:
        used[name] = used.get(name, 0) + 1
        number = f"-{used[name]}" if used[name] > 1 else ""
        paths.append(base.with_name(f"{base.stem}-{name}{number}{suffix}"))
    return paths


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TileError(f"cannot write '{path}': {error.strerror}") from None


def _write_pages(found: list, output: str | None) -> None:
    from ..explain.page import render_page

    for one, path in zip(found, _paths(output, [one.name for one in found]), strict=True):
        _write(path, render_page(one))
        click.echo(f"{path}: {one.name}, {len(one.findings)} findings", err=True)


def _compare(
    sides: tuple[str, str], target: str | None, kernel: str | None, output: str | None,
    as_text: bool, as_json: bool, program: str | None, arguments: tuple[str, ...],
) -> int:  # fmt: skip
    from ..explain.compare import compare_all, read_side, render
    from ..explain.explanation import plain
    from ..pages import render as render_template

    a, b = (read_side(side, program, arguments, target) for side in sides)
    found = compare_all(a, b, kernel)
    if as_json:
        click.echo(json.dumps(plain(found), indent=1))
    if output is not None:
        _write(Path(output), render_template("compare.html.j2", title="A and B", found=found))
    if as_text or not (as_json or output):
        click.echo("\n".join(map(render, found)), nl=False)
    return 0


@click.command(
    "explain", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True}
)
@click.option("--kernel", help="Only the kernel of this name.")
@click.option(
    "--target", shell_complete=targets,
    help="What the simulator stands for, as in cuda:90 or hip:gfx942.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(), help="The page; of several, their names begin so."
)
@click.option("--text", "as_text", is_flag=True, help="Print what is found, for terminals.")
@click.option("--json", "as_json", is_flag=True, help="Print what is found, for programs.")
@click.option(
    "--compare", nargs=2, metavar="A B",
    help="Two programs with their arguments, two targets of PROGRAM, assembly of any compiler, or "
    "files that --json wrote.",
)  # fmt: skip
@click.option(
    "--samples", type=click.Path(),
    help="What `tile profile -m pcsampling` wrote on a GPU: the page then says where warps waited, "
    "and for what.",
)  # fmt: skip
@click.option("-m", "module", is_flag=True, help="Take PROGRAM for the name of a module.")
@click.argument("program", type=click.Path(), required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    kernel: str | None, target: str | None, output: str | None, as_text: bool, as_json: bool,
    compare: tuple[str, str] | None, samples: str | None, module: bool, program: str | None,
    arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a program in the simulator, and say what makes its kernels slow.

    For each kernel: what it takes, what it did, and what makes it slow, with the line and the
    remedy. Without --text and --json this is a page for each kernel, explain-KERNEL.html or what
    -o names.
    """
    from ..explain.program import choose_target, explain_program
    from ..explain.text import render

    if as_text and as_json:
        raise click.UsageError("--text and --json exclude each other")
    if compare is not None:
        if module:
            raise click.UsageError("--compare takes programs by their files, without -m")
        if samples is not None:
            raise click.UsageError("--samples and --compare exclude each other")
        return _compare(compare, target, kernel, output, as_text, as_json, program, arguments)
    if program is None:
        raise click.UsageError("Missing argument 'PROGRAM'.")
    choose_target(target)
    profile = Path(samples) if samples is not None else None
    found = explain_program(
        program, arguments, module=module, kernel=kernel, samples=profile,
        each=lambda launches: track(launches, "Explaining the kernels"),
    )  # fmt: skip
    if as_json:
        click.echo(json.dumps([one.to_dict() for one in found], indent=1))
    elif as_text:
        click.echo("\n".join(render(one) for one in found), nl=False)
    if output is not None or not (as_text or as_json):
        _write_pages(found, output)
    return 0
