"""Compilation for AMD GPUs: TTIR, TTGIR, LLVM IR, assembly, code object."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from tile import _C, knobs
from tile.backends.base import BaseBackend, GPUTarget, Occupancy, modelled_properties
from tile.backends.by_hand import stage
from tile.compiler.assumptions import state_pairs, state_undefined_loads
from tile.compiler.errors import from_diagnostics, of_assembly
from tile.compiler.instrumentation import instruments_of
from tile.compiler.pipelines import missed, run_pipeline, run_stage
from tile.errors import OutOfResources, TileError

from .options import HIPOptions, check_options, precisions
from .stages import STAGES
from .targets import REGISTERS_OF_A_CU, find_facts

if TYPE_CHECKING:
    from .printing import PrintBuffer


class HIPBackend(BaseBackend):
    """Compiles for targets such as ``GPUTarget("hip", "gfx942", 64)``."""

    STAGES = STAGES

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
        ignored = {"ir_override", "optimize_epilogue", "warp_size", "maxnreg", "launch_pdl"}
        given = HIPOptions.of(options, ignored)
        given["backend_name"], given["arch"] = self.target.backend, self.facts.processor
        requested = given.get("enable_fp_fusion")
        given["enable_fp_fusion"] = knobs.language.fp_fusion_enabled(requested)
        given.setdefault("sanitize_overflow", bool(given.get("debug")))
        given.setdefault("line_info", not knobs.compilation.disable_line_info)
        given.setdefault("use_block_pingpong", bool(knobs.amd.use_block_pingpong))
        given.setdefault("use_async_copy", knobs.amd.use_async_copy)
        given.setdefault("disable_passes", knobs.compilation.disable_passes)
        given.setdefault("insert_passes", knobs.compilation.insert_passes)
        if knobs.language.fp32_default in precisions(self.facts):
            given.setdefault("default_dot_input_precision", knobs.language.fp32_default)
        given.setdefault("default_dot_input_precision", precisions(self.facts)[-1])
        result = HIPOptions(**given)
        check_options(result, self.facts)
        result.check_types()
        return result

    def _check_blocks(self, options: HIPOptions) -> None:
        if options.num_ctas > 1:
            raise TileError(
                f"num_ctas > 1 not supported: tile has no code for programs of several blocks on "
                f"{self.facts}"
            )

    def stages(self, options: HIPOptions) -> dict[str, Any]:
        self._check_blocks(options)
        return {
            "ttir": functools.partial(self.make_ttir, options=options),
            "ttgir": functools.partial(self.make_ttgir, options=options),
            **self._last_stages(options),
        }

    def explicit_stages(self, options: HIPOptions) -> dict[str, Any]:
        return {
            "glir": functools.partial(self.make_glir, options=options),
            "ttgir": functools.partial(self.make_ttgir_of_explicit, options=options),
            **self._last_stages(options),
        }

    def _last_stages(self, options: HIPOptions) -> dict[str, Any]:
        """From `ttg` to machine code."""
        return {
            "llir": functools.partial(self.make_llir, options=options),
            "amdgcn": functools.partial(self.make_amdgcn, options=options),
            "hsaco": functools.partial(self.make_hsaco, options=options),
        }

    simulated_stage = "amdgcn"

    def simulated_properties(self) -> dict[str, int]:
        return {
            "max_shared_mem": self.facts.max_shared_memory, "max_num_regs": REGISTERS_OF_A_CU,
            "warpSize": self.facts.wave_size,
            **modelled_properties(self.facts.processor),
        }  # fmt: skip

    def occupancy(self, kernel: Any, report: Any) -> Occupancy | None:
        found = report.occupancy if report is not None else None
        if found is None:
            return None
        return Occupancy(
            warps=found["waves"], most=found["most"], unit="SIMD unit", bound=found["bound"],
            limits={found["bound"]: found["waves"]},
        )  # fmt: skip

    def simulated_printing(self, text: str) -> PrintBuffer | None:
        # Imports NumPy, for which those who only compile would wait.
        from .printing import PrintBuffer

        return PrintBuffer.of(text)

    # The stages.

    @stage
    def make_ttir(self, module: Any, metadata: dict[str, Any], *, options: HIPOptions) -> Any:
        return run_stage(
            module,
            "tile-amd-ttir",
            metadata["name"],
            options,
            options.ttir_arguments(),
        )

    def make_glir(self, module: Any, metadata: dict[str, Any], *, options: HIPOptions) -> Any:
        self._note_options(module, options)
        return module

    def make_ttgir_of_explicit(
        self, module: Any, metadata: dict[str, Any], *, options: HIPOptions
    ) -> Any:
        self._check_blocks(options)
        return run_stage(module, "tile-amd-gluon", metadata["name"], options)

    @staticmethod
    def _note_options(module: Any, options: HIPOptions) -> None:
        """Writes on the module what later passes ask for."""
        if options.overlapping_arguments:
            unit = _C.ir.Attribute.parse("unit", module.context)
            module.set_attribute("ttg.overlapping-arguments", unit)

    @stage
    def make_ttgir(self, module: Any, metadata: dict[str, Any], *, options: HIPOptions) -> Any:
        self._note_options(module, options)
        return run_stage(
            module,
            "tile-amd-ttgir",
            metadata["name"],
            options,
            f"target={self.facts} num-warps={options.num_warps} "
            f"num-stages={max(1, options.num_stages)} "
            f"matrix-instruction-size={options.matrix_instr_nonkdim} kPack={options.kpack} "
            f"schedule-hint={options.schedule_hint} "
            f"use-async-copy={str(options.use_async_copy).lower()} "
            f"use-block-pingpong={str(options.use_block_pingpong).lower()}",
        )

    @stage
    def make_llir(self, module: Any, metadata: dict[str, Any], *, options: HIPOptions) -> str:
        lowered = module.clone()
        try:
            if options.check_replicas:
                run_pipeline(lowered, "check-replicas", metadata["name"])
            run_stage(lowered, "tile-amd-llir", metadata["name"], options)
        except _C.ir.MLIRError as error:
            required, limit = lowered.attribute("ttg.shared"), self.facts.max_shared_memory
            if required is None or required.value <= limit:
                raise
            where = "\n".join(place.render() for place in from_diagnostics(error).places)
            raise OutOfResources(
                required.value, limit, "shared memory", metadata["name"], where
            ) from None
        metadata.update(_C.amd.kernel_info(lowered))
        metadata.update(instruments_of(lowered))
        llvm_ir = _C.amd.translate_to_llvm(lowered, self.code_options(options))
        if too_large := re.search(r'"tile-too-large-to-pack"="(\d+)"', llvm_ir):
            message = (
                f"`{metadata['name']}` has {too_large[1]} instructions in a row, too many to pack "
                "pairs of operations; a loop in place of code that is written out, or several "
                "kernels, have fewer (and the compile is quicker)"
            )
            missed("packing", "operations-not-packed", message, [])
        return llvm_ir

    @stage
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

    @stage
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
