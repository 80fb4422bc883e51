"""One compile: from a source through the stages of a backend, or out of the cache."""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path
from typing import Any

from .. import _C, knobs, plugins
from ..backends import GPUTarget, find_backend
from ..backends.stages import GLIR
from ..errors import TileError
from ..runtime.cache import CacheEntry, get_dump_manager, get_override_manager
from ..runtime.cache.entry import checksum
from . import contexts
from .compiler import ASTSource, CompiledKernel
from .errors import from_diagnostics
from .instrumentation import refuse_explicit
from .key import compiler_key
from .text_target import check_text_target
from .times import CompileTimes, Stopwatch


class StagedCompile:
    """Compiles a source for a target; knows the key of what comes out."""

    def __init__(
        self,
        src: Any,
        target: GPUTarget,
        options: dict[str, Any],
        stop_at: str | None,
        lazy_after: str | None,
    ) -> None:
        knobs.warn_of_unknown_variables()
        plugins.load_configured()
        self.watch = Stopwatch()
        self.src = src
        self.name = src.name.removeprefix("@")
        self.target = target
        self.stop_at = stop_at
        self.lazy_after = lazy_after
        self.backend = find_backend(target)
        if not isinstance(src, ASTSource):
            check_text_target(src.ext, src.src, target, f"{src.path.name}: the file")
        merged = {**src.parse_options(), **options}
        override = merged.pop("ir_override", None)
        self.options = self.backend.parse_options(merged)
        explicit = src.ext == GLIR.name
        if explicit:
            refuse_explicit(self.options)
        find_stages = self.backend.explicit_stages if explicit else self.backend.stages
        self.stages = find_stages(self.options)
        hook = knobs.runtime.add_stages_inspection_hook
        #: What a hook that changes the stages says of itself.
        self.hook_key = ""
        if hook is not None:
            self.hook_key = repr(hook())
            language = "gluon" if explicit else "triton"
            hook(self.backend, self.stages, self.options, language, target.arch)
        self.order = list(self.stages)
        if stop_at is not None and stop_at not in self.order:
            raise TileError(
                f"there is no stage {stop_at!r}; the stages are {', '.join(self.order)}"
            )
        if src.ext not in self.order:
            raise TileError(
                f"{target} has no stage {src.ext!r}; the stages are {', '.join(self.order)}"
            )
        self.overrides = self._find_overrides(override)
        self.key = self._make_key()
        self.entry = CacheEntry(self.key, self.name)

    def _make_key(self) -> str:
        parts = [
            compiler_key(), self.src.hash(), self.backend.hash(), self.options.hash(),
            str(self.stop_at), knobs.key(), plugins.key(), self.hook_key,
            *(f"{stage}={checksum(_bytes(text))}" for stage, text in self.overrides.items()),
        ]  # fmt: skip
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def kernel(self) -> CompiledKernel:
        """The compiled kernel, from the cache where it is there."""
        return self.load() or self.entry.load_or_build(self.load, self.build)

    def load(self) -> CompiledKernel | None:
        """The kernel in the cache."""
        if knobs.compilation.always_compile:
            return None
        found = self.entry.load()
        if found is None:
            return None
        metadata, stages = found
        stages.pop("source", None)
        kernel = self._finish(metadata, dict(stages))
        self._tell(metadata, CompileTimes(self.watch.lap()), cache_hit=True)
        if knobs.compilation.dump_ir:
            for stage in stages:
                self._dump(stage, kernel.asm[stage])
        return kernel

    def build(self) -> CompiledKernel:
        """Compiles, and puts the kernel into the cache."""
        metadata, asm = self._run()
        return self._finish(metadata, asm)

    def _rebuild(self) -> dict[str, Any]:
        return self._run()[1]

    def _finish(self, metadata: dict[str, Any], asm: dict[str, Any]) -> CompiledKernel:
        kernel = CompiledKernel(
            metadata["name"], metadata, asm, self.key, self.src, self._rebuild, self.backend.STAGES
        )
        self._add_lazy_stages(kernel)
        for name, (stage, show) in self.backend.views().items():
            kernel.asm.add_view(name, stage, show)
        return kernel

    def _run(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Runs the stages; returns the metadata and what each made."""
        # What a file holds is what its stage makes already.
        first = self.order.index(self.src.ext) + (not isinstance(self.src, ASTSource))
        ahead = self.order[first:]
        last = self._last_stage()
        if last in ahead:
            ahead = ahead[: ahead.index(last) + 1]
        tools = self.backend.starting_tools(ahead, self.options)
        with tools, contexts.taken() as context:
            return self._run_in(context, ahead)

    def _run_in(self, context: Any, ahead: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        target = self.target
        metadata: dict[str, Any] = {
            "name": self.name,
            "hash": self.key,
            "target": {
                "backend": target.backend, "arch": target.arch, "warp_size": target.warp_size,
            },
            **self.options.as_dict(),
        }  # fmt: skip
        self.watch.lap()
        ir = self.src.make_ir(self.options, context)
        initialization, stages = self.watch.lap(), []
        asm: dict[str, Any] = {}
        from_file = not isinstance(self.src, ASTSource)
        if from_file:
            asm[self.src.ext] = self.src.src
        source = {} if from_file else {"source": _text(ir)}
        for stage in ahead:
            ir = self._run_stage(stage, ir, metadata)
            if ir is None:  # The machine lacks the tool; what there is will do.
                break
            asm[stage] = _text(ir)
            if stage in self.overrides:
                self._check_parameters(stage, asm[stage], self.overrides[stage])
                asm[stage] = self.overrides[stage]
                ir = self._reparse(asm[stage], stage, context)
            if stage == knobs.compilation.use_ir_loc:
                ir = self._with_own_locations(ir, stage, context)
            if knobs.compilation.dump_ir:
                self._dump(stage, asm[stage])
            stages.append((stage, self.watch.lap()))
        if knobs.compilation.store_binary_only:
            kept = {n: text for n, text in asm.items() if self.backend.find_stage(n).is_code}
        else:
            kept = {**asm, **source}
        self.entry.store(metadata, kept)
        times = CompileTimes(initialization, stages, self.watch.lap())
        self._tell(metadata, times, cache_hit=False)
        return metadata, asm

    def _tell(self, metadata: dict[str, Any], times: CompileTimes, cache_hit: bool) -> None:
        """Calls the listener to compiles, if there is one."""
        listener = knobs.compilation.listener
        if listener is not None:
            listener(
                src=self.src, metadata={**metadata, "target": GPUTarget(**metadata["target"])},
                metadata_group=self.entry.files(),
                times=times, cache_hit=cache_hit,
            )  # fmt: skip

    def _run_stage(self, stage: str, ir: Any, metadata: dict[str, Any]) -> Any:
        try:
            return self.stages[stage](ir, metadata)
        except _C.ir.MLIRError as error:
            what = f"while making the {stage} of `{self.name}`"
            raise from_diagnostics(error, what) from None

    def _last_stage(self) -> str | None:
        if self.stop_at is None and self.lazy_after is not None:
            if self.order.index(self.lazy_after) > self.order.index(self.src.ext):
                return self.lazy_after
        return self.stop_at

    def _add_lazy_stages(self, kernel: CompiledKernel) -> None:
        """Adds the stages after the last one that was run, to be made on demand."""
        before = self.lazy_after
        if before is None or self.stop_at is not None or before not in kernel.asm:
            return
        for stage in self.order[self.order.index(before) + 1 :]:
            if stage not in kernel.asm and self.backend.has_tools_for(stage):
                make = functools.partial(_late, kernel, self.stages[stage], before)
                kernel.asm.add(stage, make)
            before = stage

    def _with_own_locations(self, ir: Any, stage: str, context: Any) -> Any:
        """The IR of a stage, whose places are lines of itself in a file."""
        text = ir.str(enable_debug_info=False, use_name_loc_as_prefix=True)
        path = self._dump(f"lines.{stage}", text)
        return self._reparse(text, stage, context, path)

    def _reparse(self, text: Any, name: str, context: Any, path: str = "") -> Any:
        if self.backend.find_stage(name).is_module:
            try:
                module = _C.ir.Module.parse(text, context, path or f"<override of {name}>")
                module.verify()
            except _C.ir.MLIRError as error:
                raise from_diagnostics(error) from None
            return module
        return text

    # Files that the user looks at, or gives.

    def _dump(self, stage: str, content: Any) -> str:
        """Writes a stage where the user looks; returns the path."""
        try:
            return get_dump_manager(self.src.hash()).put(content, f"{self.name}.{stage}")
        except OSError as error:
            raise TileError(
                f"cannot write to the folder for dumps (TILE_DUMP_DIR), {knobs.cache.dump_dir}: "
                f"{error.strerror}"
            ) from None

    def _check_parameters(self, stage: str, own: Any, override: Any) -> None:
        """Refuses code with other parameters than a launch passes: the driver would read behind
        them."""
        counts = [self.backend.count_parameters(stage, text) for text in (own, override)]
        if counts[0] != counts[1]:
            raise TileError(
                f"the {stage} that stands for `{self.name}` takes {counts[1]} parameters, but "
                f"a launch passes {counts[0]}"
            )

    def _find_overrides(self, named: str | None) -> dict[str, Any]:
        """What stands for the result of a stage, by the stage: the file of the option
        `ir_override`, and the files in the folder for overrides."""
        paths = {}
        if knobs.compilation.override:
            manager = get_override_manager(self.src.hash())
            for stage in self.order:
                name = f"{self.name}.{stage}"
                # As it was dumped, or without the folder that tells specialisations apart.
                for path in (manager.get_file(name), Path(knobs.cache.override_dir, name)):
                    if path is not None and Path(path).is_file():
                        paths[stage] = Path(path)
                        break
        if named is not None:
            path = Path(named)
            stage = path.suffix[1:]
            if stage not in self.order:
                raise TileError(
                    f"ir_override names {path.name}; its ending must be a stage, one of "
                    f"{', '.join(self.order)}"
                )
            paths[stage] = path
        try:
            found: dict[str, Any] = {
                stage: path.read_bytes()
                if self.backend.find_stage(stage).is_binary
                else path.read_text(encoding="utf-8")
                for stage, path in paths.items()
            }
        except OSError as error:
            raise TileError(f"cannot read {error.filename}: {error.strerror}") from None
        for stage, text in found.items():
            if not self.backend.find_stage(stage).is_binary:
                check_text_target(stage, text, self.target, f"the override of {stage}")
        return found


def _late(kernel: CompiledKernel, stage: Any, before: str) -> Any:
    return stage(kernel.asm[before], kernel._metadata)


def _bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


#: The dialect's prefix at operations, types and attributes. Programs written for Triton look for
#: `ttng.` there. Both are read. Discardable attributes are ours, and keep their names.
_OF_NVIDIA = re.compile(r'(^ *"?|= "?|[!#])ttnvgpu\.', re.MULTILINE)
#: A descriptor's type names a tensor up to 3.7, and what such a tensor is made of since. Both are
#: read.
_DESCRIPTOR = re.compile(r"!tt\.tensordesc<tensor<([^<>]*(?:<[^<>]*>[^<>]*)*)>>")


def _text(ir: Any) -> Any:
    if isinstance(ir, (str, bytes)):
        return ir
    text = ir.str(enable_debug_info=True, use_name_loc_as_prefix=True)
    if knobs.compat.stands_for(3, 8):
        text = _DESCRIPTOR.sub(r"!tt.tensordesc<\1>", text)
    renames = knobs.compat.enable and "ttnvgpu." in text
    return _OF_NVIDIA.sub(r"\1ttng.", text) if renames else text
