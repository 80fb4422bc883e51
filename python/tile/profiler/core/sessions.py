"""All sessions of the process, and what goes to which of them."""

from __future__ import annotations

import threading
import time
from typing import Any

from ..flags import flags
from .records import Capture, Kernel, Scope
from .session import Session
from .threads import Entered, in_thread, threads

#: Launches whose metrics wait to be put where they belong.
_MOST_LATER = 1 << 16


class Sessions:
    """The sessions that were started and not finalized."""

    def __init__(self) -> None:
        self._sessions: dict[int, Session] = {}
        self._next = 0
        self._lock = threading.RLock()
        #: What was active when: for each epoch the sessions, with their phases. Records say in
        #: which epoch they were made.
        self._epochs: list[tuple[tuple[Session, int], ...]] = [()]
        #: Scopes that were entered, each with the epoch.
        self._touched: set[tuple[int, int]] = set()
        #: Metrics of launches: path, epoch, metrics, and the backends that keep them.
        self._later: list[tuple[int, int, dict[str, Any], list[Any]]] = []

    # Sessions.

    def __iter__(self) -> Any:
        return iter(list(self._sessions.values()))

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, id: int) -> Session:
        session = self._sessions.get(id)
        if session is None:
            raise ValueError(f"Session has not been initialized: {id}")
        return session

    def named(self, name: str) -> Session | None:
        return next((s for s in self._sessions.values() if s.name == name), None)

    def start(self, name: str, context: str, data: str, backend: Any, mode: Any) -> Session:
        """A new session, active."""
        with self._lock:
            for other in self._sessions.values():
                if other.backend is backend and str(other.mode) != str(mode):
                    raise ValueError(
                        "Cannot add a session with the same profiler but a different mode than "
                        f"existing sessions: {other.mode} is running, {mode} was asked for"
                    )
            session = Session(self._next, name, context, data, backend, mode)
            backend.start(mode)
            self._next += 1
            self._sessions[session.id] = session
            flags.profiling_on = True
            session.is_active = True
            session.began = len(self._epochs)
            self._renew()
        return session

    def chosen(self, id: int | None) -> list[Session]:
        """One session, or all."""
        return list(self._sessions.values()) if id is None else [self.get(id)]

    def activate(self, id: int | None) -> list[Session]:
        with self._lock:
            chosen = self.chosen(id)
            for session in chosen:
                session.is_active = True
            self._renew()
        return chosen

    def deactivate(self, id: int | None, flushing: bool) -> list[Session]:
        with self._lock:
            chosen = self.chosen(id)
            for session in chosen:
                session.is_active = False
            self._renew()
        if flushing:
            for session in chosen:
                self.collect(session, wait=True)
        return chosen

    def finalize(self, id: int | None, format: str) -> list[Session]:
        """Ends sessions and writes their data."""
        chosen = self.deactivate(id, flushing=True)
        for session in chosen:
            session.suffix(format)
        for session in chosen:
            with self._lock:
                del self._sessions[session.id]
                flags.profiling_on = bool(self._sessions)
                if not any(s.backend is session.backend for s in self._sessions.values()):
                    session.backend.stop()
                self._renew()
                self._touched.clear()
        return chosen

    # Epochs.

    @property
    def epoch(self) -> int:
        return len(self._epochs) - 1

    def in_epoch(self, epoch: int) -> tuple[tuple[Session, int], ...]:
        """The sessions that were active, with their phases."""
        return self._epochs[epoch]

    def renew(self) -> None:
        """Begins another epoch: hooks of sessions were changed."""
        with self._lock:
            self._renew()

    def _renew(self) -> None:
        """Begins another epoch."""
        active = [s for s in self._sessions.values() if s.is_active]
        self._epochs.append(tuple((s, s.phase) for s in active))
        for session in active:
            session.epochs.setdefault(session.phase, []).append(self.epoch)
        threads.active = sum(s.bit for s in active)
        threads.with_stack = any(s.context == "python" for s in active)
        for backend in {s.backend for s in self._sessions.values()}:
            mine = [s for s in active if s.backend is backend]
            backend.changed(self.epoch, mine)
        threads.tell()

    # Phases.

    def advance_phase(self, id: int) -> int:
        session = self.get(id)
        with self._lock:
            session.phase += 1
            session.in_phase(session.phase)
            self._renew()
        self.collect(session, wait=False)
        return session.phase

    def clear(self, session: Session, phase: int, up_to: bool) -> None:
        """Forgets the data of a phase."""
        session.clear(phase, up_to)
        self._touched.clear()

    def collect(self, session: Session, wait: bool) -> None:
        """Takes what the backend has; with `wait`, all that was launched until now."""
        from ..tensor_metrics import settle

        before = session.phase
        self._settle()
        session.backend.collect(self, wait)
        settle(wait)
        if wait:
            session.complete_before = max(session.complete_before, before)
            return
        while session.complete_before < before and not session.backend.pending(
            session.epochs.get(session.complete_before, [])
        ):
            session.complete_before += 1

    # What happened.

    def add_kernel(self, kernel: Kernel) -> None:
        """Launches of a kernel, for the sessions that were active then, and at the capture."""
        capture = kernel.capture
        for session, phase in self._epochs[kernel.epoch]:
            if kernel.backend not in (None, session.backend):
                continue
            if capture is None or self._was_active(session, capture.epoch):
                session.add_kernel(phase, kernel)

    def _was_active(self, session: Session, epoch: int) -> bool:
        """Whether it was when a launch was captured, or had not been started."""
        return epoch < session.began or any(s is session for s, _ in self._epochs[epoch])

    def add_replayed(
        self, node: int, epoch: int, capture: Capture, metrics: dict[str, Any]
    ) -> None:
        """Metrics of a captured launch, for one replay."""
        for session, phase in self._epochs[epoch]:
            if any(s is session for s, _ in self._epochs[capture.epoch]):
                session.add_replayed(node, phase, capture.node, metrics)

    def enter(self, name: str, metrics: dict[str, Any], id: int | None = None) -> Entered:
        """A scope on this thread."""
        epoch = len(self._epochs) - 1
        active = self._epochs[epoch]
        if metrics:
            for session, _ in active:
                session.types.check(metrics)
        entered = threads.enter(name, time.time_ns(), epoch, metrics, id)
        self.touch(entered.full, epoch)
        if metrics:
            self.add_metrics(entered.full, epoch, metrics)
        return entered

    def touch(self, node: int, epoch: int) -> None:
        """What was entered is there, whether it gets data or not."""
        place = (node, epoch)
        if place not in self._touched:
            self._touched.add(place)
            for session, phase in self._epochs[epoch]:
                session.touch(node, phase)

    def leave(self, entered: Entered) -> None:
        """The end of a scope."""
        threads.leave(entered)
        record = None
        for session, phase in self._epochs[entered.epoch]:
            if session.data != "trace":
                continue
            if record is None:
                here = in_thread()
                record = Scope(
                    entered.id, entered.full, entered.epoch, entered.name, here["id"],
                    here["name"], entered.began, time.time_ns(), entered.metrics,
                )  # fmt: skip
            session.add_scope(phase, record)

    def add_metrics(self, node: int, epoch: int, metrics: dict[str, Any]) -> None:
        """Metrics of a place, for the sessions of an epoch."""
        active = self._epochs[epoch]
        for session, _ in active:
            session.types.check(metrics)
        deferred = [b for b in self.backends(epoch) if b.defer(node, epoch, metrics)]
        for session, phase in active:
            if session.backend not in deferred:
                session.add_metrics(node, phase, metrics)

    def add_launch_metrics(self, node: int, epoch: int, metrics: dict[str, Any]) -> None:
        """Metrics of a launch: they are put where they belong when somebody looks."""
        deferred = []
        for session, _ in self._epochs[epoch]:
            session.types.check(metrics)
            backend = session.backend
            if backend not in deferred and backend.defer(node, epoch, metrics):
                deferred.append(backend)
        self._later.append((node, epoch, metrics, deferred))
        if len(self._later) > _MOST_LATER:
            self._settle()

    def _settle(self) -> None:
        later, self._later = self._later, []
        for node, epoch, metrics, deferred in later:
            for session, phase in self._epochs[epoch]:
                if session.backend not in deferred:
                    session.add_metrics(node, phase, metrics)

    def backends(self, epoch: int) -> set[Any]:
        """The backends of the sessions that were active."""
        active = self._epochs[epoch]
        if len(active) == 1:
            return {active[0][0].backend}
        return {session.backend for session, _ in active}


sessions = Sessions()
