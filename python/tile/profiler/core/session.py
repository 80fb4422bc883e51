"""A session: what it sees of the paths, and the data of its phases."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from ... import knobs
from .metrics import MetricTypes
from .paths import Kind, Node, paths
from .records import Kernel, Scope
from .trace import CAPTURED_AT, Trace
from .tree import Tree

#: Formats of files by the kind of data, the usual one first, with their suffixes.
FORMATS = {"tree": ("hatchet", "hatchet_msgpack"), "trace": ("chrome_trace",)}


class Session:
    """One profile of the program."""

    def __init__(
        self, id: int, name: str, context: str, data: str, backend: Any, mode: Any
    ) -> None:
        self.id = id
        self.name = name
        self.context = context
        self.data = data
        self.backend = backend
        self.mode = mode
        self.is_active = False
        self.phase = 0
        #: The data of each phase that was not cleared.
        self.phases: dict[int, Tree | Trace] = {}
        #: The first phase that may still get records.
        self.complete_before = 0
        #: The epochs that each phase was in.
        self.epochs: dict[int, list[int]] = {}
        #: The epoch that it began in.
        self.began = 0
        self.types = MetricTypes()
        self.has_kernels = False
        self._paths: dict[int, tuple[list[Node], bool]] = {}
        self._kernel_paths: dict[tuple[int, int, str], list[Node]] = {}

    @property
    def bit(self) -> int:
        return 1 << self.id

    # What it sees.

    def see(self, node: int) -> tuple[list[Node], bool]:
        """The steps of a path that this session has, and whether a launch names its kernels."""
        found = self._paths.get(node)
        if found is None:
            with_stack = self.context == "python"
            steps = [
                step
                for step in paths.to(node)
                if (with_stack if step.kind is Kind.FRAME else step.sessions & self.bit)
            ]
            named = bool(steps) and steps[-1].kind is Kind.LAUNCH
            found = self._paths[node] = (steps, named)
        return found

    def in_phase(self, phase: int) -> Tree | Trace:
        data = self.phases.get(phase)
        if data is None:
            data = self.phases[phase] = Tree() if self.data == "tree" else Trace()
        return data

    # What it is told.

    def add_metrics(self, node: int, phase: int, metrics: dict[str, Any]) -> None:
        """Metrics of a place."""
        data = self.in_phase(phase)
        if isinstance(data, Tree):
            data.add(self.see(node)[0], metrics)

    def touch(self, node: int, phase: int) -> None:
        """A scope that was entered is there, whether it has data or not."""
        data = self.in_phase(phase)
        if isinstance(data, Tree):
            data.touch(self.see(node)[0])

    def add_scope(self, phase: int, scope: Scope) -> None:
        data = self.in_phase(phase)
        if isinstance(data, Trace):
            data.add_scope(self.see(scope.node)[0], scope)

    def _replayed(self, node: int, inner: int) -> tuple[list[Node], bool]:
        """The steps of a path that a replay has, and then the capture."""
        steps, named = self.see(inner)
        return [*self.see(node)[0], Node(0, Kind.STATE, CAPTURED_AT, -1), *steps], named

    def add_replayed(self, node: int, phase: int, inner: int, metrics: dict[str, Any]) -> None:
        """Metrics of a captured launch, for one replay."""
        data = self.in_phase(phase)
        if isinstance(data, Tree):
            data.add(self._replayed(node, inner)[0], metrics)

    def add_kernel(self, phase: int, kernel: Kernel) -> None:
        """Launches of a kernel, below the path that they were launched from."""
        path = self._path_of(kernel)
        self.has_kernels = True
        data = self.in_phase(phase)
        if isinstance(data, Trace):
            data.add_kernel(path, kernel)
            return
        data.add(path, kernel.metrics)
        for names, metrics in kernel.below:
            data.add([*path, *(Node(0, Kind.FRAME, name, -1) for name in names)], metrics)

    def _path_of(self, kernel: Kernel) -> list[Node]:
        """The steps to a kernel, with the kernel."""
        capture = kernel.capture
        if capture is not None and capture.epoch < self.began:
            capture = None  # Nobody saw that.
        key = (kernel.node, -1 if capture is None else capture.node, kernel.name)
        path = self._kernel_paths.get(key)
        if path is None:
            if capture is None:
                steps, named = self.see(kernel.node)
            else:
                steps, named = self._replayed(kernel.node, capture.node)
            path = list(steps) if named else [*steps, Node(0, Kind.LAUNCH, kernel.name, -1)]
            self._kernel_paths[key] = path
        return path

    # What it gives.

    def clear(self, phase: int, up_to: bool) -> None:
        for known in [p for p in self.phases if p == phase or (up_to and p < phase)]:
            del self.phases[known]

    def get(self, phase: int) -> Any:
        """The data of a phase, as files have it."""
        data = self.phases.get(phase)
        if data is None:
            data = Tree() if self.data == "tree" else Trace()
        if isinstance(data, Trace):
            with_launches = self.backend.shows_launches or knobs.proton.launches_in_trace
            return data.to_chrome(self.backend.about(), with_launches)
        return data.to_hatchet(self.backend.devices())

    def suffix(self, format: str) -> str:
        """The suffix of files of a format, which must be one for this kind of data."""
        known = FORMATS[self.data]
        if format and format not in known:
            raise ValueError(
                f"the output format of a {self.data} is {' or '.join(known)}, not {format!r}"
            )
        return format or known[0]

    def write(self, phase: int, format: str, part: bool = False) -> str:
        """Writes a phase to a file; returns its name."""
        suffix = self.suffix(format)
        path = f"{self.name}.part_{phase}.{suffix}" if part else f"{self.name}.{suffix}"
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        data = self.get(phase)
        if suffix.endswith("msgpack"):
            write(path, lambda file: file.write(packed(data)), "wb")
        else:
            # `dump` would write piece by piece, from Python.
            write(path, lambda file: file.write(json.dumps(data)), "w")
        return path


def write(path: str, into: Callable[[Any], Any], mode: str) -> None:
    """Writes a file whole: a reader never sees a part of it."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, mode, encoding=None if "b" in mode else "utf-8") as file:
            into(file)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def packed(data: Any) -> bytes:
    """Data in MessagePack."""
    try:
        import msgpack
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "MessagePack needs the package msgpack: pip install msgpack"
        ) from None
    return msgpack.packb(data, use_bin_type=True)
