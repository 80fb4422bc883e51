"""Memory that kernels reach through addresses they load."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_arrays: list[Any] = []


@contextlib.contextmanager
def reachable(*arrays: Any) -> Iterator[None]:
    """Lets launches inside the block touch `arrays` (NumPy arrays or CPU tensors).

    A kernel may access the arrays it is given. One that loads addresses from a
    table needs the arrays behind those addresses named here:

        with tile.sim.reachable(*matrices):
            grouped_gemm[grid](addresses, sizes)

    Other drivers ignore it.
    """
    count = len(_arrays)
    _arrays.extend(arrays)
    try:
        yield
    finally:
        del _arrays[count:]


def reachable_arrays() -> list[Any]:
    """What the enclosing `reachable` blocks name."""
    return _arrays
