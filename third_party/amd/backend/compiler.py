"""Compilation for AMD GPUs: TTIR, TTGIR, LLVM IR, assembly, code object."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tile import _C, knobs
from tile.backends.base import BaseBackend, BaseOptions, GPUTarget
from tile.compiler.assumptions import state_pairs, state_undefined_loads
from tile.compiler.errors import from_diagnostics, of_assembly
from tile.compiler.pipelines import missed, run_pipeline, run_stage
from tile.errors import OutOfResources, TileError

from .targets import REGISTERS_OF_A_CU, find_facts

if TYPE_CHECKING:
    from .printing import PrintBuffer

#: The most threads of a workgroup, on every GPU.
_MOST_THREADS = 1024


@dataclass(frozen=True)
class HIPOptions(BaseOptions):
    """Options of a compile for an AMD GPU."""

    num_stages: int = 2
    #: Waves that each SIMD unit should have room for; 0 leaves it to LLVM.
    waves_per_eu: int = 0
    #: Rows of the matrix instruction to take, where one fits: 16, 32, 4 for narrow ones (4x64 and
    #: 64x4), or 0 for the compiler's choice.
    matrix_instr_nonkdim: int = 0
    #: Factor on the neighbours along K that a lane holds of an operand.
    kpack: int = 1
    #: How instructions of loops are scheduled: "attention" interleaves matrix instructions with
    #: the exponentials between them.
    schedule_hint: str = "none"
    #: Raise the priority of waves that multiply in programs of four, too, on gfx942.
    use_block_pingpong: bool = False
    #: Load operands of loops straight into LDS, on gfx950 and gfx1250.
    use_async_copy: bool = False
    #: Let arithmetic on fp32 flush denormals to zero.
    allow_flush_denorm: bool = False
    enable_fp_fusion: bool = True
    default_dot_input_precision: str = "ieee"
    max_num_imprecise_acc_default: int = 0
    launch_cooperative_grid: bool = False
    line_info: bool = True
    opt_level: int = 3
    #: Make no use of pointer arguments not overlapping; launches set this where they do.
    overlapping_arguments: bool = False
    #: Passes to leave out, by their names, with commas between.
    disable_passes: str = ""

    @property
    def warp_size(self) -> int:
        return find_facts(self.arch).wave_size

    @property
    def extern_libs(self) -> tuple[tuple[str, str], ...]:
        """The libraries that kernels are linked with: none."""
        return ()

    @property
    def supported_fp8_dtypes(self) -> tuple[str, ...]:
        """The types of 8 bits that kernels convert and multiply."""
        return ("fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")

    @property
    def allowed_dot_input_precisions(self) -> tuple[str, ...]:
        return _precisions(find_facts(self.arch))


def _precisions(facts: Any) -> tuple[str, ...]:
    """How exact products of fp32 may be."""
    return ("ieee", "tf32") if facts.has_xf32 else ("ieee",)


#: The values that an option may have.
_CHOICES: dict[str, tuple] = {
    "matrix_instr_nonkdim": (0, 4, 16, 32),
    "kpack": (1, 2),
    "schedule_hint": ("none", "attention", "memory-bound-attention"),
}


def _check(options: HIPOptions, facts: Any) -> None:
    for name, least in (("num_warps", 1), ("num_stages", 0), ("num_ctas", 1), ("waves_per_eu", 0)):
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            kind = "positive" if least else "non-negative"
            raise TileError(f"{name} must be a {kind} integer, not {value!r}")
    most = _MOST_THREADS // facts.wave_size
    if options.num_warps & (options.num_warps - 1) or options.num_warps > most:
        raise TileError(
            f"num_warps must be a power of two up to {most} on {facts}, not {options.num_warps}"
        )
    for name, choices in _CHOICES.items():
        value = getattr(options, name)
        if value not in choices:
            raise TileError(f"{name} is one of {', '.join(map(str, choices))}, not {value!r}")
    precisions, asked = _precisions(facts), options.default_dot_input_precision
    if asked not in precisions:
        raise TileError(
            f"default_dot_input_precision on {facts} is one of {', '.join(precisions)}, "
            f"not {asked!r}"
        )
    if options.num_ctas > 1:
        raise TileError(
            f"num_ctas is {options.num_ctas}, but programs of several blocks are not built for "
            f"{facts}"
        )


class HIPBackend(BaseBackend):
    """Compiles for targets such as ``GPUTarget("hip", "gfx942", 64)``."""

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        self.facts = find_facts(target.arch)
        if target.warp_size != self.facts.wave_size:
            raise TileError(
                f"waves on {self.facts} have {self.facts.wave_size} lanes, not "
                f"{target.warp_size}: GPUTarget('hip', {target.arch!r}, {self.facts.wave_size})"
            )

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "hip"

    @staticmethod
    def target_names() -> list[str]:
        return ["hip"]

    @classmethod
    def find_target(cls, arch: str) -> GPUTarget:
        facts = find_facts(arch)
        return GPUTarget("hip", facts.processor, facts.wave_size)

    def hash(self) -> str:
        return str(self.target)

    def parse_options(self, options: dict[str, Any]) -> HIPOptions:
        # Options of other targets that mean nothing here are not an error.
        ignored = {"ir_override", "instrumentation_mode", "warp_size", "maxnreg", "launch_pdl"}
        given = HIPOptions.of(options, ignored)
        given["backend_name"], given["arch"] = self.target.backend, self.facts.processor
        given.setdefault("enable_fp_fusion", knobs.language.default_fp_fusion)
        given.setdefault("sanitize_overflow", bool(given.get("debug")))
        given.setdefault("line_info", not knobs.compilation.disable_line_info)
        given.setdefault("use_block_pingpong", knobs.amd.use_block_pingpong)
        given.setdefault("use_async_copy", knobs.amd.use_async_copy)
        given.setdefault("disable_passes", knobs.compilation.disable_passes)
        if knobs.language.fp32_default in _precisions(self.facts):
            given.setdefault("default_dot_input_precision", knobs.language.fp32_default)
        given.setdefault("default_dot_input_precision", _precisions(self.facts)[-1])
        result = HIPOptions(**given)
        _check(result, self.facts)
        result.check_types()
        return result

    def stages(self, options: HIPOptions) -> dict[str, Any]:
        return {
            "ttir": functools.partial(self.make_ttir, options=options),
            "ttgir": functools.partial(self.make_ttgir, options=options),
            "llir": functools.partial(self.make_llir, options=options),
            "amdgcn": functools.partial(self.make_amdgcn, options=options),
            "hsaco": functools.partial(self.make_hsaco, options=options),
        }

    simulated_stage = "amdgcn"

    def simulated_properties(self) -> dict[str, int]:
        return {
            "max_shared_mem": self.facts.max_shared_memory, "max_num_regs": REGISTERS_OF_A_CU,
            "warpSize": self.facts.wave_size, "multiprocessor_count": 96,
            "sm_clock_rate": 2100000, "mem_clock_rate": 1300000, "mem_bus_width": 8192,
        }  # fmt: skip

    def simulated_printing(self, text: str) -> PrintBuffer | None:
        # Imports NumPy, for which those who only compile would wait.
        from .printing import PrintBuffer

        return PrintBuffer.of(text)

    # The stages.

    def make_ttir(self, module: Any, metadata: dict[str, Any], *, options: HIPOptions) -> Any:
        return run_stage(
            module,
            "tile-amd-ttir",
            metadata.get("name", ""),
            options.disable_passes,
            options.ttir_arguments(),
        )

    def make_ttgir(self, module: Any, metadata: dict[str, Any], *, options: HIPOptions) -> Any:
        if options.overlapping_arguments:
            unit = _C.ir.Attribute.parse("unit", module.context)
            module.set_attribute("ttg.overlapping-arguments", unit)
        return run_stage(
            module,
            "tile-amd-ttgir",
            metadata["name"],
            options.disable_passes,
            f"target={self.facts} num-warps={options.num_warps} "
            f"num-stages={max(1, options.num_stages)} "
            f"matrix-instruction-size={options.matrix_instr_nonkdim} kPack={options.kpack} "
            f"schedule-hint={options.schedule_hint} "
            f"use-async-copy={str(options.use_async_copy).lower()} "
            f"use-block-pingpong={str(options.use_block_pingpong).lower()}",
        )

    def make_llir(self, module: Any, metadata: dict[str, Any], *, options: HIPOptions) -> str:
        lowered = module.clone()
        try:
            if options.check_replicas:
                run_pipeline(lowered, "check-replicas", metadata["name"])
            run_stage(lowered, "tile-amd-llir", metadata["name"], options.disable_passes)
        except _C.ir.MLIRError as error:
            required, limit = lowered.attribute("ttg.shared"), self.facts.max_shared_memory
            if required is None or required.value <= limit:
                raise
            where = "\n".join(place.render() for place in from_diagnostics(error).places)
            raise OutOfResources(
                required.value, limit, "shared memory", metadata["name"], where
            ) from None
        metadata.update(_C.amd.kernel_info(lowered))
        llvm_ir = _C.amd.translate_to_llvm(lowered, self.code_options(options))
        if too_large := re.search(r'"tile-too-large-to-pack"="(\d+)"', llvm_ir):
            message = (
                f"`{metadata['name']}` has {too_large[1]} instructions in a row, too many to pack "
                "pairs of operations; a loop in place of code that is written out, or several "
                "kernels, have fewer (and the compile is quicker)"
            )
            missed("packing", "operations-not-packed", message, [])
        return llvm_ir

    def make_amdgcn(self, llvm_ir: str, metadata: dict[str, Any], *, options: HIPOptions) -> str:
        assembly = _C.amd.emit_assembly(llvm_ir, _C.ir.Context(), self.code_options(options))
        metadata.update(read_metadata(assembly))
        if spills := metadata["n_spills"]:
            message = (
                f"`{metadata['name']}` keeps {spills} registers of each lane in memory; with more "
                "warps or smaller blocks a lane has fewer values (and the compile is quicker)"
            )
            missed("registers", "registers-spilled", message, [])
        assembly += state_pairs(metadata, ";")
        assembly += state_undefined_loads(metadata, ";")
        if knobs.amd.dump_amdgcn:
            print(assembly)
        return assembly

    def make_hsaco(self, assembly: str, metadata: dict[str, Any], *, options: HIPOptions) -> bytes:
        try:
            code = _C.amd.assemble(assembly, _C.ir.Context(), self.code_options(options))
        except _C.ir.MLIRError as error:
            if (placed := of_assembly(str(error), assembly)) is None:
                raise
            raise placed from None
        return _C.amd.link(code, _C.ir.Context())

    def code_options(self, options: HIPOptions) -> Any:
        result = _C.amd.AMDGCNOptions()
        result.processor = self.facts.processor
        result.waves_per_eu = options.waves_per_eu
        result.flush_denormals = options.allow_flush_denorm
        result.opt_level = options.opt_level
        result.enable_fp_fusion = options.enable_fp_fusion
        result.line_info = options.line_info
        result.print_ir = knobs.compilation.llvm_ir_dump
        result.time_passes = knobs.compilation.llvm_timing
        return result


#: What the metadata of an assembly says about the kernel, and what launchers call it.
_COUNTS = {
    "agpr_count": "n_agprs",
    "vgpr_count": "n_regs",
    "sgpr_count": "n_sgprs",
    "vgpr_spill_count": "n_spills",
    "sgpr_spill_count": "n_sgpr_spills",
    "private_segment_fixed_size": "scratch",
    "kernarg_segment_size": "kernarg_size",
}


def read_metadata(assembly: str) -> dict[str, Any]:
    """The kernel's name and the registers it takes."""
    _, _, text = assembly.partition(".amdgpu_metadata")
    name = re.search(r"^\s*(?:- )?\.name:\s+'?([\w$.]+)'?\s*$", text, re.M)
    if name is None:
        raise TileError("the assembly has no kernel")
    found: dict[str, Any] = {"name": name[1]}
    for key, called in _COUNTS.items():
        number = re.search(rf"^\s*(?:- )?\.{key}:\s+(\d+)\s*$", text, re.M)
        # Processors without accumulation registers do not count them.
        found[called] = int(number[1]) if number else 0
    return found
