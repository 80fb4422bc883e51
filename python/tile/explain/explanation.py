"""All that is known of one compiled kernel, as a record that pages, texts and JSON are made of."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from ..compiler.watch import PipelineRun
from ..runtime.source import line_of
from . import locations
from .findings import Finding, find
from .inlined import add_helpers, with_helpers
from .launches import Launched
from .passes import ChangedBy, changes
from .recompile import compile_again
from .resources import Resources, resources
from .stage_texts import StageText, stage_texts
from .stalls import Samples, placed

#: Of the JSON: what reads it knows which keys there are.
SCHEMA = 1


@dataclass
class Explanation:
    name: str
    target: str
    #: Options of the compile that users set.
    options: dict[str, Any]
    #: Constants that the kernel was compiled for.
    constants: dict[str, Any]
    grid: list[int]
    block: list[int]
    arguments: list[str]
    launches: int
    resources: Resources
    counters: dict[str, Any]
    #: Counters by source line.
    lines: list[dict[str, Any]]
    roofline: dict[str, Any]
    #: Milliseconds of each stage.
    times: list[tuple[str, float]]
    findings: list[Finding]
    #: Wrong things that the simulator saw the kernel do.
    mistakes: list[str]
    passes: list[ChangedBy]
    stages: list[StageText]
    #: What warps waited for on a GPU, where there is a profile that says so.
    stalls: Samples | None = None
    #: The kernel itself, for those who draw more of it; it is in no JSON.
    launched: Launched | None = field(default=None, repr=False)
    #: The IR after each pass, for the same.
    runs: list[PipelineRun] = field(default_factory=list, repr=False)

    def stage(self, name: str) -> StageText | None:
        return next((s for s in self.stages if s.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        """As plain lists, dictionaries and numbers, without the texts of the stages."""
        result: dict[str, Any] = {"schema": SCHEMA}
        for item in dataclasses.fields(self):
            if item.name in ("stages", "passes", "launched", "runs"):
                continue
            result[item.name] = plain(getattr(self, item.name))
        # Who compares versions knows lines by their text: their numbers move.
        for one in (*result["lines"], *result["findings"]):
            one["text"] = line_of(one["file"], one["line"]).strip() if one["file"] else ""
        result["passes"] = [
            {"stage": p.stage, "pass": p.name, "added": p.added, "removed": p.removed}
            for p in self.passes
        ]
        result["remarks"] = [plain(remark) for p in self.passes for remark in p.remarks]
        result["stages"] = [
            {"name": s.name, "lines": len(s.places), "missing": s.missing} for s in self.stages
        ]
        return result


def plain(value: Any) -> Any:
    """Records as dictionaries, and all else as JSON has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


#: Options that are shown though they are the default.
_OPTIONS = ("num_warps", "num_stages", "num_ctas")


def _options(metadata: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    return {
        name: metadata[name]
        for name, default in defaults.items()
        if name in metadata and (name in _OPTIONS or metadata[name] != default)
    }


def _constants(kernel: Any) -> dict[str, Any]:
    names = getattr(kernel.fn, "arg_names", [])
    constants = getattr(kernel.src, "constants", {})
    return {names[k[0]]: v for k, v in constants.items() if len(k) == 1 and k[0] < len(names)}


def explain(launched: Launched, samples: Samples | None = None) -> Explanation:
    """Compiles a kernel that was launched once more, and looks at what came of it. `samples` are
    those of the kernel that a GPU took."""
    again = compile_again(launched.kernel)
    kernel, backend, report = again.kernel, again.backend, launched.report
    data = report.to_dict()
    helpers = with_helpers(report.assembly_lines, locations.of_assembly(report.ptx))
    explanation = Explanation(
        name=kernel.name,
        target=str(backend.target),
        options=_options(kernel._metadata, backend.parse_options({}).as_dict()),
        constants=_constants(kernel),
        grid=data["grid"],
        block=data["block"],
        arguments=launched.arguments,
        launches=launched.count,
        resources=resources(kernel, backend, report),
        counters=data["counters"],
        lines=add_helpers(data["lines"], helpers),
        roofline=data["roofline"],
        times=again.times,
        findings=[],
        mistakes=list(report.messages),
        passes=changes(again.watcher.runs, again.watcher.remarks),
        stages=stage_texts(kernel, backend),
        launched=dataclasses.replace(launched, kernel=kernel),
        runs=again.watcher.runs,
    )
    if samples is not None:
        files = {file for stage in explanation.stages for at in stage.places for file, _ in at}
        explanation.stalls = placed(samples, files)
    explanation.findings = find(explanation, backend)
    return explanation
