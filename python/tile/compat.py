"""Runs programs written for Triton: ``import triton`` gives tile.

    python -m tile.compat program.py arguments...

or, in a process, ``tile.compat.install()`` before the first such import.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import runpy
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_ALIAS = "triton"


class _Loader(importlib.abc.Loader):
    """Gives the module of tile in place of a new one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: Any) -> ModuleType:
        module = importlib.import_module(self.name)
        # The import system is about to write its own spec over the module's.
        self.spec, self.loader = module.__spec__, getattr(module, "__loader__", None)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
        module.__loader__ = self.loader


class _Finder(importlib.abc.MetaPathFinder):
    """Finds ``triton`` and what is under it in ``tile``."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        name = "tile" + fullname[len(_ALIAS) :]
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            return None
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(fullname, _Loader(name), is_package=is_package)


def install() -> None:
    """Makes ``import triton`` give tile, from now on in this process."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def uninstall() -> None:
    """Undoes `install`."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _Finder)]
    for name in [n for n in sys.modules if n == _ALIAS or n.startswith(_ALIAS + ".")]:
        del sys.modules[name]


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if args else 2
    install()
    sys.argv = args
    if args[0] == "-m" and len(args) > 1:
        sys.argv = args[1:]
        runpy.run_module(args[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(args[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
