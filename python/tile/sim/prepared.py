"""Launches whose arguments are packed, and how they run: alone, or several at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tile import knobs
from tile._C import sim as _sim
from tile.errors import TileError

from .report import Report
from .schedules import memory_of, run_schedules
from .undefined import check_undefined


@dataclass
class PreparedLaunch:
    """What one GPU shall run."""

    module: Any
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    #: The parameter buffer.
    args: bytes
    #: The memory, as (address, size, name, writable).
    allocations: Sequence[tuple[int, int, str, bool]]
    cluster: tuple[int, int, int] = (1, 1, 1)
    dynamic_shared: int = 0
    checks: int = _sim.CHECK_ALL
    max_instructions: int | None = None
    threads: int = 0
    counters: bool = True
    deterministic: bool = True
    #: What lies in memory (`array_shape`).
    arrays: Sequence[tuple[int, str, int, Sequence[int]]] = ()
    schedule_seed: int | None = None
    schedules: int | None = None
    timelines: int = 0
    #: What accesses through a parameter must not reach (`forbidden_ranges`).
    forbidden: Sequence[tuple[int, int, int, str, str]] = ()
    assumptions: int = 0
    #: Nobody reads memory of these names after the launch.
    dead: Sequence[str] = ()
    #: A debugger's, which runs the launch.
    session: Any = field(default=None, repr=False)
    #: Whatever has the memory.
    held: Any = field(default=None, repr=False)

    def member(
        self, seed: int, budget: int, threads: int, checks: int, byte: int, load: int, debugger: Any
    ) -> Any:
        return _sim.member(
            self.module,
            self.entry,
            self.grid,
            self.block,
            self.args,
            list(self.allocations),
            self.cluster,
            self.dynamic_shared,
            checks,
            budget,
            threads,
            self.counters,
            self.deterministic,
            list(self.arrays),
            seed,
            self.timelines,
            list(self.forbidden),
            self.assumptions,
            byte,
            load,
            debugger,
        )


class _Together:
    """The reports of a group as one, for those who launch again and compare."""

    def __init__(self, reports: list[Report], loads_before: Sequence[int]) -> None:
        self.reports = reports
        self._loads_before = loads_before

    @property
    def ok(self) -> bool:
        return all(report.ok for report in self.reports)

    @property
    def messages(self) -> list[str]:
        return [message for report in self.reports for message in report.messages]

    @property
    def warp_instructions(self) -> int:
        return sum(report.warp_instructions for report in self.reports)

    @property
    def undefined_loads(self) -> list[int]:
        """Numbered through all launches."""
        return [
            before + load
            for before, report in zip(self._loads_before, self.reports, strict=True)
            for load in report.undefined_loads
        ]

    def add(self, finding: dict[str, Any]) -> None:
        self.reports[0].add(finding)


def _setting(value: int | None, default: int, what: str, least: int) -> int:
    """A number that was given, or that the environment says."""
    given = default if value is None else value
    try:
        number = int(given)
    except (TypeError, ValueError):
        number = -1
    if not least <= number < 1 << 64:
        raise TileError(f"{what} must be a number from {least}, not {given!r}")
    return number


def _memory_of_all(launches: Sequence[PreparedLaunch]) -> list[tuple[int, int, str, bool]]:
    """Each launch may touch the memory of all; messages say whose it is."""
    if len(launches) == 1:
        return list(launches[0].allocations)
    return merge(
        [
            (low, size, f"{name} of GPU {gpu}" if name.startswith("argument") else name, writable)
            for gpu, launch in enumerate(launches)
            for low, size, name, writable in launch.allocations
        ]
    )


def merge(allocations: list[tuple[int, int, str, bool]]) -> list[tuple[int, int, str, bool]]:
    """Arrays that share memory become one allocation."""
    merged: list[tuple[int, int, str, bool]] = []
    for low, size, name, writable in sorted(allocations):
        if merged and low < merged[-1][0] + merged[-1][1]:
            first, length, known, was_writable = merged[-1]
            label = known if name in known.split(", ") else f"{known}, {name}"
            merged[-1] = (first, max(length, low + size - first), label, was_writable or writable)
        elif size:
            merged.append((low, size, name, writable))
    return merged


def run(launches: Sequence[PreparedLaunch]) -> list[Report]:
    """Runs launches at once, each on a GPU of its own. Schedules and limits are those of the
    first."""
    first = launches[0]
    runtime = knobs.runtime
    budget = _setting(first.max_instructions, runtime.sim_max_instructions, "max_instructions", 0)
    seed = _setting(first.schedule_seed, runtime.sim_schedule_seed, "schedule_seed", 0)
    count = _setting(first.schedules, runtime.sim_schedules, "schedules", 1)
    # What the others are compared with must not depend on who of the host's threads was faster.
    threads = first.threads or 1 if count > 1 else first.threads
    allocations = _memory_of_all(launches)
    arrays = [shape for launch in launches for shape in launch.arrays]
    for launch in launches:
        launch.allocations, launch.arrays = allocations, arrays

    looks = first.checks & _sim.CHECK_UNDEFINED and runtime.undefined_lanes
    places, loads_before = [], []
    for launch in launches:
        loads_before.append(len(places))
        places += launch.module.undefined_loads if looks else ()
    session = first.session

    def once(
        seed: int, byte: int = 0, load: int = -1, budget: int = budget, checks: int | None = None
    ) -> _Together:
        def start(debugger: Any) -> Any:
            members = []
            for launch, before in zip(launches, loads_before, strict=True):
                has = load < 0 or 0 <= load - before < len(launch.module.undefined_loads)
                members.append(
                    launch.member(
                        seed, budget, threads, launch.checks if checks is None else checks,
                        byte if has else 0, load - before if has and load >= 0 else -1, debugger,
                    )
                )  # fmt: skip
            try:
                found = _sim.launch(members)
            except KeyboardInterrupt as error:
                ended = [Report(raw) for raw in getattr(error, "reports", ())]
                places = [message for report in ended for message in report.messages]
                raise KeyboardInterrupt("\n".join(places[-1:])) from None
            return found if debugger is None else found[0]

        # Who looks for what differs launches again; the debugger has the first one.
        nonlocal session
        debugged, session = session, None
        try:
            raw = start(None) if debugged is None else [debugged.run(start, allocations)]
        except ValueError as error:
            raise TileError(str(error)) from None
        return _Together([Report(one) for one in raw], loads_before)

    memory = memory_of(allocations) if places else []
    before = [data.copy() for _, data in memory]
    report = run_schedules(once, allocations, seed, count)
    if places:

        def again(byte: int, load: int, most: int) -> _Together:
            return once(seed, byte, load, most, _sim.CHECK_NONE)

        dead = [name for launch in launches for name in launch.dead]
        check_undefined(places, again, memory, before, report, dead)
    return report.reports
