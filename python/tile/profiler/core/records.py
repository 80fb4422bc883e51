"""What a backend tells about kernels, and threads about scopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Capture:
    """Where the launch of a kernel was captured that a graph replays."""

    node: int
    epoch: int


@dataclass(slots=True)
class Kernel:
    """Launches of one kernel from one path; one launch, where a session wants each."""

    node: int
    epoch: int
    name: str
    #: Among them `count`.
    metrics: dict[str, Any]
    #: The scope that the launch was in.
    scope: int = 0
    capture: Capture | None = None
    #: Where it comes from, if other backends record the same launches; else None.
    backend: Any = None
    device: int = 0
    stream: int = 0
    #: Of one launch: when it began and ended, in nanoseconds or in what the backend counts.
    start: int = 0
    end: int = 0
    #: The launch of a graph that replayed it.
    replay: int = 0
    #: What happened in it: events of a Chrome trace, from its start on.
    inside: list[dict[str, Any]] = field(default_factory=list)
    #: What stands below the kernel, as lines with samples: the names on the way, and metrics.
    below: list[tuple[tuple[str, ...], dict[str, Any]]] = field(default_factory=list)


@dataclass(slots=True)
class Scope:
    """A scope that a thread left."""

    id: int
    node: int
    epoch: int
    name: str
    thread: int
    thread_name: str
    start: int
    end: int
    metrics: dict[str, Any]
