"""Names of a release whose function tile does not have yet.

Importing them, annotating with them and asking ``isinstance`` is free; using
one says what is missing.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import TileError


class UnbuiltError(TileError, NotImplementedError):
    """Something of Triton was used that tile does not have yet."""


class UnbuiltAttributeError(UnbuiltError, AttributeError):
    """The same, for an attribute: ``hasattr`` and ``getattr`` know it."""


class Unbuilt:
    """Stands for a name that is not built."""

    #: The code generator hands calls to us, so that the kernel's line is named.
    __tile_builtin__ = True

    def __init__(self, name: str, instead: str = "") -> None:
        #: What to use in its place, if there is something.
        self.__dict__.update(_name=name, _instead=f": {instead}" if instead else "")

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise UnbuiltError(f"{self._name} is not built in tile yet{self._instead}")

    __call__ = __getitem__ = __iter__ = __len__ = __int__ = __float__ = __index__ = _refuse
    __enter__ = __add__ = __sub__ = __mul__ = __setitem__ = _refuse

    def __getattr__(self, name: str) -> Any:
        # What Python itself looks for is absent in the ordinary way.
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnbuiltAttributeError(f"{self._name}.{name} is not built in tile yet{self._instead}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise UnbuiltAttributeError(f"{self._name} is not built in tile yet{self._instead}")

    def __instancecheck__(self, value: Any) -> bool:
        return False

    def __subclasscheck__(self, cls: Any) -> bool:
        return False

    def __or__(self, other: Any) -> Any:
        return Any

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple) -> tuple:
        refuse = self._refuse
        return (type(self._name.rpartition(".")[2], (), {"__init__": lambda *_, **__: refuse()}),)

    def __repr__(self) -> str:
        return f"<{self._name}, not built in tile>"
