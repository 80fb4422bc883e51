"""Compiles a kernel once more, and looks on: each pass, each remark, the time of each stage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .. import knobs
from ..backends import GPUTarget, find_backend
from ..compiler import compile
from ..compiler.watch import Watcher, watched


@dataclass
class Recompiled:
    kernel: Any
    backend: Any
    watcher: Watcher
    #: What ran, and its milliseconds.
    times: list[tuple[str, float]]


def compile_again(kernel: Any) -> Recompiled:
    """The same compile, which is not taken from the cache."""
    target = GPUTarget(**kernel._metadata["target"])
    backend = find_backend(target)
    names = type(backend.parse_options({})).names() - {"ir_override", "instrumentation_mode"}
    options = {name: kernel._metadata[name] for name in names if name in kernel._metadata}
    # A launch starts more warps where some have jobs of their own.
    stated = re.search(r'"ttg\.num-warps" = (\d+)', kernel.asm.get("ttgir", ""))
    if stated is not None:
        options["num_warps"] = int(stated.group(1))
    times: list[tuple[str, float]] = []

    def listen(times: Any, **_: Any) -> None:
        found.append(times)

    found: list[Any] = []
    with knobs.compilation.scope(), watched() as watcher:
        knobs.compilation.always_compile = True
        knobs.compilation.listener = listen
        again = compile(kernel.src, target, options)
    for one in found:
        times = [(name, us / 1000) for name, us in one.lowering_stages]
    return Recompiled(again, backend, watcher, times)
