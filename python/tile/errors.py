"""The errors that tile raises; each says one thing, with its place."""

from __future__ import annotations

from typing import ClassVar

from .hints import more


class TileError(Exception):
    """Base class of every error of tile."""


TritonError = TileError


class SemanticError(TileError):
    """A rule of the language is broken. The code generator adds the place."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        #: What else helps, after the message.
        self.notes: list[str] = []


class StaticAssertionError(SemanticError):
    """A tl.static_assert that does not hold."""


class UnsupportedError(SemanticError):
    """Python that kernels cannot use."""


class OptionError(TileError):
    """Options of a compile that the target does not take."""


class TooLargeError(TileError, OverflowError):
    """An integer that no parameter can have."""


class OutOfResources(TileError):
    """A kernel needs more of something than the device has."""

    _ADVICE: ClassVar[dict[str, str]] = {
        "shared memory": "smaller blocks or a smaller num_stages need less",
        "registers": "smaller blocks or more warps need fewer, a larger maxnreg allows for more",
        "threads": "a smaller num_warps needs fewer",
    }

    def __init__(self, required: int, limit: int, name: str, kernel: str = "", where: str = ""):
        self.required = required
        self.limit = limit
        self.name = name
        self.kernel = kernel
        self.where = where
        unit = " bytes" if name.endswith("memory") else ""
        text = f"out of resource: {name}, Required: {required}{unit}, Hardware limit: {limit}{unit}"
        if kernel:
            text += f", in `{kernel}`"
        advice = self._ADVICE.get(name)
        if advice:
            text += f"; {advice}"
        super().__init__((f"{text}\n{where}" if where else text) + more(text))

    def of(self, kernel: str) -> OutOfResources:
        """The same, of a kernel."""
        return type(self)(self.required, self.limit, self.name, kernel, self.where)

    def __reduce__(self) -> tuple:
        return (
            type(self),
            (self.required, self.limit, self.name, self.kernel, self.where),
        )


class InterpreterError(TileError):
    """A kernel failed while the interpreter ran it; `remedy` says what to write instead."""

    def __init__(self, message: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class AutotunerError(TileError):
    """Autotuning found no configuration to run."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        super().__init__(f"Autotuner error: {error_message}")

    def __reduce__(self) -> tuple:
        return (type(self), (self.error_message,))


class CompilerToolError(TileError):
    """An external tool (ptxas) is missing or failed."""


class DriverError(TileError):
    """No usable device, or the device refused something."""


class UnreachableMemory(DriverError, ValueError):
    """An argument is in memory that the device does not reach, such as the host's."""
