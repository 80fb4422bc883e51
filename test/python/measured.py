"""What measures, for tests: the modules of `bench` and of `bench/quality`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

BENCH = Path(__file__).resolve().parents[2] / "bench"


def benchmark(name: str) -> ModuleType:
    """A module of `bench`."""
    sys.path.insert(0, str(BENCH))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BENCH))


def quality(name: str) -> ModuleType:
    """A module of `bench/quality`; what it imports is looked for in `bench`, too."""
    return benchmark(f"quality.{name}")
