"""What only NVIDIA's GPUs have."""

from typing import Any

from . import ampere, hopper

__all__ = ["ampere", "hopper"]


def __getattr__(name: str) -> Any:
    from ..._absent import refuse

    return refuse(__name__, name)
