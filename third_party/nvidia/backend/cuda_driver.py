"""Runs kernels on an NVIDIA GPU, through the driver API in libcuda."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tile import _C, knobs
from tile.backends.base import DriverBase, GPUTarget, overridden
from tile.backends.hangs import watched
from tile.errors import DriverError, OutOfResources, UnreachableMemory
from tile.runtime import dlpack, hidden
from tile.runtime.memory import live_address

from . import tensor_maps, tools

_ATTRIBUTE_CLUSTER = 4
_ATTRIBUTE_COOPERATIVE = 2
_ATTRIBUTE_PDL = 6
_MAX_THREADS = 0  # CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
_MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
_STATIC_SHARED = 1
_DEVICE_SHARED_OPTIN = 97
_NOT_READY = 600  # CUDA_ERROR_NOT_READY
_DEVICE_POINTER = 3  # CU_POINTER_ATTRIBUTE_DEVICE_POINTER


#: Properties of a device, by the attribute that tells them.
_PROPERTIES = {
    "max_shared_mem": _DEVICE_SHARED_OPTIN, "max_num_regs": 12, "multiprocessor_count": 16,
    "warpSize": 10, "sm_clock_rate": 13, "mem_clock_rate": 36, "mem_bus_width": 37,
}  # fmt: skip


#: CUDA_ERROR_NOT_INITIALIZED: what cuInit answers in a process that was forked from one that
#: uses the GPU, such as a compile worker. It cannot launch, but it can compile for the device.
_FORKED = 3


@functools.lru_cache(maxsize=1)
def _load() -> tuple[Any, int]:
    """libcuda (None where it is missing) and what its cuInit answered."""
    name = knobs.nvidia.libcuda_path or (
        "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    )
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return None, 0
    return library, library.cuInit(0)


@functools.lru_cache(maxsize=1)
def libcuda() -> Any:
    """libcuda, initialised; None on a machine without it or without a GPU."""
    library, code = _load()
    if library is None or code != 0:
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


def _address(function: Any) -> int:
    """Where a function of the library is."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def data_pointer(value: Any) -> int:
    """The device address that an argument stands for."""
    if hasattr(value, "data_ptr"):
        if getattr(value, "is_cuda", True) is False:
            device = getattr(value, "device", "cpu")
            raise UnreachableMemory(
                f"this tensor is on {device}, but kernels run on the GPU; move it with .cuda()"
            )
        return live_address(value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return interface["data"][0]
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    if dlpack.is_exporter(value):
        view = dlpack.view(value)
        if view.device_type not in dlpack.ON_A_GPU:
            raise DriverError(
                f"this {type(value).__name__} is not in the memory of the GPU, where kernels run"
            )
        return view.address
    raise DriverError(f"the GPU takes CUDA tensors and arrays, not a {type(value).__name__}")


#: CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE.
_HOST, _DEVICE = 1, 2


class _Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = (
        ("from_x", ctypes.c_size_t), ("from_y", ctypes.c_size_t), ("from_type", ctypes.c_int),
        ("from_host", ctypes.c_void_p), ("from_device", ctypes.c_uint64),
        ("from_array", ctypes.c_void_p), ("from_pitch", ctypes.c_size_t),
        ("to_x", ctypes.c_size_t), ("to_y", ctypes.c_size_t), ("to_type", ctypes.c_int),
        ("to_host", ctypes.c_void_p), ("to_device", ctypes.c_uint64),
        ("to_array", ctypes.c_void_p), ("to_pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t), ("rows", ctypes.c_size_t),
    )  # fmt: skip


class StreamMemory:
    """Memory that a stream gives back behind all that was launched on it meanwhile. Graphs that
    capture the stream have it, too."""

    def __init__(self, address: int, free: Callable[[], int]) -> None:
        self._address, self._free = address, free

    def data_ptr(self) -> int:
        return self._address

    def __del__(self) -> None:
        self._free()


class CudaDriver(DriverBase):
    """The driver where there is an NVIDIA GPU."""

    name = "cuda"
    priority = 0
    torch_device = "cuda"
    last_stage = "cubin"
    #: Twice the largest second-level cache there is.
    cache_bytes = 256 * 2**20
    has_events = True

    @functools.cached_property
    def library(self) -> Any:
        raise DriverError(
            "this process was forked from one that uses the GPU, and cannot use it itself: start "
            "processes with the method 'spawn', or fork before the first use of the GPU"
        )

    @staticmethod
    def is_active() -> bool:
        library, code = _load()
        return libcuda() is not None or (library is not None and code == _FORKED)

    def __init__(self) -> None:
        self._contexts: dict[int, ctypes.c_void_p] = {}
        #: The device, where torch does not say it.
        self._current = 0
        self._targets: dict[int, GPUTarget] = {}
        library = libcuda()
        if library is None and self.is_active():
            return  # compiles, and says at the first launch why it does no more
        if library is None:
            raise DriverError(
                "no NVIDIA GPU: libcuda.so.1 is missing, or reports no device; TILE_DRIVER=sim "
                "runs kernels without one"
            )
        self.library = library
        self.device_getter = _address(library.cuCtxGetDevice)

    # Devices and streams.

    def get_current_device(self) -> int:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return torch.cuda.current_device()
        return self._current

    def get_current_stream(self, device: int) -> int:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return torch._C._cuda_getCurrentRawStream(device)
        return 0

    def stream_getter(self) -> Callable[[int], int] | None:
        torch = sys.modules["torch"]
        if hasattr(torch, "cuda") and torch.cuda.is_initialized():
            return torch._C._cuda_getCurrentRawStream
        return None

    def enter_device(self, device: int) -> None:
        self.ensure_context(device)

    def set_current_device(self, device: int) -> None:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            torch.cuda.set_device(device)
        check(self.library.cuCtxSetCurrent(self._context(device)), "cannot use the device")
        self._current = device

    def get_current_target(self) -> GPUTarget:
        device = self.get_current_device()
        target = self._targets.get(device)
        if target is None:
            arch = self.attribute(75, device) * 10 + self.attribute(76, device)
            target = self._targets[device] = GPUTarget("cuda", arch, 32)
        return overridden(target)  # The setting may change.

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
        check(self.library.cuCtxSetCurrent(self._context(device)), "cannot use the context")

    def _context(self, device: int) -> ctypes.c_void_p:
        """The device's primary context."""
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
        return context

    @contextlib.contextmanager
    def _on_device(self, device: int) -> Iterator[None]:
        """Has the device's context current meanwhile."""
        before = ctypes.c_void_p()
        check(self.library.cuCtxPushCurrent_v2(self._context(device)), "cannot use the context")
        try:
            yield
        finally:
            self.library.cuCtxPopCurrent_v2(ctypes.byref(before))

    # Memory for the records of kernels.

    def allocate_memory(self, device: int, size: int) -> int:
        address = ctypes.c_uint64()
        with self._on_device(device):
            check(
                self.library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)),
                f"cannot get {size} bytes of memory",
            )
        return address.value

    def free_memory(self, device: int, address: int) -> None:
        with self._on_device(device):
            check(self.library.cuMemFree_v2(ctypes.c_uint64(address)), "cannot free memory")

    def allocate_on_stream(self, size: int, stream: int) -> StreamMemory:
        """Memory of the current device for the next launch on a stream."""
        address = ctypes.c_uint64()
        handle = ctypes.c_void_p(stream)
        check(
            self.library.cuMemAllocAsync(ctypes.byref(address), ctypes.c_size_t(size), handle),
            f"cannot get {size} bytes of memory",
        )
        return StreamMemory(
            address.value, functools.partial(self.library.cuMemFreeAsync, address, handle)
        )

    def wait_for_device(self, device: int) -> None:
        with self._on_device(device):
            self.synchronize()

    def read_memory(
        self, device: int, address: int, pitch: int, width: int, rows: int
    ) -> np.ndarray:
        read = np.empty((rows, width), np.uint8)
        copy = _Copy2D(
            from_type=_DEVICE, from_device=address, from_pitch=pitch, to_type=_HOST,
            to_host=read.ctypes.data, to_pitch=width, width=width, rows=rows,
        )  # fmt: skip
        with self._on_device(device):
            check(self.library.cuMemcpy2D_v2(ctypes.byref(copy)), "cannot read memory")
        return read

    def write_memory(self, device: int, address: int, data: bytes) -> None:
        with self._on_device(device):
            code = self.library.cuMemcpyHtoD_v2(
                ctypes.c_uint64(address), data, ctypes.c_size_t(len(data))
            )
            check(code, f"cannot copy {len(data)} bytes to the device")

    def is_capturing(self, stream: int) -> bool:
        status = ctypes.c_int()
        code = self.library.cuStreamIsCapturing(ctypes.c_void_p(stream), ctypes.byref(status))
        # Of the default stream it is an error to ask while another one is captured.
        return code != 0 or status.value != 0

    # Kernels.

    def check_arguments(self, kernel: Any, arguments: list[Any]) -> None:
        for value in arguments:
            if hasattr(value, "data_ptr"):
                self._check_reachable(value)

    def _check_reachable(self, value: Any) -> None:
        """Raises for a tensor whose memory the current device does not reach."""
        device = value.get_device() if hasattr(value, "get_device") else None
        on_gpu = getattr(value, "is_cuda", True) if device is None else device >= 0
        current = self.get_current_device()
        if (on_gpu and device in (None, current)) or not value.data_ptr():
            return
        # Pinned memory, and that of another GPU that was made accessible, will do.
        address = ctypes.c_void_p()
        pointer = ctypes.c_uint64(value.data_ptr())
        if self.library.cuPointerGetAttribute(ctypes.byref(address), _DEVICE_POINTER, pointer) == 0:
            return
        where = getattr(value, "device", "cpu")
        if on_gpu:
            raise UnreachableMemory(
                f"this tensor is on {where}, but the kernel is launched on cuda:{current}; use "
                "`with torch.cuda.device(...)`, or move it"
            )
        raise UnreachableMemory(
            f"this tensor is on {where}, but kernels run on the GPU; move it with .cuda()"
        )

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
        module = ctypes.c_void_p()
        check(
            self.library.cuModuleLoadData(ctypes.byref(module), binary),
            f"cannot load `{kernel.name}`",
        )
        try:
            function = self._function(module, kernel)
        except Exception:
            self.unload(module.value, device)
            raise
        kernel.driver_handles[self, device] = module.value, function.value
        return function

    def _function(self, module: ctypes.c_void_p, kernel: Any) -> ctypes.c_void_p:
        """The function of a kernel in its module, with the shared memory that it needs."""
        function = ctypes.c_void_p()
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
        if kernel.shared > 48 * 1024:
            check(
                self.library.cuFuncSetAttribute(function, _MAX_DYNAMIC_SHARED, kernel.shared),
                f"cannot give `{kernel.name}` {kernel.shared} bytes of shared memory",
            )
        return function

    def unload(self, module: int, device: int) -> None:
        """Unloads what `load` loaded, after all that was launched on the device."""
        with self._on_device(device):
            self.synchronize()
            check(self.library.cuModuleUnload(ctypes.c_void_p(module)), "cannot unload a kernel")

    def graph_functions(self) -> Any:
        """What launches by way of graphs need; nothing where they are not wanted, or not there."""
        names = {
            "is_capturing": "cuStreamIsCapturing",
            "get_priority": "cuStreamGetPriority",
            "create": "cuGraphCreate",
            "add_kernel": "cuGraphAddKernelNode_v2",
            "instantiate": "cuGraphInstantiateWithFlags",
            "set_parameters": "cuGraphExecKernelNodeSetParams_v2",
            "launch": "cuGraphLaunch",
            "destroy_exec": "cuGraphExecDestroy",
            "destroy": "cuGraphDestroy",
        }
        wanted = knobs.runtime.graph_launches
        if not wanted or not all(hasattr(self.library, name) for name in names.values()):
            return _C.launch.GraphFunctions()
        return _C.launch.GraphFunctions(
            **{what: _address(getattr(self.library, name)) for what, name in names.items()}
        )

    def make_launcher(self, kernel: Any, parameters: dict[str, str]) -> Callable:
        device = self.get_current_device()
        function = self.load(kernel, device)
        metadata = kernel._metadata
        types = list(parameters.values())
        ctas = metadata.get("num_ctas", 1)
        attributes = []
        if ctas > 1:
            attributes.append((_ATTRIBUTE_CLUSTER, [ctas, 1, 1]))
        if metadata.get("launch_cooperative_grid"):
            attributes.append((_ATTRIBUTE_COOPERATIVE, [1]))
        # Older GPUs have launches follow one another.
        if metadata.get("launch_pdl") and self.get_current_target().arch >= 90:
            attributes.append((_ATTRIBUTE_PDL, [1]))
        packed = _C.launch.PackedLaunch(
            types=[*types, *hidden.types(kernel)],
            call=_address(self.library.cuLaunchKernelEx),
            function=function.value,
            threads=32 * metadata.get("num_warps", 4),
            shared=metadata.get("shared", 0),
            ctas=ctas,
            attributes=attributes,
            address=data_pointer,
            maps=tensor_maps.for_driver(kernel, self.library, _address, len(types))
            if tensor_maps.maps_of(kernel)
            else _C.launch.TensorMaps(0, 0, 0, []),
            names=list(parameters),
            graphs=self.graph_functions(),
            scratch=hidden.scratch_memory(kernel, self, len(types)),
        )
        launch = hidden.with_records(kernel, self, device, ctas, packed)
        return watched(kernel, launch, knobs.runtime.launch_timeout, self.is_done)

    def is_done(self, stream: int) -> bool:
        """Whether a stream has nothing left to do. What is captured into a graph is not run; of
        what failed, the next call says so."""
        state, handle = ctypes.c_int(), ctypes.c_void_p(stream)
        if self.library.cuStreamIsCapturing(handle, ctypes.byref(state)) or state.value:
            return True
        return self.library.cuStreamQuery(handle) != _NOT_READY

    def allocation_of(self, address: int) -> tuple[int, int] | None:
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        code = self.library.cuMemGetAddressRange_v2(
            ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(address)
        )
        return None if code else (base.value, base.value + size.value)

    def raise_launch_error(self, code: int, name: str) -> None:
        """Raises for a launch that the driver refused."""
        if code < 0:  # One of ours.
            super().raise_launch_error(code, name)
        check(code, f"cannot launch `{name}`")
