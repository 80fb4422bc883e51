"""Call paths: each is a number, which the native part of a backend passes on as well.

A path is a node that knows its parent. It holds what all sessions see; a session reads from it
what was entered while the session was active.
"""

from __future__ import annotations

import threading
from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """What a node of a path stands for."""

    ROOT = 0
    #: A scope that the program entered.
    SCOPE = 1
    #: A label below the scopes, for the kernels launched inside.
    STATE = 2
    #: A launch whose metadata names it: its kernels are the node itself.
    LAUNCH = 3
    #: A frame of the Python stack.
    FRAME = 4


class Node(NamedTuple):
    """One step of a path."""

    parent: int
    kind: Kind
    name: str
    #: The sessions that were active, as bits; frames belong to all.
    sessions: int
    #: Where in the source it was entered.
    file: str | None = None
    line: int = 0


ROOT = 0


class Paths:
    """All paths of the process."""

    def __init__(self) -> None:
        self._nodes: list[Node] = [Node(-1, Kind.ROOT, "ROOT", 0)]
        self._index: dict[tuple[int, int, str, int], int] = {}
        self._lock = threading.Lock()

    def child(
        self, parent: int, kind: Kind, name: str, sessions: int,
        file: str | None = None, line: int = 0,
    ) -> int:  # fmt: skip
        """The node below another one; the first that enters it says where in the source it is."""
        key = (parent, kind, name, sessions)
        found = self._index.get(key)
        if found is not None:
            return found
        with self._lock:
            found = self._index.get(key)
            if found is None:
                self._nodes.append(Node(parent, kind, name, sessions, file, line))
                found = self._index[key] = len(self._nodes) - 1
        return found

    def find(self, parent: int, kind: Kind, name: str, sessions: int) -> int | None:
        """The node below another one, if somebody entered it before."""
        return self._index.get((parent, kind, name, sessions))

    def to(self, node: int) -> list[Node]:
        """The steps from the root to a node, without the root."""
        steps = []
        while node > ROOT:
            step = self._nodes[node]
            steps.append(step)
            node = step.parent
        return steps[::-1]


paths = Paths()
