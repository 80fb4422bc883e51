"""Compilation for NVIDIA GPUs: TTIR, TTGIR, LLVM IR, PTX, cubin."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from typing import Any

from tile import _C, knobs
from tile.backends.base import BaseBackend, GPUTarget, Occupancy, modelled_properties
from tile.backends.by_hand import stage
from tile.compiler import watch
from tile.compiler.assumptions import state_pairs, state_undefined_loads
from tile.compiler.errors import from_diagnostics
from tile.compiler.instrumentation import instruments_of
from tile.compiler.pipelines import missed, run_pipeline, run_stage
from tile.errors import OutOfResources, TileError

from . import occupancy, tensor_maps, tools
from .options import NvidiaOptions, check_options, described_libraries
from .spelling import with_space_first
from .stages import STAGES
from .targets import WITHOUT_CODE, find_facts

#: The most threads of a block, on every GPU.
_MOST_THREADS = 1024
#: What dots are whose sums are in tensor memory, as their names begin.
_SUM = "ttnvgpu.tc_gen5_mma"
#: What copies through a descriptor.
_COPY = "ttnvgpu.async_tma_copy_global_to_local"


class NvidiaBackend(BaseBackend):
    """Compiles for targets such as ``GPUTarget("cuda", 90, 32)``."""

    STAGES = STAGES

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        self.facts = find_facts(target.arch)

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"

    @staticmethod
    def target_names() -> list[str]:
        return ["cuda"]

    @classmethod
    def find_target(cls, arch: str) -> GPUTarget:
        number = int(arch) if arch.isdigit() else arch
        find_facts(number)
        return GPUTarget("cuda", number, 32)

    @staticmethod
    def describe_tools() -> list[tuple[str, str]]:
        return [("ptxas", tools.describe_ptxas()), ("libdevice", tools.describe_libdevice())]

    def hash(self) -> str:
        return f"{self.target}-{tools.ptxas_version(self.target.arch)}-{tools.libdevice_version()}"

    def parse_options(self, options: dict[str, Any]) -> NvidiaOptions:
        # Options of Triton that mean nothing here are not an error.
        ignored = {"ir_override", "optimize_epilogue", "warp_size"}
        libraries = options.get("extern_libs")
        given = NvidiaOptions.of(options, ignored | {"extern_libs"})
        if libraries is not None:
            given["libraries"] = described_libraries(libraries)
        given["backend_name"], given["arch"] = self.target.backend, self.target.arch
        requested = given.get("enable_fp_fusion")
        given["enable_fp_fusion"] = knobs.language.fp_fusion_enabled(requested)
        given.setdefault("sanitize_overflow", bool(given.get("debug")))
        given.setdefault("line_info", not knobs.compilation.disable_line_info)
        given.setdefault("tma", knobs.nvidia.tma)
        given.setdefault(
            "tensor_memory", knobs.nvidia.tensor_memory and _may_sum_in_tensor_memory(given)
        )
        given.setdefault("specialize_warps", knobs.nvidia.specialize_warps)
        given.setdefault("raise_pointers", knobs.nvidia.raise_pointers)
        given.setdefault("disable_passes", knobs.compilation.disable_passes)
        given.setdefault("insert_passes", knobs.compilation.insert_passes)
        given.setdefault("max_num_imprecise_acc_default", 2**30 if self.facts.has_wgmma else 0)
        if knobs.language.fp32_default:
            given.setdefault("default_dot_input_precision", knobs.language.fp32_default)
        result = NvidiaOptions(**given)
        check_options(result, self.facts)
        result.check_types()
        return result

    def stages(self, options: NvidiaOptions) -> dict[str, Any]:
        self._check_code()
        return {
            "ttir": functools.partial(self.make_ttir, options=options),
            "ttgir": functools.partial(self.make_ttgir, options=options),
            **self._last_stages(options),
        }

    def explicit_stages(self, options: NvidiaOptions) -> dict[str, Any]:
        if options.clc:
            raise TileError(
                "clc is for programs without explicit layouts: others ask for the next "
                "program themselves, with clc.try_cancel"
            )
        return {
            "glir": functools.partial(self.make_glir, options=options),
            "ttgir": functools.partial(self.make_ttgir_of_explicit, options=options),
            **self._last_stages(options),
        }

    def _check_code(self) -> None:
        if self.target.arch in WITHOUT_CODE:
            raise TileError(
                f"tile has no code generator for {self.target}: it writes programs with explicit "
                "layouts for it in glir, and goes no further"
            )

    def _last_stages(self, options: NvidiaOptions) -> dict[str, Any]:
        """From `ttg` to machine code."""
        return {
            "llir": functools.partial(self.make_llir, options=options),
            "ptx": functools.partial(self.make_ptx, options=options),
            "cubin": functools.partial(self.make_cubin, options=options),
        }

    def views(self) -> dict[str, Any]:
        return {"sass": ("cubin", tools.disassemble)}

    def starting_tools(self, stages: list[str], options: NvidiaOptions) -> Any:
        # Where all that is to do is to assemble, there is nothing to do meanwhile.
        if "cubin" not in stages[1:]:
            return super().starting_tools(stages, options)
        return tools.starting_ptxas(self.facts, options.line_info, options.ptx_options)

    def has_tools_for(self, stage: str) -> bool:
        return stage != "cubin" or tools.ptxas_path(self.target.arch) is not None

    simulated_stage = "ptx"
    simulated_timelines = True

    def simulated_properties(self) -> dict[str, int]:
        return {
            "max_shared_mem": self.facts.max_shared_memory,
            "max_num_regs": self.facts.registers_per_sm,
            "warpSize": 32,
            **modelled_properties(f"sm_{self.target.arch}"),
        }  # fmt: skip

    def occupancy(self, kernel: Any, report: Any) -> Occupancy | None:
        if kernel.n_regs is None:  # There is no ptxas, which counts them.
            return None
        processors = self.simulated_properties()["multiprocessor_count"]
        return occupancy.resident_warps(
            self.facts, kernel.n_regs, kernel.num_warps, kernel.shared, processors
        )

    @property
    def copies_by_descriptors(self) -> bool:
        return self.facts.has_tma

    def simulated_parameters(self, kernel: Any, values: list[Any]) -> list[bytes] | None:
        maps = [tensor_maps.for_simulator(m, values) for m in tensor_maps.maps_of(kernel)]
        return None if None in maps else maps

    # The stages.

    @stage
    def make_ttir(self, module: Any, metadata: dict[str, Any], *, options: NvidiaOptions) -> Any:
        return run_stage(
            module,
            "tile-nvidia-ttir",
            metadata["name"],
            options,
            options.ttir_arguments(),
        )

    def make_glir(self, module: Any, metadata: dict[str, Any], *, options: NvidiaOptions) -> Any:
        self._note_options(module, options)
        return module

    def make_ttgir_of_explicit(
        self, module: Any, metadata: dict[str, Any], *, options: NvidiaOptions
    ) -> Any:
        self._check_code()
        return run_stage(module, "tile-nvidia-gluon", metadata["name"], options)

    @staticmethod
    def _note_options(module: Any, options: NvidiaOptions) -> None:
        """Writes on the module what later passes ask for."""
        if options.overlapping_arguments:
            unit = _C.ir.Attribute.parse("unit", module.context)
            module.set_attribute("ttg.overlapping-arguments", unit)
        if options.maxnreg is not None:
            i32 = _C.ir.Attribute.parse(f"{options.maxnreg} : i32", module.context)
            module.set_attribute("ttg.maxnreg", i32)

    @stage
    def make_ttgir(self, module: Any, metadata: dict[str, Any], *, options: NvidiaOptions) -> Any:
        self._note_options(module, options)
        name = metadata["name"]
        raised = f"raise-pointers={self._raised_loops(module, metadata, options)}"
        if self._may_have_launch_maps(metadata, options):
            raised += " launch-maps=true"
        if "chains" in raised:
            attempt = watch.Attempt(watch.current())
            result = self._run_ttgir(module.clone(), name, options, (False,) * 3, raised)
            shortage = self._find_shortage(result, _COPY)
            if shortage is None:
                return result
            attempt.forget()
            missed(
                "triton-raise-pointers-to-descriptors",
                "loop-by-pointers",
                f"no loop gets descriptors where nobody asks for them: {shortage['message']}",
                shortage["places"],
            )
            raised = "raise-pointers=none"
        # Sums in tensor memory, warps of their own, and further ones that correct sums.
        ways = [(False, False, False)]
        if options.tensor_memory and self.facts.has_tensor_memory:
            ways = [(True, True, True), (True, True, False), (True, False, False), *ways]
            if not options.specialize_warps:
                ways = ways[2:]
            elif not options.correction_group:
                ways = ways[1:]
        while len(ways) > 1:
            way = ways.pop(0)
            attempt = watch.Attempt(watch.current())
            result = self._run_ttgir(module.clone(), name, options, way, raised)
            shortage = self._find_shortage(result, _SUM)
            if shortage is None:
                return result
            attempt.forget()
            # Without parts of sums, nobody corrects them.
            if way[2] and "ttnvgpu.tmem_subslice" not in str(result):
                way = ways.pop(0)
            if not way[1]:
                fitting = self._run_with_fewer_stages(module, name, options, raised, shortage)
                if fitting is not None:
                    return fitting
            self._say_what_is_given_up(shortage, *way[1:])
        return self._run_ttgir(module, name, options, ways[-1], raised)

    def _run_with_fewer_stages(
        self, module: Any, name: str, options: NvidiaOptions, raised: str, shortage: dict[str, Any]
    ) -> Any:
        """The module whose loops copy less ahead; None if it does not fit, either. Without tensor
        memory, dots take mma.sync, and those with scales become dots of bf16."""
        if "shared memory" not in shortage["message"]:
            return None
        # A group of warps may need less than one that computes all rows: its weights are in tensor
        # memory.
        ways = [(True, False, False)]
        if options.specialize_warps and "tt.warp_specialize" in str(module):
            ways += [(True, True, True), (True, True, False)]
            if not options.correction_group:
                ways.pop(1)
        numbers = range(options.num_stages - 1, 1, -1)
        for way, stages in itertools.product(ways, numbers):
            fewer = dataclasses.replace(options, num_stages=stages)
            attempt = watch.Attempt(watch.current())
            result = self._run_ttgir(module.clone(), name, fewer, way, raised)
            if self._find_shortage(result, _SUM) is None:
                missed(
                    "tritongpu-pipeline",
                    "loop-with-fewer-stages",
                    f"loops have {stages} stages, and not {options.num_stages}, so that dots add "
                    f"in tensor memory: {shortage['message']}",
                    shortage["places"],
                )
                return result
            attempt.forget()
        return None

    def _raised_loops(self, module: Any, metadata: dict[str, Any], options: NvidiaOptions) -> str:
        """Which loops load by bulk tensor copies what the program loads by pointers: none, all,
        or chains."""
        if options.raise_pointers is not None:
            return "all" if options.raise_pointers else "none"
        # Only sm_90 was measured.
        if not (self.facts.has_wgmma and options.tma) or options.num_ctas > 1:
            return "none"
        # Programs that overlap the last launch's would write into its memory of descriptors. Who
        # runs stages by hand launches by hand, too, and gives kernels no memory.
        if options.launch_pdl or "hash" not in metadata:
            return "none"
        return "chains" if str(module).count("tt.dot ") > 1 else "none"

    @staticmethod
    def _may_have_launch_maps(metadata: dict[str, Any], options: NvidiaOptions) -> bool:
        """Whether launches of the kernel make tensor maps that no argument is: ours do, and those
        of others know nothing of them."""
        return "hash" in metadata and options.launch_maps and not options.overlapping_arguments

    def without_tensor_maps(self, kernel: Any) -> dict[str, Any]:
        computes = any("code" in m for m in tensor_maps.maps_of(kernel))
        return {"launch_maps": False} if computes else {"tma": False}

    @staticmethod
    def _say_what_is_given_up(
        shortage: dict[str, Any], specialize_warps: bool, corrects: bool
    ) -> None:
        if corrects:
            missed(
                "triton-nvidia-partition-corrections",
                "no-correction-group",
                "its sums are corrected by the warps that compute weights: " + shortage["message"],
                shortage["places"],
            )
            return
        if specialize_warps:
            missed(
                "triton-nvidia-choose-warp-specialization",
                "loop-not-specialized",
                "copies and dots get no warps of their own where nobody asks for them: "
                + shortage["message"],
                shortage["places"],
            )
            return
        missed(
            "tritongpu-accelerate-matmul",
            "product-in-registers",
            f"dots take mma.sync, and do not add in tensor memory: {shortage['message']}",
            shortage["places"],
        )

    def _run_ttgir(
        self,
        module: Any,
        name: str,
        options: NvidiaOptions,
        way: tuple[bool, bool, bool],
        raised: str,
    ) -> Any:
        tensor_memory, specialize_warps, corrects = way
        # Warps that hand each other registers need to have all of them.
        if self.facts.has_wgmma and options.maxnreg is not None:
            options = dataclasses.replace(options, specialize_warps=False)
        return run_stage(
            module,
            "tile-nvidia-ttgir",
            name,
            options,
            f"target=cuda:{self.target.arch} num-warps={options.num_warps} "
            f"num-ctas={options.num_ctas} num-stages={max(1, options.num_stages)}"
            + (" prefetch=true" if options.prefetch else "")
            + ("" if options.tma else " tma=false")
            + ("" if tensor_memory else " tensor-memory=false")
            + (
                " specialize-warps=false"
                if not options.specialize_warps or (tensor_memory and not specialize_warps)
                else ""
            )
            + ("" if options.row_groups is None else f" row-groups={options.row_groups}")
            + (" correction-group=true" if corrects else "")
            + (
                " exp2-polynomial=true"
                if options.exp2_polynomial and not options.instrumentation_mode
                else ""
            )
            + f" {raised}"
            + (" clc=true" if options.clc else ""),
        )

    def _find_shortage(self, module: Any, culprit: str) -> dict[str, Any] | None:
        """The diagnostic about memory of which a kernel with such operations needs too much; None
        if there is enough."""
        trial = module.clone()
        pipeline = f"tile-nvidia-allocation{{compute-capability={self.target.arch}}}"
        try:
            _C.passes.PassManager.parse(pipeline, trial.context).run(trial)
        except _C.ir.MLIRError as error:
            if culprit not in str(module):
                return None
            return next(d for d in error.diagnostics if d["severity"] == "error")
        return None

    @stage
    def make_llir(self, module: Any, metadata: dict[str, Any], *, options: NvidiaOptions) -> str:
        lowered = module.clone()
        try:
            if options.check_replicas:
                run_pipeline(lowered, "check-replicas", metadata["name"])
            run_stage(
                lowered,
                "tile-nvidia-llir",
                metadata["name"],
                options,
                f"compute-capability={self.target.arch}",
            )
        except _C.ir.MLIRError as error:
            self._check_shared_memory(lowered, metadata["name"], error)
            raise
        metadata.update(_C.llvm.kernel_info(lowered))
        columns = lowered.attribute("ttg.tensor_memory_size")
        metadata["tmem_size"] = columns.value if columns is not None else 0
        metadata.update(instruments_of(lowered))
        return _C.llvm.translate_to_llvm(lowered, self.ptx_options(options))

    @stage
    def make_ptx(self, llvm_ir: str, metadata: dict[str, Any], *, options: NvidiaOptions) -> str:
        ptx = _C.llvm.emit_ptx(llvm_ir, _C.ir.Context(), self.ptx_options(options))
        if knobs.compat.enable:
            ptx = with_space_first(ptx)
        found = re.search(r"\.(?:visible|extern)\s+\.entry\s+([\w$]+)", ptx)
        if found is None:
            raise TileError("the PTX has no kernel")
        metadata["name"] = found.group(1)
        ptx += state_pairs(metadata, "//")
        ptx += state_undefined_loads(metadata, "//")
        if knobs.nvidia.dump_nvptx:
            print(ptx)
        return ptx

    def count_parameters(self, stage: str, text: Any) -> int | None:
        found = re.search(r"\.entry\s+[\w$]+\s*\(([^)]*)\)", text) if stage == "ptx" else None
        return None if found is None else len(re.findall(r"\.param\b", found[1]))

    @stage
    def make_cubin(
        self, ptx: str, metadata: dict[str, Any], *, options: NvidiaOptions
    ) -> bytes | None:
        if tools.ptxas_path(self.target.arch) is None:
            return None
        knob = knobs.nvidia
        assemble = _assemble_once
        if knobs.compilation.always_compile or knob.dump_ptxas_log:
            assemble = _assemble_once.__wrapped__
        cubin, usage = assemble(
            ptx,
            self.target.arch,
            metadata["num_warps"],
            metadata.get("shared", 0),
            options.ptx_options or "",
            options.maxnreg,
            (tools.ptxas_version(self.target.arch), knob.ptxas_options, knob.disable_ptxas_opt),
        )
        metadata.update(usage)
        self._count_threads(metadata)
        return cubin

    def _check_shared_memory(self, module: Any, kernel: str, error: Exception) -> None:
        """Raises for a module that could not be lowered because it needs too much."""
        required, limit = module.attribute("ttg.shared"), self.facts.max_shared_memory
        if required is not None and required.value > limit:
            where = "\n".join(place.render() for place in from_diagnostics(error).places)
            raise OutOfResources(required.value, limit, "shared memory", kernel, where) from None

    def _count_threads(self, metadata: dict[str, Any]) -> None:
        """How many threads a block can have, whose registers have to fit into the file of a
        multiprocessor; raises where those of the kernel do not."""
        unit, limit = self.facts.register_allocation_unit, self.facts.registers_per_sm
        per_thread = -(-max(1, metadata.get("n_regs", 0)) // unit) * unit
        metadata["n_max_threads"] = min(_MOST_THREADS, limit // per_thread // 32 * 32)
        required = per_thread * 32 * metadata["num_warps"]
        if required > limit:
            raise OutOfResources(required, limit, "registers", metadata["name"])

    def ptx_options(self, options: NvidiaOptions) -> Any:
        result = _C.llvm.PTXOptions()
        result.compute_capability = self.target.arch
        result.ptx_version = options.ptx_version or knobs.nvidia.mock_ptx_version or 0
        result.opt_level = options.opt_level
        result.enable_fp_fusion = options.enable_fp_fusion
        result.enable_reflect_ftz = options.enable_reflect_ftz
        result.line_info = options.line_info
        result.print_ir = knobs.compilation.llvm_ir_dump
        result.time_passes = knobs.compilation.llvm_timing
        libraries = dict(options.extern_libs)
        result.libdevice_path = libraries.pop("libdevice", None) or ""
        result.libraries = list(libraries.values())
        return result


@functools.lru_cache(maxsize=32)
def _assemble_once(
    ptx: str,
    arch: int,
    warps: int,
    shared: int,
    options: str,
    asked: int | None,
    settings: tuple[Any, ...],
) -> tuple[bytes, dict[str, Any]]:
    """The machine code of a text. Configurations of an autotuner have the same text where they
    differ in the number of stages, and no loop has stages."""
    return occupancy.assemble(ptx, find_facts(arch), warps, shared, options, asked)


def _may_sum_in_tensor_memory(options: dict[str, Any]) -> bool:
    """Whether dots may add up in tensor memory where nobody says so. The blocks of a cooperative
    grid wait for each other, and the driver does not count columns of tensor memory: one block
    might wait for those of another. The sanitizer of concurrency does not know these dots."""
    mode = options.get("instrumentation_mode") or ""
    if not isinstance(mode, str):
        return False  # The options refuse it.
    sanitizer = mode.partition(":")[0]
    return not options.get("launch_cooperative_grid") and sanitizer != "consan"
