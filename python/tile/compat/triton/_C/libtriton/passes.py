"""Passes by the names that hooks around the stages of a compile call: each function adds one to a
`pass_manager`. They are passes of tile, under the names that tile-opt knows.

    pm = ir.pass_manager(mod.context)
    passes.common.add_canonicalizer(pm)
    pm.run(mod, "make_ttir")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tile import _C, plugins
from tile.compat.unbuilt import UnbuiltAttributeError
from tile.errors import TileError

from .ir import pass_manager

#: A pass, and the options that arguments give, in order.
Pass = tuple[str, ...]

_COMMON: dict[str, Pass] = {
    "add_canonicalizer": ("canonicalize",), "add_cse": ("cse",), "add_inliner": ("inline",),
    "add_licm": ("loop-invariant-code-motion",), "add_sccp": ("sccp",),
    "add_symbol_dce": ("symbol-dce",), "print_ir": ("print-ir",),
}  # fmt: skip
_CONVERT: dict[str, Pass] = {
    "add_arith_to_llvmir": ("convert-arith-to-llvm",),
    "add_cf_to_llvmir": ("convert-cf-to-llvm",),
    "add_index_to_llvmir": ("convert-index-to-llvm",),
    "add_nvvm_to_llvm": ("convert-nvvm-to-llvm",),
    "add_reconcile_unrealized_casts": ("reconcile-unrealized-casts",),
    "add_scf_to_cf": ("convert-scf-to-cf",),
}
_GLUON: dict[str, Pass] = {
    "add_canonicalizer": ("gluon-canonicalize",),
    "add_infer_coalesced_encodings": ("gluon-infer-coalesced-encodings",),
    "add_inliner": ("gluon-inline",),
    "add_resolve_auto_encodings": ("gluon-resolve-auto-encodings",),
}
_TTIR: dict[str, Pass] = {
    "add_combine": ("triton-combine",),
    "add_convert_to_ttgpuir": (
        "convert-triton-to-tritongpu", "target", "num-warps", "threads-per-warp", "num-ctas",
    ),
    "add_loop_aware_cse": ("triton-loop-aware-cse",),
    "add_loop_unroll": ("triton-loop-unroll",),
    "add_reorder_broadcast": ("triton-reorder-broadcast",),
    "add_rewrite_tensor_descriptor_to_pointer": ("triton-rewrite-tensor-descriptor-to-pointer",),
    "add_rewrite_tensor_pointer": ("triton-rewrite-tensor-pointer",),
    "add_triton_licm": ("triton-licm",),
}  # fmt: skip
_TTGPUIR: dict[str, Pass] = {
    "add_accelerate_matmul": ("tritongpu-accelerate-matmul",),
    "add_allocate_global_scratch_memory": ("tritongpu-global-scratch-memory-allocation",),
    "add_allocate_shared_memory": ("allocate-shared-memory",),
    "add_allocate_warp_groups": ("tritongpu-allocate-warp-groups",),
    "add_assign_latencies": ("tritongpu-assign-latencies", "num-stages"),
    "add_coalesce": ("tritongpu-coalesce",),
    "add_coalesce_async_copy": ("tritongpu-coalesce-async-copy",),
    "add_combine_tensor_select_and_if": ("tritongpu-combine-tensor-select-and-if",),
    "add_concurrency_sanitizer": ("tritoninstrument-concurrency-sanitizer",),
    "add_f32_dot_tc": ("tritongpu-f32-dot-tc", "emu-tf32"),
    "add_fuse_nested_loops": ("tritongpu-fuse-nested-loops",),
    "add_hoist_tmem_alloc": ("tritongpu-hoist-tmem-alloc", "hoist-out-of-if"),
    "add_optimize_accumulator_init": ("tritongpu-optimize-accumulator-init",),
    "add_optimize_dot_operands": ("tritongpu-optimize-dot-operands", "hoist-layout-conversion"),
    "add_optimize_partition_warps": ("tritongpu-optimize-partition-warps",),
    "add_optimize_thread_locality": ("tritongpu-optimize-thread-locality",),
    "add_pipeline": ("tritongpu-pipeline", "num-stages", "dump-intermediate-steps"),
    "add_prefetch": ("tritongpu-prefetch",),
    "add_reduce_data_duplication": ("tritongpu-reduce-data-duplication",),
    "add_remove_layout_conversions": ("tritongpu-remove-layout-conversions",),
    "add_reorder_instructions": ("tritongpu-reorder-instructions",),
    "add_schedule_loops": ("tritongpu-schedule-loops",),
    "add_warp_specialize": ("tritongpu-automatic-warp-specialization", "num-stages"),
}
_NVWS: dict[str, Pass] = {
    "add_assign_stage_phase": ("nvws-assign-stage-phase",),
    "add_insert_tmem_aref": ("nvws-insert-tmem-aref",),
    "add_lower_aref": ("nvws-lower-aref",),
    "add_lower_warp_group": ("nvws-lower-warp-group",),
}
_NVIDIA_TTGPUIR: dict[str, Pass] = {
    "add_allocate_shared_memory_nv": (
        "allocate-shared-memory-nv", "compute-capability", "ptx-version",
    ),
    "add_to_llvmir": ("convert-triton-gpu-to-llvm", "compute-capability", "ptx-version"),
}  # fmt: skip
_TTNVGPUIR: dict[str, Pass] = {
    "add_allocate_tensor_memory": ("triton-tensor-memory-allocation",),
    "add_check_matmul_two_cta": ("triton-nvidia-check-matmul-two-cta",),
    "add_fence_insertion": ("triton-nvidia-gpu-fence-insertion", "compute-capability"),
    "add_interleave_tmem": ("triton-nvidia-interleave-tmem",),
    "add_lower_clc": ("triton-nvidia-gpu-lower-clc",),
    "add_lower_mma": ("triton-nvidia-mma-lowering",),
    "add_nvgpu_to_llvm": ("convert-nv-gpu-to-llvm",),
    "add_optimize_descriptor_encoding": ("triton-nvidia-optimize-descriptor-encoding",),
    "add_optimize_tmem_layouts": ("triton-nvidia-optimize-tmem-layouts",),
    "add_promote_lhs_to_tmem": ("tritongpu-promote-lhs-to-tmem",),
    "add_proxy_fence_insertion": ("triton-nvidia-gpu-proxy-fence-insertion", "compute-capability"),
    "add_remove_tmem_tokens": ("triton-nvidia-gpu-remove-tmem-tokens",),
    "add_tma_lowering": ("triton-nvidia-tma-lowering",),
    "add_tmem_barrier_insertion": ("triton-nvidia-gpu-tmem-barrier-insertion",),
    "add_tmem_load_reduce": ("triton-nvidia-tmem-load-reduce",),
    "add_to_clc": ("triton-nvidia-gpu-to-clc",),
    "add_warp_specialize_to_llvm": ("convert-warp-specialize-to-llvm",),
}
_AMD_TTGPUIR: dict[str, Pass] = {
    "add_accelerate_matmul": (
        "tritonamdgpu-accelerate-matmul", "arch-generation-name", "matrix-instruction-size",
        "kPack",
    ),
    "add_block_pingpong": ("tritonamdgpu-block-pingpong", "num-stages"),
    "add_canonicalize_pointers": ("tritonamdgpu-canonicalize-pointers",),
    "add_coalesce_async_copy": ("tritonamdgpu-coalesce-async-copy", "arch-generation-name"),
    "add_convert_to_buffer_ops": (
        "tritonamdgpu-convert-buffer-ops", "arch-generation-name", "allow-buffer-atomics",
        "analyze-small-tensor-ofst",
    ),
    "add_fold_true_cmpi": ("tritonamdgpu-fold-true-cmpi",),
    "add_hoist_layout_conversions": ("tritonamdgpu-hoist-layout-conversions",),
    "add_in_thread_transpose": ("tritonamdgpu-in-thread-transpose",),
    "add_move_up_prologue_loads": ("tritonamdgpu-move-up-prologue-loads",),
    "add_optimize_epilogue": ("tritonamdgpu-optimize-epilogue",),
    "add_prepare_if_combining": ("tritonamdgpu-prepare-if-combining",),
    "add_sink_layout_conversions": ("tritonamdgpu-sink-layout-conversions",),
    "add_to_llvmir": ("convert-triton-amdgpu-to-llvm", "arch", "ftz"),
    "add_update_async_wait_count": (
        "tritonamdgpu-update-async-wait-count", "arch-generation-name",
    ),
}  # fmt: skip


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Group:
    """Functions that add passes."""

    def __init__(self, name: str, passes: dict[str, Pass]) -> None:
        self._name = name
        self._passes = passes

    def __dir__(self) -> list[str]:
        return list(self._passes)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in self._passes:
            raise UnbuiltAttributeError(
                f"{self._name}.{name} is not built in tile yet: tile has no such pass by itself. "
                "`tile-opt --help` lists its passes, and `add_pass(pm, text)` adds any of them"
            )
        text, *options = self._passes[name]

        def add(pm: pass_manager, *given: Any) -> None:
            if len(given) > len(options):
                raise TileError(f"{name} takes {len(options)} arguments, not {len(given)}")
            pairs = zip(options, given, strict=False)
            pm.add(text, " ".join(f"{option}={_value(value)}" for option, value in pairs))

        return add


class _Plugins:
    """Passes of libraries that were loaded, by their names with underscores for hyphens."""

    def extend_with(self, path: str) -> None:
        """Loads a library with passes and dialects."""
        plugins.load(path)

    def __getattr__(self, name: str) -> Callable[..., None]:
        text = name.removeprefix("add_").replace("_", "-")
        if not name.startswith("add_") or not _C.passes.is_pass(text):
            raise UnbuiltAttributeError(
                f"no library that was loaded has a pass `{text}`; TILE_PLUGIN_PATHS names libraries"
            )
        return lambda pm: pm.add(text, "")


def add_pass(pm: pass_manager, text: str) -> None:
    """Adds a pass, or several, as tile-opt's command line has them."""
    pm.add(text, "")


