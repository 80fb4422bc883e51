"""tritonparse: traces of compiles and launches, what it makes of them, and its reproducers."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from cases import Case, Inputs, check

PACKAGE = "tritonparse"


def configure(device: str) -> None:
    pass


@triton.jit
def scaled_sum_kernel(x_ptr, y_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + factor * y, mask=i < n)


def _launch(kernel: Any, device: str, n: int, factor: float) -> None:
    make = Inputs(device)
    x, y, out = make.normal(n), make.normal(n), torch.full((n,), 99.0, device=device)
    kernel[(triton.cdiv(n, 256),)](x, y, out, n, factor, BLOCK=256)
    check(out, x + factor * y)


def _traced(run: Callable[[], None], folder: str) -> list[dict]:
    """The events of what runs, as tritonparse's pages read them."""
    import tritonparse.parse.utils
    import tritonparse.structured_logging as tracing

    logs, parsed = f"{folder}/logs", f"{folder}/parsed"
    tracing.init(logs, enable_trace_launch=True, enable_more_tensor_information=True)
    try:
        run()
    finally:
        tracing.clear_logging_config()
    tritonparse.parse.utils.unified_parse(logs, out=parsed, overwrite=True)
    (file,) = Path(parsed).glob("*.ndjson.gz")
    with gzip.open(file, "rt") as lines:
        return [json.loads(line) for line in lines]


def _of(events: list[dict], kind: str) -> list[dict]:
    return [e for e in events if e["event_type"] == kind]


def _fresh() -> Any:
    """The kernel, not compiled yet in this process."""
    scaled_sum_kernel.device_caches.clear()
    return scaled_sum_kernel


def _compiles(device: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        events = _traced(lambda: _launch(_fresh(), device, 1000, 2.0), folder)
        (compiled,) = _of(events, "compilation")
    payload = compiled["payload"]
    texts, lines = payload["file_content"], payload["source_mappings"]
    for stage in ("ttir", "ttgir", "llir", "ptx"):
        assert f"scaled_sum_kernel.{stage}" in texts, stage
        # Lines of the text belong to lines of this file.
        mapped = {m["line"] for m in lines[stage].values() if "line" in m}
        first = scaled_sum_kernel.fn.__code__.co_firstlineno
        assert mapped & set(range(first, first + 7)), (stage, mapped)
    assert payload["metadata"]["num_warps"] == 4
    assert "def scaled_sum_kernel" in payload["python_source"]["code"]


def _launches(device: str) -> None:
    def run() -> None:
        kernel = _fresh()
        for factor in (2.0, 2.0, 0.5):
            _launch(kernel, device, 1000, factor)

    with tempfile.TemporaryDirectory() as folder:
        events = _traced(run, folder)
    launches = _of(events, "launch")
    assert [e["grid"] for e in launches] == [[4, 1, 1]] * 3
    arguments = launches[0]["extracted_args"]
    assert arguments["x_ptr"]["shape"] == [1000] and arguments["n"]["value"] == 1000
    (difference,) = _of(events, "launch_diff")
    assert difference["total_launches"] == 3
    # The factors differ, the numbers of elements do not.
    assert "factor" in json.dumps(difference["diffs"])
    assert difference["sames"]["extracted_args"]["n"]["value"] == 1000


def _autotuned(device: str) -> None:
    configs = [triton.Config({"BLOCK": b}) for b in (128, 256)]
    tuned = triton.autotune(configs, key=["n"])(_fresh())
    make = Inputs(device)
    x, out = make.normal(500), torch.zeros(500, device=device)

    def run() -> None:
        tuned[lambda meta: (triton.cdiv(500, meta["BLOCK"]),)](x, x, out, 500, 1.0)

    with tempfile.TemporaryDirectory() as folder:
        events = _traced(run, folder)
    check(out, 2 * x)
    constants = [e["payload"]["metadata"]["src_constants"] for e in _of(events, "compilation")]
    assert sorted(str(c) for c in constants) == ["{'(5,)': 128}", "{'(5,)': 256}"], constants


def _reproducer(how: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            _traced(lambda: _launch(_fresh(), device, 1000, 2.0), folder)
            (file,) = Path(folder, "parsed").glob("*.ndjson.gz")
            options = ["--kernel", "scaled_sum_kernel", "--kernel-import", how]
            command = [sys.executable, "-m", "tritonparse", "reproduce", str(file), *options]
            command += ["--out-dir", f"{folder}/made"]
            path = os.pathsep.join(p for p in sys.path if p)
            environment = {**os.environ, "TILE_COMPAT": "1", "PYTHONPATH": path}
            subprocess.run(command, check=True, env=environment, capture_output=True)
            (script,) = Path(folder, "made").rglob("*.py")
            compile(script.read_text(), str(script), "exec")
            if device == "cuda":
                subprocess.run([sys.executable, script], check=True, env=environment)

    return run


def cases(device: str) -> list[Case]:
    found = {
        "compiles": _compiles,
        "launches": _launches,
        "autotuned": _autotuned,
        "reproducer": _reproducer("default"),
        "reproducer:copied": _reproducer("copy"),
    }
    return [Case(name, lambda run=run: run(device)) for name, run in found.items()]
