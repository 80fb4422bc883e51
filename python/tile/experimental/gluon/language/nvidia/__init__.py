"""What only NVIDIA's GPUs have."""

from typing import Any

from . import ampere, blackwell, hopper, rubin

__all__ = ["ampere", "blackwell", "hopper", "rubin"]


def __getattr__(name: str) -> Any:
    from ..._absent import refuse

    return refuse(__name__, name)
