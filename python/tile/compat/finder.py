"""Where ``triton`` and what is under it is found.

``triton.x`` is the first of these that there is:

- the module ``tile.compat.triton.x``, where Triton's tree differs from ours;
- the module ``tile.x``, with the names of ``tile.compat.additions.x`` added;
- a module made of the release's names, if the release has one that tile lacks.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from .gone import farewell
from .release import Release, version
from .unbuilt import Unbuilt, UnbuiltAttributeError

ALIAS = "triton"
_OVERLAY = "tile.compat.triton"
_HOME = "tile"
_ADDITIONS = "tile.compat.additions"
#: Modules of Triton's tree that are the same as one under another name.
_SAME = {
    "triton.language.extra.cuda.libdevice": "tile.language.extra.libdevice",
    "triton.language.extra.hip.libdevice": "tile.language.extra.libdevice",
    # In older releases.
    "triton.language.libdevice": "tile.language.extra.libdevice",
    "triton.language.math.libdevice": "tile.language.extra.libdevice",
}


def alien_modules() -> list[str]:
    """Where the modules of a triton that is not tile were loaded from."""
    module = sys.modules.get(ALIAS)
    if module is None or module.__name__ == _OVERLAY:
        return []
    return [str(getattr(module, "__file__", None) or "an unknown place")]


def _has_file(name: str) -> bool:
    """Whether a module of tile exists; folders without one are no packages."""
    try:
        spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):
        return False
    return spec is not None and spec.origin is not None


def _source(fullname: str) -> str | None:
    """The module of tile that stands under a name of Triton's tree."""
    rest = fullname[len(ALIAS) :]
    for name in (_SAME.get(fullname, _OVERLAY + rest), _HOME + rest):
        if _has_file(name):
            return name
    return None


class _Loader(importlib.abc.InspectLoader):
    """Gives a module that exists in place of a new one."""

    def __init__(self, fullname: str, source: str | None, release: Release) -> None:
        self.name = fullname
        self.source = source
        self.release = release

    def create_module(self, spec: Any) -> ModuleType:
        if self.source is None:
            self.kept = None
            return ModuleType(self.name, f"{self.name}: not built in tile")
        module = importlib.import_module(self.source)
        _undo_folders(self.name)
        # The import system is about to write its own spec over the module's.
        self.kept = (module.__spec__, getattr(module, "__loader__", None))
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self.kept is not None:
            module.__spec__, module.__loader__ = self.kept
        if self.source is None:
            self._keep_hidden()
        offer(module, self.name, self.release)
        if self.name == f"{ALIAS}.language":
            module.dtypes.home = self.name
        # What is loaded is not loaded again: that would also set the parent's
        # attribute, which may be something else of the same name.
        _alias_children(self.name, self.source, self.release)

    def _keep_hidden(self) -> None:
        """The import system is about to make the module an attribute of its parent, which may
        have a function of that name."""
        parent, _, child = self.name.rpartition(".")
        names = vars(sys.modules[parent]) if parent in sys.modules else {}
        if child in names:
            _hidden[self.name] = names[child]

    def _loader(self) -> Any:
        spec = importlib.util.find_spec(self.source) if self.source is not None else None
        return spec.loader if spec is not None else None

    def get_code(self, fullname: str) -> Any:
        """For ``python -m triton.x``."""
        loader = self._loader()
        if loader is None:
            message = f"{fullname} is not built in tile yet"
            return compile(f"raise SystemExit({message!r})", fullname, "exec")
        return loader.get_code(self.source)

    def get_source(self, fullname: str) -> Any:
        loader = self._loader()
        return loader.get_source(self.source) if loader is not None else None

    def is_package(self, fullname: str) -> bool:
        return self.release.is_package(fullname)


def _undo_folders(fullname: str) -> None:
    """A folder of ours with some modules of a package of Triton's is no package itself. Python
    made it an attribute of what is above, in place of the module that stands for the package."""
    while "." in fullname:
        above, _, child = fullname.rpartition(".")
        folder = sys.modules.get(_OVERLAY + fullname[len(ALIAS) :])
        stands, parent = sys.modules.get(fullname), sys.modules.get(above)
        if folder is not None and folder.__spec__ is not None and folder.__spec__.origin is None:
            if stands is not None and parent is not None and vars(parent).get(child) is folder:
                setattr(parent, child, stands)
        fullname = above


def _alias_children(fullname: str, source: str | None, release: Release) -> None:
    if source is None:
        return
    for name in [n for n in sys.modules if n.startswith(source + ".")]:
        rest = name[len(source) + 1 :]
        child = f"{fullname}.{rest}"
        if child not in sys.modules and "." not in rest and _source(child) == name:
            sys.modules[child] = sys.modules[name]
            offer(sys.modules[name], child, release)
            _alias_children(child, name, release)


