"""The barrier of the blocks of a cluster."""

from __future__ import annotations

from tile.language.state import current
from tile.language.values import builtin


@builtin
def arrive() -> None:
    """Arrives, without waiting for the other blocks."""
    current().create("amdg.cluster_barrier_arrive", (), None, ())


@builtin
def wait() -> None:
    """Waits until all blocks have arrived."""
    current().create("amdg.cluster_barrier_wait", (), None, ())


__all__ = ["arrive", "wait"]
