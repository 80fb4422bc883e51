"""`tile profile`"""

from __future__ import annotations

from ..profiler.proton import command

__all__ = ["command"]
