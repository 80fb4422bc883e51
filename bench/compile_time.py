"""Compile time from Python source to cubin or hsaco, beside Triton's in the same run.

    python bench/compile_time.py [--target cuda:80] [--repeats 5] [--peer PYTHON] [--ptxas PTXAS]

Works without a GPU. Both compilers run in processes of their own (Triton under the
interpreter that `--peer` or TILE_PEER_PYTHON names), in turns, with their caches off and the
same ptxas. `first` is the first compile of a fresh process, imports left out; `next` the median
of the compiles that follow in one process. Stages are those of tile's `next` compiles.
`--clock cpu` counts processor time, of ptxas too, instead of the time on the wall: on a machine
that has other things to do it says more.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from quality.cases import Case, amd_cases, cases, hopper_kernels

#: The shapes that people benchmark, and one of each other kind.
SHORT_NAMES = {
    "add fp32 1024, 4 warps": "add",
    "softmax fp16 4096, 8 warps": "softmax",
    "layernorm fp16 4096, 8 warps": "layernorm",
    "matmul fp16 64x64x32, 4 warps, 3 stages": "matmul 64x64x32",
    "matmul fp16 128x128x32, 4 warps, 3 stages": "matmul 128x128x32",
    "matmul fp16 128x256x64, 8 warps, 3 stages": "matmul 128x256x64",
    "attention fp16 D64 128x64, 4 warps, 3 stages": "attention D64",
    "attention fp16 D128 causal 128x64, 8 warps, 3 stages": "attention D128 causal",
}
#: For each kind of target: how long a compile may take against Triton's, and the last stages.
GOALS = {"cuda": 0.8, "hip": 1.0}
LAST_STAGES = {"cuda": ("ptx", "cubin"), "hip": ("amdgcn", "hsaco")}


def cases_of(target: str) -> dict[str, Case]:
    """The cases that are compiled, by what the table calls them."""
    if target.startswith("hip:"):
        return {case.name: case for case in amd_cases()}
    known = {case.name: case for case in cases()}
    chosen = {short: known[name] for name, short in SHORT_NAMES.items()}
    if target == "cuda:90":
        chosen |= {case.name: case for case in hopper_kernels()}
    return chosen


# The process that compiles.


def wall() -> float:
    return time.perf_counter()


def cpu() -> float:
    """Processor time of this process and of its children that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


CLOCKS = {"wall": wall, "cpu": cpu}


def serve(compiler_name: str, target_name: str, warp_size: int, now: Any) -> None:
    """Compiles the cases named on stdin, one at a time; answers with seconds as JSON."""
    import peer

    compiler: Any = importlib.import_module(compiler_name)
    importlib.import_module(f"{compiler_name}.compiler")
    gpu_target = importlib.import_module(f"{compiler_name}.backends.compiler").GPUTarget
    load = peer.load if compiler_name == "tile" else peer.load_for_peer
    kind, arch = target_name.split(":")
    target = gpu_target(kind, int(arch) if arch.isdigit() else arch, warp_size)
    stages: dict[str, float] = {}
    if compiler_name == "tile":
        measure_stages(stages, target, now)
    known = cases_of(target_name)
    modules = {case.example: load(case.example) for case in known.values()}
    print("ready", flush=True)
    for line in sys.stdin:
        case = known[line.rstrip("\n")]
        fn = getattr(modules[case.example], case.kernel)
        stages.clear()
        # What a launch of either finds in the arguments.
        find = case.hints if compiler_name == "tile" else case.attributes
        start = now()
        source = compiler.compiler.ASTSource(
            fn=fn,
            signature=case.signature(fn.arg_names),
            constexprs=case.constants,
            attrs=find(fn.arg_names, kind),
        )
        try:
            kernel = compiler.compile(source, target=target, options=case.options)
        except Exception as error:
            print(f"{compiler_name}: {line.rstrip()}: {error}", file=sys.stderr)
            print(json.dumps({"seconds": math.nan, "stages": {}}), flush=True)
            continue
        seconds = now() - start
        assert kernel.asm[LAST_STAGES[kind][-1]], "no ptxas"
        print(json.dumps({"seconds": seconds, "stages": stages}), flush=True)


