"""Sessions: `start`, `activate`, `deactivate`, `finalize`, and `profile` around a function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import knobs
from ..errors import TileError
from . import backends
from . import mode as modes
from .core.session import FORMATS, Session
from .core.sessions import sessions
from .flags import flags
from .hooks.hook import Hook, HookManager
from .hooks.launch import LaunchHook

DEFAULT_PROFILE_NAME = "proton"
_CONTEXTS = ("shadow", "python")


def _select_backend() -> str:
    """The backend for what runs the kernels."""
    return backends.by_driver()


def _check(what: str, value: str, known: Any) -> None:
    if value not in known:
        raise TileError(f"the {what} of a session is {' or '.join(known)}, not {value!r}")


def start(
    name: str | None = None,
    *,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: Any = None,
    hook: Any = None,
) -> int | None:
    """Starts a session, which is active; returns its number.

    `name` is the path of its file, without the suffix. `context` is `shadow` (the scopes that the
    program enters) or `python` (its stack, too). `data` is `tree` (sums for each call path) or
    `trace` (an event for each launch). `backend` is where records come from: by default, what runs
    the kernels. `mode` says what it records, as text or as an object of `mode`. `hook="triton"`
    calls kernels' `launch_metadata`; a `Hook` of one's own does, too.

    Where the command `proton` runs the program, the session is the command's. Returns None where
    TRITON_PROTON_DISABLE is set.
    """
    if knobs.proton.disable:
        return None
    if flags.command_line and sessions:
        return next(iter(sessions)).id
    return begin(name, context or "shadow", data or "tree", backend, mode, hook)


def begin(
    name: str | None, context: str, data: str, backend: str | None, mode: Any, hook: Any
) -> int:
    """`start`, whoever runs the program."""
    name = name or DEFAULT_PROFILE_NAME
    _check("context", context, _CONTEXTS)
    _check("data", data, FORMATS)
    if (known := sessions.named(name)) is not None:
        activate(known.id)
        return known.id
    session = sessions.start(
        name, context, data, backends.find(backend or _select_backend()), modes.parse(mode)
    )
    hooks = session.backend.hooks(session.mode)
    if hook == "triton":
        hooks.append(LaunchHook())
    elif isinstance(hook, Hook):
        hooks.append(hook)
    elif hook is not None:
        finalize(session.id)
        raise TileError(f"the hook of a session is 'triton' or a Hook, not {hook!r}")
    for one in hooks:
        HookManager.register(one, session.id)
    sessions.renew()
    return session.id


def activate(session: int | None = None) -> None:
    """Goes on with a session, or with all."""
    if flags.profiling_on:
        HookManager.activate(session)
        sessions.activate(session)


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Pauses a session, or all. With `flushing`, waits for what was launched, and records it."""
    if flags.profiling_on:
        HookManager.deactivate(session)
        sessions.deactivate(session, flushing)


def finalize(session: int | None = None, output_format: str = "") -> None:
    """Ends a session, or all, and writes its data to a file: `hatchet` or `hatchet_msgpack` for a
    tree, `chrome_trace` for a trace. Waits for all that was launched."""
    if not flags.profiling_on or flags.command_line:
        return
    end(session, output_format)


def end(session: int | None, output_format: str = "") -> list[Session]:
    """`finalize`, whoever runs the program; returns the sessions."""
    HookManager.unregister(session)
    ended = sessions.finalize(session, output_format)
    for one in ended:
        if isinstance(one.mode, modes.PeriodicFlushing):
            format = output_format or one.mode.format
            for phase in sorted(one.phases):
                one.write(phase, format, part=True)
            continue
        if len(one.phases) > 1:
            # All that was not cleared, in one file for each phase.
            for phase in sorted(one.phases):
                one.write(phase, output_format, part=True)
        one.write(one.phase, output_format)
    return ended


def write_complete_phases(session: Session) -> None:
    """With periodic flushing, writes the phases into which nothing more will come, and forgets
    them."""
    if not isinstance(session.mode, modes.PeriodicFlushing):
        return
    for phase in [p for p in sorted(session.phases) if p < session.complete_before]:
        session.write(phase, session.mode.format, part=True)
        sessions.clear(session, phase, up_to=False)


def profile(
    func: Callable | None = None,
    *,
    name: str | None = None,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: Any = None,
    hook: Any = None,
) -> Callable:
    """Decorates a function that is profiled while it runs: a session is started before each call,
    or goes on, and is paused after it. `finalize` writes the file."""
    if func is None:
        return functools.partial(
            profile, name=name, context=context, data=data, backend=backend, mode=mode, hook=hook
        )

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        session = start(name, context=context, data=data, backend=backend, mode=mode, hook=hook)
        try:
            return func(*args, **kwargs)
        finally:
            if session is not None:
                deactivate(session)

    return wrapper
