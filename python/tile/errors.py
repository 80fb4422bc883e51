"""The errors that tile raises; each says one thing, with its place."""

from __future__ import annotations


class TileError(Exception):
    """Base class of every error of tile."""


TritonError = TileError


class SemanticError(TileError):
    """A rule of the language is broken. The code generator adds the place."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        #: What else helps, after the message.
        self.notes: list[str] = []


class OutOfResources(TileError):
    """A kernel needs more of something than the device has."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        self.required = required
        self.limit = limit
        self.name = name
        super().__init__(
            f"out of resource: {name}, required: {required}, hardware limit: {limit}; "
            "smaller blocks or a smaller num_stages may help"
        )

    def __reduce__(self) -> tuple:
        return (type(self), (self.required, self.limit, self.name))


class InterpreterError(TileError):
    """A kernel failed while the interpreter ran it."""


class CompilerToolError(TileError):
    """An external tool (ptxas) is missing or failed."""


class DriverError(TileError):
    """No usable device, or the device refused something."""
