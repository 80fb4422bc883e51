"""What ``triton.testing`` has beside our own names."""

from __future__ import annotations

import functools

from tile.compat.triton._C.libtriton.cublas import CublasLt
from tile.runtime.driver import driver

#: Bytes of memory that a matmul may use.
_WORKSPACE = 32 * 2**20


@functools.cache
def _cublas_for_device(device: int) -> CublasLt:
    import torch

    return CublasLt(torch.empty(_WORKSPACE, dtype=torch.int8, device=f"cuda:{device}"))


def cublas() -> CublasLt | None:
    """cuBLAS on the current device, for matmuls to compare with; None where it is not."""
    active = driver.active
    if active.name != "cuda":
        return None
    return _cublas_for_device(active.get_current_device())