class _Offer:
    """The names that a module is given, and what has to be taken back."""

    def __init__(self, module: ModuleType, release: Release) -> None:
        self.module = module
        self.release = release
        #: The names of Triton's tree under which the module is.
        self.fullnames: list[str] = []
        self.own = vars(module).get("__getattr__")
        self.added: list[str] = []
        #: Where names come from: modules with additions, and names of releases.
        self.additions: list[ModuleType] = []
        self.names: dict[str, tuple[str, str]] = {}

    def __call__(self, name: str) -> Any:
        """Finds what the module itself does not have."""
        known_missing: UnbuiltAttributeError | None = None
        if self.own is not None:
            try:
                return self.own(name)
            except UnbuiltAttributeError as error:
                known_missing = error
            except AttributeError:
                pass
        try:
            value = self.find(name)
        except AttributeError:
            if known_missing is None:
                raise
            # The module itself says more about what is missing.
            raise known_missing from None
        # Types and functions are not looked for twice.
        if not isinstance(value, ModuleType) and not name.startswith("__"):
            setattr(self.module, name, value)
            self.added.append(name)
        return value

    def find(self, name: str) -> Any:
        for additions in self.additions:
            if name in vars(additions):
                return vars(additions)[name]
        if name in self.names:
            return _resolve(*self.names[name], name)
        # `from package import module` asks under the package's own name, which is ours.
        for fullname in self.fullnames:
            path = f"{fullname}.{name}"
            if not name.startswith("__") and (self.release.names(path) or _source(path)):
                return importlib.import_module(path)
        for fullname in self.fullnames:
            if gone := farewell(f"{fullname}.{name}"):
                raise AttributeError(gone)
        raise AttributeError(f"module {self.module.__name__!r} has no attribute {name!r}")

    def take_back(self) -> None:
        for name in self.added:
            vars(self.module).pop(name, None)
        if self.own is None:
            vars(self.module).pop("__getattr__", None)
        else:
            self.module.__getattr__ = self.own  # type: ignore[method-assign]


_offers: dict[ModuleType, _Offer] = {}
#: What modules of ours had under the names of modules that were made, by those modules' names.
_hidden: dict[str, Any] = {}


def offer(module: ModuleType, fullname: str, release: Release) -> None:
    """Gives a module the names that it lacks: those added to it, those of the
    release that live in another module, and those that say that they are not
    built."""
    found = _offers.get(module)
    if found is None:
        found = _offers[module] = _Offer(module, release)
        module.__getattr__ = found  # type: ignore[method-assign]
    found.fullnames.append(fullname)
    for name, home in (release.names(fullname) or {}).items():
        found.names.setdefault(name, (fullname, home))
    more = _ADDITIONS + fullname[len(ALIAS) :]
    if fullname != ALIAS and _has_file(more):
        found.additions.append(importlib.import_module(more))


def _resolve(module: str, home: str, name: str) -> Any:
    """What a name of the release stands for."""
    try:
        if home.startswith("@@"):
            return importlib.import_module(home[2:])
        if home.startswith("@"):
            return getattr(importlib.import_module(home[1:]), name)
    except ModuleNotFoundError:
        return Unbuilt(home.lstrip("@"))
    except AttributeError:  # A native name.
        return Unbuilt(f"{home[1:]}.{name}")
    return Unbuilt(f"{module}.{name}")


class Finder(importlib.metadata.DistributionFinder):
    """Finds ``triton`` in tile, and says that it is installed."""

    def __init__(self) -> None:
        self.release = Release.at_most(version())

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != ALIAS and not fullname.startswith(ALIAS + "."):
            return None
        source = _source(fullname)
        if source is None and self.release.names(fullname) is None:
            if gone := farewell(fullname):
                raise ModuleNotFoundError(gone, name=fullname)
            return None
        is_package = self.release.is_package(fullname)
        if source is not None and not is_package:
            module = sys.modules.get(source)
            found = module.__spec__ if module is not None else importlib.util.find_spec(source)
            is_package = found is not None and found.submodule_search_locations is not None
        loader = _Loader(fullname, source, self.release)
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=is_package)

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        return [_Distribution()] if context is not None and context.name == ALIAS else []

    def forget(self) -> None:
        """Takes everything back that imports have made."""
        made = {n: m for n, m in sys.modules.items() if n == ALIAS or n.startswith(ALIAS + ".")}
        for name, module in made.items():
            # The import system made each module an attribute of its parent. The parent may be a
            # module of tile, which stays.
            parent, _, child = name.rpartition(".")
            names = vars(made[parent]) if parent in made else {}
            if module.__name__ == name and names.get(child) is module:
                del names[child]
                if name in _hidden:
                    names[child] = _hidden[name]
            del sys.modules[name]
        _hidden.clear()
        if (language := sys.modules.get(f"{_HOME}.language")) is not None:
            language.dtypes.home = language.__name__
        for found in _offers.values():
            found.take_back()
        _offers.clear()


class _Distribution(importlib.metadata.Distribution):
    """What ``importlib.metadata`` says about ``triton``."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: {ALIAS}\nVersion: {version()}\n"

    def locate_file(self, path: Any) -> Path:
        return Path(__file__).parent / ALIAS / path
