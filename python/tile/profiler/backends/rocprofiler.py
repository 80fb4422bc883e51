"""Kernels on an AMD GPU: what rocprofiler-sdk records, put under the scopes that launched them.

Written against the documents of rocprofiler-sdk (releases 0.5 to 1.1), and run with a stand-in for
the library; it was never on a GPU. The library is found when a session starts. Each thread tells it
where it is, as an external correlation id: a launch costs nothing more, and a record brings the id
of the place it was launched from.
"""

from __future__ import annotations

import ctypes
import glob
import os
import threading
import time
from collections.abc import Sequence
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import TYPE_CHECKING, Any

from ... import knobs
from ...errors import TileError
from ...settings import warn
from ..core.paths import ROOT
from ..core.records import Kernel
from ..core.threads import threads
from .base import Backend

if TYPE_CHECKING:
    from ..core.sessions import Sessions

#: Of rocprofiler_buffer_tracing_kind_t, rocprofiler_callback_tracing_kind_t and the operations.
_KERNEL_DISPATCH, _CODE_OBJECT, _SYMBOL_REGISTERED = 11, 10, 2
_LOADED = 1
_TRACING, _LOSSLESS, _GPU, _BUSY = 1, 2, 2, 14
_BUFFER_BYTES = 1 << 20


class _Dispatch(Structure):
    """rocprofiler_buffer_tracing_kernel_dispatch_record_t, up to what is read."""

    _fields_ = (
        ("size", c_uint64), ("kind", c_uint32), ("operation", c_uint32), ("internal", c_uint64),
        ("external", c_uint64), ("thread", c_uint64), ("start", c_uint64), ("end", c_uint64),
        ("info_size", c_uint64), ("agent", c_uint64), ("queue", c_uint64), ("kernel", c_uint64),
    )  # fmt: skip


class _Header(Structure):
    """rocprofiler_record_header_t."""

    _fields_ = (("category", c_uint32), ("kind", c_uint32), ("payload", c_void_p))


class _Symbol(Structure):
    """rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t, up to the name."""

    _fields_ = (
        ("size", c_uint64), ("kernel", c_uint64), ("code_object", c_uint64), ("name", c_char_p),
    )  # fmt: skip


class _Callback(Structure):
    """rocprofiler_callback_tracing_record_t. Since release 1.0, an ancestor stands between the
    correlation ids and the rest."""

    _fields_ = (
        ("context", c_uint64), ("thread", c_uint64), ("internal", c_uint64),
        ("external", c_uint64), ("words", c_uint32 * 8),
    )  # fmt: skip

    def read(self) -> tuple[int, int, int, int]:
        """Kind, operation, phase, and the address of the payload."""
        for first in (0, 2):
            kind, operation, phase, _, low, high = self.words[first : first + 6]
            # An ancestor is a small number of 64 bits, so no operation stands behind it.
            if kind == _CODE_OBJECT and operation:
                return kind, operation, phase, low | high << 32
        return 0, 0, 0, 0


class _Client(Structure):
    _fields_ = (("name", c_char_p), ("handle", c_uint32))


class _Tool(Structure):
    """rocprofiler_tool_configure_result_t."""

    _fields_ = (
        ("size", c_size_t), ("initialize", c_void_p), ("finalize", c_void_p), ("data", c_void_p),
    )  # fmt: skip


_ON_RECORDS = ctypes.CFUNCTYPE(
    None, c_uint64, c_uint64, POINTER(POINTER(_Header)), c_size_t, c_void_p, c_uint64
)
_ON_CALLBACK = ctypes.CFUNCTYPE(None, _Callback, c_void_p, c_void_p)
_CONFIGURE = ctypes.CFUNCTYPE(c_void_p, c_uint32, c_char_p, c_uint32, POINTER(_Client))
_INITIALIZE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_FINALIZE = ctypes.CFUNCTYPE(None, c_void_p)
_ON_AGENTS = ctypes.CFUNCTYPE(c_int, c_int, POINTER(c_void_p), c_size_t, c_void_p)
#: A record: external id, kernel, agent, queue, start, end.
_Row = tuple[int, int, int, int, int, int]


def library() -> str:
    """The library: the one that is set, that of ROCm, or the system's."""
    chosen = knobs.proton.rocprofiler_lib_dir
    if chosen and os.path.isfile(chosen):
        return chosen
    rocm = os.environ.get("ROCM_PATH", "/opt/rocm")
    for folder in [chosen] if chosen else [os.path.join(rocm, "lib"), os.path.join(rocm, "lib64")]:
        if found := sorted(glob.glob(os.path.join(folder, "librocprofiler-sdk.so*"))):
            return found[-1]
    if chosen:
        raise TileError(
            f"there is no librocprofiler-sdk.so in {chosen}, which TRITON_ROCPROFILER_SDK_LIB_PATH "
            "names"
        )
    return "librocprofiler-sdk.so"


class _Failed(Exception):
    """What the library refused, in words."""


