"""The releases of Triton that tile stands for: their public names.

``names/3.6.txt`` has a line for each module: its name and what it exposes. A
name that lives in another module is followed by ``@`` and that module; a
module that is an attribute by ``@@`` and its full name.
"""

from __future__ import annotations

import functools
from pathlib import Path

from .. import knobs

_FOLDER = Path(__file__).parent / "names"


def version() -> str:
    """The release that ``triton.__version__`` says."""
    return knobs.compat.version


def _pair(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


class Release:
    """The names of one release."""

    def __init__(self, path: Path) -> None:
        self.version = path.stem
        self._modules: dict[str, dict[str, str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            module, _, rest = line.partition(":")
            self._modules[module] = dict(map(_split, rest.split()))

    @staticmethod
    @functools.lru_cache(maxsize=2)
    def at_most(version: str) -> Release:
        """The newest known release that is not above a version, or the oldest."""
        known = sorted(_FOLDER.glob("*.txt"), key=lambda p: _pair(p.stem))
        below = [p for p in known if _pair(p.stem) <= _pair(version)]
        return Release((below or known)[-1 if below else 0])

    def names(self, module: str) -> dict[str, str] | None:
        """What a module exposes, and where it lives; None where there is none."""
        return self._modules.get(module)

    def is_package(self, module: str) -> bool:
        return any(m.startswith(module + ".") for m in self._modules)

    def modules(self) -> list[str]:
        return list(self._modules)


def _split(text: str) -> tuple[str, str]:
    name, at, home = text.partition("@")
    return name, at + home
