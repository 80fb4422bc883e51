"""Runs kernels on an NVIDIA GPU, through the driver API in libcuda."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

from tile import _C, knobs
from tile.backends.base import DriverBase, GPUTarget
from tile.errors import DriverError, OutOfResources
from tile.runtime.memory import allocate

from . import tools

_ATTRIBUTE_CLUSTER = 4
_ATTRIBUTE_COOPERATIVE = 2
_ATTRIBUTE_PDL = 6
_MAX_THREADS = 0  # CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_STATIC_SHARED = 1
_DEVICE_SHARED_OPTIN = 97


#: Properties of a device, by the attribute that tells them.
_PROPERTIES = {
    "max_shared_mem": _DEVICE_SHARED_OPTIN, "max_num_regs": 12, "multiprocessor_count": 16,
    "warpSize": 10, "sm_clock_rate": 13, "mem_clock_rate": 36, "mem_bus_width": 37,
}  # fmt: skip


class _Attribute(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint32 * 16))


class _Config(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), 
        ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint),
    )  # fmt: skip


@functools.lru_cache(maxsize=1)
def libcuda() -> Any:
    """libcuda, initialised; None on a machine without it or without a GPU."""
    name = knobs.nvidia.libcuda_path or (
        "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    )
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return None
    if library.cuInit(0) != 0:
        return None
    count = ctypes.c_int()
    if library.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return None
    return library


def check(code: int, what: str) -> None:
    """Raises for a failed call of the driver."""
    if code == 0:
        return
    text = ctypes.c_char_p()
    libcuda().cuGetErrorString(code, ctypes.byref(text))
    raise DriverError(f"{what}: {(text.value or b'unknown error').decode()} (CUDA error {code})")


def data_pointer(value: Any) -> int:
    """The device address that an argument stands for."""
    pointer = getattr(value, "data_ptr", None)
    if pointer is not None:
        if getattr(value, "is_cuda", True) is False:
            device = getattr(value, "device", "cpu")
            raise DriverError(
                f"this tensor is on {device}, but kernels run on the GPU; move it with .cuda()"
            )
        return pointer()
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return interface["data"][0]
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    raise DriverError(f"the GPU takes CUDA tensors and arrays, not a {type(value).__name__}")


class CudaDriver(DriverBase):
    """The driver where there is an NVIDIA GPU."""

    name = "cuda"
    priority = 0
    torch_device = "cuda"
    last_stage = "cubin"

    @staticmethod
    def is_active() -> bool:
        return libcuda() is not None

    def __init__(self) -> None:
        library = libcuda()
        if library is None:
            raise DriverError(
                "no NVIDIA GPU: libcuda.so.1 is missing, or reports no device; TILE_DRIVER=sim "
                "runs kernels without one"
            )
        self.library = library
        self._contexts: dict[int, ctypes.c_void_p] = {}
        self._targets: dict[int, GPUTarget] = {}
        #: What launches point into, for as long as the driver lives.
        self._kept: list[Any] = []

    # Devices and streams.

    def get_current_device(self) -> int:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return torch.cuda.current_device()
        return 0

    def get_current_stream(self, device: int) -> int:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return torch._C._cuda_getCurrentRawStream(device)
        return 0

    def get_current_target(self) -> GPUTarget:
        device = self.get_current_device()
        target = self._targets.get(device)
        if target is None:
            if knobs.runtime.override_arch:
                arch = int(knobs.runtime.override_arch.removeprefix("sm"))
            else:
                arch = self.attribute(75, device) * 10 + self.attribute(76, device)
            target = self._targets[device] = GPUTarget("cuda", arch, 32)
        return target

    def device_properties(self, device: int) -> dict[str, int]:
        return {name: self.attribute(which, device) for name, which in _PROPERTIES.items()}

    def attribute(self, which: int, device: int) -> int:
        value = ctypes.c_int()
        check(
            self.library.cuDeviceGetAttribute(ctypes.byref(value), which, device),
            "cannot query the device",
        )
        return value.value

    def synchronize(self) -> None:
        """Waits for all that was launched."""
        check(self.library.cuCtxSynchronize(), "a kernel failed")

    def ensure_context(self, device: int) -> None:
        """Makes the device's primary context current, if none is."""
        current = ctypes.c_void_p()
        check(self.library.cuCtxGetCurrent(ctypes.byref(current)), "cannot get the context")
        if current.value:
            return
        context = self._contexts.get(device)
        if context is None:
            handle = ctypes.c_int()
            check(self.library.cuDeviceGet(ctypes.byref(handle), device), "cannot open the device")
            context = ctypes.c_void_p()
            check(
                self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle),
                "cannot make a context",
            )
            self._contexts[device] = context
        check(self.library.cuCtxSetCurrent(context), "cannot use the context")

    # Kernels.

    def check_arguments(self, kernel: Any, arguments: list[Any]) -> None:
        for value in arguments:
            if hasattr(value, "data_ptr"):
                data_pointer(value)

    def load(self, kernel: Any, device: int) -> ctypes.c_void_p:
        """The function of a kernel on a device."""
        self.ensure_context(device)
        binary = kernel.asm.get("cubin")
        if binary is None:
            tools.require_ptxas()
            raise DriverError(f"`{kernel.name}` was compiled without a cubin")
        shared = kernel.shared
        limit = self.attribute(_DEVICE_SHARED_OPTIN, device)
        if shared > limit:
            raise OutOfResources(shared, limit, "shared memory", kernel.name)
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check(
            self.library.cuModuleLoadData(ctypes.byref(module), binary),
            f"cannot load `{kernel.name}`",
        )
        name = kernel._metadata["name"].encode()
        check(
            self.library.cuModuleGetFunction(ctypes.byref(function), module, name),
            f"cannot find `{kernel.name}`",
        )
        threads, most = 32 * kernel.num_warps, ctypes.c_int()
        check(
            self.library.cuFuncGetAttribute(ctypes.byref(most), _MAX_THREADS, function),
            f"cannot ask about `{kernel.name}`",
        )
        if threads > most.value:
            raise OutOfResources(threads, most.value, "threads", kernel.name)
        if shared > 48 * 1024:
            check(
                self.library.cuFuncSetAttribute(function, _MAX_DYNAMIC_SHARED, shared),
                f"cannot give `{kernel.name}` {shared} bytes of shared memory",
            )
        return function

    def make_launcher(self, kernel: Any, parameters: dict[str, str]) -> Callable:
        device = self.get_current_device()
        function = self.load(kernel, device)
        metadata = kernel._metadata
        types = list(parameters.values())
        scratch = metadata.get("global_scratch_size", 0)
        alignment = max(1, metadata.get("global_scratch_align", 1))
        ctas = metadata.get("num_ctas", 1)
        config = _Config()
        config.block[:] = (32 * metadata.get("num_warps", 4), 1, 1)
        config.shared = metadata.get("shared", 0)
        attributes = (_Attribute * 3)()
        count = 0
        if ctas > 1:
            attributes[count].id = _ATTRIBUTE_CLUSTER
            attributes[count].value[0:3] = (ctas, 1, 1)
            count += 1
        if metadata.get("launch_cooperative_grid"):
            attributes[count].id = _ATTRIBUTE_COOPERATIVE
            attributes[count].value[0] = 1
            count += 1
        if metadata.get("launch_pdl"):
            attributes[count].id = _ATTRIBUTE_PDL
            attributes[count].value[0] = 1
            count += 1
        config.attributes, config.count = attributes, count
        base = ctypes.addressof(config)
        packed = _C.launch.PackedLaunch(
            types=[*types, "*i8"] if scratch else types,
            call=ctypes.cast(self.library.cuLaunchKernelEx, ctypes.c_void_p).value,
            config=base,
            function=function.value,
            grid=base + _Config.grid.offset,
            stream=base + _Config.stream.offset,
            ctas=ctas,
            address=data_pointer,
        )
        self._kept.append((config, attributes))
        if not scratch:
            return packed

        def launch(x: int, y: int, z: int, stream: int, arguments: tuple) -> None:
            size = scratch * x * y * z * ctas
            memory = allocate(size, alignment, stream, _torch_allocator)
            code = packed(x, y, z, stream, (*arguments, memory))
            if code:
                self.raise_launch_error(code, kernel.name)

        return launch

    def raise_launch_error(self, code: int, name: str) -> None:
        """Raises for a launch that the driver refused."""
        check(code, f"cannot launch `{name}`")


def _torch_allocator(size: int, alignment: int, stream: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is None:
        raise DriverError(
            "this kernel needs scratch memory: set an allocator with tile.set_allocator, or "
            "import torch"
        )
    return torch.empty(size, dtype=torch.int8, device="cuda")