class Recorder:
    """One use of the library: a process may configure it once."""

    def __init__(self, path: str) -> None:
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise _Failed(f"rocprofiler-sdk is not there: {error}") from None
        self._lock = threading.Lock()
        self._rows: list[_Row] = []
        self.names: dict[int, str] = {}
        self.dropped = 0
        self.agents: list[int] = []
        self._context, self._buffer = c_uint64(0), c_uint64(0)
        self._problem = ""
        self._on_records = _ON_RECORDS(self._records)
        self._on_callback = _ON_CALLBACK(self._called_back)
        self._initialize = _INITIALIZE(self._initialized)
        self._finalize = _FINALIZE(lambda data: None)
        self._tool = _Tool(
            ctypes.sizeof(_Tool), ctypes.cast(self._initialize, c_void_p).value,
            ctypes.cast(self._finalize, c_void_p).value, None,
        )  # fmt: skip
        self._configure = _CONFIGURE(self._configured)
        self.call("force_configure", self._configure)
        if self._problem:
            raise _Failed(self._problem)
        if not self._context.value:
            raise _Failed("rocprofiler-sdk did not ask this process what to record")
        now = c_uint64(0)
        self.call("get_timestamp", byref(now))
        #: What makes times of the host of the library's.
        self.offset = time.time_ns() - now.value

    def call(self, name: str, *arguments: Any) -> None:
        function = getattr(self._library, f"rocprofiler_{name}", None)
        if function is None:
            raise _Failed(f"this rocprofiler-sdk has no rocprofiler_{name}")
        status = function(*arguments)
        if status:
            said = self._library.rocprofiler_get_status_string
            said.restype = c_char_p
            text = (said(status) or b"").decode() or f"status {status}"
            raise _Failed(f"rocprofiler_{name}: {text}")

    # What the library calls.

    def _configured(self, version: int, said: bytes, priority: int, client: Any) -> int:
        client.contents.name = b"tile"
        return ctypes.addressof(self._tool)

    def _initialized(self, finalize: int, data: int) -> int:
        """Says what is recorded; only here is that allowed."""
        try:
            name, length = c_char_p(), c_uint64(0)
            self.call(
                "query_buffer_tracing_kind_name", c_int(_KERNEL_DISPATCH), byref(name),
                byref(length),
            )  # fmt: skip
            if b"KERNEL_DISPATCH" not in (name.value or b""):
                raise _Failed("this rocprofiler-sdk numbers its records in another way")
            self.call("create_context", byref(self._context))
            self.call(
                "create_buffer", self._context, c_size_t(_BUFFER_BYTES),
                c_size_t(_BUFFER_BYTES * 3 // 4), c_int(_LOSSLESS), self._on_records, None,
                byref(self._buffer),
            )  # fmt: skip
            self.call(
                "configure_buffer_tracing_service", self._context, c_int(_KERNEL_DISPATCH), None,
                c_size_t(0), self._buffer,
            )  # fmt: skip
            self.call(
                "configure_callback_tracing_service", self._context, c_int(_CODE_OBJECT), None,
                c_size_t(0), self._on_callback, None,
            )  # fmt: skip
            # From the beginning: code objects are told about when they are loaded.
            self.call("start_context", self._context)
            on_agents = _ON_AGENTS(self._found_agents)
            self.call("query_available_agents", c_int(1), on_agents, c_size_t(0), None)
        except _Failed as failed:
            self._problem = str(failed)
            return -1
        return 0

    def _found_agents(self, version: int, agents: Any, count: int, data: int) -> int:
        for i in range(count):
            # rocprofiler_agent_v0_t begins with its size, its id and its type.
            words = (c_uint64 * 3).from_address(agents[i])
            if words[2] & 0xFFFFFFFF == _GPU:
                self.agents.append(words[1])
        return 0

    def _records(
        self, context: int, buffer: int, headers: Any, count: int, data: int, dropped: int
    ) -> None:
        rows = []
        for i in range(count):
            header = headers[i].contents
            if header.category == _TRACING and header.kind == _KERNEL_DISPATCH:
                r = _Dispatch.from_address(header.payload)
                rows.append((r.external, r.kernel, r.agent, r.queue, r.start, r.end))
        with self._lock:
            self._rows += rows
            self.dropped += dropped

    def _called_back(self, record: _Callback, user: int, data: int) -> None:
        _, operation, phase, payload = record.read()
        if operation == _SYMBOL_REGISTERED and phase == _LOADED and payload:
            symbol = _Symbol.from_address(payload)
            self.names[symbol.kernel] = (symbol.name or b"?").decode().removesuffix(".kd")

    # What the backend asks.

    def flush(self) -> None:
        for _ in range(100):
            try:
                return self.call("flush_buffer", self._buffer)
            except _Failed as failed:  # Another thread is at it.
                if "busy" not in str(failed).lower():
                    raise
                time.sleep(0.001)
        return None

    def take(self) -> tuple[list[_Row], int]:
        with self._lock:
            rows, self._rows = self._rows, []
            dropped, self.dropped = self.dropped, 0
        return rows, dropped

    def start(self) -> None:
        active = c_int(0)
        self.call("context_is_active", self._context, byref(active))
        if not active.value:
            self.call("start_context", self._context)

    def stop(self) -> None:
        self.call("stop_context", self._context)

    def push(self, thread: int, id: int) -> None:
        self.call("push_external_correlation_id", self._context, c_uint64(thread), c_uint64(id))

    def pop(self, thread: int) -> None:
        last = c_uint64(0)
        self.call("pop_external_correlation_id", self._context, c_uint64(thread), byref(last))


class Rocprofiler(Backend):
    name = "rocprofiler"
    device_type = "HIP"

    def __init__(self) -> None:
        self.problem = ""
        self._recorder: Recorder | None = None
        self._path = ""
        self._lock = threading.Lock()
        self._epoch, self._is_active = 0, False
        #: Where launches may come from: the path, the epoch, the scope. The number is the id.
        self._places: list[tuple[int, int, int]] = [(ROOT, 0, 0)]
        self._ids: dict[tuple[int, int, int], int] = {}
        #: Of each thread that entered something, where it is.
        self._threads: dict[int, tuple[int, int]] = {}
        self._devices: set[int] = set()

    def start(self, mode: Any) -> None:
        if mode.name not in ("", "periodic_flushing"):
            raise TileError(f"the profiler backend rocprofiler has no mode {mode.name!r}")
        self.problem = ""
        try:
            path = library()
            if self._recorder is None or self._path != path:
                self._recorder, self._path = Recorder(path), path
            self._recorder.start()
        except _Failed as failed:
            # The program goes on, with its scopes and without kernels.
            self._recorder, self.problem = None, str(failed)
            warn(f"the profiler records no kernels: {self.problem}")
            return
        threads.listener = self._moved

    def stop(self) -> None:
        threads.listener = None
        if self._recorder is None:
            return
        for thread in list(self._threads):
            self._recorder.pop(thread)
        self._threads.clear()
        self._recorder.stop()
        self._recorder.take()
        del self._places[1:]
        self._ids.clear()

    # Where threads are.

    def _id(self, node: int, scope: int) -> int:
        place = (node, self._epoch, scope)
        id = self._ids.get(place)
        if id is None:
            id = self._ids[place] = len(self._places)
            self._places.append(place)
        return id

    def _moved(self, node: int, scope: int) -> None:
        """Called by a thread that entered or left something."""
        self._tell(threading.get_native_id(), node, scope)

    def _tell(self, thread: int, node: int, scope: int) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        with self._lock:
            if thread in self._threads:
                recorder.pop(thread)
            recorder.push(thread, self._id(node, scope))
            self._threads[thread] = (node, scope)
            # Threads that enter nothing themselves work for the one that did last.
            self._places[0] = (node, self._epoch, scope)

    def changed(self, epoch: int, active: Sequence[Any]) -> None:
        self._epoch, self._is_active = epoch, bool(active)
        for thread, (node, scope) in list(self._threads.items()):
            self._tell(thread, node, scope)
        if self._recorder is not None:
            self._moved(threads.node(), threads.innermost.id if threads.innermost else 0)

    # Records.

    def collect(self, sessions: Sessions, wait: bool) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        if wait:
            self._synchronize()
        recorder.flush()
        rows, dropped = recorder.take()
        for id, kernel, agent, queue, start, end in rows:
            known = id < len(self._places)
            node, epoch, scope = self._places[id if known else 0]
            device = recorder.agents.index(agent) if agent in recorder.agents else 0
            self._devices.add(device)
            metrics = {
                "time (ns)": end - start, "count": 1, "device_id": str(device),
                "device_type": self.device_type,
            }  # fmt: skip
            name = recorder.names.get(kernel, f"kernel {kernel}")
            found = Kernel(node, epoch, name, metrics, scope=scope, device=device, stream=queue)
            found.start, found.end = start + recorder.offset, end + recorder.offset
            sessions.add_kernel(found)
        if dropped:
            warn(f"rocprofiler-sdk dropped {dropped} records of kernels")

    def pending(self, epochs: Sequence[int]) -> bool:
        return True  # Nobody counts launches: only who waits knows.

    def _driver(self) -> Any:
        from ...runtime.driver import driver

        return driver.active

    def _synchronize(self) -> None:
        self._driver().synchronize()

    def devices(self) -> dict[str, Any]:
        found = {}
        for device in sorted(self._devices):
            known = self._driver().device_properties(device)
            found[str(device)] = {
                "arch": str(self._driver().get_current_target().arch),
                "bus_width": known["mem_bus_width"], "clock_rate": known["sm_clock_rate"],
                "memory_clock_rate": known["mem_clock_rate"],
                "num_sms": known["multiprocessor_count"],
            }  # fmt: skip
        return {self.device_type: found} if found else {}

    def why_empty(self) -> str:
        return self.problem or super().why_empty()


__all__ = ["Rocprofiler"]