def measure_stages(stages: dict[str, float], target: Any, now: Any) -> None:
    """Makes every compile leave the time that each stage took in `stages`."""
    from tile.backends import find_backend
    from tile.compiler import ASTSource

    def timed(name: str, function: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            start = now()
            try:
                return function(*args, **kwargs)
            finally:
                stages[name] = stages.get(name, 0.0) + now() - start

        return run

    backend = type(find_backend(target))
    ASTSource.make_ir = timed("front end", ASTSource.make_ir)
    for stage in ("ttir", "ttgir", "llir", *LAST_STAGES[target.backend]):
        setattr(backend, f"make_{stage}", timed(stage, getattr(backend, f"make_{stage}")))


class Worker:
    """A process that compiles with one of the compilers."""

    def __init__(self, python: str, compiler: str, options: argparse.Namespace) -> None:
        environment = dict(
            os.environ,
            TRITON_ALWAYS_COMPILE="1",
            TRITON_CACHE_DIR=tempfile.mkdtemp(prefix="tile-bench-cache-"),
            TRITON_PTXAS_PATH=options.ptxas,
        )
        arguments = ["--serve", compiler, "--target", options.target, "--clock", options.clock]
        arguments += ["--warp-size", str(options.warp_size)]
        self.process = subprocess.Popen(
            [python, __file__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.answer("ready")

    def answer(self, expected: str | None = None) -> str:
        line = self.process.stdout.readline()
        if not line or (expected is not None and line.strip() != expected):
            raise SystemExit(f"a worker failed: {line or self.process.wait()}")
        return line

    def compile(self, name: str) -> dict[str, Any]:
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return json.loads(self.answer())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


# The process that measures.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="cuda:80", help="such as cuda:80 or hip:gfx942")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first", type=int, default=3, help="fresh processes for each kernel")
    parser.add_argument("--only", default="", help="kernels whose name matches the expression")
    parser.add_argument("--peer", default=os.environ.get("TILE_PEER_PYTHON"))
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--warp-size", type=int, default=32, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.target, options.warp_size, CLOCKS[options.clock])
        return
    kind = options.target.split(":")[0]
    if kind == "hip":
        from tile import _C

        options.warp_size = _C.targets.lookup(options.target).wave_size
    pythons = {"tile": sys.executable}
    if options.peer or importlib.util.find_spec("triton"):
        pythons["triton"] = options.peer or sys.executable

    def start() -> dict[str, Worker]:
        return {name: Worker(python, name, options) for name, python in pythons.items()}

    chosen = [name for name in cases_of(options.target) if re.search(options.only, name)]
    first: dict[str, dict[str, list[float]]] = {n: {c: [] for c in pythons} for n in chosen}
    for name in chosen:
        for _ in range(options.first):
            for compiler, worker in start().items():
                first[name][compiler].append(worker.compile(name)["seconds"])
                worker.close()
    workers = start()
    later: dict[str, dict[str, list[Any]]] = {n: {c: [] for c in pythons} for n in chosen}
    for name in chosen:
        for i in range(options.repeats + 1):
            for compiler, worker in workers.items():
                result = worker.compile(name)
                if i > 0:
                    later[name][compiler].append(result)
    for worker in workers.values():
        worker.close()

    runs = {"first": first} if options.first else {}
    runs["next"] = {n: {c: [r["seconds"] for r in later[n][c]] for c in pythons} for n in chosen}
    stage_names = ("front end", "ttir", "ttgir", "llir", *LAST_STAGES[kind])
    columns = [title for name in runs for title in (f"{name}: tile ms", "peer ms", "ratio")]
    print(f"| {' | '.join(['kernel', *columns, *stage_names])} |")
    print("|---" * (1 + len(columns) + len(stage_names)) + "|")
    ratios: list[float] = []
    for name in chosen:
        cells = [name]
        for times in (run[name] for run in runs.values()):
            ms = {c: statistics.median(t) * 1e3 for c, t in times.items()}
            ratio = ms["tile"] / ms["triton"] if "triton" in ms else float("nan")
            ratios += [] if math.isnan(ratio) else [ratio]
            cells += [f"{ms['tile']:.0f}", f"{ms.get('triton', float('nan')):.0f}", f"{ratio:.2f}"]
        for stage in stage_names:
            spent = [run["stages"].get(stage, 0.0) for run in later[name]["tile"]]
            cells.append(f"{statistics.median(spent) * 1e3:.1f}")
        print(f"| {' | '.join(cells)} |")
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"\nWorst ratio {max(ratios):.2f}, mean {mean:.2f}; the goal is {GOALS[kind]}.")


if __name__ == "__main__":
    main()
