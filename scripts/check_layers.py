#!/usr/bin/env python3
"""Checks that the layering which docs/architecture.md draws is the one that is built.

The table under "Layers" says which layers each layer may use. Every `#include` and TableGen
`include` of ours, every entry of a LINK_LIBS list, and every import at the top of a Python module
must keep to it. Nothing but backends may look into the name of a target or compare capabilities;
Python names what a backend has only where the table lets it use that backend. What is common to
all machines names nothing of a vendor's dialect. Nothing but TripCount computes with the bounds of
loops.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture.md"
#: May use everything.
EVERYTHING = "everything above"
INCLUDE = re.compile(r'^\s*#?\s*include\s+"((\w+)/[^"]+)"', re.MULTILINE)
LIBRARY = re.compile(r"tile_add_library\((\w+)(.*?)\)\s*$", re.DOTALL | re.MULTILINE)
#: Includes by the path from the file itself.
LOCAL_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
#: Chooses the simulator's front end for a text, so it names them all.
LOADER = "lib/Simulator/Module.cpp"
#: What tells one target from another.
TARGET_NAMES = re.compile(
    r"\b(?:cuda|hip):|\"(?:cuda|hip)\"|\bsm_?\d|\bgfx\d|[cC]omputeCapability|compute_capability"
)


#: What is common to all machines, and what it must not name.
COMMON = ("Analysis/", "Conversion/", "Dialect/TritonGPU/")
VENDOR_NAMES = re.compile(r"nvidia_gpu|NvidiaGPU|ttnvgpu|\bttng\b|amdgpu|\bamdg\b")


#: Computes with the bounds of loops. Others may give them to new loops.
TRIP_COUNT = "lib/Analysis/TripCount.cpp"
ON_BOUNDS = re.compile(
    r"[^;{}]*(?:Op::create|createOrFold)[^;{}]*\.get(?:UpperBound|LowerBound|Step)\(\)[^;{}]*;"
)
MAKES_LOOP = re.compile(r"\b(?:ForOp|WhileOp)::create")


def read_table() -> dict[str, set[str] | None]:
    """For each layer, the layers that it may use; None: all."""
    section = PAGE.read_text().split("## Layers", 1)[1].split("\n## ", 1)[0]
    table: dict[str, set[str] | None] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`"):
            continue
        uses = None if EVERYTHING in cells[2] else set(re.findall(r"`([^`]+)`", cells[2]))
        for layer in re.findall(r"`([^`]+)`", cells[0]):
            table[layer] = uses
    return table


def layer_of(path: str, layers: list[str]) -> str | None:
    """The layer of a file, whose headers are in include/tile in the same folders."""
    path = re.sub(r"^include/tile/", "lib/", path)
    found = [layer for layer in layers if path.startswith(layer + "/") or path == layer]
    return max(found, key=len, default=None)


def check_includes(table: dict[str, set[str] | None]) -> list[str]:
    errors = []
    for top in ("lib", "include", "third_party", "tools", "python/src"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in {".h", ".cpp", ".td"}:
                continue
            name = file.relative_to(ROOT).as_posix()
            layer = layer_of(name, list(table))
            if layer is None:
                errors.append(f"{name}: in no layer of {PAGE.relative_to(ROOT)}")
                continue
            allowed = table[layer]
            text = file.read_text()
            for match in INCLUDE.finditer(text):
                header, owner = match.groups()
                backend = f"third_party/{owner}"
                prefix = f"{backend}/" if backend in table else ""
                used = layer_of(f"{prefix}include/{header}", list(table))
                if used in (None, layer) or allowed is None or used in allowed:
                    continue
                line = text.count("\n", 0, match.start()) + 1
                errors.append(f"{name}:{line}: {layer} may not use {used}")
    return errors


def check_local_includes(table: dict[str, set[str] | None]) -> list[str]:
    """Layers within layers, such as the front ends of the simulator, include by path."""
    errors = []
    for file in sorted((ROOT / "lib").rglob("*")):
        name = file.relative_to(ROOT).as_posix()
        if file.suffix not in {".h", ".cpp"} or name == LOADER:
            continue
        layer = layer_of(name, list(table))
        text = file.read_text()
        for match in LOCAL_INCLUDE.finditer(text):
            header = (file.parent / match.group(1)).resolve()
            if not header.is_file() or not header.is_relative_to(ROOT):
                continue
            used = layer_of(header.relative_to(ROOT).as_posix(), list(table))
            allowed = table.get(layer or "", set())
            if used in (None, layer) or allowed is None or used in allowed:
                continue
            line = text.count("\n", 0, match.start(1)) + 1
            errors.append(f"{name}:{line}: {layer} may not use {used}")
    return errors


def check_links(table: dict[str, set[str] | None]) -> list[str]:
    """The libraries that libraries link, by the layers they are made in."""
    made: dict[str, tuple[str, Path, list[str]]] = {}
    for file in sorted(
        [*(ROOT / "lib").rglob("CMakeLists.txt"), *(ROOT / "third_party").rglob("CMakeLists.txt")]
    ):
        for name, body in LIBRARY.findall(file.read_text()):
            layer = layer_of(file.relative_to(ROOT).as_posix(), list(table))
            linked = re.split(r"\bLINK_LIBS\b", body)
            made[name] = (layer or "", file, linked[1].split() if len(linked) > 1 else [])
    errors = []
    for name, (layer, file, libraries) in made.items():
        allowed = table.get(layer, set())
        for library in libraries:
            if library not in made or allowed is None:
                continue
            used = made[library][0]
            if used != layer and used not in allowed:
                errors.append(
                    f"{file.relative_to(ROOT)}: {name} in {layer} may not link {library} in {used}"
                )
    return errors


def check_targets() -> list[str]:
    errors = []
    for top in ("lib", "include"):
        for file in sorted((ROOT / top).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if file.suffix not in {".h", ".cpp"} or "/Simulator/" in name:
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                code = line.split("//")[0]
                if TARGET_NAMES.search(code):
                    errors.append(
                        f"{name}:{number}: ask the TargetModel, not the name of the target"
                    )
    return errors


def imported(tree: ast.Module, package: list[str]) -> Iterator[tuple[int, str]]:
    """The lines of the imports of tile's modules at the top of a module, and what they name."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{name}.{alias.name}"


