"""What settings are made of: see `tile.knobs` for those there are."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, overload

from .errors import TileError
from .hints import closest

T = TypeVar("T")
_TRUE = {"1", "true", "on", "yes", "y", "t"}
_FALSE = {"0", "false", "off", "no", "n", "f", ""}


def spellings(variable: str) -> tuple[str, ...]:
    """A variable's names: its TILE_ name comes first."""
    if variable.startswith("TRITON_"):
        return "TILE_" + variable.removeprefix("TRITON_"), variable
    return (variable,)


def getenv(name: str, default: str | None = None) -> str | None:
    """The variable, under its TILE_ name first."""
    found = [os.environ[s] for s in spellings(name) if s in os.environ]
    return found[0] if found else default


@functools.lru_cache(maxsize=256)
def warn(message: str) -> None:
    """Says so on stderr, once."""
    print(f"tile: {message}", file=sys.stderr)


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE and word not in _FALSE:
        raise ValueError(text)
    return word in _TRUE


def not_negative(text: str) -> int:
    """A number from 0."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def release(text: str) -> str:
    """A release such as 3.6.0."""
    if not re.match(r"\d+\.\d+", text):
        raise ValueError(text)
    return text


def one_of(*choices: str) -> Callable[[str], str]:
    """One of a few words."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    read.__doc__ = " or ".join(choices)
    return read


def some_of(*choices: str) -> Callable[[str], str]:
    """Some of a few words, with commas between them."""

    def read(text: str) -> str:
        if not {word.strip() for word in text.split(",")} <= {*choices, ""}:
            raise ValueError(text)
        return text

    read.__doc__ = f"any of {', '.join(choices)}"
    return read


def bytes_of(text: str) -> int:
    """A size such as 10G, 500M, or a number of bytes."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
    text = text.strip().upper().removesuffix("B").removesuffix("I")
    unit = units.get(text[-1:], 1)
    return int(float(text[:-1] if unit > 1 else text) * unit)


def text_of(value: Any) -> tuple[str | None] | None:
    """A setting as the text of its variable, in a tuple; None if it has no text."""
    if value is None:
        return (None,)
    if isinstance(value, bool):
        return ("1" if value else "0",)
    return (str(value),) if isinstance(value, (str, int, float)) else None


class FromEnvironment:
    """`knobs.env`: a setting that is given this reads its variable again."""

    def __repr__(self) -> str:
        return "env"


env = FromEnvironment()


def _propagates() -> bool:
    """Whether what Python sets is written to the environment: `knobs.propagate_env`."""
    return getattr(sys.modules.get(f"{__package__}.knobs"), "propagate_env", False)


class Knob(Generic[T]):
    """One setting: a descriptor that reads its variable each time."""

    def __init__(
        self,
        variable: str,
        default: T | Callable[[], T],
        read: Callable[[str], T],
        doc: str = "",
        in_key: bool = False,
        also: str | None = None,
        honoured: bool = True,
    ) -> None:
        self.variable = variable
        self.default = default
        self.read = read
        self.doc = doc
        #: Whether compiled kernels depend on it other than through their options.
        self.in_key = in_key
        #: Another variable that it reads.
        self.also = also
        #: The names of both, in the order in which they are looked for.
        self.names = spellings(variable) + (spellings(also) if also else ())
        #: Programs ask for some settings that mean nothing here.
        self.honoured = honoured

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Knob[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if self.name in instance.__dict__:
            return instance.__dict__[self.name]
        found = self.find()
        if found is None:
            return self.default() if callable(self.default) else self.default
        variable, text = found
        try:
            return self.read(text)
        except (ValueError, OverflowError):
            raise TileError(f"{variable} is {text!r}, not {self.expected()}: {self.doc}") from None

    def accept(self, value: Any) -> Any:
        """A value that Python sets: read as the variable would be. None is for nothing."""
        if value is None:
            return None
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        if self.read is str and callable(value):
            return value  # A class, where its name is meant.
        if type(value).__module__ == "numpy" and value.shape == ():
            value = value.item()
        if (text := text_of(value)) is not None:
            try:
                return self.read(text[0])
            except (ValueError, OverflowError):
                pass
        words = {_boolean: f"True, False or one of {', '.join(sorted((_TRUE | _FALSE) - {''}))}"}
        raise TileError(
            f"the setting `{self.name}` takes {words.get(self.read) or self.expected()}, "
            f"not {value!r}: {self.doc}"
        )

    def expected(self) -> str:
        """What its variable may be, in words."""
        known = {_boolean: "1 or 0", int: "an integer", float: "a number", str: "text"}
        text = known.get(self.read) or (self.read.__doc__ or "").rstrip(".")
        return text[:1].lower() + text[1:]

    def find(self) -> tuple[str, str] | None:
        """The variable that is set, and its text."""
        for name in self.names:
            text = os.environ.get(name)
            if text is not None:
                return name, text
        return None

    def __set__(self, instance: Any, value: T | FromEnvironment) -> None:
        if isinstance(value, FromEnvironment):
            instance.__dict__.pop(self.name, None)
            return
        if not self.honoured:
            warn(f"the setting `{self.name}` means nothing to tile")
        else:
            value = self.accept(value)
        instance.__dict__[self.name] = value
        if _propagates() and (text := text_of(value)) is not None:
            self._write(text[0])

    def _write(self, text: str | None) -> None:
        """Writes the variable. A spelling that would win over it goes."""
        for name in self.names:
            os.environ.pop(name, None)
        if text is not None:
            os.environ[self.variable] = text

    def __delete__(self, instance: Any) -> None:
        instance.__dict__.pop(self.name, None)


def flag(variable: str, default: Any = False, doc: str = "", **more: Any) -> Knob[Any]:
    return Knob(variable, default, _boolean, doc, **more)


def text(variable: str, default: Any = None, doc: str = "", **more: Any) -> Knob[Any]:
    return Knob(variable, default, str, doc, **more)


def foreign(variable: str, default: Any = None) -> Knob[Any]:
    """A setting that programs ask for, and that means nothing here."""
    read = _boolean if isinstance(default, bool) else str
    return Knob(variable, default, read, "Means nothing to tile.", honoured=False)


class HookChain:
    """Functions that are called one after the other, at some event."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: list[Callable[..., Any]] = []
        #: The last that was added is called first.
        self.reversed = reversed

    def add(self, func: Callable[..., Any]) -> None:
        """Adds a function, once."""
        if func not in self.calls:
            self.calls.append(func)

    def remove(self, func: Callable[..., Any]) -> None:
        """Removes it again, if it is there."""
        if func in self.calls:
            self.calls.remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in self.calls[::-1] if self.reversed else list(self.calls):
            call(*args, **kwargs)

    def __bool__(self) -> bool:
        return bool(self.calls)


