"""What instrumentation costs: records of the profiler, and the checks of sanitizers.

All rows are measured on a GPU, with torch:

python bench/instrumentation.py

`--list` says their names. `--rows launches sanitizers` takes those that begin so. `--peer` measures
Triton's launches and kernels, too, if it is there. `--write FILE` makes the tables of
bench/RESULTS.md, from such lines as come out here.

Each result is a line of JSON on standard output, as it comes. A row that takes longer than
`--limit` seconds is ended, and says so; the others go on.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from peer import ROOT, load, load_for_peer

GPU_TESTS = ROOT / "test" / "gpu"
#: Of a mode of the profiler's backend: "default" records each warp, in shared memory.
MODES = (
    "default", "default:granularity=warp_group", "default:buffer_type=global",
    "default:optimizations=clock32",
)  # fmt: skip
#: Planted mistakes, as `sanitized.py` takes them: the sanitizer, what, how it is right and wrong,
#: and what its report says.
MISTAKES = (
    ("memcheck", "load", "1024", "1025", "out of bounds: a load"),
    ("memcheck", "store", "1024", "1025", "out of bounds: a store"),
    ("memcheck", "matmul", "1024", "1025", "out of bounds: a load"),
    ("", "overflow", "1024", "1025", "integer overflow"),
    ("consan", "copy_not_waited_for", "right", "wrong", "async-race"),
    ("consan", "source_of_a_store_written", "right", "wrong", "async-race"),
    ("consan", "sum_not_waited_for", "right", "wrong", "async-race"),
    ("consan", "too_many_bytes", "right", "wrong", "deadlock"),
    ("consan", "waits_for_nobody", "right", "wrong", "deadlock"),
    ("consan", "barrier_not_initialised", "right", "wrong", "mbarrier-misuse"),
)
#: Seconds that the launches of one measurement take at most.
ENOUGH = 0.25
Result = dict[str, Any]


@contextmanager
def session(proton: Any, **how: Any) -> Iterator[int]:
    with tempfile.TemporaryDirectory() as folder:
        number = proton.start(str(Path(folder) / "p"), **how)
        try:
            yield number
        finally:
            proton.finalize(number)


def device_time(launch: Callable[[], Any]) -> float:
    """Microseconds on the device, the median of some launches."""
    import torch

    launch()
    torch.cuda.synchronize()
    times: list[float] = []
    until = time.monotonic() + ENOUGH
    while len(times) < 15 and (not times or time.monotonic() < until):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def host_time(launch: Callable[[], Any]) -> float:
    """Microseconds of the host, the least of some rounds, as what disturbs only adds."""
    import torch

    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(1000):
            launch()
        times.append((time.perf_counter() - began) / 1000 * 1e6)
    torch.cuda.synchronize()
    return min(times)


def compilers(peer: bool) -> Iterator[tuple[str, Any, Any]]:
    """Their names, the kernels, and the profiler."""
    yield "tile", load("instrumented_kernels"), importlib.import_module("tile.profiler")
    if peer and (module := load_for_peer("instrumented_kernels")) is not None:
        module.pl.enable_semantic("triton")
        yield "peer", module, importlib.import_module("triton.profiler")


# Rows of the profiler.


def records(_: bool) -> Iterator[Result]:
    """Cycles that a record takes of a warp, and what remains of it in a scope around nothing."""
    import torch

    _, module, proton = next(compilers(False))
    out = torch.zeros(128, dtype=torch.int32, device="cuda")
    rounds = 200
    for mode in (
        "default", "default:optimizations=time_shift", "default:optimizations=clock32",
        "default:buffer_type=global", "default:buffer_strategy=flush",
    ):  # fmt: skip
        # All of them fit, with those of the loop around.
        sized = f"{mode}:buffer_size={1 << 16}"
        with session(proton, backend="instrumentation", mode=sized) as number:
            module.records[(1,)](out, rounds, BLOCK=128, num_warps=4)
            proton.deactivate(number, flushing=True)
            root = proton.data.get(number)[0]
        (around,) = root["children"][0]["children"]
        (nothing,) = around["children"]
        inner = nothing["metrics"]["cycles"] / nothing["metrics"]["count"]
        own = around["metrics"]["cycles"] / around["metrics"]["count"]
        yield {
            "what": mode, "cycles a record": round((own + rounds * inner) / (2 * rounds), 1),
            "cycles of an empty scope": round(inner, 1),
        }  # fmt: skip


def launches(peer: bool) -> Iterator[Result]:
    """What a session adds to a launch on the host."""
    import torch

    x = torch.zeros(128, device="cuda")
    for name, module, proton in compilers(peer):

        def launch(module: Any = module) -> None:
            module.small[(1,)](x, BLOCK=128)

        def in_scope(proton: Any = proton, launch: Callable = launch) -> None:
            with proton.scope("scope"):
                launch()

        launch()
        off = host_time(launch)
        yield {"what": f"{name}: no session", "us": round(off, 2)}
        for backend in (None, "instrumentation"):
            for data in ("tree", "trace"):
                with session(proton, data=data, backend=backend):
                    launch()
                    on, scoped = host_time(launch), host_time(in_scope)
                yield {
                    "what": f"{name}: {backend or 'cupti'}, {data}", "us": round(on, 2),
                    "more": round(on - off, 2), "in a scope": round(scoped, 2),
                }  # fmt: skip


def kernels(module: Any) -> dict[str, Callable[..., Any]]:
    """Kernels of more than 100 us; their launches take options."""
    import torch

    n, rows, columns, size = 1 << 28, 32768, 4096, 4096
    x, y, out = (torch.rand(n, device="cuda") for _ in range(3))
    matrix, result = (
        torch.rand((rows, columns), device="cuda", dtype=torch.float16) for _ in range(2)
    )
    a, b, c = (torch.rand((size, size), device="cuda", dtype=torch.float16) for _ in range(3))
    grid = (size // 128, size // 128)
    return {
        "add of 2^28": lambda **o: module.add[(n // 8192,)](
            x, y, out, n, BLOCK=8192, num_warps=8, **o
        ),
        "softmax 32768 x 4096": lambda **o: module.softmax[(rows,)](
            matrix, result, columns, BLOCK=columns, num_warps=8, **o
        ),
        "matmul 4096^3": lambda **o: module.product[grid](
            a, b, c, size, size, BLOCK=128, BLOCK_K=64, num_warps=8, num_stages=3, **o
        ),
    }


def recorded_kernels(peer: bool) -> Iterator[Result]:
    """What records cost of kernels above 100 us."""
    knobs = importlib.import_module("tile.knobs").proton
    # All launches of a measurement fit into the memory: none waits for it.
    knobs.profile_buffer_size = 16 << 30
    for name, module, proton in compilers(peer):
        for kernel, launch in kernels(module).items():
            off = device_time(launch)
            for mode in MODES if name == "tile" else MODES[:2]:
                with session(proton, backend="instrumentation", mode=mode):
                    on = device_time(launch)
                yield {
                    "what": f"{name}: {kernel}, {mode}", "plain us": round(off, 1),
                    "us": round(on, 1), "times": round(on / off, 3),
                }  # fmt: skip


# Rows of sanitizers.


def sanitized_kernels() -> dict[str, tuple[dict[str, Any], dict[str, Callable[..., Any]]]]:
    """For each sanitizer the options that switch it on, and kernels. Those of which it makes much
    more are smaller."""
    import torch

    module = load("instrumented_kernels")
    of_size: dict[int, Callable[..., Any]] = {}
    for size in (256, 1024, 2048):
        a, b, c = (torch.rand((size, size), device="cuda", dtype=torch.float16) for _ in range(3))
        block = min(128, size // 4)

        def product(a: Any = a, b: Any = b, c: Any = c, n: int = size, block: int = block,
                    **o: Any) -> Any:  # fmt: skip
            grid = (n // block, n // block)
            return module.product[grid](
                a, b, c, n, n, BLOCK=block, BLOCK_K=32, num_warps=4, num_stages=3, **o
            )

        of_size[size] = product
    rows, columns, n = 4096, 1024, 1 << 26
    matrix, result = (
        torch.rand((rows, columns), device="cuda", dtype=torch.float16) for _ in range(2)
    )
    x, y, out = (torch.rand(n, device="cuda") for _ in range(3))
    ints = [t.view(torch.int32) for t in (torch.zeros_like(x), torch.zeros_like(y), out)]

    def softmax(**o: Any) -> Any:
        return module.softmax[(rows,)](matrix, result, columns, BLOCK=columns, num_warps=4, **o)

    def add(**o: Any) -> Any:
        return module.add[(n // 4096,)](x, y, out, n, BLOCK=4096, num_warps=8, **o)

    def add_integers(**o: Any) -> Any:
        return module.add[(n // 4096,)](*ints, n, BLOCK=4096, num_warps=8, **o)

    return {
        "memcheck": (
            {"instrumentation_mode": "memcheck"},
            {"add of 2^26": add, "softmax 4096 x 1024": softmax, "matmul 2048^3": of_size[2048]},
        ),
        "consan": (
            {"instrumentation_mode": "consan"},
            {"matmul 1024^3": of_size[1024], "softmax 4096 x 1024": softmax},
        ),
        "fpsan": (
            {"instrumentation_mode": "fpsan"},
            {"softmax 4096 x 1024": softmax, "matmul 256^3": of_size[256]},
        ),
        "sanitize_overflow": (
            {"sanitize_overflow": True},
            {"add of 2^26 integers": add_integers, "matmul 2048^3": of_size[2048]},
        ),
    }  # fmt: skip


def sanitizers(_: bool) -> Iterator[Result]:
    """How much longer kernels take with checks."""
    for name, (options, kernels) in sanitized_kernels().items():
        for kernel, launch in kernels.items():
            plain = device_time(launch)
            checked = device_time(lambda launch=launch, options=options: launch(**options))
            yield {
                "what": f"{name}: {kernel}", "plain us": round(plain, 1), "us": round(checked, 1),
                "times": round(checked / plain, 2),
            }  # fmt: skip


def mistakes(_: bool) -> Iterator[Result]:
    """Planted mistakes are found, and nothing in their twins.

    They are processes of their own, side by side: a failed assertion ends the use of the GPU."""
    running = []
    for mode, what, right, wrong, words in MISTAKES:
        environment = {**os.environ, "TRITON_INSTRUMENTATION_MODE": mode}
        pair = [
            subprocess.Popen(
                [sys.executable, str(GPU_TESTS / "sanitized.py"), what, how],
                env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )
            for how in (right, wrong)
        ]  # fmt: skip
        running.append((mode or "sanitize_overflow", what, words, pair))
        if len(running) >= 3:
            yield _judge(*running.pop(0))
    for one in running:
        yield _judge(*one)


def _judge(mode: str, what: str, words: str, pair: list[subprocess.Popen]) -> Result:
    said = []
    for process in pair:
        try:
            said.append(process.communicate(timeout=20)[1])
        except subprocess.TimeoutExpired:
            process.kill()
            said.append(f"no end within 20 s\n{process.communicate()[1]}")
    found = pair[1].returncode != 0 and words in said[1]
    clean = pair[0].returncode == 0
    result: Result = {"what": f"{mode}: {what}", "found": found, "twin is clean": clean}
    if not found or not clean:
        result["said"] = (said[1] if clean else said[0])[-300:]
    return result


ROWS = {
    row.__name__.replace("_", "-"): row
    for row in (records, launches, sanitizers, mistakes, recorded_kernels)
}


# The process that measures, and the one that watches it.


def work(names: list[str], peer: bool) -> None:
    for name in names:
        print(json.dumps({"row": name, "begins": True}), flush=True)
        try:
            for result in ROWS[name](peer):
                print(json.dumps({"row": name, **result}), flush=True)
        except Exception as error:
            lines = str(error).splitlines() or [type(error).__name__]
            print(json.dumps({"row": name, "error": lines[0]}), flush=True)


class Watchdog:
    """Ends a process that does not come to its next row in time."""

    def __init__(self, process: subprocess.Popen, limit: float) -> None:
        self.process, self.limit = process, limit
        self.has_ended_it = False
        self.next_row()
        threading.Thread(target=self._run, daemon=True).start()

    def next_row(self) -> None:
        self.deadline = time.monotonic() + self.limit

    def _run(self) -> None:
        while self.process.poll() is None:
            if time.monotonic() > self.deadline:
                self.has_ended_it = True
                self.process.kill()
                return
            time.sleep(0.1)


def watch(names: list[str], peer: bool, limit: float) -> None:
    """Runs the rows in another process, which is ended where it takes too long for one of them.
    Those that are left run in a new one."""
    left = list(names)
    while left:
        command = [sys.executable, __file__, "--work", "--rows", *left, *(["--peer"] * peer)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        watchdog, row = Watchdog(process, limit), left[0]
        assert process.stdout is not None
        for line in process.stdout:
            result = json.loads(line)
            if result.get("begins"):
                row = result["row"]
                watchdog.next_row()
            else:
                print(line, end="", flush=True)
        code = process.wait()
        if code == 0:
            return
        why = f"the process ended with status {code}"
        if watchdog.has_ended_it:
            why = f"no end within {limit:g} s"
        print(json.dumps({"row": row, "error": why}), flush=True)
        left = left[left.index(row) + 1 :]


def write(path: Path) -> None:
    """The tables of bench/RESULTS.md, between its marks."""
    results = [json.loads(line) for line in path.read_text().splitlines() if line.startswith("{")]
    text: list[str] = []
    for name in ROWS:
        mine = [{k: v for k, v in r.items() if k != "row"} for r in results if r["row"] == name]
        if not mine:
            continue
        columns = list(dict.fromkeys(key for result in mine for key in result))
        text += ["", f"`{name}`:", "", "| " + " | ".join(columns) + " |"]
        text += ["|" + "---|" * len(columns)]
        for result in mine:
            cells = (str(result.get(c, "")).replace("|", "/").replace("\n", " ") for c in columns)
            text += ["| " + " | ".join(cells) + " |"]
    page = ROOT / "bench" / "RESULTS.md"
    before, rest = page.read_text().split("<!-- instrumentation -->\n", 1)
    _, after = rest.split("<!-- end of instrumentation -->\n", 1)
    marks = ("<!-- instrumentation -->\n", "\n<!-- end of instrumentation -->\n")
    page.write_text(before + marks[0] + "\n".join(text).strip("\n") + marks[1] + after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", default=[""], help="those that begin so")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--limit", type=float, default=40, help="seconds that a row may take")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    which = parser.parse_args()
    names = [name for name in ROWS if any(name.startswith(start) for start in which.rows)]
    if which.list:
        for name in ROWS:
            print(f"{name:18}{(ROWS[name].__doc__ or '').splitlines()[0]}")
    elif which.write:
        write(which.write)
    elif which.work:
        work(names, which.peer)
    elif names:
        watch(names, which.peer, which.limit)
    else:
        parser.error(f"no row begins so; there are {', '.join(ROWS)}")


if __name__ == "__main__":
    main()
