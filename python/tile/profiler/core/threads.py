"""What each thread is doing: the scopes, states and the launch that it is in."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from .paths import ROOT, Kind, paths
from .stack import Place, caller, places


class Entered:
    """A scope that a thread is in."""

    __slots__ = ("began", "epoch", "frames", "full", "id", "metrics", "name", "node")

    def __init__(
        self, id: int, name: str, node: int, frames: list[Place], began: int, epoch: int,
        metrics: dict[str, Any],
    ) -> None:  # fmt: skip
        self.id = id
        self.name = name
        #: The path of the scopes alone.
        self.node = node
        #: The path with states and frames, where data of the scope goes.
        self.full = node
        #: The stack that it was entered from; empty where nobody asked.
        self.frames = frames
        self.began = began
        self.epoch = epoch
        #: All metrics that it was given, for traces.
        self.metrics = metrics


_NO_FRAMES: list[Place] = []
#: Every launch asks for these.
_STATE, _LAUNCH = Kind.STATE, Kind.LAUNCH
_ids = itertools.count(1)


def new_id() -> int:
    """A number for a scope or a launch, never given twice."""
    return next(_ids)


class _Thread:
    def __init__(self) -> None:
        self.scopes: list[Entered] = []
        self.states: list[tuple[str, int]] = []
        self.launches: list[tuple[str, int]] = []
        #: The path to here, but for the frames of the stack.
        self.node = ROOT
        #: The innermost scope; 0 outside of all.
        self.scope = 0
        #: Counts changes of the path.
        self.changes = 0
        #: Whether it ever entered anything.
        self.is_known = False


class _Local(threading.local):
    def __init__(self) -> None:
        self.thread = _Thread()


class Threads:
    """The state of all threads, and who is told when it changes."""

    def __init__(self) -> None:
        self._local = _Local()
        #: What a thread of the program entered last: threads that enter nothing themselves work for
        #: it, as those of torch's backward passes do.
        self._last: _Thread | None = None
        #: The sessions that are active, as bits.
        self.active = 0
        #: A session wants the Python stack.
        self.with_stack = False
        #: Paths of states that were entered together.
        self._known: dict[tuple[int, tuple[str, ...], int], int] = {}
        #: Called with the path and the id of the scope, on the thread.
        self.listener: Callable[[int, int], None] | None = None

    # Scopes.

    def enter(
        self, name: str, began: int, epoch: int, metrics: dict[str, Any], id: int | None = None
    ) -> Entered:
        here = self._local.thread
        scopes = here.scopes
        parent = scopes[-1].node if scopes else ROOT
        node = paths.find(parent, Kind.SCOPE, name, self.active)
        if node is None:
            node = paths.child(parent, Kind.SCOPE, name, self.active, *caller())
        frames = places() if self.with_stack else _NO_FRAMES
        id = next(_ids) if id is None else id
        entered = Entered(id, name, node, frames, began, epoch, metrics)
        scopes.append(entered)
        self._changed(here)
        entered.full = self._with_stack(is_scope=True) if self.with_stack else here.node
        return entered

    def leave(self, entered: Entered) -> None:
        """Leaves a scope, and those inside that nobody left."""
        here = self._local.thread
        scopes = here.scopes
        for i in range(len(scopes) - 1, -1, -1):
            if scopes[i] is entered:
                del scopes[i:]
                self._changed(here)
                return

    @property
    def innermost(self) -> Entered | None:
        scopes = self._local.thread.scopes
        return scopes[-1] if scopes else None

    @property
    def scopes(self) -> list[Entered]:
        return self._local.thread.scopes

    # States and launches.

    def enter_states(self, *names: str) -> tuple[int, int]:
        """Labels below all others. Returns what `leave_states` may be told to be quicker."""
        here = self._local.thread
        active, outside = self.active, here.node
        for name in names:
            here.states.append((name, active))
        if here.launches:  # In a path they are below all states.
            self._changed(here)
            return outside, here.changes
        key = (outside, names, active)
        node = self._known.get(key)
        if node is None:
            node = outside
            for name in names:
                node = paths.child(node, _STATE, name, active)
            self._known[key] = node
        self._go(here, node)
        return outside, here.changes

    def leave_states(self, count: int = 1, outside: int = -1, changes: int = -1) -> None:
        """Leaves the innermost states, as many as there are at most."""
        here = self._local.thread
        if here.states:
            del here.states[-count:]
            self._back(here, outside, changes)

    def enter_launch(self, name: str, sessions: int) -> tuple[int, int, int]:
        """A launch that `sessions` see under this name. Returns its path, and what `leave_launch`
        may be told to be quicker."""
        here = self._local.thread
        outside = here.node
        if here.launches:  # Of these a path has the innermost alone.
            here.launches.append((name, sessions))
            self._changed(here)
        else:
            here.launches.append((name, sessions))
            self._go(here, paths.child(outside, _LAUNCH, name, sessions))
        return self._with_stack() if self.with_stack else here.node, outside, here.changes

    def from_states_to_launch(
        self, count: int, outside: int, changes: int, name: str, sessions: int
    ) -> tuple[int, int, int]:
        """`leave_states`, and then `enter_launch`: nobody is told about what is in between."""
        here = self._local.thread
        del here.states[-count:]
        if changes == here.changes:
            here.node = outside
        else:
            self._changed(here)
        return self.enter_launch(name, sessions)

    def leave_launch(self, outside: int = -1, changes: int = -1) -> None:
        here = self._local.thread
        if here.launches:
            here.launches.pop()
            self._back(here, outside, changes)

    # The path.

    def node(self) -> int:
        """The path to what the thread does now."""
        here = self._local.thread
        if not here.is_known and self._last is not None:
            return self._last.node
        return self._with_stack() if self.with_stack else here.node

    def _changed(self, here: _Thread) -> None:
        node = ROOT
        here.scope = 0
        if here.scopes:
            innermost = here.scopes[-1]
            node, here.scope = innermost.node, innermost.id
        if here.states or here.launches:
            node = self._below(here, node)
        self._go(here, node)

    def _back(self, here: _Thread, outside: int, changes: int) -> None:
        """To the path before, if nothing else was entered or left meanwhile."""
        if changes == here.changes:
            self._go(here, outside)
        else:
            self._changed(here)

    def _go(self, here: _Thread, node: int) -> None:
        """The thread's path is another one."""
        here.is_known = True
        here.changes += 1
        here.node = node
        self._last = here
        if self.listener is not None:
            self.listener(node, here.scope)

    def tell(self) -> None:
        """Tells the listener where this thread is."""
        self._changed(self._local.thread)

    def _below(self, here: _Thread, node: int) -> int:
        """Adds states and launches to a path."""
        for name, sessions in here.states:
            node = paths.child(node, _STATE, name, sessions)
        if here.launches:
            name, sessions = here.launches[-1]
            node = paths.child(node, _LAUNCH, name, sessions)
        return node

    def _with_stack(self, is_scope: bool = False) -> int:
        """A scope stands below the line that entered it, and the lines inside below the scope; with
        `is_scope`, the path of the innermost scope itself."""
        node, known = ROOT, 0
        for entered in self._local.thread.scopes:
            node = self._below_frames(node, entered.frames[known:])
            # The frame that entered it goes on inside.
            known = max(known, len(entered.frames) - 1)
            step = paths.to(entered.node)[-1]
            node = paths.child(node, step.kind, step.name, step.sessions, step.file, step.line)
        if not is_scope:
            node = self._below_frames(node, places()[known:])
        return self._below(self._local.thread, node)

    def _below_frames(self, node: int, frames: list[Place]) -> int:
        for place in frames:
            node = paths.child(node, Kind.FRAME, str(place), -1, place.file, place.line)
        return node


threads = Threads()


def in_thread() -> dict[str, Any]:
    """The name of the thread that asks, for traces."""
    thread = threading.current_thread()
    return {"id": thread.native_id or 0, "name": thread.name}
