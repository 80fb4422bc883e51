"""What a backend's compiler provides."""

from __future__ import annotations

import enum

from tile.backends.base import BaseBackend, GPUTarget


class Language(enum.Enum):
    """What a kernel is written in."""

    TRITON = 0
    GLUON = 1


__all__ = ["BaseBackend", "GPUTarget", "Language"]
