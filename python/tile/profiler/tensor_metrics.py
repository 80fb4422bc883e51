"""Metrics that are tensors of a GPU: copied on their stream, and read once the copy is done."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import Any

from .core.sessions import sessions
from .core.threads import threads
from .metric import plain, typed
from .state import metadata_state


@dataclass(eq=False)
class _Copy:
    """Metrics on their way to the host."""

    node: int
    epoch: int
    tensors: dict[str, Any]
    #: Recorded behind the copies.
    event: Any


_copies: list[_Copy] = []
_lock = threading.Lock()


def add(node: int, epoch: int, tensors: dict[str, Any], kernel: str | None = None) -> None:
    """Adds metrics whose values the device knows, of a launch of `kernel` or of a scope. The host
    does not wait for them."""
    backends = sessions.backends(epoch)
    if any(b.defer_tensors(node, epoch, tensors, kernel) for b in backends):
        return
    if kernel is not None:
        with metadata_state(kernel):
            sessions.touch(threads.node(), epoch)
    torch = sys.modules["torch"]
    copies = {}
    for name, tensor in tensors.items():
        source = tensor.detach()
        copies[name] = torch.empty(source.shape, dtype=source.dtype, pin_memory=True)
        copies[name].copy_(source, non_blocking=True)
    with torch.cuda.device(source.device):
        event = torch.cuda.Event()
        event.record()
    with _lock:
        _copies.append(_Copy(node, epoch, copies, event))


def settle(wait: bool) -> None:
    """Reads the copies that are done; with `wait`, all."""
    with _lock:
        done = [c for c in _copies if wait or c.event.query()]
        _copies[:] = [c for c in _copies if c not in done]
    for copy in done:
        copy.event.synchronize()
        values = {name: typed(name, plain(name, value)) for name, value in copy.tensors.items()}
        sessions.add_metrics(copy.node, copy.epoch, values)
