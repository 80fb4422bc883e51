"""Launches on a GPU that do not end: waits for each, and says what is known of one that hangs.

The setting is TILE_LAUNCH_TIMEOUT, in seconds. A kernel that hangs cannot be stopped: the process
has to end. What its threads wait for is not known either, so the message lists where they may wait.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from ..errors import DriverError
from . import find_backend
from .base import GPUTarget

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"([^"]*)"\s+)?"([^"]*)"')
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
#: Instructions at which threads wait for others, and what they wait at.
_WAITS = (
    (re.compile(r"\bmbarrier\.(?:try|test)_wait\b"), "an mbarrier"),
    (re.compile(r"\bbarrier\.cluster\.wait\b"), "the cluster barrier"),
    (re.compile(r"\b(?:bar|barrier)(?:\.cta)?\.(?:sync|red)\b|\bs_barrier"), "a barrier"),
    (
        re.compile(r"\bld(?:\.\w+)*\.(?:acquire|volatile)\b|\batom\.|\b\w+_atomic_\w+"),
        "memory that others write",
    ),
)
#: Places in the message.
_MOST = 12


def waits_in(assembly: str) -> list[tuple[str, int, str]]:
    """Where threads may wait: file, line, and at what; in the order of the text."""
    files: dict[str, str] = {}
    found: dict[tuple[str, int, str], None] = {}
    number, at_line = "", 0
    for line in assembly.splitlines():
        if at := _FILE.match(line):
            files[at[1]] = f"{at[2]}/{at[3]}" if at[2] and not at[3].startswith("/") else at[3]
        elif at := _LOC.match(line):
            number, at_line = at[1], int(at[2])
        else:
            code = re.split(r"//|;", line, maxsplit=1)[0] if "//" in line else line
            for pattern, what in _WAITS:
                if pattern.search(code):
                    found[(number, at_line, what)] = None
    return [(files.get(number, ""), line, what) for number, line, what in found]


def describe(kernel: Any, grid: tuple[int, int, int], seconds: float) -> str:
    """What is known of a launch that hangs."""
    metadata = kernel._metadata
    target = metadata["target"]
    text = (
        f"`{kernel.name}` did not end within {seconds:g} s: grid {grid}, "
        f"{metadata.get('num_warps', 4)} warps, target {target['backend']}:{target['arch']}; its "
        "threads "
    )
    stage = find_backend(GPUTarget(**target)).simulated_stage
    waits = waits_in(kernel.asm[stage] if stage in kernel.asm else "")
    if waits:
        text += "may wait at"
        for file, line, what in waits[:_MOST]:
            text += f"\n  {what}" + (f", {file}:{line}" if file else "")
        if len(waits) > _MOST:
            text += f"\n  ... and at {len(waits) - _MOST} more places"
    else:
        text += "wait for nobody, so a loop may be endless"
    return text + (
        "\nThe kernel still runs, and this process cannot use the GPU any more. `tile debug` runs "
        "it in the simulator, which finds the barrier, its phase, the partition and the line"
    )


def watched(kernel: Any, launch: Any, seconds: float, is_done: Callable[[int], bool]) -> Any:
    """A launcher that waits so many seconds for each launch; `is_done` says whether a stream has
    nothing left to do."""
    if seconds <= 0:
        return launch

    def wait(x: int, y: int, z: int, stream: int, arguments: tuple) -> int:
        code = launch(x, y, z, stream, arguments)
        if code == 0:
            deadline, pause = time.monotonic() + seconds, 20e-6
            while not is_done(stream):
                if time.monotonic() >= deadline:
                    raise DriverError(describe(kernel, (x, y, z), seconds))
                time.sleep(pause)
                pause = min(2 * pause, 10e-3)
        return code

    if hasattr(launch, "has_tensor_maps"):
        wait.has_tensor_maps = launch.has_tensor_maps  # type: ignore[attr-defined]
    return wait