class Hook:
    """A setting that is a `HookChain`, or whatever callable takes its place."""

    def __init__(self, reversed: bool = False) -> None:
        self.chain = HookChain(reversed)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.chain if instance is None else instance.__dict__.get(self.name, self.chain)

    def __set__(self, instance: Any, value: Any) -> None:
        check_callable(self.name, value)
        instance.__dict__[self.name] = value

    def __delete__(self, instance: Any) -> None:
        instance.__dict__.pop(self.name, None)


def check_callable(name: str, value: Any) -> None:
    """Refuses what is no hook."""
    if value is not None and not callable(value):
        raise TileError(f"the setting `{name}` takes a function or None, not {value!r}")


_NO_HOOK = object()


class Group:
    """Settings that belong together."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            names = [known for known in dir(type(self)) if not known.startswith("_")]
            warnings.warn(
                f"tile has no setting `{name}`, so it changes nothing{closest(name, names)}",
                stacklevel=2,
            )
        elif vars(type(self)).get(name, _NO_HOOK) is None:
            check_callable(name, value)
        super().__setattr__(name, value)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is set inside ends with the block, in the environment too if it was written
        there."""
        saved = dict(self.__dict__)
        names = [name for knob in self.settings().values() for name in knob.names]
        variables = {name: os.environ[name] for name in names if name in os.environ}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(saved)
            if _propagates():
                for name in names:
                    os.environ.pop(name, None)
                os.environ.update(variables)

    def settings(self) -> dict[str, Knob[Any]]:
        """The settings by name, apart from their values."""
        return {n: k for n, k in vars(type(self)).items() if isinstance(k, Knob)}

    @property
    def knobs(self) -> dict[str, Any]:
        """The values of all settings, by name."""
        return {name: getattr(self, name) for name in self.settings()}

    def reset(self) -> Group:
        """Takes back what was set in Python."""
        self.__dict__.clear()
        return self

    def copy(self) -> Group:
        """The settings as they are now, apart from these."""
        result = type(self)()
        result.__dict__.update(self.__dict__)
        return result
