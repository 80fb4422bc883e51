"""A program that compiles the kernel again, without its source."""

from __future__ import annotations

import pprint
from typing import Any

from ..backends import find_backend
from .explanation import Explanation

_PROGRAM = '''"""Compiles the kernel `{name}` again, from the IR that its Python became.

Grid {grid}; arguments: {arguments}
"""

import tempfile
from pathlib import Path

import tile

IR = {ir}
OPTIONS = {options}

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, {file!r})
    path.write_text(IR)
    kernel = tile.compile(str(path), target=tile.GPUTarget{target}, options=OPTIONS)
    print(kernel.name, {shown!r}, kernel.metadata.shared, "bytes of shared memory")
    print(kernel.assembly)
'''


def reproducer(explanation: Explanation) -> str:
    launched = explanation.launched
    if launched is None:
        return ""
    kernel: Any = launched.kernel
    stage = explanation.stages[0]
    metadata = kernel._metadata["target"]
    target = (metadata["backend"], metadata["arch"], metadata["warp_size"])
    backend = find_backend(kernel_target(kernel))
    names = type(backend.parse_options({})).names()
    options = {name: value for name, value in explanation.options.items() if name in names}
    return _PROGRAM.format(
        name=explanation.name,
        grid=tuple(explanation.grid),
        arguments=", ".join(explanation.arguments) or "none",
        ir=pprint.pformat(stage.text, width=100),
        options=pprint.pformat(options),
        file=f"{explanation.name}.{stage.name}",
        target=target,
        shown=explanation.target,
    )


def kernel_target(kernel: Any) -> Any:
    from ..backends import GPUTarget

    return GPUTarget(**kernel._metadata["target"])
