"""The package ``triton``: tile, under the version of the release it stands for."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import tile

from ..release import version as _version

__version__ = _version()
# Modules are imported by their names here, so that they have what is added to them.
__all__ = [n for n in tile.__all__ if not isinstance(vars(tile).get(n, tile), ModuleType)]
globals().update({name: getattr(tile, name) for name in __all__})


def compile(
    src: Any, target: Any = None, options: dict[str, Any] | None = None, **more: Any
) -> Any:
    """As `tile.compile`, for a caller that may launch the kernel by itself: arguments may overlap,
    unless the options say `overlapping_arguments=False`. Programs of Triton 2 give a function, its
    `signature` and its `constants`."""
    from tile.runtime.overlap import compile_for_any_arguments

    if isinstance(src, tile.JITFunction) and "signature" in more:
        source = tile.compiler.ASTSource(
            src, more.pop("signature"), constants=more.pop("constants", None)
        )
        names = ("num_warps", "num_stages", "num_ctas", "debug")
        options = {**(options or {}), **{n: more.pop(n) for n in names if n in more}}
        return compile_for_any_arguments(source, target, options, **more)
    return compile_for_any_arguments(src, target, options, **more)


def __getattr__(name: str) -> Any:
    value = vars(tile).get(name)
    if value is None or name.startswith("_") or isinstance(value, ModuleType):
        raise AttributeError(f"module 'triton' has no attribute {name!r}")
    return value