_PATH = "triton._C.libtriton.passes"
common = Group(f"{_PATH}.common", _COMMON)
convert = Group(f"{_PATH}.convert", _CONVERT)
gluon = Group(f"{_PATH}.gluon", _GLUON)
ttir = Group(f"{_PATH}.ttir", _TTIR)
ttgpuir = Group(f"{_PATH}.ttgpuir", _TTGPUIR)
llvmir = Group(f"{_PATH}.llvmir", {})
analysis = Group(f"{_PATH}.analysis", {})
plugin = _Plugins()


class _OfVendor:
    """The groups of a backend."""

    def __init__(self, **groups: Group) -> None:
        vars(self).update(groups)


_NVIDIA = "triton._C.libtriton.nvidia.passes"
nvidia = _OfVendor(
    nvws=Group(f"{_NVIDIA}.nvws", _NVWS),
    ttgpuir=Group(f"{_NVIDIA}.ttgpuir", _NVIDIA_TTGPUIR),
    ttnvgpuir=Group(f"{_NVIDIA}.ttnvgpuir", _TTNVGPUIR),
    hopper=Group(f"{_NVIDIA}.hopper", {}),
)
amd = _OfVendor(ttgpuir=Group("triton._C.libtriton.amd.passes.ttgpuir", _AMD_TTGPUIR))

__all__ = [
    "add_pass", "analysis", "common", "convert", "gluon", "llvmir", "plugin", "ttgpuir", "ttir",
]  # fmt: skip
