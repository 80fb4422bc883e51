"""`tile view`"""

from __future__ import annotations

from ..profiler.viewer import command

__all__ = ["command"]
