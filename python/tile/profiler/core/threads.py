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

    def enter_states(self, *names: str) -> None:
        here = self._local.thread
        active = self.active
        for name in names:
            here.states.append((name, active))
        self._changed(here)

    def leave_states(self, count: int = 1) -> None:
        """Leaves the innermost states, as many as there are at most."""
        here = self._local.thread
        if here.states:
            del here.states[-count:]
            self._changed(here)

    def enter_launch(self, name: str, sessions: int) -> None:
        """A launch that `sessions` see under this name."""
        here = self._local.thread
        here.launches.append((name, sessions))
        self._changed(here)

    def leave_launch(self) -> None:
        here = self._local.thread
        if here.launches:
            here.launches.pop()
            self._changed(here)

    # The path.

    def node(self) -> int:
        """The path to what the thread does now."""
        here = self._local.thread
        if not here.is_known and self._last is not None:
            return self._last.node
        return self._with_stack() if self.with_stack else here.node

    def _changed(self, here: _Thread) -> None:
        here.is_known = True
        self._last = here
        scopes = here.scopes
        innermost = scopes[-1] if scopes else None
        node = ROOT if innermost is None else innermost.node
        if here.states or here.launches:
            node = self._below(node)
        here.node = node
        if self.listener is not None:
            self.listener(node, 0 if innermost is None else innermost.id)

    def tell(self) -> None:
        """Tells the listener where this thread is."""
        self._changed(self._local.thread)

    def _below(self, node: int) -> int:
        """Adds states and launches to a path."""
        here = self._local.thread
        for name, sessions in here.states:
            node = paths.child(node, Kind.STATE, name, sessions)
        for name, sessions in here.launches[-1:]:
            node = paths.child(node, Kind.LAUNCH, name, sessions)
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
        return self._below(node)

    def _below_frames(self, node: int, frames: list[Place]) -> int:
        for place in frames:
            node = paths.child(node, Kind.FRAME, str(place), -1, place.file, place.line)
        return node


threads = Threads()


def in_thread() -> dict[str, Any]:
    """The name of the thread that asks, for traces."""
    thread = threading.current_thread()
    return {"id": thread.native_id or 0, "name": thread.name}
