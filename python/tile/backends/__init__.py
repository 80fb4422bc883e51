"""Backends: plug-ins, found by their folders.

An installed package has each as ``tile/backends/<name>``; a checkout as
``third_party/<name>/backend``. A backend's
package lists the kinds of its targets (``TARGETS = ["hip"]``). ``stages.py`` has its stages
(``STAGES``), ``options.py`` a subclass of `BaseOptions`, ``compiler.py`` a subclass of
`BaseBackend`. A backend may also have drivers (``driver.py``, subclasses of `DriverBase`) and
settings (``knobs.py``: ``KNOBS``, a `Group`). ``TILE_BACKENDS`` names more folders like these.
The simulator is a driver (``sim_driver.py``) that runs what any backend says it can run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from .. import knobs
from ..errors import TileError
from .base import BaseBackend, BaseOptions, DriverBase, GPUTarget, with_arch
from .stages import Stage


@functools.lru_cache(maxsize=1)
def folders() -> dict[str, Path]:
    """Where the Python half of each backend is."""
    here = Path(__file__).resolve().parent
    found = {p.parent.name: p.parent for p in here.glob("*/compiler.py")}
    checkout = here.parents[2] / "third_party"
    for path in sorted(checkout.glob("*/backend/compiler.py")):
        found.setdefault(path.parents[1].name, path.parent)
    for name in filter(None, knobs.runtime.backends.split(os.pathsep)):
        folder = Path(name).resolve()
        if not (folder / "compiler.py").is_file():
            raise TileError(f"TILE_BACKENDS names {name}, which has no compiler.py")
        found.setdefault(folder.name, folder)
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


def _kinds(name: str) -> list[str]:
    """The kinds of targets that a backend compiles for."""
    return _package(name).TARGETS


def kinds() -> list[str]:
    """The kinds of targets there are: cuda, hip."""
    return sorted(kind for name in folders() for kind in _kinds(name))


def _backends_for(kind: str) -> Iterator[type[BaseBackend]]:
    """Those that may compile for targets such as cuda or hip."""
    for name in folders():
        if kind in _kinds(name):
            yield _backend(name)


def stages_named(name: str) -> Iterator[tuple[str, Stage]]:
    """The stages of this name that backends have, each with the kind of their targets."""
    for kind, stage in all_stages():
        if stage.name == name:
            yield kind, stage


def all_stages() -> Iterator[tuple[str, Stage]]:
    """The stages of all backends, first to last, with the kind of their targets."""
    for backend in folders():
        for stage in _load(backend, "stages").STAGES:
            yield _kinds(backend)[0], stage


@functools.cache
def option_names() -> frozenset[str]:
    """The options that compiles of any backend have."""
    names = set(BaseOptions.names())
    for name in folders():
        names |= _subclass(_load(name, "options"), BaseOptions).names()
    return frozenset(names)


@functools.cache
def knobs_of(name: str) -> Any:
    """The settings of a backend, by the name of its folder; None where it has none."""
    folder = folders().get(name)
    if folder is None or not (folder / "knobs.py").exists():
        return None
    return _load(name, "knobs").KNOBS


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


def parse_architecture(text: str) -> GPUTarget:
    """The target of the first backend that knows this architecture."""
    for name in folders():
        with contextlib.suppress(TileError):
            return _backend(name).find_target(text)
    raise TileError(f"no backend knows the architecture {text!r}")


def default_simulated() -> str:
    """What the simulator stands for where nobody says: what the first backend names that does."""
    named = (getattr(_package(name), "SIMULATED", "") for name in folders())
    return next(filter(None, named), "")


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
    "Stage",
    "all_stages",
    "backends",
    "check_target",
    "chosen_target",
    "default_simulated",
    "drivers",
    "find_backend",
    "kinds",
    "knobs_of",
    "option_names",
    "parse_architecture",
    "parse_target",
    "simulated_target",
    "stages_named",
]
