"""`tile sim`"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..errors import TileError
from ..hints import closest
from .color import findings_in_color
from .progress import working


def _triple(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        values = tuple(int(part) for part in text.split(","))
    except ValueError:
        values = ()
    if not 1 <= len(values) <= 3 or min(values) < 1:
        raise click.BadParameter(f"'{text}' is not X[,Y[,Z]]")
    return values


def _write(path: str, text: str) -> None:
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


#: Files that are no assembly, by their suffix: what they are, and how assembly is made of them.
_OTHER_FILES = {
    ".cu": "is CUDA source: compile it by `nvcc -ptx -lineinfo {0}`, then run `tile sim {1}.ptx`",
    ".cubin": "is machine code, which the simulator does not run: compile the source by "
    "`nvcc -ptx -lineinfo`",
    ".hip": "is HIP source: compile it by `hipcc -S -g --offload-device-only "
    "--offload-arch=gfx942 {0} -o {1}.s`, then run `tile sim {1}.s`",
    ".py": "is a Python program: run it by `tile run {0}`",
}
_NO_TEXT = (
    "is no text: if there is PTX in it, take that out by `cuobjdump -ptx {0} > {1}.ptx`, then run "
    "`tile sim {1}.ptx`"
)


def _read(file: str) -> str:
    """The assembly in a file."""
    path = Path(file)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TileError(f"cannot read '{file}': {error.strerror}") from None
    is_text = b"\0" not in data[:4096]
    what = _OTHER_FILES.get(path.suffix, "" if is_text else _NO_TEXT)
    if what:
        raise TileError(f"'{file}' {what.format(shlex.quote(file), shlex.quote(path.stem))}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TileError(f"cannot read '{file}': {error}") from None


def _choose_kernel(wanted: str | None, names: list[str]) -> str:
    """The kernel with a name as in the assembly, or as in C++, with or without its parameters."""
    from tile._C.sim import demangle

    shown = ", ".join(map(demangle, names)) or "none"
    if wanted is None:
        if len(names) != 1:
            raise TileError(f"choose a kernel with --entry: {shown}")
        return names[0]
    if wanted in names:
        return wanted
    # A template's instance has its result before its name.
    named = [n for n in names if demangle(n) == wanted]
    named = named or [
        n for n in names if re.split(r"[<(]", demangle(n).split(" ")[-1])[0] == wanted
    ]
    named = named or [
        n for n in names if re.search(rf"(^|[ :]){re.escape(wanted)}[<(]", demangle(n))
    ]
    if len(named) > 1:
        raise TileError(f"several kernels are called '{wanted}': {', '.join(map(demangle, named))}")
    if not named:
        like = closest(wanted, [re.split(r"[<(]", demangle(n))[0] for n in names])
        raise TileError(f"there is no kernel '{wanted}'; there are: {shown}{like}")
    return named[0]


def _block_of(ptx: str, entry: str) -> tuple[int, ...]:
    """The threads of a block, where the kernel itself says how many it must have."""
    required = re.search(
        rf"\.entry\s+{re.escape(entry)}\b[^{{]*?\.reqntid\s+(\d+(?:\s*,\s*\d+)*)", ptx
    )
    if required is None:
        raise TileError(
            "how many threads has a block? Say it with --block, as in --block 256 or --block 16,16"
        )
    return tuple(map(int, required[1].split(",")))


def _bad_usage(run: Callable[..., int]) -> Callable[..., int]:
    """A launch that cannot start ends with the status 2; 1 is for findings."""

    @functools.wraps(run)
    def command(**options: Any) -> int:
        try:
            return run(**options)
        except TileError as error:
            raise click.UsageError(str(error)) from None
        except OSError as error:
            raise click.UsageError(f"{error.filename}: {error.strerror}") from None

    return command


_FILE = click.Path()


@dataclasses.dataclass
class Launch:
    """A launch that a command describes, for `tile.sim.launch`."""

    file: str
    #: Text, kernel, grid, block and arguments.
    arguments: tuple
    options: dict[str, Any]
    #: Arrays that have names.
    arrays: dict[str, Any]


#: What commands that launch a kernel of a file have in common.
_LAUNCH_OPTIONS = (
    click.argument("file", type=_FILE),
    click.option("--entry", help="The kernel; not needed if the file has one."),
    click.option("--grid", default="1", callback=_triple, help="CTAs: X[,Y[,Z]]."),
    click.option("--block", callback=_triple, help="Threads of a CTA: X[,Y[,Z]]."),
    click.option("--cluster", default="1", callback=_triple, help="CTAs of a cluster."),
    click.option(
        "--dynamic-shared", type=click.IntRange(0), metavar="N", default=0,
        help="Bytes of shared memory that the launch adds.",
    ),
    click.option("--array", "arrays", multiple=True, help="NAME=... names memory for --arg."),
    click.option(
        "--arg", "arguments", multiple=True,
        help="Each parameter: a number, null, NAME, FILE.npy, zeros:f32:8x4, "
        "random:f16:8x8, map:NAME:BOX[:SWIZZLE], struct:s32=4,ptr=NAME, hex:0102.",
    ),
    click.option("--check", default="all", help="Some of races, async, undefined, ...; none."),
    click.option(
        "--max-instructions", type=click.IntRange(0), metavar="N",
        help="End an endless kernel after N instructions.",
    ),
    click.option(
        "--schedule-seed", type=int, metavar="N", help="Run warps and copies in a random order."
    ),
    click.option(
        "--strict-views", is_flag=True, help="Report accesses between the elements of an array."
    ),
)  # fmt: skip


def launch_options(command: Callable[..., int]) -> Callable[..., int]:
    """Adds the options that describe a launch."""
    for option in reversed(_LAUNCH_OPTIONS):
        command = option(command)
    return command


def prepare(
    file: str, entry: str | None, grid: tuple, block: tuple | None, cluster: tuple,
    dynamic_shared: int, arrays: tuple, arguments: tuple, check: str,
    max_instructions: int | None, schedule_seed: int | None, strict_views: bool,
) -> Launch:  # fmt: skip
    """The launch that the options describe."""
    import tile.sim

    from ..sim.arguments import argument

    ptx = _read(file)
    try:
        module = tile.sim.load(ptx)
    except TileError as error:
        raise TileError(re.sub(r"^<\w+>", lambda _: file, str(error))) from None
    entry = _choose_kernel(entry, module.entries)
    if block is None:
        block = _block_of(ptx, entry)
    named = _named_arrays(arrays)
    values = [argument(text, named) for text in arguments]
    options = {
        "cluster": cluster, "dynamic_shared": dynamic_shared, "check": check,
        "max_instructions": max_instructions, "schedule_seed": schedule_seed,
        "strict_views": strict_views, "allocations": named,
    }  # fmt: skip
    return Launch(file, (ptx, entry, grid, block, values), options, named)


@click.command("sim")
@launch_options
@click.option("--out", multiple=True, help="INDEX=FILE.npy or NAME=FILE.npy, after the run.")
@click.option(
    "--threads",
    type=click.IntRange(0),
    metavar="N",
    default=0,
    help="Threads of this machine; 0 is one for each core.",
)
@click.option("--nondeterministic", is_flag=True, help="Run CTAs with atomics in parallel, too.")
@click.option(
    "--schedules",
    type=click.IntRange(1),
    metavar="N",
    help="Random orders whose results must agree.",
)
@click.option("--suppressions", type=_FILE, help="A file of KIND FILE:LINE REASON.")
@click.option("--gpu", default="", help="The GPU of the roofline estimate.")
@click.option("--json", "json_file", type=_FILE, help="Write the report as JSON.")
@click.option(
    "--html",
    "html_file",
    type=_FILE,
    help="Write a page: findings, counters by line, coverage.",
)
@click.option(
    "--sarif", "sarif_file", type=_FILE, help="Write the findings for code-scanning tools."
)
@click.option(
    "--timeline", "timeline_file", type=_FILE, help="Write a trace for Chrome or Perfetto."
)
@click.option(
    "--timelines", type=click.IntRange(1), metavar="N", default=1, help="Clusters in that trace."
)
@click.option("--annotate", is_flag=True, help="Print the source with the counters by line.")
@click.option("--coverage", is_flag=True, help="Print the lines that did not run.")
@_bad_usage
def command(
    out: tuple, threads: int, nondeterministic: bool, schedules: int | None,
    suppressions: str | None, gpu: str,
    json_file: str | None, html_file: str | None, sarif_file: str | None,
    timeline_file: str | None, timelines: int, annotate: bool, coverage: bool, **described: Any,
) -> int:  # fmt: skip
    """Run a kernel of PTX or AMDGCN assembly, with every access checked.

    No GPU is needed. The exit status is 0 if nothing was found, 1 if something was,
    2 for bad usage.
    """
    import tile.sim

    launch = prepare(**described)
    with working("Running the kernel in the simulator"):
        report = tile.sim.launch(
            *launch.arguments, **launch.options, threads=threads,
            deterministic=not nondeterministic, schedules=schedules,
            suppressions=tile.sim.read_suppressions(suppressions) if suppressions else (),
            timelines=timelines if timeline_file else 0, raise_on_finding=False,
        )  # fmt: skip
    report.file = launch.file
    click.echo(findings_in_color(report.summary(gpu)), nl=False)
    for unused in report.unused_suppressions:
        click.echo(f"suppression without a finding: {unused.kind} {unused.place}", err=True)
    if annotate:
        click.echo(report.annotated())
    for one in report.coverage() if coverage else ():
        lines = ", ".join(map(str, one.missing)) or "none"
        click.echo(f"{one.file}: {one.fraction:.1%} of lines with code ran; not run: {lines}")
    if json_file:
        _write(json_file, json.dumps(report.to_dict(), indent=1) + "\n")
    if html_file:
        _write(html_file, report.html())
    if sarif_file:
        _write(sarif_file, json.dumps(report.sarif(launch.file), indent=1) + "\n")
    if timeline_file:
        _write(timeline_file, json.dumps(report.timeline()) + "\n")
    _save(out, launch.arrays, launch.arguments[-1])
    return 0 if report.ok else 1
