"""What Triton's library gives to programs that have LLVM IR of their own: its assembly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tile import _C
from tile.backends.base import GPUTarget
from tile.compat.unbuilt import UnbuiltAttributeError
from tile.compiler import make_backend
from tile.errors import TileError


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnbuiltAttributeError(
        f"triton._C.libtriton.llvm.{name} is not built in tile yet: translate_to_asm takes LLVM IR "
        "as text, and the option `extern_libs` of a kernel links libraries"
    )


def init_targets() -> None:
    """Does nothing: LLVM's targets are ready."""


def translate_to_asm(
    llvm_ir: str, triple: str, proc: str, features: str, flags: Sequence[str],
    enable_fp_fusion: bool, is_object: bool, canonicalize_gep: bool = False,
    sched4reg: bool = False,
) -> str | bytes:  # fmt: skip
    """The assembly of LLVM IR for a processor such as ``sm_90a`` or ``gfx942``, or an object where
    LLVM's assembler makes one. The features and flags of LLVM are those that kernels have."""
    options: dict[str, Any] = {"enable_fp_fusion": enable_fp_fusion}
    if triple.startswith("nvptx"):
        if is_object:
            raise TileError("LLVM makes no objects for NVIDIA GPUs: ptxas assembles PTX")
        return _ptx(llvm_ir, proc, features, options)
    if not triple.startswith("amd"):
        raise TileError(f"{triple!r} is no triple of a GPU")
    assembly = _amdgcn(llvm_ir, proc, options)
    return assemble_amdgcn(assembly, proc) if is_object else assembly


def _ptx(llvm_ir: str, processor: str, features: str, options: dict[str, Any]) -> str:
    found = re.fullmatch(r"sm_(\d+)[af]?", processor)
    if found is None:
        raise TileError(f"{processor!r} is no NVIDIA GPU; they are called sm_90a, say")
    if version := re.search(r"\+ptx(\d+)", features):
        options["ptx_version"] = int(version[1])
    backend = make_backend(GPUTarget("cuda", int(found[1]), 32))
    code = backend.ptx_options(backend.parse_options(options))
    return _asked(lambda: _C.llvm.emit_ptx(llvm_ir, _C.ir.Context(), code))


def _asked(do: Callable[[], Any]) -> Any:
    """What LLVM answers; its errors are ours."""
    try:
        return do()
    except _C.ir.MLIRError as error:
        raise TileError(str(error)) from None


def _amd_code(processor: str, options: dict[str, Any]) -> Any:
    """What the backend tells LLVM about an AMD GPU."""
    from tile.backends.amd.targets import find_facts

    target = GPUTarget("hip", processor, find_facts(processor).wave_size)
    backend = make_backend(target)
    return backend.code_options(backend.parse_options(options))


def _amdgcn(llvm_ir: str, processor: str, options: dict[str, Any]) -> str:
    code = _amd_code(processor, options)
    return _asked(lambda: _C.amd.emit_assembly(llvm_ir, _C.ir.Context(), code))


def assemble_amdgcn(assembly: str, processor: str) -> bytes:
    """The relocatable object of AMD's assembly."""
    code = _amd_code(processor, {})
    return _asked(lambda: _C.amd.assemble(assembly, _C.ir.Context(), code))


__all__ = ["init_targets", "translate_to_asm"]
