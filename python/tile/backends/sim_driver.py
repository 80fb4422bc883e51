"""Runs kernels of any backend in the simulator, on NumPy arrays and CPU tensors."""

from __future__ import annotations

import contextlib
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _C, knobs
from ..compiler.errors import of_assembly
from ..errors import DriverError, TileError
from ..runtime import dlpack, overlap, scalars
from ..runtime.memory import live_address
from ..settings import HookChain
from . import find_backend, parse_architecture, parse_target
from .base import DriverBase, GPUTarget, overridden


@dataclass(frozen=True)
class SimulatedLaunch:
    """A launch that ended, for those who watch them."""

    name: str
    stream: Any
    report: Any
    #: Of the GPU that the simulator stands for.
    properties: dict[str, int]
    #: What the simulation took.
    nanoseconds: int
    #: What was launched, and with which arguments.
    kernel: Any
    arguments: tuple
    #: What the kernel says about its records for the profiler, and its memory of them.
    records: dict[str, Any] | None = None
    recorded: Any = None


#: Called with each launch, on its thread; while there is anybody, reports have a timeline where the
#: simulator has one.
LAUNCHES = HookChain()


# How a run-time parameter is packed, by its type in the signature.


def _align(offset: int, size: int) -> int:
    return (offset + size - 1) // size * size


def pointer_range(value: Any) -> tuple[int, int, int, bool]:
    """Address of the first element, then first byte, size and writability."""
    base = getattr(value, "base", None)
    if type(value).__name__ == "TensorWrapper":
        return pointer_range(base)
    if hasattr(value, "data_ptr"):  # A torch tensor.
        if getattr(value, "is_cuda", False):
            raise DriverError(
                "this tensor is on a GPU, but kernels run in the simulator; use .cpu(), or "
                "TILE_DRIVER=cuda"
            )
        # Classes of the users' that stand for a tensor have it as `data`.
        for tensor in (value, getattr(value, "data", None)):
            if hasattr(tensor, "untyped_storage"):
                storage = tensor.untyped_storage()
                return live_address(value), storage.data_ptr(), storage.nbytes(), True
        raise DriverError(
            f"the simulator cannot tell how much memory this {type(value).__name__} has: it is no "
            "tensor, and has none as its `data`"
        )
    if isinstance(value, np.ndarray) or hasattr(value, "__array_interface__"):
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
        address = array.__array_interface__["data"][0]
        low, high = (
            np.lib.array_utils.byte_bounds(array)
            if hasattr(np.lib, "array_utils")
            else np.byte_bounds(array)
        )
        return address, low, high - low, array.flags.writeable
    if dlpack.is_exporter(value):
        if dlpack.view(value).device_type not in dlpack.ON_THE_HOST:
            raise DriverError(
                f"this {type(value).__name__} is on a device, but kernels run in the simulator"
            )
        low, high = overlap.extent(value)
        return dlpack.view(value).address, low, high - low, True
    raise DriverError(
        f"the simulator takes NumPy arrays and CPU tensors, not a {type(value).__name__}"
    )


def _load(assembly: str) -> Any:
    """The kernel's assembly, decoded. What is wrong with it was written in the kernel, as
    inline assembly: the error says where."""
    import tile.sim

    try:
        return tile.sim.load(assembly)
    except TileError as error:
        if (placed := of_assembly(str(error), assembly)) is None:
            raise
        raise placed from None


