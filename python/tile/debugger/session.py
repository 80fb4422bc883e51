"""Drives one launch: forwards by stops of the simulator, backwards by running it again.

The simulator runs a launch with a debugger in one order, which does not depend on where it stops.
So an event has the same number in each run. To go back, the memory of the launch gets what it had
at the beginning, and the launch runs again up to an earlier event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import TileError
from ..sim.schedules import memory_of
from .breakpoints import Breakpoint, Watchpoint, bind
from .marks import read_marks
from .stop import Stop

#: Reasons of stops, as the simulator numbers them.
PLACE, STEP, WATCH, FINDING, POSITION, PAUSE = range(6)

#: What may be asked for, forwards and backwards.
KINDS = ("continue", "step", "next", "out", "instruction")


@dataclass
class Request:
    """What the user asked for."""

    kind: str = "continue"
    backwards: bool = False
    #: The event at which it was asked for, and the depth of calls there.
    since: int = 0
    depth: int = 0
    #: The block and the warp that steps.
    block: int = -1
    warp: int = -1
    #: An event to go to.
    event: int | None = None


class Quit(BaseException):
    """The user ended the program."""


@dataclass
class Kernel:
    """What is launched, as far as a debugger shows it."""

    name: str
    text: str
    #: Threads of a block, and blocks of a cluster.
    threads: int
    cluster: int
    grid: tuple[int, int, int]
    arguments: dict[str, Any] = field(default_factory=dict)


class Front:
    """Who shows stops, and says how to go on: a terminal, or an editor."""

    def stopped(self, session: Session, stop: Stop) -> Request | None:
        """The launch stopped. None: it runs to its end."""
        raise NotImplementedError

    def ended(self, session: Session, report: Any) -> Request | None:
        """The launch ended. None: the program goes on; else it is to go back."""
        return None

    def interrupted(self, session: Session) -> bool:
        """A launch that runs was told to pause. True: it goes on."""
        return False

    def begins(self, session: Session) -> Request | None:
        """A launch begins. None: it runs to its end."""
        return Request()


class Session:
    """A launch that is debugged. Breakpoints belong to the debugger, which outlives it."""

    def __init__(self, debugger: Debugger, kernel: Kernel) -> None:
        self.debugger, self.kernel = debugger, kernel
        self.marks = read_marks(kernel.text)
        self.native: Any = None
        self.request: Request | None = None
        #: The event to which the present run goes.
        self.target: int | None = None
        #: While a run looks for the last event before another one: what it found.
        self.found: int | None = None
        self.scanning = False
        self.again = False
        #: The last event of the launch, once it has ended.
        self.end: int | None = None
        #: Why events that were stopped at are some: the reason, breakpoints, the watch.
        self.events: dict[int, tuple[int, tuple[int, ...], int | None]] = {}
        #: What was raised at a stop: it must not pass through the simulator.
        self.error: BaseException | None = None
        self.places: list[tuple] = []

    # Runs.

    def run(self, start: Callable[[Any], Any], allocations: Sequence[tuple]) -> Any:
        """Runs the launch until the user lets it end."""
        from .._C import sim as _sim

        memory = memory_of(allocations)
        before = [data.copy() for _, data in memory]
        self.request = self.debugger.front.begins(self)
        # One for all runs: what it keeps has the same address in each of them.
        groups = [(first, count) for first, count, _ in self.marks.partitions]
        self.native = _sim.Debugger(self.marks.native(), groups, self._stopped)
        while True:
            self.again = False
            # Breakpoints are bound at the first event, when the places of code are known.
            self.places = []
            self.native.stop_at(1)
            report = start(self.native)
            if self.error is not None:
                raise self.error
            if not self.again:
                self.end = self.native.now
                if self.scanning:
                    self._end_scan()
                else:
                    self.native_ended(report)
            if not self.again:
                self.native = None
                return report
            for (_, data), old in zip(memory, before, strict=True):
                data[:] = old

    def native_ended(self, report: Any) -> None:
        request = self.debugger.front.ended(self, report)
        if request is not None:
            request.since = self.end + 1
            self._resume(request)

    def _resume(self, request: Request | None) -> bool:
        """Takes up what was asked for; whether the run that is under way goes on."""
        self.request = request
        if request is not None and request.event is not None:
            self.target = max(1, request.event)
            if request.event > self.native.now and not self._is_over():
                self._apply()
                return True
            return self._run_again()
        if request is not None and request.backwards:
            self.scanning, self.found = True, None
            self.target = max(1, request.since)
            return self._run_again()
        self.target = None
        self._apply()
        return True

    def _is_over(self) -> bool:
        return self.end is not None and self.native.now >= self.end

    def _run_again(self) -> bool:
        self.again = True
        return False

    def _end_scan(self) -> None:
        """All events before the one where the user was are known: go to the last that fits."""
        self.scanning = False
        self.target = self.found if self.found is not None else 1
        self._run_again()

    def _apply(self) -> None:
        """Tells the simulator what to stop at."""
        native, request = self.native, self.request
        free = request is None
        bound = []
        for one in self.debugger.breakpoints.values():
            if not one.enabled or free:
                continue
            block = -1 if one.program is None else self._block_number(one.program)
            bound += [(*place, block) for place in bind(one, self.marks, self.places)]
        goes_to = not self.scanning and request is not None and request.event is not None
        quiet = free or goes_to or (self.target is not None and not self.scanning)
        native.set_breakpoints([] if quiet else bound)
        watches = [] if quiet else [w for w in self.debugger.watches.values() if w.enabled]
        native.set_watches([(w.block, w.address, w.size) for w in watches])
        native.stop_at_findings(self.debugger.at_findings and not quiet)
        steps = not quiet and request is not None and request.kind in ("step", "next", "out")
        where = (request.block, request.warp) if request is not None else (-1, -1)
        native.stop_at_places(steps, *where)
        instructions = not quiet and request is not None and request.kind == "instruction"
        native.stop_at_instructions(instructions, *where)
        native.stop_at((1 << 64) - 1 if self.target is None else self.target)

    def _block_number(self, program: tuple[int, int, int]) -> int:
        """Of the first block of a program, counted through the grid."""
        x, y, z = program
        width, height = self.kernel.grid[0] * self.kernel.cluster, self.kernel.grid[1]
        return x * self.kernel.cluster + width * (y + height * z)

    # Stops.

    def _stopped(self, reason: int) -> bool:
        """Called by the simulator; whether the run goes on."""
        try:
            return self._decide(reason)
        except BaseException as error:
            self.error = error
            return False

    def _decide(self, reason: int) -> bool:
        native = self.native
        if not self.places:
            self.places = native.places()
            # What was asked for before there was anything to interrupt.
            self.debugger.front.interrupted(self)
            if self.target is None or self.target > 1:
                self._apply()
                if not (self.debugger.stops_at_entry and not self.scanning):
                    return True
        if reason == PAUSE and self.debugger.front.interrupted(self):
            if not self.scanning and self.target is None:
                self._apply()
            return True
        if self.scanning:
            return self._scan(reason)
        if self.target is not None and native.now == self.target:
            reason, hit, changed = self.events.get(native.now, (reason, (), None))
            self.target = None
            stop = Stop(self, reason, hit, changed)
            if self.request is not None and self.request.block == stop.block_number:
                stop.warp = self.request.warp
            return self._ask(stop)
        stop = Stop(self, reason, tuple(native.hit) if reason == PLACE else (), native.changed)
        if not self._is_wanted(stop):
            return True
        return self._ask(stop)

    def _scan(self, reason: int) -> bool:
        native = self.native
        # The event from which the user goes back is not looked at.
        if native.now >= self.target:
            self._end_scan()
            return False
        hit = tuple(native.hit) if reason == PLACE else ()
        stop = Stop(self, reason, hit, native.changed)
        if reason != POSITION and self._is_wanted(stop):
            self.found = native.now
            self.events[native.now] = (reason, hit, native.changed)
        return True

    def _ask(self, stop: Stop) -> bool:
        self.events[stop.event] = (stop.reason, stop.hit, stop.changed)
        self.debugger.stops_at_entry = False
        request = self.debugger.front.stopped(self, stop)
        if request is not None:
            request.since = stop.event
            request.depth = stop.depth
            if request.kind != "continue" and request.block < 0:
                request.block, request.warp = stop.block_number, stop.warp
        return self._resume(request)

    def _is_wanted(self, stop: Stop) -> bool:
        """Whether it is what was asked for, or a breakpoint whose condition holds."""
        request = self.request
        if stop.reason in (WATCH, FINDING, PAUSE, POSITION):
            return True
        hits = []
        for number in stop.hit:
            one = self.debugger.breakpoints.get(number)
            if one is not None and one.enabled and self._holds(one, stop):
                hits.append(number)
        if hits:
            stop.hit = tuple(hits)
            return True
        stop.hit = ()
        if request is None or request.kind == "continue":
            return False
        if request.kind == "instruction":
            return stop.reason == STEP
        if stop.reason != PLACE or stop.block_number != request.block:
            return False
        if request.warp not in self.native.arrived:
            return False
        if request.kind == "step":
            return True
        if request.kind == "next":
            return stop.depth <= request.depth
        return stop.depth < request.depth

    def _holds(self, one: Breakpoint, stop: Stop) -> bool:
        if one.condition:
            try:
                if not _truth(stop.evaluate(one.condition)):
                    return False
            except Exception as error:
                # A condition that cannot be evaluated must not pass in silence.
                stop.notes.append(f"the condition `{one.condition}` failed: {error}")
        if not self.scanning:
            one.hits += 1
        return self.scanning or one.hits > one.ignore


def _truth(value: Any) -> bool:
    return bool(np.all(value)) if isinstance(value, np.ndarray) else bool(value)


class Debugger:
    """All launches of a program: breakpoints, watches, and who shows them."""

    def __init__(self, front: Front, kernel: str | None = None) -> None:
        self.front = front
        #: Only launches of this kernel are debugged.
        self.kernel = kernel
        self.breakpoints: dict[int, Breakpoint] = {}
        self.watches: dict[int, Watchpoint] = {}
        self.at_findings = True
        self.stops_at_entry = False
        self.session: Session | None = None
        self.launches = 0
        self._numbers = 0

    def number(self) -> int:
        self._numbers += 1
        return self._numbers

    def add_breakpoint(self, file: str, line: int, **options: Any) -> Breakpoint:
        if line < 1:
            raise TileError(f"lines count from 1, not {line}")
        one = Breakpoint(self.number(), file, line, **options)
        self.breakpoints[one.number] = one
        return one

    def launch(self, kernel: Kernel) -> Session | None:
        """The session of a launch that begins; None if it is not debugged."""
        self.launches += 1
        if self.kernel is not None and kernel.name != self.kernel:
            return None
        self.session = Session(self, kernel)
        return self.session
