"""Runs kernels on an AMD GPU, through the run time in libamdhip64.

Written from the documented interface, and tried with a library that only records calls: no AMD GPU
was at hand.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tile import _C, knobs
from tile.backends.base import DriverBase, GPUTarget
from tile.backends.hangs import watched
from tile.errors import DriverError, OutOfResources
from tile.runtime import dlpack, hidden
from tile.runtime.memory import live_address

from .targets import REGISTERS_OF_A_CU, find_facts

#: hipDeviceAttribute_t, as the header of ROCm 6 counts.
_CLOCK_RATE = 5
_MEMORY_BUS_WIDTH = 60
_MEMORY_CLOCK_RATE = 61
_MULTIPROCESSOR_COUNT = 63
#: hipMemcpyKind.
_DEVICE_TO_HOST = 2
_NOT_READY = 600  # hipErrorNotReady
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

    def set_current_device(self, device: int) -> None:
        self.check(self.library.hipSetDevice(device), "cannot use the device")

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

    @contextlib.contextmanager
    def _on_device(self, device: int) -> Iterator[None]:
        """Has the device current meanwhile."""
        before = self.get_current_device()
        self.check(self.library.hipSetDevice(device), "cannot use the device")
        try:
            yield
        finally:
            self.library.hipSetDevice(before)

    # Memory for the records of kernels.

    def allocate_memory(self, device: int, size: int) -> int:
        address = ctypes.c_void_p()
        with self._on_device(device):
            self.check(
                self.library.hipMalloc(ctypes.byref(address), ctypes.c_size_t(size)),
                f"cannot get {size} bytes for the profiler's records",
            )
        return address.value or 0

    def free_memory(self, device: int, address: int) -> None:
        with self._on_device(device):
            self.check(self.library.hipFree(ctypes.c_void_p(address)), "cannot free memory")

    def wait_for_device(self, device: int) -> None:
        with self._on_device(device):
            self.synchronize()

    def read_memory(
        self, device: int, address: int, pitch: int, width: int, rows: int
    ) -> np.ndarray:
        read = np.empty((rows, width), np.uint8)
        sizes = [ctypes.c_size_t(size) for size in (pitch, width, rows)]
        with self._on_device(device):
            self.check(
                self.library.hipMemcpy2D(
                    ctypes.c_void_p(read.ctypes.data), ctypes.c_size_t(width),
                    ctypes.c_void_p(address), *sizes, _DEVICE_TO_HOST,
                ),
                "cannot read records",
            )  # fmt: skip
        return read

    def is_capturing(self, stream: int) -> bool:
        status = ctypes.c_int()
        code = self.library.hipStreamIsCapturing(ctypes.c_void_p(stream), ctypes.byref(status))
        # Of the default stream it is an error to ask while another one is captured.
        return code != 0 or status.value != 0

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
        kernel.driver_handles[self, device] = module.value, function.value
        return function

    def unload(self, module: int, device: int) -> None:
        """Unloads what `load` loaded, after all that was launched."""
        self.synchronize()
        self.check(self.library.hipModuleUnload(ctypes.c_void_p(module)), "cannot unload a kernel")

    def make_launcher(self, kernel: Any, parameters: dict[str, str]) -> Callable:
        device = self.get_current_device()
        function = self.load(kernel, device)
        metadata = kernel._metadata
        types = list(parameters.values())
        packed = _C.launch.PackedLaunch(
            types=[*types, *hidden.types(kernel)],
            call=_C.amd.launch_through(self._launch_address),
            function=function.value,
            threads=metadata["num_warps"] * find_facts(metadata["target"]["arch"]).wave_size,
            shared=metadata.get("shared", 0),
            ctas=1,
            attributes=[],
            address=data_pointer,
            names=list(parameters),
            scratch=hidden.scratch_memory(kernel, self, len(types)),
        )
        launch = hidden.with_records(kernel, self, device, 1, packed)
        return watched(kernel, launch, knobs.runtime.launch_timeout, self.is_done)

    def is_done(self, stream: int) -> bool:
        """Whether a stream has nothing left to do. What is captured into a graph is not run; of
        what failed, the next call says so."""
        state, handle = ctypes.c_int(), ctypes.c_void_p(stream)
        if self.library.hipStreamIsCapturing(handle, ctypes.byref(state)) or state.value:
            return True
        return self.library.hipStreamQuery(handle) != _NOT_READY

    def raise_launch_error(self, code: int, name: str) -> None:
        """Raises for a launch that the run time refused."""
        self.check(code, f"cannot launch `{name}`")
