"""What a backend provides."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import operator
import re
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

from .. import _C, knobs
from ..errors import DriverError, TileError
from .stages import Stage


@dataclass(frozen=True)
class GPUTarget:
    """What to compile for: ``GPUTarget("cuda", 90, 32)``."""

    backend: str
    arch: int | str
    warp_size: int = 32

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"


def with_arch(target: GPUTarget, arch: Any, what: str) -> GPUTarget:
    """The target with another architecture, which `what` gives: the name of a processor where the
    target has one, elsewhere a number, also as in sm90."""
    if isinstance(target.arch, str):
        return dataclasses.replace(target, arch=arch)
    number = re.fullmatch(r"(?:sm_?)?(\d+)a?", str(arch))
    if number is None:
        raise TileError(f"{what} is an architecture such as sm90 or 90, not {arch!r}")
    return dataclasses.replace(target, arch=int(number[1]))


def overridden(target: GPUTarget) -> GPUTarget:
    """The target of a device, or what the environment says."""
    arch = knobs.runtime.override_arch
    return with_arch(target, arch, "TRITON_OVERRIDE_ARCH") if arch else target


#: Of memory's bus, in the simulator. The model knows the bandwidth alone, and programs compute it
#: as twice the product of clock and width.
_BUS_BITS = 8192


def modelled_properties(processor: str) -> dict[str, int]:
    """Properties of the GPU that the simulator's cost model takes for a processor, as its assembly
    names it (sm_100, gfx942). Clocks are in kHz."""
    gpu = _C.sim.gpu_of_target(processor)
    return {
        "multiprocessor_count": gpu["multiprocessors"],
        "sm_clock_rate": round(gpu["clock"] / 1000),
        "mem_bus_width": _BUS_BITS,
        "mem_clock_rate": round(gpu["bytes_per_second"] * 8 / (2 * _BUS_BITS) / 1000),
    }


@dataclass(frozen=True)
class Occupancy:
    """How many warps reside at once, and what does not let more of them."""

    warps: int
    #: That the unit has room for, whatever they take.
    most: int
    #: The part of a GPU that holds them.
    unit: str
    #: The resource that limits them.
    bound: str
    #: For each resource that is known, the warps that it is enough for.
    limits: dict[str, int]
    #: Blocks that the whole GPU holds; None if it is not known.
    blocks_at_once: int | None = None


@dataclass(frozen=True)
class BaseOptions:
    """Options of a compile; a backend adds its own."""

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    debug: bool = False
    #: Whether + - * on signed integers stop the kernel where they overflow; as `debug` by default.
    sanitize_overflow: bool = False
    #: Whether the threads' copies of scalars that decide branches and addresses are compared.
    check_replicas: bool = False
    #: Make no use of pointer arguments not overlapping; launches set this where they do.
    overlapping_arguments: bool = False
    #: Passes to leave out, by their names, with commas between.
    disable_passes: str = ""
    #: Passes to put in at extension points: ``loops-start:cse,copies-end:my-pass{n=1}``.
    insert_passes: str = ""
    #: The mode of the profiler that kernels record in, as text; none where it is empty.
    instrumentation_mode: str = ""
    #: The target, for kernels that ask.
    backend_name: str = ""
    arch: int | str = 0

    def hash(self) -> str:
        text = repr(sorted(self.as_dict().items()))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def warp_size(self) -> int:
        return 32

    def ttir_arguments(self) -> str:
        """Of the pipeline that all backends begin with."""
        return "fill-undefined-lanes=true" if self.debug else ""

    #: The pass that makes instructions of the profiler's records.
    records_pass: ClassVar[str] = ""

    @classmethod
    def names(cls) -> frozenset[str]:
        """What launches may say: the fields, and what backends that lack it pass over."""
        own = {f.name for f in dataclasses.fields(cls)} - {"backend_name"}
        return frozenset(own | {"ir_override"})

    @classmethod
    def of(cls, options: dict[str, Any], ignored: Collection[str] = ()) -> dict[str, Any]:
        """The options that were given, as the types of the fields here; those of other targets
        that mean nothing here are not an error."""
        fields = _field_types(cls)
        chosen = {}
        for name, value in options.items():
            if value is None or name in ignored:
                continue
            if name not in fields:
                known = ", ".join(sorted(fields))
                raise TileError(f"unknown option `{name}`; the options are {known}")
            chosen[name] = _as_type(value, fields[name])
        return chosen

    def check_types(self) -> None:
        """Refuses a number for a text, and the like."""
        for name, allowed in _field_types(type(self)).items():
            value = getattr(self, name)
            if (what := _KINDS.get(allowed[0])) and type(value) not in allowed:
                raise TileError(f"{name} must be {what}, not {value!r}")

    def as_dict(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}


_KINDS = {int: "an integer", bool: "True or False", str: "a string"}


@functools.cache
def _field_types(options: type[BaseOptions]) -> dict[str, tuple[type, ...]]:
    """The types that the values of options have."""
    hints = typing.get_type_hints(options)
    union = types.UnionType
    return {
        f.name: typing.get_args(hint) if isinstance(hint := hints[f.name], union) else (hint,)
        for f in dataclasses.fields(options)
    }


def _as_type(value: Any, allowed: tuple[type, ...]) -> Any:
    """An integer of NumPy as Python's; 0 and 1 as a truth value where one is asked for."""
    if not isinstance(value, (bool, int, str)) and hasattr(value, "__index__"):
        value = operator.index(value)
    elif not isinstance(value, bool) and type(value).__name__ in ("bool", "bool_"):
        value = bool(value)  # NumPy's.
    return bool(value) if allowed[0] is bool and value in (0, 1) else value