def file_of(module: str) -> str | None:
    """The file in python/tile that `tile.a.b` is, or is in."""
    parts = module.split(".")
    while parts and parts[0] == "tile":
        path = "python/" + "/".join(parts)
        if (ROOT / path).is_dir():
            return f"{path}/__init__.py"
        if (ROOT / f"{path}.py").exists():
            return f"{path}.py"
        parts.pop()
    return None


def python_files() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted((ROOT / "python/tile").rglob("*.py")):
        yield file.relative_to(ROOT).as_posix(), ast.parse(file.read_text())


def check_imports(table: dict[str, set[str] | None]) -> list[str]:
    errors = []
    for name, tree in python_files():
        layer = layer_of(name, list(table))
        if layer is None:
            errors.append(f"{name}: in no layer of {PAGE.relative_to(ROOT)}")
            continue
        allowed = table[layer]
        if allowed is None or "python/tile" in allowed:
            continue
        for line, module in imported(tree, name.split("/")[1:-1]):
            file = file_of(module)
            # The package itself has only its version, and what layers say of themselves.
            if file is None or file == "python/tile/__init__.py":
                continue
            used = layer_of(file, list(table))
            if used not in (layer, *allowed):
                errors.append(f"{name}:{line}: {layer} may not use {used}")
    return errors


def backend_names() -> dict[str, re.Pattern[str]]:
    """For each backend, what only it may call so: its kinds of targets, stages and pipelines."""
    found = {}
    for folder in sorted((ROOT / "third_party").glob("*/backend")):
        name = folder.parent.name
        kinds = re.findall(r'"(\w+)"', (folder / "__init__.py").read_text().split("TARGETS")[1])
        stages = re.findall(r'\bStage\(\s*"(\w+)"', (folder / "stages.py").read_text())
        whole = "|".join([name, *kinds, *stages])
        found[name] = re.compile(rf"(?:{whole})|(?:{'|'.join(kinds)}):.*|tile-{name}-.*", re.DOTALL)
    return found


def check_backend_names(table: dict[str, set[str] | None]) -> list[str]:
    errors = []
    names = backend_names()
    for file, tree in python_files():
        allowed = table.get(layer_of(file, list(table)) or "")
        if allowed is None:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            for backend, pattern in names.items():
                if f"third_party/{backend}" not in allowed and pattern.fullmatch(node.value):
                    errors.append(
                        f"{file}:{node.lineno}: {node.value!r} belongs to third_party/{backend}; "
                        "ask the backend"
                    )
    return errors


def check_vendors() -> list[str]:
    errors = []
    for file in sorted([*(ROOT / "lib").rglob("*"), *(ROOT / "include/tile").rglob("*")]):
        name = file.relative_to(ROOT).as_posix()
        common = re.sub(r"^(lib|include/tile)/", "", name).startswith(COMMON)
        # Descriptions of passes show examples.
        if not common or file.suffix not in {".h", ".cpp"}:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if VENDOR_NAMES.search(line.split("//")[0]):
                errors.append(f"{name}:{number}: ask an interface, not an operation of a vendor")
    return errors


def check_bounds() -> list[str]:
    """Bounds are computed with in one place, which knows that counters may wrap around."""
    errors = []
    folders = [ROOT / "lib", *sorted((ROOT / "third_party").glob("*/lib"))]
    for file in sorted(path for folder in folders for path in folder.rglob("*.cpp")):
        name = file.relative_to(ROOT).as_posix()
        if name == TRIP_COUNT:
            continue
        text = re.sub(r"//[^\n]*", "", file.read_text())
        for match in ON_BOUNDS.finditer(text):
            if not MAKES_LOOP.search(match.group()):
                line = text.count("\n", 0, match.end()) + 1
                errors.append(f"{name}:{line}: ask TripCount, which computes with bounds of loops")
    return errors


def main() -> int:
    table = read_table()
    errors = [
        *check_includes(table),
        *check_local_includes(table),
        *check_links(table),
        *check_targets(),
        *check_imports(table),
        *check_backend_names(table),
        *check_vendors(),
        *check_bounds(),
    ]
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
