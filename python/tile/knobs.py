"""Settings: each reads an environment variable, and can be set in Python.

    tile.knobs.compilation.always_compile = True
    with tile.knobs.autotuning.scope():  # What is set inside ends with the block.
        tile.knobs.autotuning.print = True

Every ``TRITON_X`` variable is also read as ``TILE_X``, which wins. ``tile knobs`` prints all of
them, with their values and where those came from.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from .hints import closest
from .settings import (
    Group,
    Hook,
    HookChain,
    Knob,
    bytes_of,
    env,
    flag,
    foreign,
    getenv,
    not_negative,
    one_of,
    release,
    some_of,
    text,
    warn,
)


def _home() -> str:
    return os.path.join(os.path.expanduser("~"), "")


def _under_home(folder: str) -> Callable[[], str]:
    return lambda: os.path.join(cache.home_dir, ".tile", folder)


def _simulated_target() -> str:
    from .backends import default_simulated

    return default_simulated()


class _Cache(Group):
    home_dir = text("TRITON_HOME", _home, "The folder with the folder `.tile`.")
    dir = text("TRITON_CACHE_DIR", _under_home("cache"), "Where compiled kernels are kept.")
    dump_dir = text("TRITON_DUMP_DIR", _under_home("dump"), "Where stages are dumped.")
    override_dir = text(
        "TRITON_OVERRIDE_DIR", _under_home("override"), "What stands for stages is here."
    )
    manager_class = text(
        "TRITON_CACHE_MANAGER", None, "A class, as module:Class, that keeps compiled kernels."
    )
    remote_manager_class = text(
        "TRITON_REMOTE_CACHE_BACKEND", None, "A class, as module:Class, behind the cache on disk."
    )
    remote_dir = text("TILE_REMOTE_CACHE_DIR", None, "The remote cache, where that is a folder.")
    size_limit = Knob(
        "TILE_CACHE_SIZE_LIMIT", 10 << 30, bytes_of,
        "The size, as in 10G, beyond which what was not used longest leaves; 0 for none.",
    )  # fmt: skip
    lock_timeout = Knob(
        "TILE_CACHE_LOCK_TIMEOUT", 120.0, float,
        "A number of seconds to wait for another process that compiles the same kernel.",
    )  # fmt: skip


class _Compilation(Group):
    override = flag("TRITON_KERNEL_OVERRIDE", False, "Take stages from the folder for overrides.")
    dump_ir = flag("TRITON_KERNEL_DUMP", False, "Write every stage to the folder for dumps.")
    store_binary_only = flag("TRITON_STORE_BINARY_ONLY", False, "Keep PTX and machine code only.")
    always_compile = flag("TRITON_ALWAYS_COMPILE", False, "Do not look into the cache.")
    use_ir_loc = Knob(
        "USE_IR_LOC", None, one_of("ttir", "glir", "ttgir"),
        "Line tables show this stage, dumped to a file.", in_key=True,
    )  # fmt: skip
    disable_line_info = flag("TRITON_DISABLE_LINE_INFO", False, "Leave line tables out.")
    front_end_debugging = flag(
        "TRITON_FRONT_END_DEBUGGING", False, "Errors in kernels keep the compiler's stack."
    )
    allow_non_constexpr_globals = flag(
        "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", False, "Kernels may read any global."
    )
    enable_dump = text(
        "MLIR_ENABLE_DUMP", "", "1, or a kernel's name: print its IR before each pass."
    )
    dump_path = text("MLIR_DUMP_PATH", "", "The file that MLIR_ENABLE_DUMP prints to.")
    llvm_ir_dump = flag("LLVM_IR_ENABLE_DUMP", False, "Print the LLVM IR before each pass.")
    print_after_all = text(
        "TILE_PRINT_AFTER_ALL", "", "1, or a folder: print the IR after each pass."
    )
    time_passes = flag(
        "MLIR_ENABLE_TIMING", False, "Print what each pass takes.", also="TILE_TIME_PASSES"
    )
    llvm_timing = flag("LLVM_ENABLE_TIMING", False, "Print what each pass of LLVM takes.")
    diagnostics = Knob(
        "MLIR_ENABLE_DIAGNOSTICS", "", some_of("warnings", "remarks", "stacktraces", "operations"),
        "warnings, remarks: what passes say, printed to stderr.",
    )  # fmt: skip
    remarks = text(
        "MLIR_ENABLE_REMARK", "",
        "1, or a pattern of passes' names: print what they could not make fast, and why.",
    )  # fmt: skip
    reproducer_path = text(
        "TRITON_REPRODUCER_PATH", "",
        "Each stage, and a pass that fails, writes what `tile-opt -run-reproducer` runs.",
    )  # fmt: skip
    llvm_debug_only = text(
        "TRITON_LLVM_DEBUG_ONLY", "", "Print the debug output of these components."
    )
    pass_statistics = flag("TILE_PASS_STATISTICS", False, "Print what passes count.")
    disable_passes = text(
        "TILE_DISABLE_PASSES",
        "",
        "Passes to leave out, as in tritongpu-prefetch,tritongpu-pipeline.",
    )
    insert_passes = text(
        "TILE_INSERT_PASSES",
        "",
        "Passes to put in at extension points, as in loops-start:cse,copies-end:my-pass{n=1}.",
    )
    instrumentation_mode = text(
        "TRITON_INSTRUMENTATION_MODE",
        "",
        "Kernels record for the profiler, as this mode of it says: default:granularity=warp.",
    )
    plugin_paths = text(
        "TRITON_PLUGIN_PATHS", "", "Libraries with passes and dialects, as paths in PATH."
    )
    #: Called by keywords after each compile, also one that the cache answers: `src`, `metadata`,
    #: `metadata_group` (the paths of the files), `times` and `cache_hit`.
    listener: Callable[..., Any] | None = None
    dump_ir_extract_di_local_variables = foreign("LLVM_EXTRACT_DI_LOCAL_VARIABLES", False)
    enable_asan = foreign("TRITON_ENABLE_ASAN", False)
    fpsan_homomorphic_casts = foreign("TRITON_FPSAN_HOMOMORPHIC_CASTS", False)


class _Autotuning(Group):
    cache = flag("TRITON_CACHE_AUTOTUNING", True, "Keep choices on disk.")
    print = flag("TRITON_PRINT_AUTOTUNING", False, "Print what was chosen, and what it took.")
    #: Called by keywords after a configuration was chosen: `fn`, `key`, `best_config`,
    #: `configs_timings`, `duration` (None where the choice was on disk) and `cache_hit`.
    listener: Callable[..., Any] | None = None


class _Runtime(Group):
    interpret = flag("TRITON_INTERPRET", False, "Run kernels as Python.")
    interpret_max_iterations = Knob(
        "TILE_INTERPRET_MAX_ITERATIONS", 10**7, not_negative,
        "Iterations of loops after which an interpreted program counts as endless; 0 for never.",
    )  # fmt: skip
    override_arch = text("TRITON_OVERRIDE_ARCH", None, "Compile for this architecture, as in sm90.")
    driver = text("TILE_DRIVER", "", "A driver such as sim; else the first that has a device.")
    backends = text("TILE_BACKENDS", "", "Folders of backends outside of tile, as paths in PATH.")
    sim_target = text(
        "TILE_SIM_TARGET", _simulated_target, "The target that the simulator stands for."
    )
    sim_max_instructions = Knob(
        "TILE_SIM_MAX_INSTRUCTIONS", 10**10, not_negative,
        "Warp instructions after which the simulator gives up on a launch; 0 for never.",
    )  # fmt: skip
    sim_schedule_seed = Knob(
        "TILE_SIM_SCHEDULE_SEED", 0, not_negative,
        "The order in which the simulator runs warps and completes asynchronous work; 0: in turn.",
    )  # fmt: skip
    sim_schedules = Knob(
        "TILE_SIM_SCHEDULES", 1, not_negative,
        "Under how many orders the simulator runs each launch.",
    )  # fmt: skip
    sim_suppressions = text(
        "TILE_SIM_SUPPRESSIONS", "", "A file with findings of the simulator that do not count."
    )
    undefined_lanes = flag(
        "TILE_UNDEFINED_LANES", True,
        "Find kernels that depend on what masked loads without `other` leave undefined.",
    )  # fmt: skip
    launch_timeout = Knob(
        "TILE_LAUNCH_TIMEOUT", 0, not_negative,
        "Seconds after which a launch on a GPU that has not ended is an error; 0: never.",
    )  # fmt: skip
    graph_launches = flag(
        "TILE_GRAPH_LAUNCHES", False,
        "Launch kernels as CUDA graphs of one node, which takes the host less time.",
    )  # fmt: skip
    debug = flag("TRITON_DEBUG", False, "Compile assertions in kernels.")
    #: Called with the launch's metadata before and after each launch; None is none.
    launch_enter_hook = Hook()
    launch_exit_hook = Hook(reversed=True)
    #: The same, for launches of kernels that have a `launch_metadata` alone: others take no time.
    described_enter_hook = Hook()
    described_exit_hook = Hook(reversed=True)
    #: Called before and after a kernel is loaded on a device, and before it is unloaded. They get
    #: the driver's module, the launcher, the kernel's name, its files and its hash. The first two
    #: are None before the kernel is loaded.
    kernel_load_start_hook = Hook()
    kernel_load_end_hook = Hook(reversed=True)
    kernel_unload_hook = Hook()
    #: Called by keywords (`key`, `repr`, `fn`, `compile`, `is_manual_warmup`, `already_compiled`)
    #: before and after a kernel is compiled for a launch or a warm-up.
    jit_cache_hook: Callable[..., Any] | None = None
    jit_post_compile_hook: Callable[..., Any] | None = None
    #: Called with the backend, its stages, the options, the language and the architecture. It may
    #: replace stages: a stage is a function of the IR and the metadata, by its name. Before that it
    #: is called with nothing, and returns what else the key of kernels depends on.
    add_stages_inspection_hook: Callable[..., Any] | None = None


#: What the environment has while kernels are interpreted, if nothing in Python says so.
INTERPRETING = (b"TILE_INTERPRET", b"TRITON_INTERPRET")
#: And while something is put into kernels.
INSTRUMENTING = (b"TILE_INSTRUMENTATION_MODE", b"TRITON_INSTRUMENTATION_MODE")


def environment_of_the_process() -> Any:
    """What os.environ keeps its variables in; a copy would not see changes. None if unknown."""
    data = getattr(os.environ, "_data", None)
    return data if os.name == "posix" and isinstance(data, dict) else None


def interpreting() -> bool:
    """Whether kernels are interpreted: `runtime.interpret`, quickly."""
    if "interpret" in runtime.__dict__:
        return runtime.__dict__["interpret"]
    environment = environment_of_the_process()
    if environment is None or any(name in environment for name in INTERPRETING):
        return runtime.interpret
    return False


class _Language(Group):
    fp32_default = text("TRITON_F32_DEFAULT", None, "How products of float32 are computed.")
    default_fp_fusion = flag("TRITON_DEFAULT_FP_FUSION", True, "Contract a * b + c.")
    force_disable_fp_fusion = flag(
        "TRITON_FORCE_DISABLE_FP_FUSION", False, "Never contract a * b + c, whatever launches say."
    )

    def fp_fusion_enabled(self, requested: bool | None) -> bool:
        """Whether a * b + c is contracted, given what the launch says. What is no bool is returned
        as it is: options of other types are refused later."""
        if self.force_disable_fp_fusion:
            return False
        return self.default_fp_fusion if requested is None else requested


class _Build(Group):
    #: A launch needs no compiler: whatever these say is right.
    cc = foreign("CC")
    cudacrt_path = foreign("TRITON_CUDACRT_PATH")
    cudart_path = foreign("TRITON_CUDART_PATH")
    #: Builds modules of C for programs that bring their own, in place of the compiler.
    impl: Callable[..., str] | None = None

    @property
    def backend_dirs(self) -> set[str]:
        """The folders that both of these name."""
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class _Redis(Group):
    key_format = text("TRITON_REDIS_KEY_FORMAT", "tile:{key}:{filename}", "A file's key.")
    host = text("TRITON_REDIS_HOST", "localhost", "The server.")
    port = Knob("TRITON_REDIS_PORT", 6379, int, "A port's number.")


class _Proton(Group):
    disable = flag("TRITON_PROTON_DISABLE", False, "`tile.profiler.start` does nothing.")
    cupti_lib_dir = text("TRITON_CUPTI_LIB_PATH", None, "The folder of libcupti, or the library.")
    cupti_lib_blackwell_dir = text(
        "TRITON_CUPTI_LIB_BLACKWELL_PATH", None, "The same, from sm_100 on."
    )
    enable_nvtx = flag("TRITON_ENABLE_NVTX", True, "NVTX ranges are scopes of the profiler.")
    enable_hw_trace = flag(
        "TRITON_ENABLE_HW_TRACE", False, "Times of kernels come from the hardware, from sm_100 on."
    )
    profile_buffer_size = Knob(
        "TRITON_PROFILE_BUFFER_SIZE", 64 << 20, bytes_of,
        "The size, as in 64M, of a buffer of records about kernels.",
    )  # fmt: skip
    launches_in_trace = flag(
        "TILE_PROFILE_LAUNCHES", False,
        "Traces of what kernels record have the scopes of the host and the launches, too.",
    )  # fmt: skip
    metric_buffer_size = foreign("TRITON_PROFILE_METRIC_BUFFER_SIZE", str(64 << 20))
    roctracer_lib_dir = foreign("TRITON_ROCTRACER_LIB_PATH")
    rocprofiler_lib_dir = foreign("TRITON_ROCPROFILER_SDK_LIB_PATH")
    hsa_runtime_dir = foreign("TRITON_HSA_RUNTIME_PATH")
    # Of 3.9. Two of them are other names of those above.
    profile_metric_buffer_size = foreign("TRITON_PROFILE_METRIC_BUFFER_SIZE", str(64 << 20))
    hsa_runtime_library = foreign("TRITON_HSA_RUNTIME_LIBRARY")
    hsa_runtime_path = foreign("TRITON_HSA_RUNTIME_PATH")
    rocprofiler_sdk_include_path = foreign("TRITON_ROCPROFILER_SDK_INCLUDE_PATH")
    rocprofiler_sdk_lib_path = foreign("TRITON_ROCPROFILER_SDK_LIB_PATH")
    rocprofiler_sdk_library = foreign("TRITON_ROCPROFILER_SDK_LIBRARY")
    roctracer_lib_path = foreign("TRITON_ROCTRACER_LIB_PATH")
    roctracer_library = foreign("TRITON_ROCTRACER_LIBRARY")
    roctx_lib_path = foreign("TRITON_ROCTX_LIB_PATH")
    roctx_library = foreign("TRITON_ROCTX_LIBRARY", "libroctx64.so")


class _Compat(Group):
    version = Knob(
        "TILE_COMPAT_VERSION", "3.9.0", release, "The release that triton.__version__ says.",
        in_key=True,
    )  # fmt: skip
    #: In the key, since texts of stages are those that Triton prints.
    enable = flag("TILE_COMPAT", False, "`import triton` gives tile, from the start.", in_key=True)

    def stands_for(self, *release: int) -> bool:
        """Whether tile stands for this release of Triton, or a later one."""
        parts = self.version.split(".")[: len(release)]
        return self.enable and tuple(int(p) if p.isdigit() else 0 for p in parts) >= release


build = _Build()
compat = _Compat()
redis = _Redis()
proton = _Proton()
cache = _Cache()
compilation = _Compilation()
autotuning = _Autotuning()
runtime = _Runtime()
language = _Language()


def __getattr__(name: str) -> Group:
    """The settings of a backend: `nvidia`, `amd`."""
    if not name.startswith("_"):
        from .backends import folders, knobs_of

        if (found := knobs_of(name)) is not None:
            return found
        groups = [known for known, value in globals().items() if isinstance(value, Group)]
        hint = closest(name, [*groups, *folders()])
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def groups() -> dict[str, Group]:
    """All groups of settings, by name."""
    from .backends import folders, knobs_of

    found = {name: value for name, value in globals().items() if isinstance(value, Group)}
    backends = {name: group for name in folders() if (group := knobs_of(name)) is not None}
    return {**found, **backends}


def key() -> str:
    """What compiled kernels depend on, other than through their options."""
    return repr([
        (name, knob_name, getattr(group, knob_name))
        for name, group in sorted(groups().items())
        for knob_name, knob in group.settings().items()
        if knob.in_key
    ])  # fmt: skip


#: Variables that some program or test sets, and that are no settings of ours.
_NO_CONCERN_OF_OURS = {"CC", "TILE_TEST_REPEATS"}
_PREFIXES = ("TRITON_", "TILE_", "MLIR_ENABLE_", "MLIR_DUMP", "AMDGCN_", "NVPTX_", "LLVM_IR_ENABLE")


@functools.lru_cache(maxsize=1)
def warn_of_unknown_variables() -> None:
    """Says which variables of the environment look like settings, but mean nothing."""
    known = {
        name: knob.honoured
        for group in groups().values()
        for knob in group.settings().values()
        for name in knob.names
    }
    for name in sorted(os.environ):
        if name in _NO_CONCERN_OF_OURS or known.get(name):
            continue
        if name in known or name.startswith(_PREFIXES):
            warn(f"the variable {name} means nothing to tile (`tile knobs` lists those that do)")


__all__ = [
    "Group", "Hook", "HookChain", "Knob", "autotuning", "build", "cache", "compat",
    "compilation", "env", "getenv", "groups", "interpreting", "key", "language", "proton",
    "redis", "runtime", "warn_of_unknown_variables",
]  # fmt: skip