#: Turns what the stage before made into what this one makes. None: the machine
#: lacks the tool.
Make = Callable[[Any, dict[str, Any]], Any]


class BaseBackend(ABC):
    """Compiles for one kind of target."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    @staticmethod
    @abstractmethod
    def supports_target(target: GPUTarget) -> bool: ...

    @staticmethod
    @abstractmethod
    def target_names() -> list[str]: ...

    @classmethod
    def find_target(cls, arch: str) -> GPUTarget:
        """The target of an architecture as programs and users write it: 90, gfx942."""
        return GPUTarget(cls.target_names()[0], int(arch) if arch.isdigit() else arch)

    @staticmethod
    def describe_tools() -> list[tuple[str, str]]:
        """The tools that the backend uses on this machine, and what they are."""
        return []

    @abstractmethod
    def hash(self) -> str:
        """Identifies the target and the tools in cache keys."""

    @abstractmethod
    def parse_options(self, options: dict[str, Any]) -> BaseOptions: ...

    #: What its stages make, first to last.
    STAGES: tuple[Stage, ...]

    @classmethod
    def find_stage(cls, name: str) -> Stage:
        """The stage of a name, which may be one that a program added: text."""
        return next((s for s in cls.STAGES if s.name == name), Stage(name))

    def without_tensor_maps(self, kernel: Any) -> dict[str, Any]:
        """The options of a launch for which a kernel lacks a tensor map."""
        return {}

    @abstractmethod
    def stages(self, options: Any) -> dict[str, Make]:
        """The functions that make the stages, first to last."""

    def explicit_stages(self, options: Any) -> dict[str, Make]:
        """The stages of programs that say their layouts, first to last."""
        raise TileError(f"{self.target}: tile does not compile Gluon programs for it yet")

    def views(self) -> dict[str, tuple[str, Callable]]:
        """Other ways to look at stages: name -> the stage, and a function of what it made."""
        return {}

    def has_tools_for(self, stage: str) -> bool:
        """True if this machine has what the stage needs."""
        return True

    def starting_tools(self, stages: list[str], options: Any) -> AbstractContextManager:
        """A block in which these stages are made, first to last. Tools that they run may start
        with it."""
        return nullcontext()

    # What explanations ask for.

    def occupancy(self, kernel: Any, report: Any) -> Occupancy | None:
        """Of a compiled kernel, of which the simulator gave a report (or None); None if that is
        not known."""
        return None

    #: Whether copies through descriptors are done by an engine of the GPU.
    copies_by_descriptors: bool = False

    # What the simulator asks for.

    #: The stage whose text it runs; None if it runs nothing of this backend's.
    simulated_stage: str | None = None
    #: Whether the simulator knows when warps of its kernels would run.
    simulated_timelines: bool = False

    def simulated_properties(self) -> dict[str, int]:
        """The properties of a device of the kind that it stands for."""
        return {}

    def simulated_parameters(self, kernel: Any, values: list[Any]) -> list[bytes] | None:
        """What a kernel takes after its arguments, each at a multiple of 64 bytes; None where
        nothing describes these values of them (as _C.launch.NO_TENSOR_MAP says)."""
        return []

    def simulated_printing(self, text: str) -> Any:
        """What a launch of this code prints to, if that is memory of the host.

        It has the `memory`, and where its address is among the arguments (`pointer_offset`). After
        the launch it has `text()` and `assertion`.
        """
        return None

    # What programs that make IR themselves ask for.

    def load_dialects(self, context: Any) -> None:  # noqa: B027
        """Nothing to do: a context has all dialects."""

    def get_codegen_implementation(self, options: Any = None) -> dict[str, Callable]:
        """Functions of the backend's that the front end calls: none."""
        return {}

    def get_module_map(self) -> dict[str, Any]:
        """Modules that stand for others in kernels: none."""
        return {}

    @staticmethod
    def get_int_specialization(arg: int, **known: Any) -> str:
        """What a kernel is compiled for that takes this integer, as letters: "D" for a multiple of
        16, where `align` says that it is looked at."""
        return "D" if known.get("align") and arg % 16 == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg: Any, **known: Any) -> str:
        """The same of a tensor, by its address."""
        from ..runtime.specialize import address_of

        return "D" if known.get("align") and address_of(arg) % 16 == 0 else ""

    def count_parameters(self, stage: str, text: Any) -> int | None:
        """How many parameters the kernel in the text of a stage has; None where nobody counts."""
        return None

    @staticmethod
    def parse_attr(desc: str) -> list[list]:
        """What the description of an argument says about it, as attributes."""
        from ..runtime.specialization import parse_attr

        return parse_attr(desc)

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        """What launchers pass through to a kernel's `run`."""
        return metadata.num_warps, metadata.num_ctas, metadata.shared


