"""Partitions as coroutines: one runs, until it waits for what another one does.

Kernels are functions of Python, which only threads can leave and come back to. So each partition is
a thread, of which one runs at a time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tile.errors import InterpreterError
from tile.interpreter.copies import Copies
from tile.language import state

#: What each partition has of the builder's.
_OWN = ("iterations", "in_region", "phantom", "pending", "num_warps", "copies", "products")


def kernel_line() -> str:
    """The line of the kernel that runs."""
    frame: Any = sys._getframe(1)
    while frame and ("__tile__" not in frame.f_globals or "__tile_sites__" not in frame.f_globals):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "an unknown line"


class Stopped(BaseException):
    """Another partition has failed."""


class Partition:
    def __init__(self, name: str, num_warps: int, run: Callable[[], Any] | None = None) -> None:
        self.name = name
        self.run = run
        self.own = {
            "iterations": 0, "in_region": 0, "phantom": None, "pending": [],
            "num_warps": num_warps, "copies": Copies(), "products": [],
        }  # fmt: skip
        self.turn = threading.Semaphore(0)
        self.thread: threading.Thread | None = None
        self.is_done = False
        #: What it waits for: whether that is there, what it is called, and the line.
        self.ready: Callable[[], bool] | None = None
        self.awaits: Callable[[], str] = str
        self.line = ""

    def can_run(self) -> bool:
        return not self.is_done and (self.ready is None or self.ready())


class Group:
    """The partitions of one program: the first is the one that made the others."""

    def __init__(self, builder: Any, first: str) -> None:
        self.builder = builder
        self.partitions = [Partition(first, builder.num_warps)]
        self.running = self.partitions[0]
        self.error: BaseException | None = None

    def add(self, name: str, num_warps: int, run: Callable[[], Any]) -> None:
        self.partitions.append(Partition(name, num_warps, run))

    def wait_until(self, ready: Callable[[], bool], awaits: Callable[[], str]) -> None:
        """Lets others run until `ready()`."""
        me = self.running
        if ready():
            return
        me.ready, me.awaits, me.line = ready, awaits, kernel_line()
        following = self._next()
        if following is None:
            raise self.deadlock()
        self._switch(following)
        if self.error is not None:
            raise Stopped if me is not self.partitions[0] else self.error
        me.ready = None

    def finish(self) -> None:
        """The first partition waits for all others."""
        others = self.partitions[1:]
        self.wait_until(lambda: all(p.is_done for p in others), lambda: "the other partitions")

    def stop(self) -> None:
        """Ends the threads of partitions that are not done."""
        for partition in self.partitions[1:]:
            if not partition.is_done and partition.thread is not None:
                self.error = self.error or Stopped()
                self._switch(partition)

    def deadlock(self) -> InterpreterError:
        waiting = [p for p in self.partitions if not p.is_done]
        lines = [f"{p.name} waits at {p.line} for {p.awaits()}" for p in waiting]
        if len(lines) == 1:
            return InterpreterError(
                f"the program waits for {waiting[0].awaits()}, and nothing is under way that "
                "would end it"
            )
        return InterpreterError("deadlock: no partition can go on:\n  " + "\n  ".join(lines))

    # Turns.

    def _next(self) -> Partition | None:
        at = self.partitions.index(self.running)
        order = [*self.partitions[at + 1 :], *self.partitions[:at]]
        return next((p for p in order if p.can_run()), None)

    def _switch(self, to: Partition) -> None:
        """Hands the turn on, and waits for it."""
        me = self.running
        self._hand_to(to)
        me.turn.acquire()

    def _hand_to(self, to: Partition) -> None:
        builder = self.builder
        for name in _OWN:
            self.running.own[name] = getattr(builder, name)
            setattr(builder, name, to.own[name])
        self.running = to
        if to.run is not None and to.thread is None:
            to.thread = threading.Thread(target=self._work, args=(to,), daemon=True)
            to.thread.start()
        else:
            to.turn.release()

    def _work(self, me: Partition) -> None:
        try:
            with state.generating(self.builder, self.builder), np.errstate(all="ignore"):
                assert me.run is not None
                me.run()
                self.builder.copies.finish()
        except Stopped:
            pass
        except BaseException as error:
            self.error = error
        me.is_done = True
        following = None
        if self.error is None:
            following = self._next()
            if following is None:
                self.error = self.deadlock()
        self._hand_to(following or self.partitions[0])
