"""Runs programs and assembly with their launches under a debugger."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import knobs
from ..compiler.instrumentation import VARIABLES
from ..programs import check, run
from ..sim import launcher
from .session import Debugger, Kernel, Quit


@contextlib.contextmanager
def debugging(debugger: Debugger) -> Iterator[None]:
    """Launches in the block have the debugger."""

    def begin(**facts: Any) -> Any:
        return debugger.launch(Kernel(**facts))

    launcher.DEBUGGING = begin
    try:
        yield
    finally:
        launcher.DEBUGGING = None


@contextlib.contextmanager
def _interrupts_pause(debugger: Debugger) -> Iterator[None]:
    """Ctrl-C stops a launch that runs, at the next event."""

    def pause(number: int, frame: Any) -> None:
        session = debugger.session
        if session is None or session.native is None:
            raise KeyboardInterrupt
        session.native.pause()

    try:
        before = signal.signal(signal.SIGINT, pause)
    except ValueError:  # Not on the main thread.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def debug(debugger: Debugger, start: Callable[[], int]) -> int:
    """Runs something that launches kernels; its exit status."""
    with debugging(debugger), _interrupts_pause(debugger):
        try:
            return start()
        except Quit:
            return 0


def debug_program(
    debugger: Debugger, program: str, arguments: Sequence[str], *, module: bool = False,
    target: str | None = None, variables: bool = True,
) -> int:  # fmt: skip
    """Runs a program of Python in the simulator, for a target."""
    check(program, module)
    os.environ["TILE_DRIVER"] = "sim"
    if target is not None:
        from ..backends import parse_target

        parse_target(target)
        os.environ["TILE_SIM_TARGET"] = target
    if variables:
        knobs.compilation.instrumentation_mode = VARIABLES
    return debug(debugger, lambda: _run(program, arguments, module))


def _run(program: str, arguments: Sequence[str], module: bool) -> int:
    try:
        return run(program, arguments, module)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
