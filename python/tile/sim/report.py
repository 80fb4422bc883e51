"""What a simulated launch did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tile.errors import TileError

from . import source_view, suppressions
from .findings import grouped, program_of, text_of, text_of_group
from .page import page
from .partitions import Partition
from .sarif import sarif
from .source_view import Coverage
from .suppressions import Suppression

#: The process of a timeline that has the launch; others are numbered as their blocks are.
LAUNCH_PROCESS = (1 << 31) - 1


class Report:
    """Findings and counters of one launch.

    The counters are deterministic: the same kernel on the same input gives the same numbers.
    """

    def __init__(self, raw: Any, ptx: str | None = None) -> None:
        self._raw = raw
        self._data: dict[str, Any] | None = None
        self._added: list[dict[str, Any]] = []
        self._kept: list[int] | None = None
        self._printed = ""
        #: The text of the module, if it was launched from text.
        self.ptx = ptx
        #: Groups of warps with code of their own, for texts about hangs.
        self.partitions: list[Partition] = []
        #: What the module is called in texts about lines without a source.
        self.file = "<assembly>"
        #: Findings that a suppression matched, each with its "reason".
        self.suppressed: list[dict[str, Any]] = []
        #: Suppressions that matched nothing.
        self.unused_suppressions: list[Suppression] = []

    def suppress(self, given: Sequence[Suppression]) -> None:
        """Takes out the findings that match; a finding that ended the launch stays."""
        if not given:
            return
        found = self.to_dict()["findings"]
        kept, self.suppressed, self.unused_suppressions = suppressions.split(found, given)
        self._data = {**self.to_dict(), "findings": [found[i] for i in kept]}
        self._data["suppressed"] = self.suppressed
        self._kept = kept
        self._data["ok"] = self.ok

    def add(self, finding: dict[str, Any]) -> None:
        """Adds what was found by looking at more than one launch: "kind", "message", "fatal"."""
        self._added.append(finding)
        data = self.to_dict()
        self._data = {**data, "findings": [*data["findings"], finding], "ok": False}

    def add_output(self, text: str) -> None:
        """Adds what the kernel printed to memory of the host's."""
        self._printed += text
        self._data = {**self.to_dict(), "output": self.output}

    @property
    def ok(self) -> bool:
        """True if no checker found anything that was not suppressed, and the launch ended."""
        if self._kept is None:
            return self._raw.ok and not self._added
        return (self._raw.ok or bool(self.suppressed)) and not self._kept

    @property
    def output(self) -> str:
        """What the kernel printed."""
        return self._raw.output + self._printed

    @property
    def seconds(self) -> float:
        """Host time of the simulation."""
        return self._raw.seconds

    @property
    def messages(self) -> list[str]:
        """One text for each finding."""
        program = program_of(self)
        return [text_of(finding, program) for finding in self.findings]

    @property
    def errors(self) -> list[str]:
        """One text for each mistake: findings with one cause are told once."""
        program = program_of(self)
        return [text_of_group(group, program) for group in grouped(self.findings, program.text)]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings: kind, message, place, thread, and the other access of a race."""
        return self.to_dict()["findings"]

    @property
    def undefined_loads(self) -> list[int]:
        """Which of the module's loads left lanes undefined that their masks switched off."""
        return self._raw.undefined_loads

    @property
    def counters(self) -> dict[str, Any]:
        """The counters of the whole launch."""
        return self.to_dict()["counters"]

    @property
    def occupancy(self) -> dict[str, Any] | None:
        """Of AMD GPUs: how many "waves" a SIMD unit holds at once, and which resource is the
        "bound"."""
        return self.to_dict().get("occupancy")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The counters by source line (by PTX line where the PTX has no `.loc`)."""
        return self.to_dict()["lines"]

    @property
    def assembly_lines(self) -> dict[int, tuple[int, int, int]]:
        """By line of the assembly: executed instructions (counted once for each warp), sectors of
        global memory, bank conflicts."""
        return self._raw.assembly_lines

    @property
    def warp_instructions(self) -> int:
        """Executed instructions, counted once for each warp."""
        return self._raw.warp_instructions

    @property
    def lane_instructions(self) -> int:
        """Executed instructions, counted once for each active lane."""
        return self._raw.lane_instructions

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dictionaries and numbers."""
        if self._data is None:
            self._data = json.loads(self._raw.to_json())
        return self._data

    def roofline(self, gpu: str = "", blocks: int = 0) -> dict[str, Any]:
        """Seconds that the parts of a GPU need at least: memory, tensor cores, instruction issue,
        shared memory, special functions, tensor memory. `seconds` is the largest of them, `bound`
        says which it is. `expected` is what configurations are ranked by. With `blocks`, for so
        many blocks like those of this launch. By default the GPU is an H200, or one that the
        assembly is for. Raises TileError for a GPU that is not known."""
        try:
            return json.loads(self._raw.roofline_json(gpu, blocks))
        except ValueError as error:
            raise TileError(str(error)) from None

    def coverage(self) -> list[Coverage]:
        """Lines with code that ran, and that did not, of each source file (of the PTX where it has
        no `.loc`)."""
        return source_view.coverage(self)

    def annotated(self, sources: Mapping[str, str] | None = None) -> str:
        """The source with the counters of each line, and the findings; `sources` gives the text of
        files that are not on disk."""
        return source_view.annotated(self, sources)

    def html(self, sources: Mapping[str, str] | None = None) -> str:
        """One self-contained page: launch, findings, counters and the annotated source."""
        return page(self, sources)

    @property
    def warp_events(self) -> list[dict[str, Any]]:
        """What warps, engines and barriers would do by a latency model, as events of a trace."""
        return json.loads(f"[{self._raw.timeline}]")

    def timeline(self) -> dict[str, Any]:
        """When warps would run by a latency model, as Chrome and Perfetto read it from a JSON file,
        one "microsecond" a cycle; of the clusters that `launch(timelines=)` asked for. The launch
        itself stands above them."""
        events = self.warp_events
        end = max((e["ts"] + e["dur"] for e in events if e["ph"] == "X"), default=0)
        data = self.to_dict()
        place = {"pid": LAUNCH_PROCESS, "tid": 0}
        args = {"grid": data["grid"], "block": data["block"], **data["counters"]}
        launch = [
            {"ph": "M", "name": "process_name", **place, "args": {"name": "launch"}},
            {"ph": "M", "name": "thread_name", **place, "args": {"name": "kernel"}},
            {"ph": "X", "name": data["entry"], **place, "ts": 0, "dur": end, "args": args},
        ]
        return {"traceEvents": launch + events if events else [], "displayTimeUnit": "ns"}

    def sarif(self, ptx_file: str = "kernel.ptx") -> dict[str, Any]:
        """The findings as a SARIF 2.1.0 log, for code-scanning tools."""
        return sarif([self], ptx_file)

    def summary(self, gpu: str = "") -> str:
        """A table for people, with the roofline estimate for a GPU, as `roofline` takes it."""
        try:
            text = self._raw.summary(gpu)
        except ValueError as error:
            raise TileError(str(error)) from None
        raw = "".join(f"{message}\n" for message in self._raw.messages)
        text = text.removesuffix(raw or "no findings\n")
        for finding in self.suppressed:
            text += f"suppressed ({finding['reason']}): {finding['kind']}: {finding['message']}\n"
        errors = self.errors
        return text + ("\n" + "\n\n".join(errors) if errors else "no findings") + "\n"

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        state = "ok" if self.ok else f"{len(self.findings)} findings"
        return f"<tile.sim.Report {state}, {self.warp_instructions} warp instructions>"
