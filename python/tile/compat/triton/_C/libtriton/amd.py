"""What Triton's library for AMD's GPUs gives to programs: an assembler, a linker, and what the
GPUs can do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tile import _C
from tile.compat.unbuilt import UnbuiltAttributeError
from tile.errors import TileError

from . import llvm
from .passes import amd as passes

#: LLVM's calling convention of kernels.
CALLING_CONV_AMDGPU_KERNEL = 91


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnbuiltAttributeError(
        f"triton._C.libtriton.amd.{name} is not built in tile yet: assemble_amdgcn and "
        "llvm.translate_to_asm take text, link_hsaco a file, and `passes` has passes for these GPUs"
    )


def get_target_triple(processor: str) -> str:
    """LLVM's name of the kind of machine."""
    return "amdgcn-amd-amdhsa"


def assemble_amdgcn(assembly: str, triple: str, processor: str, features: str) -> bytes:
    """The relocatable object of assembly."""
    return llvm.assemble_amdgcn(assembly, processor)


def link_hsaco(source: str, target: str) -> None:
    """Links the object in a file to a code object, which the run time loads, in another file."""
    try:
        code = Path(source).read_bytes()
    except OSError as error:
        raise TileError(f"{source} cannot be read: {error.strerror}") from None
    Path(target).write_bytes(_C.amd.link(code, _C.ir.Context()))


def has_architected_sgprs(triple: str, processor: str) -> bool:
    """Whether the hardware writes the numbers of a work-group to scalar registers of their own."""
    return _generation(processor) >= 12


def supports_multi_cta_launch(processor: str) -> bool:
    """Whether work-groups are launched as clusters. Those GPUs are not known here."""
    return False


def supports_tdm(processor: str) -> bool:
    """Whether there is an engine that moves tensors. Those GPUs are not known here."""
    return False


def find_loaded_library(library_name: str) -> str | None:
    """The path of the first library of this process whose name contains a text."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        *_, path = line.split(maxsplit=5)
        if path.startswith("/") and library_name in path.rsplit("/", 1)[1]:
            return path
    return None


def _generation(processor: str) -> int:
    found = re.fullmatch(r"gfx(\d+)[0-9a-f]{2}", processor)
    if found is None:
        raise TileError(f"{processor!r} is no AMD GPU; they are called gfx942, say")
    return int(found[1])


__all__ = [
    "CALLING_CONV_AMDGPU_KERNEL", "assemble_amdgcn", "find_loaded_library", "get_target_triple",
    "has_architected_sgprs", "link_hsaco", "passes", "supports_multi_cta_launch", "supports_tdm",
]  # fmt: skip
