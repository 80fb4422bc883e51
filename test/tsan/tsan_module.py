"""A plugin of pytest: what threads share of `tile._C` comes from the module of the preset `tsan`.

SHARED_BY_THREADS is that module. `tile._C` itself, with the compiler, is the ordinary one.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

_NAME = "tile_shared_by_threads"


def load() -> ModuleType:
    """The module, whose `launch` and `sim` ThreadSanitizer watches."""
    spec = importlib.util.spec_from_file_location(_NAME, os.environ["SHARED_BY_THREADS"])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Loader(importlib.abc.Loader):
    def __init__(self, own: Any) -> None:
        self.own = own

    def create_module(self, spec: Any) -> ModuleType | None:
        return self.own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.own.exec_module(module)
        watched = load()
        module.launch, module.sim = watched.launch, watched.sim  # type: ignore[attr-defined]


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != "tile._C":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None:
            spec.loader = _Loader(spec.loader)
        return spec


assert "tile" not in sys.modules, "load this plugin first: -p tsan_module"
sys.meta_path.insert(0, _Finder())
