"""Runs kernels on an AMD GPU, through the run time in libamdhip64.

Written from the documented interface, and tried with a library that only records calls: no AMD GPU
was at hand.
"""

from __future__ import annotations

import ctypes
import functools
import re
import sys
from collections.abc import Callable
from typing import Any

from tile import _C, knobs
from tile.backends.base import DriverBase, GPUTarget
from tile.errors import DriverError, OutOfResources
from tile.runtime import dlpack
from tile.runtime.memory import allocate, live_address

from .targets import REGISTERS_OF_A_CU, find_facts

#: hipDeviceAttribute_t, as the header of ROCm 6 counts.
_CLOCK_RATE = 5
_MEMORY_BUS_WIDTH = 60
_MEMORY_CLOCK_RATE = 61
_MULTIPROCESSOR_COUNT = 63
#: More than hipDeviceProp_t takes in any release.
_PROPERTIES_SIZE = 1 << 14


@functools.lru_cache(maxsize=1)
def libamdhip() -> Any:
    """The library; None on a machine without it or without a GPU."""
    try:
        library = ctypes.CDLL(knobs.amd.libhip_path or "libamdhip64.so")
    except OSError:
        return None
    count = ctypes.c_int()
    if library.hipInit(0) or library.hipGetDeviceCount(ctypes.byref(count)) or not count.value:
        return None
    library.hipGetErrorString.restype = ctypes.c_char_p
    return library


def data_pointer(value: Any) -> int:
    """The device address that an argument stands for."""
    if value is None or isinstance(value, int):
        return value or 0
    if hasattr(value, "data_ptr"):
        # ROCm's PyTorch says cuda, too.
        if getattr(value, "is_cuda", True) is False:
            raise DriverError(
                f"this tensor is on {getattr(value, 'device', 'cpu')}, but kernels run on the GPU; "
                "move it with .cuda()"
            )
        return live_address(value)
    if dlpack.is_exporter(value):
        view = dlpack.view(value)
        if view.device_type in dlpack.ON_A_GPU:
            return view.address
    raise DriverError(
        f"the GPU takes tensors and arrays in its memory, not a {type(value).__name__}"
    )


