"""tile: a compiler for GPU kernels written in Python.

    import tile
    import tile.language as tl

    @tile.jit
    def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask)
        y = tl.load(y_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, x + y, mask=mask)

    add[(tile.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)

docs/quickstart.md explains this program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

try:
    from . import _C as _C
except ModuleNotFoundError as _error:
    raise ImportError(
        "tile's extension module is not built for this Python: run `make build` in the checkout"
    ) from _error

from . import knobs
from .backends import GPUTarget
from .errors import (
    CompilerToolError,
    DriverError,
    InterpreterError,
    OutOfResources,
    TileError,
    TritonError,
)
from .runtime.jit import (
    JITFunction,
    KernelInterface,
    MockTensor,
    TensorWrapper,
    constexpr_function,
    jit,
    reinterpret,
)

# The library is written with @jit, so it comes after it.
from . import language  # isort: skip
from . import runtime  # isort: skip
from .compiler import CompilationError, LaunchError, compile  # isort: skip
from .language.aggregate import aggregate  # isort: skip
from .runtime import Config, autotune, heuristics, set_allocator  # isort: skip
from .runtime.asynchronous import AsyncCompileMode, FutureKernel  # isort: skip


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """x / y, rounded up."""
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is not below n."""
    return 1 << max(0, int(n) - 1).bit_length()


def must_use_result(x: Any, s: Any = True) -> Any:
    """Marks a function whose result must not be ignored. A text says more about it in the error:
    ``@tile.must_use_result("text")``."""
    if not callable(x):
        return lambda fn: must_use_result(fn, x)
    x.__tile_must_use__ = s
    return x


if TYPE_CHECKING:
    from . import aot as aot
    from . import sim as sim
    from . import testing as testing
    from . import tools as tools


def __getattr__(name: str) -> object:
    # What most programs do not need is loaded when it is used.
    if name in ("aot", "testing", "tools", "sim"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AsyncCompileMode",
    "CompilationError",
    "CompilerToolError",
    "Config",
    "DriverError",
    "FutureKernel",
    "GPUTarget",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "LaunchError",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TileError",
    "TritonError",
    "aggregate",
    "autotune",
    "cdiv",
    "compile",
    "constexpr_function",
    "heuristics",
    "jit",
    "knobs",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
]