class SimDriver(DriverBase):
    """The driver where there is no GPU."""

    name = "sim"
    priority = 10

    @staticmethod
    def is_active() -> bool:
        return True

    def __init__(self) -> None:
        #: The report of the last launch.
        self.last_report: Any = None
        #: Whether reports of launches are to rank configurations.
        self.ranks = False

    @contextlib.contextmanager
    def ranking(self) -> Iterator[None]:
        """Launches have a latency model of their first cluster meanwhile."""
        self.ranks = True
        try:
            yield
        finally:
            self.ranks = False

    def get_current_target(self) -> GPUTarget:
        text = knobs.runtime.sim_target
        try:
            target = parse_target(text) if ":" in text else parse_architecture(text)
            return parse_target(str(overridden(target)))
        except TileError as error:
            raise DriverError(
                f"TILE_SIM_TARGET is a target such as cuda:90 or hip:gfx942, not {text!r}: {error}"
            ) from None

    def get_current_device(self) -> int:
        """One device for each architecture, so that what was compiled for one
        is not launched on another."""
        arch = self.get_current_target().arch
        return arch if isinstance(arch, int) else zlib.crc32(arch.encode()) >> 1

    def device_properties(self, device: int) -> dict[str, int]:
        """Those of a GPU of the kind that the simulator stands for."""
        return find_backend(self.get_current_target()).simulated_properties()

    @property
    def last_stage(self) -> str | None:
        """The last stage that launches need; the rest is made when asked for."""
        return find_backend(self.get_current_target()).simulated_stage

    def make_launcher(self, kernel: Any, parameters: dict[str, str]) -> Callable:
        import tile.sim
        from tile.sim.launcher import forbidden_ranges, session_of
        from tile.sim.partitions import partitions_of
        from tile.sim.prepared import merge
        from tile.sim.reachable import reachable_arrays

        metadata = kernel._metadata
        target = GPUTarget(**metadata["target"])
        backend = find_backend(target)
        if backend.simulated_stage is None:
            raise DriverError(f"the simulator runs no kernels that are compiled for {target}")
        text = kernel.asm[backend.simulated_stage]
        module = _load(text)
        name = metadata["name"]
        block = (target.warp_size * metadata.get("num_warps", 4), 1, 1)
        ctas = metadata.get("num_ctas", 1)
        shared = metadata.get("shared", 0)
        hidden_memory = {
            "scratch": metadata.get("global_scratch_size", 0),
            "memory of records": metadata.get("profile_scratch_size", 0),
        }
        pairs = overlap.pairs_of(kernel)
        placed = [(n, p[2]) for n, p in zip(parameters, module.params(name), strict=False)]

        def launch(x: int, y: int, z: int, stream: Any, arguments: tuple, **options: Any) -> Any:
            buffer, allocations, values = pack(parameters, arguments)
            hidden = backend.simulated_parameters(kernel, values)
            if hidden is None:
                return _C.launch.NO_TENSOR_MAP
            for data in hidden:
                buffer += bytes(_align(len(buffer), 64) - len(buffer)) + data
            blocks = x * y * z * ctas
            # Held until the launch ended.
            memories = {n: _Memory(size * blocks) for n, size in hidden_memory.items() if size}
            for what, memory in memories.items():
                buffer += bytes(_align(len(buffer), 8) - len(buffer))
                buffer += struct.pack("<Q", memory.address)
                allocations.append((memory.address, memory.size, what, True))
            printing = backend.simulated_printing(text)
            if printing:
                at, memory_of_prints = printing.pointer_offset, printing.memory
                address = memory_of_prints.ctypes.data
                buffer += bytes(at - len(buffer)) + struct.pack("<Q", address)
                allocations.append((address, memory_of_prints.size, "print buffer", True))
            for i, array in enumerate(reachable_arrays()):
                _, low, size, writable = pointer_range(array)
                allocations.append((low, size, f"reachable array {i}", writable))
            suppressions = options.pop("suppressions", ())
            checks = options.pop("checks", None)
            if checks is not None:
                options["checks"] = checks
            shapes = [s for a in arguments if (s := tile.sim.array_shape(a))]
            spans = [overlap.extent(a) for a in arguments] if pairs else ()
            forbidden = forbidden_ranges(pairs, placed, spans)
            began = time.perf_counter_ns()
            if (LAUNCHES or self.ranks) and backend.simulated_timelines:
                # Clocks of records are those of the latency model.
                clusters = x * y * z if metadata.get("records") else 1
                options.setdefault("timelines", clusters)
            session = session_of(
                name=name,
                text=text,
                threads=block[0],
                cluster=ctas,
                grid=(x, y, z),
                arguments=dict(zip(parameters, arguments, strict=False)),
            )
            prepared = tile.sim.PreparedLaunch(
                module, name, (x * ctas, y, z), block, buffer, merge(allocations),
                cluster=(ctas, 1, 1), dynamic_shared=shared, arrays=shapes,
                forbidden=forbidden, dead=("scratch", "print buffer"),
                session=session, held=(arguments, memories, printing, [*reachable_arrays()]),
                **options,
            )  # fmt: skip

            def finish(report: Any) -> Any:
                report.ptx = text
                report.suppress([*suppressions, *tile.sim.suppressions.of_setting()])
                self.last_report = report
                if LAUNCHES:
                    took = time.perf_counter_ns() - began
                    properties = backend.simulated_properties()
                    recorded = memories.get("memory of records")
                    LAUNCHES(
                        SimulatedLaunch(
                            name, stream, report, properties, took, kernel, arguments,
                            metadata.get("records"),
                            recorded and recorded.read(),
                        )
                    )  # fmt: skip
                if printing and (printed := printing.text()):
                    report.add_output(printed)
                if report.output:
                    print(report.output, end="")
                if not report.ok:
                    report.partitions = partitions_of(kernel.asm.get("ttgir", ""))
                    raise tile.sim.SimulationError(report, printing.assertion if printing else "")
                return report

            return tile.sim.run_or_add(prepared, finish)

        def has_tensor_maps(arguments: tuple) -> bool:
            return backend.simulated_parameters(kernel, pack(parameters, arguments)[2]) is not None

        launch.has_tensor_maps = has_tensor_maps  # type: ignore[attr-defined]
        return launch


class _Memory:
    """Memory of a launch that is no argument: zeros, aligned as any kernel wants it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._held = np.zeros(max(1, size) + 128, np.uint8)
        self.address = _align(self._held.ctypes.data, 128)

    def read(self) -> Any:
        start = self.address - self._held.ctypes.data
        return self._held[start : start + self.size]


def pack(
    parameters: dict[str, str], arguments: tuple
) -> tuple[bytes, list[tuple[int, int, str, bool]], list[Any]]:
    """The parameter buffer, the memory that pointers in it stand for, and the values."""
    buffer = bytearray()
    values: list[Any] = []
    allocations: list[tuple[int, int, str, bool]] = []
    for (name, ty), value in zip(parameters.items(), arguments, strict=False):
        if ty.startswith("*"):
            address = 0
            if isinstance(value, int):
                address = value
            elif value is not None:
                address, low, size, writable = pointer_range(value)
                allocations.append((low, size, f"argument {name}", writable))
            buffer += bytes(_align(len(buffer), 8) - len(buffer)) + struct.pack("<Q", address)
            values.append(address)
            continue
        values.append(value)
        data = scalars.to_bytes(ty, value, name)
        buffer += bytes(_align(len(buffer), len(data)) - len(buffer)) + data
    return bytes(buffer), allocations, values
