"""Loads an example for Triton, so that both run the same program.

Triton is measured, never depended on: everything here works without it.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import tempfile
from types import ModuleType

ROOT = pathlib.Path(__file__).resolve().parent.parent


def _find(name: str) -> pathlib.Path:
    """An example, the programs of the IR corpus, or kernels that are only measured."""
    if name == "corpus":
        return ROOT / "test" / "python" / "corpus" / "programs.py"
    if name.endswith("_kernels"):
        return ROOT / "bench" / f"{name}.py"
    return ROOT / "examples" / f"{name}.py"


def load(name: str) -> ModuleType:
    """The example ``name``, as written."""
    return _import(_find(name), f"tile_{name}")


def load_for_peer(name: str) -> ModuleType | None:
    """The example ``name`` with `triton` in the place of `tile`; None without Triton."""
    if importlib.util.find_spec("triton") is None:
        return None
    source = _find(name).read_text()
    source = source.replace("import tile\n", "import triton as tile\n")
    source = source.replace("import tile.", "import triton.")
    source = source.replace("from tile.", "from triton.")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tile-bench-"))
    path = folder / f"{name}.py"
    path.write_text(source)
    return _import(path, f"peer_{name}")


def _import(path: pathlib.Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
