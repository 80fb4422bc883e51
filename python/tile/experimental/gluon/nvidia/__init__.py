"""What the host prepares for kernels on NVIDIA's GPUs."""

from typing import Any

from . import blackwell, hopper

__all__ = ["blackwell", "hopper"]


def __getattr__(name: str) -> Any:
    from .._absent import refuse

    return refuse(__name__, name)
