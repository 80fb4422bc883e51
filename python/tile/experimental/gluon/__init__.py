"""``tile.experimental.gluon``: programs that say which thread holds what, and where it lies.

A kernel is a function decorated with `jit`, written in `language`; it is launched, cached and
simulated as those of `tile.jit` are.
"""

from tile import must_use_result
from tile.language.aggregate import aggregate
from tile.runtime.jit import constexpr_function

from . import amd, language, nvidia
from ._runtime import GluonASTSource, GluonJITFunction, jit

__all__ = [
    "GluonASTSource", "GluonJITFunction", "aggregate", "amd", "constexpr_function", "jit",
    "language", "must_use_result", "nvidia",
]  # fmt: skip
