"""Operations that change layouts alone: elements keep their logical indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tile.interpreter.registry import operation


@operation("ttg.convert_layout", "gluon.set_auto_layout")
def _same(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return operands[0]


@operation("amdg.extract_slice")
def _slice(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    places = zip(attributes["static_offsets"], types[0].shape, strict=True)
    return operands[0][tuple(slice(at, at + extent) for at, extent in places)]


@operation(
    "ttnvgpu.fence_async_shared", "ttnvgpu.cluster_arrive", "ttnvgpu.cluster_wait",
    "ttnvgpu.cluster_barrier", "rocdl.sched.barrier", "rocdl.s.setprio",
)  # fmt: skip
def _nothing(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    """A partition runs as one thread here, a cluster is one block, and memory is in order."""
