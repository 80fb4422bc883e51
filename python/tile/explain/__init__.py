"""Says of a compiled kernel what it takes, what it did, and what makes it slow: `tile explain`."""

from __future__ import annotations

from .explanation import Explanation, explain
from .findings import Finding
from .launches import Launched, watch_launches

__all__ = ["Explanation", "Finding", "Launched", "explain", "watch_launches"]
