"""Settings: each reads an environment variable, and can be set in Python.

Every ``TRITON_X`` variable is also read as ``TILE_X``, which wins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
_TRUE = {"1", "true", "on", "yes", "y", "t"}


def getenv(name: str, default: str | None = None) -> str | None:
    """The variable, under its TILE_ name first."""
    if name.startswith("TRITON_"):
        found = os.environ.get("TILE_" + name.removeprefix("TRITON_"))
        if found is not None:
            return found
    return os.environ.get(name, default)


def _boolean(text: str) -> bool:
    return text.strip().lower() in _TRUE


class Knob(Generic[T]):
    """One setting: a descriptor that reads its variable each time."""

    def __init__(
        self, variable: str, default: T | Callable[[], T], read: Callable[[str], T]
    ) -> None:
        self.variable = variable
        self.default = default
        self.read = read

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Knob[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if self.name in instance.__dict__:
            return instance.__dict__[self.name]
        text = getenv(self.variable)
        if text is None:
            return self.default() if callable(self.default) else self.default
        return self.read(text)

    def __set__(self, instance: Any, value: T) -> None:
        instance.__dict__[self.name] = value

    def __delete__(self, instance: Any) -> None:
        instance.__dict__.pop(self.name, None)


def flag(variable: str, default: bool = False) -> Knob[bool]:
    return Knob(variable, default, _boolean)


def text(variable: str, default: Any = None) -> Knob[Any]:
    return Knob(variable, default, str)


class Group:
    """Settings that belong together."""

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is set inside ends with the block."""
        saved = dict(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(saved)

    def knobs(self) -> dict[str, Knob[Any]]:
        return {n: k for n, k in vars(type(self)).items() if isinstance(k, Knob)}

    def reset(self) -> None:
        self.__dict__.clear()


def _home() -> str:
    return os.path.expanduser("~")


def _under_home(folder: str) -> Callable[[], str]:
    return lambda: os.path.join(cache.home_dir, ".tile", folder)


class _Cache(Group):
    home_dir = text("TRITON_HOME", _home)
    dir = text("TRITON_CACHE_DIR", _under_home("cache"))
    dump_dir = text("TRITON_DUMP_DIR", _under_home("dump"))
    override_dir = text("TRITON_OVERRIDE_DIR", _under_home("override"))
    manager_class = text("TRITON_CACHE_MANAGER")
    remote_manager_class = text("TRITON_REMOTE_CACHE_BACKEND")


class _Compilation(Group):
    override = flag("TRITON_KERNEL_OVERRIDE")
    dump_ir = flag("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = flag("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = flag("TRITON_STORE_BINARY_ONLY")
    always_compile = flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = text("USE_IR_LOC")
    enable_asan = flag("TRITON_ENABLE_ASAN")
    disable_line_info = flag("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    #: Print the IR after each pass: "1" to stderr, anything else is a folder.
    print_after_all = text("TILE_PRINT_AFTER_ALL", "")
    time_passes = flag("TILE_TIME_PASSES")
    #: Print to stderr what the passes of each stage counted.
    pass_statistics = flag("TILE_PASS_STATISTICS")
    #: Passes to leave out, as in "tritongpu-prefetch,tritongpu-pipeline".
    disable_passes = text("TILE_DISABLE_PASSES", "")


class _Autotuning(Group):
    cache = flag("TRITON_CACHE_AUTOTUNING")
    print = flag("TRITON_PRINT_AUTOTUNING")


class _Runtime(Group):
    interpret = flag("TRITON_INTERPRET")
    override_arch = text("TRITON_OVERRIDE_ARCH")
    #: "cuda", "sim", or empty for cuda where there is a GPU and sim elsewhere.
    driver = text("TILE_DRIVER", "")
    #: The target that the simulator stands for.
    sim_target = text("TILE_SIM_TARGET", "cuda:90")
    debug = flag("TRITON_DEBUG")


def interpreting() -> bool:
    """Whether kernels are interpreted: `runtime.interpret`, quickly, as every
    launch asks."""
    if "interpret" in runtime.__dict__:
        return runtime.__dict__["interpret"]
    environment = _environment
    if b"TILE_INTERPRET" in environment or b"TRITON_INTERPRET" in environment:
        return runtime.interpret
    return False


# What os.environ keeps its variables in; a copy would not see changes.
_environment: Any = getattr(os.environ, "_data", {})


class _Language(Group):
    fp32_default = text("TRITON_F32_DEFAULT")
    default_fp_fusion = flag("TRITON_DEFAULT_FP_FUSION", True)


class _Nvidia(Group):
    cuobjdump = text("TRITON_CUOBJDUMP_PATH")
    nvdisasm = text("TRITON_NVDISASM_PATH")
    ptxas = text("TRITON_PTXAS_PATH")
    ptxas_blackwell = text("TRITON_PTXAS_BLACKWELL_PATH")
    dump_nvptx = flag("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = flag("DISABLE_PTXAS_OPT")
    ptxas_options = text("PTXAS_OPTIONS")
    mock_ptx_version = text("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = flag("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = text("TRITON_LIBDEVICE_PATH")
    libcuda_path = text("TRITON_LIBCUDA_PATH")


class _Build(Group):
    cc = text("CC")
    cudacrt_path = text("TRITON_CUDACRT_PATH")
    cudart_path = text("TRITON_CUDART_PATH")


class _Redis(Group):
    key_format = text("TRITON_REDIS_KEY_FORMAT", "tile:{key}:{filename}")
    host = text("TRITON_REDIS_HOST", "localhost")
    port = Knob("TRITON_REDIS_PORT", 6379, int)


class _Amd(Group):
    use_buffer_ops = flag("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = flag("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = flag("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = flag("AMDGCN_ENABLE_DUMP")
    libhip_path = text("TRITON_LIBHIP_PATH")
    use_block_pingpong = flag("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = flag("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    use_async_copy = flag("TRITON_HIP_USE_ASYNC_COPY")
    scalarize_packed_fops = flag("AMDGCN_SCALARIZE_PACKED_FOPS")


class _Proton(Group):
    disable = flag("TRITON_PROTON_DISABLE")
    cupti_lib_dir = text("TRITON_CUPTI_LIB_PATH")
    enable_nvtx = flag("TRITON_ENABLE_NVTX", True)


build = _Build()
redis = _Redis()
amd = _Amd()
proton = _Proton()
cache = _Cache()
compilation = _Compilation()
autotuning = _Autotuning()
runtime = _Runtime()
language = _Language()
nvidia = _Nvidia()
