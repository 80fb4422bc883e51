"""An explanation for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..runtime.source import line_of
from .explanation import Explanation

_WIDTH = 100
#: What is shown of a line.
COLUMNS = ("instructions", "with helpers", "sectors", "conflicts")


def cells(line: dict[str, Any]) -> list[int]:
    """The counters of a line, for the columns."""
    helpers = line["with_helpers"]
    own, conflicts = line["warp_instructions"], helpers["bank_conflicts"]
    return [own, helpers["warp_instructions"], helpers["sectors"], conflicts]


#: Lines that are shown, and what warps waited for on each.
_MOST_LINES, _MOST_CAUSES = 12, 3


def _wrapped(text: str, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _known(value: Any) -> str:
    return "not known" if value is None else f"{value:,}"


def head(explanation: Explanation) -> str:
    options = {**explanation.options, **explanation.constants}
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _findings(explanation: Explanation) -> Iterator[str]:
    if not explanation.findings:
        yield "findings: none"
        return
    yield f"findings: {len(explanation.findings)}"
    for finding in explanation.findings:
        where = f"{Path(finding.file).name}:{finding.line}" if finding.file else "the kernel"
        yield f"  {where}: {finding.kind}"
        if finding.file:
            yield f"    | {line_of(finding.file, finding.line).strip()}"
        yield from _wrapped(finding.message, "    ")
        yield from _wrapped(f"What to do: {finding.remedy}", "    ")


def _resources(explanation: Explanation) -> Iterator[str]:
    taken = explanation.resources
    yield (
        f"registers {_known(taken.registers)}, spilled {_known(taken.spills)}, "
        f"shared memory {taken.shared:,} bytes, {taken.warps} warps, "
        f"{taken.instructions:,} instructions in the text"
    )
    found = taken.occupancy
    if found is None:
        yield "occupancy not known: the tool that counts registers is not installed"
        return
    limits = ", ".join(f"{name} {count}" for name, count in found.limits.items())
    yield (
        f"occupancy {found.warps} of {found.most} warps of a {found.unit} "
        f"({found.warps / found.most:.0%}); limit: {found.bound} (warps by resource: {limits})"
    )


def _roofline(explanation: Explanation) -> str:
    roof = explanation.roofline
    parts = ", ".join(f"{name} {roof[name] * 1e6:.3f}" for name in ("memory", "tensor", "issue"))
    return (
        f"roofline of the {roof['gpu']}: at least {roof['seconds'] * 1e6:.3f} us, "
        f"bound by {roof['bound']} ({parts})"
    )


def _stalls(explanation: Explanation) -> Iterator[str]:
    samples = explanation.stalls
    if samples is None:
        return
    yield f"stalls on a GPU: {samples.total:,} samples of the program counter"
    for one in samples.lines[:_MOST_LINES]:
        causes = ", ".join(f"{name} {share:.0%}" for name, _, share in one.causes[:_MOST_CAUSES])
        source = line_of(one.file, one.line).strip()
        yield f"  {one.share:>6.1%}  {Path(one.file).name}:{one.line}: {source}".rstrip()
        yield f"          {causes or 'no stalls'}"
    yield ""


def _lines(explanation: Explanation) -> Iterator[str]:
    # Helpers count for the lines that call them, too: shares may be more than the whole.
    every = explanation.counters["warp_instructions"] or 1
    lines = sorted(explanation.lines, key=lambda line: -line["with_helpers"]["warp_instructions"])
    names = " ".join(f"{name:>12}" for name in COLUMNS)
    yield f"{names}      %  source (the most expensive {min(len(lines), _MOST_LINES)} lines)"
    for line in lines[:_MOST_LINES]:
        numbers = cells(line)
        shown = " ".join(f"{number:>12,}" for number in numbers)
        where = f"{Path(line['file']).name}:{line['line']}" if line["line"] else "no line"
        source = line_of(line["file"], line["line"]).strip() if line["file"] else ""
        yield f"{shown} {numbers[1] / every:>6.1%}  {where}: {source}".rstrip()


def render(explanation: Explanation) -> str:
    grid, block = ("x".join(map(str, size)) for size in (explanation.grid, explanation.block))
    out = [
        f"{explanation.name}  {explanation.target}  {head(explanation)}",
        f"grid {grid}, block {block}, launches {explanation.launches}: "
        f"{', '.join(explanation.arguments)}",
        *_resources(explanation),
        _roofline(explanation),
        "",
        *_findings(explanation),
        "",
        *_stalls(explanation),
        *_lines(explanation),
    ]
    if explanation.mistakes:
        out[4:4] = ["", "the simulator says that the kernel is wrong:", *explanation.mistakes]
    return "\n".join(out) + "\n"
