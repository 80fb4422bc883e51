"""The barrier of the blocks of a cluster."""

from __future__ import annotations

from tile.language.state import current
from tile.language.values import builtin, unwrap


def _relaxed(value: bool) -> dict:
    return {"relaxed": current().bool_attr(bool(unwrap(value)))}


@builtin
def arrive(relaxed: bool = False) -> None:
    """Arrives, without waiting for the other blocks."""
    current().create("ttnvgpu.cluster_arrive", (), _relaxed(relaxed), ())


@builtin
def wait() -> None:
    """Waits until all blocks have arrived."""
    current().create("ttnvgpu.cluster_wait", (), None, ())


@builtin
def barrier(relaxed: bool = False) -> None:
    """Arrives and waits."""
    current().create("ttnvgpu.cluster_barrier", (), _relaxed(relaxed), ())


__all__ = ["arrive", "barrier", "wait"]