class DeviceUtils:
    """``driver.active.utils``."""

    def __init__(self, driver: DriverBase) -> None:
        self._driver = driver

    def get_device_properties(self, device: int | None = None) -> dict[str, int]:
        """Limits and counts of a device, by name."""
        return self._driver.device_properties(int(device or 0))


class DriverBase(ABC):
    """Runs kernels on one kind of device."""

    #: How TILE_DRIVER names it.
    name: str
    #: Tried in this order where TILE_DRIVER names none.
    priority: int = 0
    #: What torch calls the kind of device whose tensors it takes.
    torch_device: str = "cpu"
    #: How much memory fills the largest second-level cache.
    cache_bytes: int = 4096
    #: Whether torch records events on its streams, which measure calls.
    has_events: bool = False

    @staticmethod
    @abstractmethod
    def is_active() -> bool:
        """True if there is a device."""

    @abstractmethod
    def get_current_target(self) -> GPUTarget: ...

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """Makes a device the one that this thread launches on."""
        if device != self.get_current_device():
            raise DriverError(f"the driver `{self.name}` has no device {device}")

    def get_current_stream(self, device: int) -> Any:
        return 0

    #: The address of a C function `int f(int *device)` that tells the current device without
    #: Python and fails where none is; 0 if there is none. Then each launch asks in Python.
    device_getter: int = 0

    def stream_getter(self) -> Callable[[int], int] | None:
        """What tells a device's current stream, once torch has been imported; None if it is 0."""
        return None

    def enter_device(self, device: int) -> None:  # noqa: B027
        """Called before this thread uses the device."""

    # What programs ask a driver for.

    @property
    def utils(self) -> DeviceUtils:
        """Queries of the device."""
        return DeviceUtils(self)

    def device_properties(self, device: int) -> dict[str, int]:
        """What `utils.get_device_properties` returns."""
        raise DriverError(f"the driver `{self.name}` does not know the device's properties")

    def get_active_torch_device(self) -> Any:
        """The device on which torch makes tensors for this driver."""
        import torch

        if self.torch_device == "cpu":  # Tensors there say no index.
            return torch.device("cpu")
        return torch.device(self.torch_device, self.get_current_device())

    def get_device_interface(self) -> Any:
        """torch's module for the device."""
        import torch

        return getattr(torch, self.torch_device)

    def get_benchmarker(self) -> Callable:
        """The function that measures calls."""
        from ..testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        """A buffer that fills the second-level cache when it is written."""
        import torch

        return torch.empty(self.cache_bytes // 4, dtype=torch.int32, device=self.torch_device)

    def clear_cache(self, cache: Any) -> None:
        """Writes such a buffer, so that what is measured next starts without it."""
        cache.zero_()

    def check_arguments(self, kernel: Any, arguments: list[Any]) -> None:  # noqa: B027
        """Raises for arguments that the device cannot use. Called when a kernel is compiled for
        a launch, and whenever a tensor is elsewhere than on the current device."""

    def allocation_of(self, address: int) -> tuple[int, int] | None:
        """The first address of the allocation around `address`, and the one behind
        its last; None if the driver does not know."""
        return None

    def raise_launch_error(self, code: int, name: str) -> None:
        """Raises for a code that a launch function returned."""
        if code == _C.launch.NO_TENSOR_MAP:  # `kernel[grid]` tries a kernel without maps first.
            raise DriverError(
                f"no tensor map describes a descriptor that `{name}` is passed: its base, its rows "
                "and its strides must be multiples of 16 bytes and its strides positive. A kernel "
                "that starts no copy by a tensor map itself takes others with tma=False"
            )
        if code == _C.launch.UNLOADED:
            raise DriverError(f"`{name}` was unloaded whenever it was about to be launched")
        raise DriverError(f"cannot launch `{name}`: error {code}")

    @abstractmethod
    def make_launcher(self, kernel: Any, parameters: dict[str, str]) -> Callable:
        """Returns `launch(grid_x, grid_y, grid_z, stream, arguments)` for a
        kernel whose run-time parameters have these names and types."""
