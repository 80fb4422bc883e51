"""Runs a program in the simulator, and explains the kernels that it launched."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..errors import TileError
from ..programs import check, run
from .explanation import Explanation, explain
from .launches import Launched, watch_launches
from .stalls import Samples, read_samples


def choose_target(target: str | None) -> None:
    """Kernels run in the simulator, which stands for a target."""
    os.environ["TILE_DRIVER"] = "sim"
    if target is not None:
        from ..backends import parse_target

        parse_target(target)
        os.environ["TILE_SIM_TARGET"] = target


def _run(program: str, arguments: Sequence[str], module: bool) -> int:
    try:
        return run(program, arguments, module)
    except SystemExit as end:  # The program's own.
        return 0 if end.code in (None, 0) else 1


def launched_by(program: str, arguments: Sequence[str], module: bool) -> list[Launched]:
    """The kernels that a program launches. What it prints goes to stderr: stdout is the report's.
    A program that fails is explained as far as it came."""
    check(program, module)
    with watch_launches() as found, contextlib.redirect_stdout(sys.stderr):
        status = _run(program, arguments, module)
    if status:
        print(
            f"tile explain: {program} failed; what it launched before is explained", file=sys.stderr
        )
    if not found:
        raise TileError(f"{program} launched no kernel in the simulator")
    return found


def explain_program(
    program: str, arguments: Sequence[str] = (), *, module: bool = False,
    kernel: str | None = None, samples: Path | None = None,
    each: Callable[[list[Launched]], Iterable[Launched]] = iter,
) -> list[Explanation]:  # fmt: skip
    """Of each kernel that the program launches, or of those of one name. `samples` names a profile
    that a GPU took of the same program. `each` goes through the launches, and may say how far it
    is."""
    sampled: dict[str, Samples] = read_samples(samples) if samples is not None else {}
    found = launched_by(program, arguments, module)
    if kernel is not None:
        names = list(dict.fromkeys(one.kernel.name for one in found))
        found = [one for one in found if one.kernel.name == kernel]
        if not found:
            raise TileError(
                f"{program} launched no kernel `{kernel}`; it launched {', '.join(names)}"
            )
    if samples is not None and not any(one.kernel.name in sampled for one in found):
        raise TileError(
            f"'{samples}' has samples of {', '.join(sampled)}, and of none of these kernels: "
            f"{', '.join(dict.fromkeys(one.kernel.name for one in found))}"
        )
    return [explain(one, sampled.get(one.kernel.name)) for one in each(found)]
