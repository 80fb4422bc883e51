"""For those who look on while a kernel is compiled: what each pass made, and what passes say."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

#: A file, a line and a column.
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Remark:
    """What a pass could not make fast."""

    name: str
    kind: str
    message: str
    #: From the innermost to its callers'.
    places: list[Place]


@dataclass(frozen=True)
class PipelineRun:
    """The passes of one stage."""

    pipeline: str
    before: str
    #: The IR after each pass, as `-mlir-print-ir-after-all` prints it.
    dump: str


@dataclass
class Watcher:
    """Keeps what happens during a compile."""

    runs: list[PipelineRun] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)


class Attempt:
    """Passes that run for what may be thrown away."""

    def __init__(self, watcher: Watcher | None) -> None:
        self._watcher = watcher
        if watcher is not None:
            self._seen = len(watcher.runs), len(watcher.remarks)

    def forget(self) -> None:
        """What was seen since, was not seen."""
        if self._watcher is not None:
            runs, remarks = self._seen
            del self._watcher.runs[runs:], self._watcher.remarks[remarks:]


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def current() -> Watcher | None:
    """Who looks on in this thread, if anybody does."""
    return _watcher.get()


@contextlib.contextmanager
def watched() -> Iterator[Watcher]:
    """Compiles of this thread are watched in the block."""
    watcher = Watcher()
    token = _watcher.set(watcher)
    try:
        yield watcher
    finally:
        _watcher.reset(token)
