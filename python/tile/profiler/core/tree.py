"""Data as a tree: a node for each call path, with the sums of its metrics."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from .metrics import added, split_name
from .paths import Node

#: Metrics that tell launches apart rather than measure them.
_TEXTS = ("device_id", "device_type")


class TreeNode:
    """A call path with its metrics."""

    __slots__ = ("children", "file", "line", "metrics", "name")

    def __init__(self, name: str, file: str | None = None, line: int = 0) -> None:
        self.name = name
        self.file = file
        self.line = line
        self.metrics: dict[str, Any] = {}
        self.children: dict[str, TreeNode] = {}

    def child(self, name: str, file: str | None = None, line: int = 0) -> TreeNode:
        found = self.children.get(name)
        if found is None:
            found = self.children[name] = TreeNode(name, file, line)
        return found

    def to_dict(self) -> dict[str, Any]:
        frame: dict[str, Any] = {"name": self.name, "type": "function"}
        if self.file:
            frame |= {"file": self.file, "line": self.line}
        return {
            "children": [child.to_dict() for child in self.children.values()],
            "frame": frame,
            "metrics": dict(self.metrics),
        }


class Tree:
    """The tree of one phase of a session."""

    def __init__(self) -> None:
        self.root = TreeNode("ROOT")
        #: Metrics that add up to the root; viewers look for their names there.
        self._inclusive: dict[str, Any] = {}
        self._lock = threading.Lock()

    @property
    def is_empty(self) -> bool:
        return not self.root.children and not self.root.metrics

    def touch(self, path: Sequence[Node]) -> TreeNode:
        """The node of a path, which is there from now on."""
        node = self.root
        for step in path:
            node = node.child(step.name, step.file, step.line)
        return node

    def add(self, path: Sequence[Node], metrics: dict[str, Any]) -> None:
        """Adds metrics to those of a path."""
        with self._lock:
            node = self.touch(path)
            for full, value in metrics.items():
                name, is_property, is_exclusive = split_name(full)
                if name not in node.metrics or is_property or name in _TEXTS:
                    node.metrics[name] = value
                else:
                    node.metrics[name] = added(node.metrics[name], value)
                if not (is_exclusive or is_property or isinstance(value, (str, list))):
                    self._inclusive.setdefault(name, type(value)(0))

    def to_hatchet(self, devices: dict[str, Any]) -> list[dict[str, Any]]:
        """As hatchet reads it: the root, and the devices."""
        with self._lock:
            root = self.root.to_dict()
            root["metrics"] = {**self._inclusive, **root["metrics"]}
        return [root, devices]
