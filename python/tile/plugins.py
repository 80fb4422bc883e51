"""Passes, dialects and operations of other people, in libraries that are loaded by their paths.

    import tile.plugins

    tile.plugins.load("build-plugin/tile-example-plugin.so")
    square = tile.plugins.operation("example.square")  # To be called in kernels.

``TILE_PLUGIN_PATHS`` names libraries that every compile loads. What a plugin's passes do in a
compile, the option `insert_passes` says.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import _C, knobs
from .errors import TileError

#: What was loaded: the path, and what identifies the contents.
_loaded: dict[str, str] = {}


def load(path: str | os.PathLike) -> None:
    """Loads a library; once, however often it is asked for."""
    from .compiler import contexts

    name = os.path.realpath(path)
    if name in _loaded:
        return
    try:
        contents = hashlib.sha256(Path(name).read_bytes()).hexdigest()
    except OSError as error:
        raise TileError(f"cannot read the plugin {path}: {error.strerror}") from None
    try:
        _C.passes.load_plugin(name)
    except _C.ir.MLIRError as error:
        raise TileError(str(error)) from None
    _loaded[name] = contents
    # Those that were made before do not know its dialects.
    contexts.forget()


def load_configured() -> None:
    """Loads what the environment names."""
    for path in knobs.compilation.plugin_paths.split(os.pathsep):
        if path:
            load(path)


def key() -> str:
    """What compiled kernels depend on."""
    return ",".join(sorted(_loaded.values()))


def operation(
    name: str, result: Callable[..., Any] | None = None, **attributes: str
) -> Callable[..., Any]:
    """A function for kernels that creates this operation of a plugin's dialect from its operands.
    `result` tells the type of the result from the operands; it is the type of the first by default.
    Attributes are given as text: ``axis="1 : i32"``."""
    from .language.promotion import to_tensor
    from .language.state import current
    from .language.values import builtin, tensor

    def create(*operands: Any) -> Any:
        b: Any = current()
        if b.eager:
            raise TileError(
                f"`{name}` is an operation of a plugin, which only compiled kernels run"
            )
        values = [to_tensor(x) for x in operands]
        ty = result(*values) if result is not None else values[0].type
        parsed = {n: _C.ir.Attribute.parse(t, b.context) for n, t in attributes.items()}
        return tensor(b.create_one(name, [x.handle for x in values], parsed, (b.type(ty),)), ty)

    create.__name__ = create.__qualname__ = name.replace(".", "_")
    create.__doc__ = f"The operation `{name}`."
    return builtin(create)


__all__ = ["key", "load", "load_configured", "operation"]
