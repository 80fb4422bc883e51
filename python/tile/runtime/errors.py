"""The errors of the runtime, where programs written for Triton import them from."""

from __future__ import annotations

from ..errors import CompilerToolError, InterpreterError, OutOfResources

PTXASError = CompilerToolError

__all__ = ["InterpreterError", "OutOfResources", "PTXASError"]
