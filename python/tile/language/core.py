"""Everything of the language, where programs written for Triton import it from."""
# ruff: noqa: F403

from __future__ import annotations

from . import *
from . import __all__ as __all__
from .aggregate import aggregate as _aggregate

__all__ = [*__all__, "_aggregate"]
