"""What is on: looked at on every path that costs nothing while the profiler is off."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ProfilerFlags:
    """The state of the profiler in this process."""

    #: A session was started and not finalized.
    profiling_on: bool = False
    #: One of them puts records into kernels.
    instrumentation_on: bool = False
    #: The command `proton` runs the program: `start` and `finalize` in it do nothing.
    command_line: bool = False


flags = ProfilerFlags()
