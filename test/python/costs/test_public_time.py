"""bench/public_time.py: what its table says of results."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from measured import BENCH
from reference import sim_only

pytestmark = sim_only


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCH))
    import public_time

    yield public_time
    sys.modules.pop("public_time", None)


DIGESTS = {
    "same": {"tile": [[1.0, 2.0]], "peer": [[1.0, 2.001]]},
    "other": {"tile": [[1.0, 2.0]], "peer": [[1.5, 2.0]]},
    "one side": {"peer": [[1.0, 2.0]]},
    "neither": {},
}


def test_results_differ_only_where_both_are_known(bench: Any, tmp_path: Path, capsys: Any):
    kernel = dict.fromkeys(("registers", "spills", "shared", "warps"), 4)
    kernels = {"kernel": {"us": 10.0, "launches": 1, **kernel}}
    lines = []
    for row, digests in DIGESTS.items():
        for who in ("tile", "peer"):
            line = {"library": "fla", "who": who, "row": row}
            if who in digests:
                lines.append({**line, "number": 0, "digest": digests[who]})
            lines.append({**line, "number": 1, "kernels": kernels})
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    bench.table(Namespace(results=path))
    end = capsys.readouterr().out.partition("Results that differ")[2]
    differ, unknown = end.split("Results that were not compared")
    assert [line for line in differ.splitlines() if line.startswith("- ")] == ["- fla other"]
    listed = [line for line in unknown.splitlines() if line.startswith("- ")]
    assert listed == ["- fla neither", "- fla one side"]
