"""Kernels as C: compiled ahead of time, launched by programs without Python.

`compile_kernel` writes one variant of a kernel as a C file and its header, `link` the functions
that choose among variants. The C needs nothing but the driver's header, ``cuda.h``.
"""

from __future__ import annotations

from .link import link
from .signature import Argument, parse_signature
from .variant import compile_kernel

__all__ = ["Argument", "compile_kernel", "link", "parse_signature"]
