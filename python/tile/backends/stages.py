"""What the stages of compiles are, for those who do not know the backend.

Each backend lists its stages in ``stages.py``, first to last: ``STAGES = (TTIR, TTGIR, ...)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Stage:
    """What one stage makes."""

    #: The key in ``kernel.asm``, and the ending of files.
    name: str
    #: Bytes; others are text.
    is_binary: bool = False
    #: The text is a module of MLIR.
    is_module: bool = False
    #: A driver can load it. Of several, it loads the last that there is.
    is_code: bool = False
    #: Making it tells what the kernel takes: registers, what is spilled.
    resources: bool = False
    #: Finds the name of the kernel in the text, as its first group. None: no compile starts here.
    kernel_pattern: str | None = None
    #: Find the target that a text is for; the first that matches counts. The groups are `backend`
    #: (left out where only this backend's texts match), `arch`, and `only` (empty where the text is
    #: also for later architectures).
    target_patterns: tuple[str, ...] = ()


#: The name of a target on a module.
_MODULE_TARGET = r'\b(?:ttg|triton_gpu)\.target"?\s*=\s*"(?P<backend>\w+):(?P<arch>\w+)'

#: How a kernel begins in a module. A function without a visibility is public, too.
KERNEL_OF_MODULE = r"tt\.func\s+(?:public\s+)?@\"?"

#: What all backends have.
TTIR = Stage(
    "ttir",
    is_module=True,
    kernel_pattern=KERNEL_OF_MODULE + r"(\w+)",
    target_patterns=(_MODULE_TARGET,),
)
#: Programs with explicit layouts begin here.
GLIR = replace(TTIR, name="glir")
TTGIR = replace(TTIR, name="ttgir")
#: Stages whose modules say how many warps a program has.
WITH_WARPS = ("glir", "ttgir")


def llir(calling_convention: str, *target_patterns: str) -> Stage:
    """LLVM IR, whose kernels have this calling convention."""
    return Stage(
        "llir",
        kernel_pattern=(rf"define\s+(?:[\w()]+\s+)*{calling_convention}\s+void\s+@\"?([\w$.]+)"),
        target_patterns=(
            r'!"ttg\.target", !"(?P<backend>\w+):(?P<arch>\w+)',
            *target_patterns,
        ),
    )


def last_text(stages: Iterable[Stage]) -> Stage:
    """What a kernel is in text at last: assembly."""
    return [stage for stage in stages if not stage.is_binary][-1]
