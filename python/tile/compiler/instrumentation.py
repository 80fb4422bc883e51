"""What is put into kernels on request: records, checks of sanitizers, marks of the debugger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TileError

if TYPE_CHECKING:
    from ..backends import BaseOptions

#: The modes in which kernels record.
_RECORDS = ("default", "mma")
#: The mode of `tile debug`: kernels say where statements begin and which values variables get.
VARIABLES = "variables"
#: The passes of sanitizers, by the names of their modes.
_SANITIZERS = {
    # Programs with explicit layouts begin later; the second does nothing after the first.
    "memcheck": "ttir-end:{0},copies-start:{0}".format("tritoninstrument-memory-checker"),
    "fpsan": "ttir-end:tritoninstrument-fp-sanitizer",
    # Where buffers and barriers are there, and loops still are loops.
    "consan": "llir-start:tritoninstrument-concurrency-sanitizer",
}
#: Sanitizers that others have, and what does their work here.
_NOT_BUILT = {
    "iisan": "run the kernel in the simulator, whose checks find undefined values",
    "gsan": "run the kernel in the simulator, whose checks find races in global memory",
}


def _name(options: BaseOptions) -> str:
    return options.instrumentation_mode.partition(":")[0]


def records(options: BaseOptions) -> bool:
    """Whether kernels record in the mode that the options have."""
    return _name(options) in _RECORDS


def shows_variables(options: BaseOptions) -> bool:
    """Whether kernels have the marks of the debugger."""
    return _name(options) == VARIABLES


def computes_exactly(options: BaseOptions) -> bool:
    """Whether numbers of the kernel do not round, and so do not become zero either."""
    return _name(options) == "fpsan"


def passes_of(options: BaseOptions) -> str:
    """What is put in at which extension point, as the option `insert_passes` says it."""
    name = _name(options)
    if records(options):
        return _passes_of_records(options)
    if name in _SANITIZERS:
        return _SANITIZERS[name]
    if name in _NOT_BUILT:
        raise TileError(f"instrumentation_mode={name!r} is not built in tile: {_NOT_BUILT[name]}")
    if name and name != VARIABLES:
        known = ", ".join([*_RECORDS, *_SANITIZERS, VARIABLES])
        raise TileError(f"there is no instrumentation_mode {name!r}; there are {known}")
    return ""


def refuse_explicit(options: BaseOptions) -> None:
    """Says that a mode does nothing in programs with explicit layouts."""
    if computes_exactly(options):
        raise TileError(
            "instrumentation_mode='fpsan' is for kernels whose layouts the compiler chooses, and "
            "not for programs with explicit layouts"
        )


def _passes_of_records(options: BaseOptions) -> str:
    if not options.records_pass:
        raise TileError("kernels for this target cannot record for the profiler")
    arguments = []
    for part in options.instrumentation_mode.split(":")[1:]:
        key, _, value = part.partition("=")
        if key != "metric_type" and value:
            arguments.append(f"{key.replace('_', '-')}={value}")
    lowering = f"llir-end:{options.records_pass}{{{' '.join(arguments)}}}"
    if _name(options) == "mma":
        return f"copies-end:proton-record-products,{lowering}"
    return lowering


def instruments_of(module: Any) -> dict[str, Any]:
    """What a launch must know about what was put into a module; nothing where nothing was."""
    found: dict[str, Any] = {}
    if module.attribute("tti.takes_bounds") is not None:
        found["takes_bounds"] = True
    described = module.attribute("proton.records")
    if described is not None:
        found |= {
            "profile_scratch_size": module.attribute("ttg.profile_scratch_memory_size").value,
            "profile_scratch_align": module.attribute("ttg.profile_scratch_memory_alignment").value,
            "records": described.value,
        }
    return found
