"""How deep in scopes a thread is."""

from __future__ import annotations

from .core.paths import Kind
from .core.sessions import sessions
from .core.threads import threads
from .flags import flags


def depth(session: int | None = 0) -> int | None:
    """The number of scopes that the session sees this thread in; None while the profiler is off."""
    if not flags.profiling_on:
        return None
    steps, _ = sessions.get(session or 0).see(threads.node())
    return sum(step.kind in (Kind.SCOPE, Kind.FRAME) for step in steps)
