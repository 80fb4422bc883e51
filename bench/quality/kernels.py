"""The kernels that are kept: examples and corpus from Python, public ones as they were recorded."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tile
from tile import _C
from tile.backends.compiler import GPUTarget
from tile.compiler import ASTSource

from .cases import Case, amd_cases, cases, hopper_cases, hopper_kernels
from .compiled import MACHINES, source_of

#: What `collect.py` wrote.
RECORDED = Path(__file__).resolve().parents[1] / "recorded"


class RecordedSource(ASTSource):
    """What the front end wrote for a kernel whose source is not here. Unlike a file that is given
    to `tile.compile`, it goes through all stages, the first one, too."""

    ext = "ttir"

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.fn = None
        self.constants: dict[Any, Any] = {}
        self.signature: dict[str, Any] = {}
        self.attrs: dict[Any, Any] = {}
        self.hints: dict[Any, Any] = {}

    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def make_ir(self, options: Any, context: Any) -> Any:
        module = _C.ir.Module.parse(self.text, context, self.name)
        module.verify()
        return module


def with_small_pointers(text: str) -> str:
    """What launches on AMD GPUs find of their pointers: there is less than 2 GiB behind each."""
    range_ = "tt.pointer_range = 32 : i32"

    def add(found: re.Match) -> str:
        others = f", {found[2]}" if found[2] else ""
        return f"{found[1]} {{{range_}{others}}}"

    head, brace, body = text.partition(") attributes {")
    return re.sub(r"(: !tt\.ptr<[^<>]*>)(?: \{([^}]*)\})?", add, head) + brace + body


@dataclass(frozen=True)
class Kernel:
    name: str
    source: Callable[[GPUTarget], ASTSource]
    options: dict[str, Any]

    def compile(self, target: GPUTarget) -> Any:
        """To the text of the machine; what comes behind it is made when it is asked for. Raises
        TileError where the kernel is refused."""
        stage = MACHINES[target.backend].STAGE
        return tile.compile(self.source(target), target, dict(self.options), lazy_after=stage)


def _of_case(case: Case) -> Kernel:
    return Kernel(case.name, functools.partial(source_of, case), case.options)


def _recorded_source(path: Path, target: GPUTarget) -> RecordedSource:
    text = path.read_text(encoding="utf-8")
    found = re.search(r"tt\.func public @([\w$.]+)", text)
    if target.backend == "hip":
        text = with_small_pointers(text)
    return RecordedSource(found[1] if found else path.stem, text)


def of_file(path: Path) -> Kernel:
    """A recorded kernel; its second line has its options."""
    with path.open(encoding="utf-8") as file:
        _, second = file.readline(), file.readline()
    options = json.loads(second.removeprefix("// options:"))
    return Kernel(path.stem, functools.partial(_recorded_source, path), options)


#: Of products of other types than fp16, these tiles; there are many, and they are much alike.
_TILES = re.compile(r" (64x64x\d+, 4|128x128x\d+, 8|128x256x\d+, 8) warps")


def _is_kept(case: Case) -> bool:
    found = re.match(r"matmul (\w+)", case.name)
    if found is None or found[1] == "fp16":
        return True
    return found[1] != "bf16" and _TILES.search(case.name) is not None


def kernels() -> list[Kernel]:
    """All of them, sorted by name."""
    every = (*cases(), *amd_cases(), *hopper_cases(), *hopper_kernels())
    ours = [_of_case(case) for case in every if _is_kept(case)]
    recorded = [of_file(path) for path in RECORDED.glob("*.ttir")]
    return sorted({k.name: k for k in (*ours, *recorded)}.values(), key=lambda k: k.name)


@functools.cache
def known_kernels() -> dict[str, Kernel]:
    """The same by name; made once in a process."""
    return {kernel.name: kernel for kernel in kernels()}
