"""`tile sim`"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from ..errors import TileError


def _triple(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        values = tuple(int(part) for part in text.split(","))
    except ValueError:
        values = ()
    if not 1 <= len(values) <= 3 or min(values) < 1:
        raise click.BadParameter(f"'{text}' is not X[,Y[,Z]]")
    return values


def _write(path: str | None, text: str) -> None:
    if path:
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise TileError(f"cannot write '{path}': {error.strerror}") from None


def _named_arrays(texts: tuple[str, ...]) -> dict[str, Any]:
    from ..sim.arguments import array

    arrays: dict[str, Any] = {}
    for text in texts:
        name, equals, what = text.partition("=")
        value = array(what) if equals else None
        if value is None:
            raise TileError(
                f"--array {text}: NAME=FILE.npy, NAME=zeros:TYPE:SHAPE or NAME=random:TYPE:SHAPE "
                "expected"
            )
        arrays[name] = value
    return arrays


def _save(texts: tuple[str, ...], arrays: dict[str, Any], values: list[Any]) -> None:
    import numpy as np

    for text in texts:
        name, _, path = text.partition("=")
        value = arrays.get(name)
        if value is None and name.isdigit() and int(name) < len(values):
            value = values[int(name)]
        if not isinstance(value, np.ndarray) or not path:
            raise TileError(f"--out {text}: INDEX=FILE.npy or NAME=FILE.npy of an array expected")
        try:
            np.save(path, value)
        except OSError as error:
            raise TileError(f"cannot write '{path}': {error.strerror}") from None


_FILE = click.Path()


@click.command("sim")
@click.argument("file", type=_FILE)
@click.option("--entry", help="The kernel; not needed if the file has one.")
@click.option("--grid", default="1", callback=_triple, help="CTAs: X[,Y[,Z]].")
@click.option("--block", default="32", callback=_triple, help="Threads of a CTA.")
@click.option("--cluster", default="1", callback=_triple, help="CTAs of a cluster.")
@click.option("--dynamic-shared", type=click.IntRange(0), metavar="N", default=0, help="Its bytes.")
@click.option("--array", "arrays", multiple=True, help="NAME=... names memory for --arg.")
@click.option(
    "--arg", "arguments", multiple=True,
    help="Each parameter: a number, null, NAME, FILE.npy, zeros:f32:8x4, "
    "random:f16:8x8, map:NAME:BOX[:SWIZZLE], struct:s32=4,ptr=NAME, hex:0102.",
)  # fmt: skip
@click.option("--out", multiple=True, help="INDEX=FILE.npy or NAME=FILE.npy, after the run.")
@click.option("--check", default="all", help="Some of races, async, undefined, ...; none.")
@click.option(
    "--max-instructions", type=click.IntRange(0), metavar="N", help="Ends an endless kernel."
)
@click.option("--threads", type=click.IntRange(0), metavar="N", default=0, help="Host threads.")
@click.option("--nondeterministic", is_flag=True, help="CTAs with atomics run in parallel, too.")
@click.option(
    "--schedule-seed", type=int, metavar="N", help="Runs warps and copies in a random order."
)
@click.option(
    "--schedules",
    type=click.IntRange(1),
    metavar="N",
    help="Random orders whose results must agree.",
)
@click.option("--strict-views", is_flag=True, help="What lies between elements is out of bounds.")
@click.option("--suppressions", type=_FILE, help="A file of KIND FILE:LINE REASON.")
@click.option("--gpu", default="", help="The GPU of the roofline estimate.")
@click.option("--json", "json_file", type=_FILE, help="Writes the report.")
@click.option(
    "--html",
    "html_file",
    type=_FILE,
    help="Writes a page: findings, counters by line, coverage.",
)
@click.option(
    "--sarif", "sarif_file", type=_FILE, help="Writes the findings for code-scanning tools."
)
@click.option(
    "--timeline", "timeline_file", type=_FILE, help="Writes a trace for Chrome or Perfetto."
)
@click.option(
    "--timelines", type=click.IntRange(1), metavar="N", default=1, help="Clusters in that trace."
)
@click.option("--annotate", is_flag=True, help="Prints the source with the counters by line.")
@click.option("--coverage", is_flag=True, help="Prints the lines that did not run.")
def command(
    file: str, entry: str | None, grid: tuple, block: tuple, cluster: tuple, dynamic_shared: int,
    arrays: tuple, arguments: tuple, out: tuple, check: str, max_instructions: int | None,
    threads: int, nondeterministic: bool, schedule_seed: int | None, schedules: int | None,
    strict_views: bool, suppressions: str | None, gpu: str,
    json_file: str | None, html_file: str | None, sarif_file: str | None,
    timeline_file: str | None, timelines: int, annotate: bool, coverage: bool,
) -> int:  # fmt: skip
    """Run a kernel of a PTX file, of nvcc or anybody, or of AMDGCN assembly, without a GPU, with
    every access checked. The exit status is 0 if nothing was found, 1 if something was, 2 for bad
    usage."""
    import tile.sim

    from ..sim.arguments import argument

    try:
        ptx = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TileError(f"cannot read '{file}': {error}") from None
    try:
        module = tile.sim.load(ptx)
    except TileError as error:
        raise TileError(re.sub(r"^<\w+>", lambda _: file, str(error))) from None
    if entry is None:
        if len(module.entries) != 1:
            raise TileError(f"choose a kernel with --entry: {', '.join(module.entries) or 'none'}")
        entry = module.entries[0]
    named = _named_arrays(arrays)
    values = [argument(text, named) for text in arguments]
    report = tile.sim.launch(
        ptx, entry, grid, block, values, cluster=cluster, dynamic_shared=dynamic_shared,
        check=check, max_instructions=max_instructions, threads=threads,
        deterministic=not nondeterministic, schedule_seed=schedule_seed, schedules=schedules,
        strict_views=strict_views,
        allocations={n: a for n, a in named.items() if not any(a is v for v in values)},
        suppressions=tile.sim.read_suppressions(suppressions) if suppressions else (),
        timelines=timelines if timeline_file else 0, raise_on_finding=False,
    )  # fmt: skip
    click.echo(report.summary(gpu))
    for unused in report.unused_suppressions:
        click.echo(f"suppression without a finding: {unused.kind} {unused.place}", err=True)
    if annotate:
        click.echo(report.annotated())
    for one in report.coverage() if coverage else ():
        lines = ", ".join(map(str, one.missing)) or "none"
        click.echo(f"{one.file}: {one.fraction:.1%} of lines with code ran; not run: {lines}")
    _write(json_file, json.dumps(report.to_dict(), indent=1) + "\n")
    _write(html_file, report.html())
    _write(sarif_file, json.dumps(report.sarif(file), indent=1) + "\n")
    if timeline_file:
        _write(timeline_file, json.dumps(report.timeline()) + "\n")
    _save(out, named, values)
    return 0 if report.ok else 1
