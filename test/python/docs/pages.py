"""What the tests of pages share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"


def load_script(name: str) -> ModuleType:
    """A program in scripts/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def settings_of_a_newcomer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages show what a machine without a GPU does where nothing is set."""
    monkeypatch.setenv("TILE_DRIVER", "sim")
    for name in ("TILE_INTERPRET", "TRITON_INTERPRET", "TILE_SIM_TARGET"):
        monkeypatch.delenv(name, raising=False)
