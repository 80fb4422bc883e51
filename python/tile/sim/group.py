"""Launches of several GPUs that run at once, as kernels need it that wait for other ranks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tile.errors import TileError

from .prepared import PreparedLaunch, run
from .report import Report

#: What is left to do when a launch has ended; raises SimulationError.
Finish = Callable[[Report], Report]


class LaunchGroup:
    """The launches of a `with` block, each on a GPU of its own."""

    def __init__(self) -> None:
        self._launches: list[tuple[PreparedLaunch, Finish]] = []
        #: A report for each launch, behind the block.
        self.reports: list[Report] = []

    def add(self, launch: PreparedLaunch, finish: Finish) -> None:
        if launch.session is not None:
            raise TileError("the launches of a group cannot be debugged: they run at once")
        self._launches.append((launch, finish))

    def run(self) -> None:
        if not self._launches:
            raise TileError(
                "no launch of the simulator is in this group: others begin at once, one after the "
                "other"
            )
        self.reports = run([launch for launch, _ in self._launches])
        failures = []
        for report, (_, finish) in zip(self.reports, self._launches, strict=True):
            try:
                finish(report)
            except TileError as error:
                failures.append((report, error))
        # The others ended because of those with findings.
        for report, error in failures:
            if report.findings:
                raise error
        if failures:
            raise failures[0][1]


_groups: list[LaunchGroup] = []


@contextlib.contextmanager
def launch_group() -> Iterator[LaunchGroup]:
    """Launches inside the block run at once behind it, each on a GPU of its own:

        with tile.sim.launch_group() as group:
            for rank in range(2):
                exchange[grid](addresses, mine[rank], rank)
        print(group.reports[1].counters)

    A kernel may touch what any launch of the group may touch. So accesses of different GPUs are
    races unless something with the scope of the system orders them.
    """
    group = LaunchGroup()
    _groups.append(group)
    try:
        yield group
    finally:
        _groups.remove(group)
    group.run()


def run_or_add(launch: PreparedLaunch, finish: Finish) -> Any:
    """Runs a launch and gives its report. If the block of a group is under way, the launch belongs
    to the group, and there is no report yet."""
    if _groups:
        _groups[-1].add(launch, finish)
        return None
    return finish(run([launch])[0])