class HIPDriver(DriverBase):
    """The driver where there is an AMD GPU."""

    name = "hip"
    priority = 1
    torch_device = "cuda"
    last_stage = "hsaco"
    #: Twice the largest second-level cache there is.
    cache_bytes = 256 * 2**20

    @staticmethod
    def is_active() -> bool:
        return libamdhip() is not None

    def __init__(self) -> None:
        self.library = libamdhip()
        if self.library is None:
            raise DriverError(
                "no AMD GPU: libamdhip64.so is missing, or reports no device; TILE_DRIVER=sim runs "
                "kernels without one"
            )
        self._targets: dict[int, GPUTarget] = {}
        launch = ctypes.cast(self.library.hipModuleLaunchKernel, ctypes.c_void_p)
        self._launch_address = launch.value or 0

    def check(self, code: int, what: str) -> None:
        """Raises for a failed call of the run time."""
        if code:
            text = self.library.hipGetErrorString(code) or b"unknown error"
            raise DriverError(f"{what}: {text.decode()} (HIP error {code})")

    # Devices and streams.

    def get_current_device(self) -> int:
        device = ctypes.c_int()
        self.check(self.library.hipGetDevice(ctypes.byref(device)), "cannot get the device")
        return device.value

    def get_current_stream(self, device: int) -> int:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return torch._C._cuda_getCurrentRawStream(device)
        return 0

    def get_current_target(self) -> GPUTarget:
        device = self.get_current_device()
        target = self._targets.get(device)
        if target is None:
            facts = find_facts(self._processor(device))
            target = GPUTarget("hip", facts.processor, facts.wave_size)
            self._targets[device] = target
        return target

    def _processor(self, device: int) -> str:
        """The name of a device's processor, as in gfx942:sramecc+:xnack-."""
        properties = ctypes.create_string_buffer(_PROPERTIES_SIZE)
        query = getattr(self.library, "hipGetDevicePropertiesR0600", None)
        query = query or self.library.hipGetDeviceProperties
        self.check(query(properties, device), "cannot query the device")
        # Where it stands differs between releases.
        found = re.search(rb"gfx[0-9a-f]+(?=[:\0])", properties.raw)
        if found is None:
            raise DriverError("the run time does not say which processor the GPU has")
        return found[0].decode()

    def _attribute(self, which: int, device: int) -> int:
        value = ctypes.c_int()
        self.check(
            self.library.hipDeviceGetAttribute(ctypes.byref(value), which, device),
            "cannot query the device",
        )
        return value.value

    def device_properties(self, device: int) -> dict[str, int]:
        facts = find_facts(self._processor(device))
        return {
            "max_shared_mem": facts.max_shared_memory, "max_num_regs": REGISTERS_OF_A_CU,
            "warpSize": facts.wave_size,
            "multiprocessor_count": self._attribute(_MULTIPROCESSOR_COUNT, device),
            "sm_clock_rate": self._attribute(_CLOCK_RATE, device),
            "mem_clock_rate": self._attribute(_MEMORY_CLOCK_RATE, device),
            "mem_bus_width": self._attribute(_MEMORY_BUS_WIDTH, device),
        }  # fmt: skip

    def synchronize(self) -> None:
        """Waits for all that was launched."""
        self.check(self.library.hipDeviceSynchronize(), "a kernel failed")

    # Kernels.

    def load(self, kernel: Any, device: int) -> ctypes.c_void_p:
        """The function of a kernel on a device."""
        limit = find_facts(self.get_current_target().arch).max_shared_memory
        if kernel.shared > limit:
            raise OutOfResources(kernel.shared, limit, "shared memory", kernel.name)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(
            self.library.hipModuleLoadData(ctypes.byref(module), kernel.asm["hsaco"]),
            f"cannot load `{kernel.name}`",
        )
        name = kernel._metadata["name"].encode()
        code = self.library.hipModuleGetFunction(ctypes.byref(function), module, name)
        if code:
            self.library.hipModuleUnload(module)
        self.check(code, f"cannot find `{kernel.name}`")
        kernel.modules[self, device] = module
        return function

    def unload(self, module: ctypes.c_void_p, device: int) -> None:
        """Unloads what `load` loaded, after all that was launched."""
        self.synchronize()
        self.check(self.library.hipModuleUnload(module), "cannot unload a kernel")

    def make_launcher(self, kernel: Any, parameters: dict[str, str]) -> Callable:
        function = self.load(kernel, self.get_current_device())
        metadata = kernel._metadata
        if metadata.get("profile_scratch_size"):
            raise DriverError("records in kernels are read in the simulator only, so far")
        types = list(parameters.values())
        scratch = metadata.get("global_scratch_size", 0)
        alignment = max(1, metadata.get("global_scratch_align", 1))
        packed = _C.launch.PackedLaunch(
            types=[*types, "*i8"] if scratch else types,
            call=_C.amd.launch_through(self._launch_address),
            function=function.value,
            threads=metadata["num_warps"] * find_facts(metadata["target"]["arch"]).wave_size,
            shared=metadata.get("shared", 0),
            ctas=1,
            attributes=[],
            address=data_pointer,
            names=list(parameters),
        )
        if not scratch:
            return packed

        def launch(x: int, y: int, z: int, stream: int, arguments: tuple) -> int:
            memory = allocate(scratch * x * y * z, alignment, stream, _torch_allocator)
            return packed(x, y, z, stream, (*arguments, memory))

        return launch

    def raise_launch_error(self, code: int, name: str) -> None:
        """Raises for a launch that the run time refused."""
        self.check(code, f"cannot launch `{name}`")


def _torch_allocator(size: int, alignment: int, stream: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        raise DriverError(
            "this kernel needs scratch memory: set an allocator with tile.set_allocator, or "
            "import torch"
        )
    return torch.empty(size, dtype=torch.int8, device="cuda")
