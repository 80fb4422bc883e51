"""Backends: plug-ins, found by their folders.

An installed package has each as ``tile/backends/<name>``; a checkout as
``third_party/<name>/backend``. A backend's
package lists the kinds of its targets (``TARGETS = ["hip"]``). It has ``compiler.py``
with a subclass of `BaseBackend`, and ``driver.py`` with subclasses of `DriverBase`.
The simulator is a driver (``sim_driver.py``) that runs what any backend says it can run.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import TileError
from .base import BaseBackend, BaseOptions, DriverBase, GPUTarget, with_arch


@functools.lru_cache(maxsize=1)
def folders() -> dict[str, Path]:
    """Where the Python half of each backend is."""
    here = Path(__file__).resolve().parent
    found = {p.parent.name: p.parent for p in here.glob("*/compiler.py")}
    checkout = here.parents[2] / "third_party"
    for path in sorted(checkout.glob("*/backend/compiler.py")):
        found.setdefault(path.parents[1].name, path.parent)
    return found


def _package(name: str) -> ModuleType:
    """The package of a backend, which says in TARGETS what it compiles for; nothing more of it is
    imported before somebody compiles for that."""
    package = f"{__name__}.{name}"
    if package not in sys.modules:
        folder = folders()[name]
        init = folder / "__init__.py"
        spec = importlib.util.spec_from_file_location(
            package, init if init.exists() else None, submodule_search_locations=[str(folder)]
        )
        if spec is None:
            spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
            spec.submodule_search_locations = [str(folder)]
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[package] = loaded
        if spec.loader is not None:
            spec.loader.exec_module(loaded)
    return sys.modules[package]


def _load(name: str, module: str) -> ModuleType:
    return importlib.import_module(f"{_package(name).__name__}.{module}")


@functools.cache
def _backend(name: str) -> type[BaseBackend]:
    return _subclass(_load(name, "compiler"), BaseBackend)


def backends() -> dict[str, type[BaseBackend]]:
    """The backends there are, by name."""
    return {name: _backend(name) for name in folders()}


def _backends_for(kind: str) -> Iterator[type[BaseBackend]]:
    """Those that may compile for targets such as cuda or hip."""
    for name in folders():
        if kind in getattr(_package(name), "TARGETS", [kind]):
            yield _backend(name)


def _subclass(module: ModuleType, base: type) -> Any:
    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, base)
            and value.__module__ == module.__name__
        ):
            return value
    raise TileError(f"{module.__file__} defines no {base.__name__}")


def check_target(target: Any) -> None:
    if not isinstance(target, GPUTarget):
        raise TileError(
            f"a target is a GPUTarget such as GPUTarget('cuda', 90, 32), not {target!r}"
        )


def find_backend(target: GPUTarget) -> BaseBackend:
    """The backend for a target."""
    check_target(target)
    if target.backend == "cpu":
        target = simulated_target()
    for backend in _backends_for(target.backend):
        if backend.supports_target(target):
            return backend(target)
    raise _unknown(target.backend)


def _unknown(kind: str) -> TileError:
    known = ", ".join(sorted(n for b in backends().values() for n in b.target_names())) or "none"
    return TileError(f"no backend compiles for '{kind}'; the known targets are {known}")


def parse_target(text: str) -> GPUTarget:
    """The target that ``cuda:90`` or ``hip:gfx942`` names; a third part is the width of a warp."""
    kind, *rest = text.split(":")
    if len(rest) not in (1, 2) or not all(part.isdigit() for part in rest[1:]):
        raise TileError(f"a target is written as cuda:90 or hip:gfx942, not {text!r}")
    for backend in _backends_for(kind):
        if kind in backend.target_names():
            target = backend.find_target(rest[0])
            return dataclasses.replace(target, warp_size=int(rest[1])) if rest[1:] else target
    raise _unknown(kind)


def simulated_target() -> GPUTarget:
    """What ``GPUTarget("cpu", ...)`` stands for: the machine that the simulator is."""
    return drivers()["sim"]().get_current_target()


def chosen_target(
    target: GPUTarget, options: Mapping[str, Any]
) -> tuple[GPUTarget, dict[str, Any]]:
    """The target of a compile, which the option `arch` may choose, and the other options."""
    rest = dict(options)
    arch = rest.pop("arch", None)
    return (target if arch is None else with_arch(target, arch, "the option `arch`")), rest


@functools.lru_cache(maxsize=1)
def drivers() -> dict[str, type[DriverBase]]:
    """The drivers of the backends and the simulator, by name."""
    from .sim_driver import SimDriver

    result: dict[str, type[DriverBase]] = {SimDriver.name: SimDriver}
    for name, folder in folders().items():
        if not (folder / "driver.py").exists():
            continue
        module = _load(name, "driver")
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, DriverBase)
                and value is not DriverBase
            ):
                result[value.name] = value
    return result


__all__ = [
    "BaseBackend",
    "BaseOptions",
    "DriverBase",
    "GPUTarget",
    "backends",
    "check_target",
    "chosen_target",
    "drivers",
    "find_backend",
    "parse_target",
    "simulated_target",
]
