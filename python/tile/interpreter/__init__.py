"""The interpreter: kernels run in Python, on NumPy arrays.

A kernel's own source is what runs, so that a debugger, `print` and
`breakpoint()` work inside of it; its operations compute with NumPy. It shares
the language's rules with the compiler (types, promotion, checks), and nothing
of what the compiler makes of them.
"""

from __future__ import annotations

try:
    import ml_dtypes  # noqa: F401
except ModuleNotFoundError as _error:
    raise ImportError("the interpreter needs ml_dtypes: pip install ml_dtypes") from _error

from .launch import InterpretedKernel, interpret

__all__ = ["InterpretedKernel", "interpret"]
