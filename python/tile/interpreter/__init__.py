"""The interpreter: kernels run in Python, on NumPy arrays.

A kernel's own source is what runs, so that a debugger, `print` and
`breakpoint()` work inside of it; its operations compute with NumPy. It shares
the language's rules with the compiler (types, promotion, checks), and nothing
of what the compiler makes of them.
"""

from __future__ import annotations

from .launch import InterpretedKernel, interpret

__all__ = ["InterpretedKernel", "interpret"]
