"""Debugged launches for tests: a front that asks Python what to do at each stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tile import knobs
from tile.compiler.instrumentation import VARIABLES
from tile.debugger import Debugger, Front, Request, Session, Stop
from tile.debugger.program import debugging
from tile.debugger.stop import masked

#: What simulated kernels are compiled for.
TARGETS = ("cuda:90", "cuda:80", "hip:gfx942", "hip:gfx1100")

#: Yields what to do next, and gets the next stop; None when the launch has ended.
Script = Callable[[Stop], Iterator[Request]]


class Scripted(Front):
    """Runs a generator: it gets a stop for each request that it yields."""

    def __init__(self, script: Script) -> None:
        self.script, self.debugger = script, Debugger(self)
        self.debugger.stops_at_entry = True
        self.running: Any = None
        self.is_over = False

    def _next(self, stop: Stop | None) -> Request | None:
        if self.is_over:
            return None
        try:
            if self.running is None:
                self.running = self.script(stop)
                return next(self.running)
            return self.running.send(stop)
        except StopIteration:
            self.is_over = True
            return None

    def stopped(self, session: Session, stop: Stop) -> Request | None:
        return self._next(stop)

    def ended(self, session: Session, report: Any) -> Request | None:
        return self._next(None)


def debug(launch: Callable[[], Any], script: Script, target: str, variables: bool = True) -> None:
    """Launches kernels for a target, with a script as the user."""
    front = Scripted(script)
    with knobs.runtime.scope(), knobs.compilation.scope(), debugging(front.debugger):
        knobs.runtime.driver = "sim"
        knobs.runtime.sim_target = target
        if variables:
            knobs.compilation.instrumentation_mode = VARIABLES
        launch()
    assert front.is_over, "the launch ended before the script did"


def state(stop: Stop) -> dict[str, Any]:
    """All that can be seen of a stop, to be compared."""
    # Which warp is looked at depends on who asked.
    live = [warp for rank, warp, _, _, fragments in stop.warps if rank == stop.rank and fragments]
    stop.warp = min(live, default=0)
    stop.__dict__.pop("frames", None)
    shown: dict[str, Any] = {"event": stop.event, "program": stop.program, "waits": stop.waits()}
    for i, frame in enumerate(stop.frames):
        shown[f"frame {i}"] = (frame.function, frame.file, frame.line)
        for name in stop.names(frame):
            variable = stop.variable(name, frame)
            assert variable is not None
            value = np.ma.filled(masked(variable), 0) if variable.value is not None else None
            shown[f"{i} {name}"] = np.asarray(value).tobytes()
    for name in stop.kernel.arguments:
        array = stop.array(name)
        shown[f"memory {name}"] = None if array is None else array.tobytes()
    shown["shared"] = stop.shared()
    shown["mbarriers"] = stop.native.mbarriers()
    names = stop.native.register_names()
    shown["registers"] = [
        (warp, name, stop.native.read_register(stop.rank, warp, name))
        for warp in live
        for name in names
    ]
    return shown
