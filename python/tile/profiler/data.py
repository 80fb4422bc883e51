"""The data of a session, while it runs."""

from __future__ import annotations

from typing import Any

from .core.session import Session, packed
from .core.sessions import sessions
from .flags import flags


def get(session: int = 0, phase: int = 0) -> Any:
    """What was recorded in a phase, as files have it. Kernels that the device has not finished are
    missing: `deactivate(session, flushing=True)` waits for them."""
    if not flags.profiling_on:
        return None
    return _current(session).get(phase)


def get_msgpack(session: int = 0, phase: int = 0) -> bytes | None:
    """The same, in MessagePack."""
    if not flags.profiling_on:
        return None
    return packed(_current(session).get(phase))


def advance_phase(session: int = 0) -> int | None:
    """What comes from now on belongs to another phase; returns its number."""
    if not flags.profiling_on:
        return None
    from .profile import write_complete_phases

    phase = sessions.advance_phase(session)
    write_complete_phases(sessions.get(session))
    return phase


def is_phase_complete(session: int = 0, phase: int = 0) -> bool:
    """Whether nothing more will come into a phase: it is over, and its kernels were recorded."""
    if not flags.profiling_on:
        return False
    return phase < _current(session).complete_before


def clear(session: int = 0, phase: int = 0, clear_up_to_phase: bool = False) -> None:
    """Forgets a phase, or with `clear_up_to_phase` those before it, too."""
    if flags.profiling_on:
        sessions.clear(_current(session), phase, clear_up_to_phase)


def _current(id: int) -> Session:
    session = sessions.get(id)
    sessions.collect(session, wait=False)
    return session
