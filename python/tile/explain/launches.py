"""Which kernels a program launches in the simulator, and what they did."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..backends.sim_driver import LAUNCHES, SimulatedLaunch


@dataclass
class Launched:
    """A compiled kernel, and its launches."""

    kernel: Any
    #: The longest of its launches; others are only counted.
    report: Any
    properties: dict[str, int]
    arguments: list[str] = field(default_factory=list)
    count: int = 1
    #: Lines with a mask that switched lanes off in some launch.
    masked: set[tuple[str, int]] = field(default_factory=set)


def describe(value: Any) -> str:
    """An argument, for people: its type and shape, or its value."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None and len(shape):
        return f"{str(dtype).removeprefix('torch.')}[{', '.join(map(str, shape))}]"
    return str(value)


def _arguments(launch: SimulatedLaunch) -> list[str]:
    names = [n for n, ty in launch.kernel.signature.items() if ty != "constexpr"]
    if len(names) != len(launch.arguments):  # Structures are several.
        return [describe(value) for value in launch.arguments]
    return [f"{n}={describe(v)}" for n, v in zip(names, launch.arguments, strict=True)]


@contextlib.contextmanager
def watch_launches() -> Iterator[list[Launched]]:
    """The kernels that are launched in the block, in the order of their first launches."""
    known: dict[str, Launched] = {}
    found: list[Launched] = []

    def launched(launch: SimulatedLaunch) -> None:
        key, report = launch.kernel.hash, launch.report
        one = known.get(key)
        if one is None:
            one = known[key] = Launched(
                launch.kernel, report, launch.properties, _arguments(launch)
            )
            found.append(one)
        else:
            one.count += 1
        one.masked |= {(n["file"], n["line"]) for n in report.lines if n["masked_lanes"]}
        if report.warp_instructions > one.report.warp_instructions:
            one.report, one.arguments = report, _arguments(launch)

    LAUNCHES.add(launched)
    try:
        yield found
    finally:
        LAUNCHES.remove(launched)
