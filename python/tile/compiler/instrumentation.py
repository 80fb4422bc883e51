"""Records of the profiler in kernels: the pass that lowers them, and what it says about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TileError

if TYPE_CHECKING:
    from ..backends import BaseOptions

#: The modes in which kernels record.
_MODES = ("default", "mma")


def records(options: BaseOptions) -> bool:
    """Whether kernels record in the mode that the options have."""
    return options.instrumentation_mode.partition(":")[0] in _MODES


def passes_of(options: BaseOptions) -> str:
    """What is put in at which extension point, as the option `insert_passes` says it."""
    if not records(options):
        return ""
    if not options.records_pass:
        raise TileError("kernels for this target cannot record for the profiler")
    arguments = []
    for part in options.instrumentation_mode.split(":")[1:]:
        key, _, value = part.partition("=")
        if key != "metric_type" and value:
            arguments.append(f"{key.replace('_', '-')}={value}")
    lowering = f"llir-end:{options.records_pass}{{{' '.join(arguments)}}}"
    if options.instrumentation_mode.startswith("mma"):
        return f"copies-end:proton-record-products,{lowering}"
    return lowering


def records_of(module: Any) -> dict[str, Any]:
    """What a launch must know about the records of a module; nothing where there are none."""
    described = module.attribute("proton.records")
    if described is None:
        return {}
    return {
        "profile_scratch_size": module.attribute("ttg.profile_scratch_memory_size").value,
        "profile_scratch_align": module.attribute("ttg.profile_scratch_memory_alignment").value,
        "records": described.value,
    }
