"""Runs a stage's passes, and shows what users ask to see of them."""

from __future__ import annotations

import functools
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from .. import _C, knobs
from ..errors import TileError
from ..settings import warn
from . import instrumentation, watch
from .errors import render_places, source_place

if TYPE_CHECKING:
    from ..backends import BaseOptions


def run_pipeline(module: Any, pipeline: str, kernel: str) -> Any:
    """Runs passes, given as text, on the module of a kernel."""
    watcher = watch.current()
    if watcher is not None:
        return _run_watched(module, pipeline, watcher)
    settings = knobs.compilation
    _set_debug_types(settings.llvm_debug_only)
    manager = _C.passes.PassManager.parse(pipeline, module.context)
    if settings.enable_dump in ("1", kernel):
        try:
            manager.enable_ir_printing(before=True, path=settings.dump_path)
        except ValueError as error:
            raise TileError(f"MLIR_DUMP_PATH: {error}") from None
    elif settings.print_after_all == "1":
        manager.enable_ir_printing()
    elif settings.print_after_all:
        manager.enable_ir_printing_to_tree(settings.print_after_all)
    if settings.reproducer_path:
        stage = pipeline.partition("{")[0].rpartition("-")[2]
        path = f"{settings.reproducer_path}.make_{stage}.repro.mlir"
        _write_reproducer(module, str(manager), path)
        manager.enable_reproducer(f"{settings.reproducer_path}.{stage}.mlir")
    if settings.time_passes:
        manager.enable_timing()
    remarks = _pattern_of_remarks()
    if remarks:
        manager.enable_remarks(remarks)
    for severity, place, message in manager.run(module):
        if f"{severity}s" in settings.diagnostics:
            print(f"{place}: {severity}: {message}", file=sys.stderr)
    if remarks:
        for remark in manager.remarks:
            print(_render(*remark), file=sys.stderr)
    if settings.pass_statistics:
        for (name, counter), count in sorted(_C.passes.statistics(reset=True).items()):
            print(f"{count:10} {name} {counter}", file=sys.stderr)
    return module


def _write_reproducer(module: Any, passes: str, path: str) -> None:
    """What `tile-opt -run-reproducer` runs: the passes of a stage, on what it begins with."""
    quoted = passes.replace("\\", r"\\").replace('"', r"\"")
    text = (
        f"{module.str(False)}\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n"
        f'      pipeline: "{quoted}",\n      disable_threading: false,\n      verify_each: true\n'
        "    }\n  }\n#-}\n"
    )
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise TileError(f"TILE_REPRODUCER_PATH: {path}: {error.strerror}") from None


def _run_watched(module: Any, pipeline: str, watcher: watch.Watcher) -> Any:
    before = str(module)
    with tempfile.TemporaryDirectory(prefix="tile-passes-") as folder:
        path = os.path.join(folder, "passes.mlir")
        manager = _C.passes.PassManager.parse(pipeline, module.context)
        manager.enable_ir_printing(path=path)
        manager.enable_remarks(".*")
        manager.run(module)
        watcher.remarks += [watch.Remark(*remark) for remark in manager.remarks]
        del manager  # Writes the rest of the file.
        with open(path, encoding="utf-8") as file:
            watcher.runs.append(watch.PipelineRun(pipeline, before, file.read()))
    return module


def _pattern_of_remarks() -> str:
    """What passes are called whose remarks are shown, a regular expression; empty for none."""
    wanted = knobs.compilation.remarks
    return ".*" if wanted == "1" else wanted or ""


def missed(name: str, kind: str, message: str, places: list[tuple[str, int, int]]) -> None:
    """Says, to those who ask for remarks, what was not done for a kernel before passes see it."""
    watcher = watch.current()
    if watcher is not None:
        watcher.remarks.append(watch.Remark(name, kind, message, places))
        return
    wanted = _pattern_of_remarks()
    if wanted and re.search(wanted, name):
        print(_render(name, kind, message, places), file=sys.stderr)


def run_stage(
    module: Any, pipeline: str, kernel: str, options: BaseOptions, arguments: str = ""
) -> Any:
    """`run_pipeline` for a backend's stage, without the passes that the option `disable_passes`
    names, and with those of `insert_passes`."""
    disabled = [name.strip() for name in options.disable_passes.split(",") if name.strip()]
    for name in disabled:
        if not _C.passes.is_pass(name):
            raise TileError(f"there is no pass `{name}` to leave out (disable_passes)")
    if disabled:
        arguments += f" disable={','.join(disabled)}"
    inserted = ",".join(filter(None, (options.insert_passes, instrumentation.passes_of(options))))
    if inserted:
        arguments += f" insert={inserted}"
    return run_pipeline(module, f"{pipeline}{{{arguments}}}", kernel)


def _render(name: str, kind: str, message: str, places: list[tuple[str, int, int]]) -> str:
    """A remark as errors are shown: the lines of the kernel, then what is to be said."""
    lines = render_places([source_place(*place) for place in reversed(places)])
    return "\n".join([*lines, f"remark: {kind}: {message} [{name}]"])


@functools.lru_cache(maxsize=1)
def _set_debug_types(text: str) -> None:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not _C.passes.set_debug_types(names) and names:
        warn("TILE_LLVM_DEBUG_ONLY prints nothing: this build has no debug output")
