"""What the first run takes with cold caches, beside Triton: compiled models, tuned kernels.

    python bench/cold.py models results.jsonl --tile FOLDER
    python bench/cold.py tuning results.jsonl --tile FOLDER --packages FOLDER
    python bench/cold.py table results.jsonl

`models` compiles five models (cold_models.py) with `torch.compile`, forward and backward, in a new
process with empty caches, and counts the time in `triton.compile`. `tuning` runs operations of fla
for the first time, and counts the time in their autotuners: configurations are compiled and
measured. Both compilers run in turns. A GPU is needed. What is in the output is not measured
again. `warm_start.py` measures imports and kernels from the cache, without a GPU.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import public_time
from public_time import SIDES

#: fla's operations whose kernels are tuned: rows of `public_time_rows/fla.py`.
TUNED = ("chunk_simple_gla", "chunk_linear_attn", "l2_norm 262144x128", "rms_norm 8192x4096")
#: What shall be enough of Triton's time.
GOALS = {"models": 0.6, "tuning": 0.5}
#: Seconds after which a process is ended.
PATIENCE = 200


def timed(function: Callable, seconds: list[float]) -> Callable:
    """The function, which leaves the time that each outermost call takes."""
    inside = False

    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if inside:
            return function(*args, **kwargs)
        inside, start = True, time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            inside = False
            seconds.append(time.perf_counter() - start)

    return run


def first_step(name: str, seconds: list[float]) -> None:
    """Compiles a model and runs it once."""
    import torch
    import triton
    from cold_models import MODELS, step

    triton.compile = timed(triton.compile, seconds)
    torch.manual_seed(0)
    make, inputs = MODELS[name]
    model = make().to("cuda", torch.bfloat16)
    loss = step(torch.compile(model), inputs("cuda"))
    assert torch.isfinite(loss), "the loss is no number"


def first_tuning(name: str, seconds: list[float]) -> None:
    """Runs an operation once; its autotuners measure all configurations."""
    from triton.runtime.autotuner import Autotuner

    Autotuner.run = timed(Autotuner.run, seconds)
    public_time.rows_of("fla")[name]()()


def work(options: argparse.Namespace) -> None:
    public_time.check_compiler(options.who)
    sys.path[:0] = [str(public_time.HERE), str(public_time.HERE.parent / "test" / "clients")]
    import torch

    seconds: list[float] = []
    torch.empty(1, device="cuda")
    start = time.perf_counter()
    run = first_step if options.what == "models" else first_tuning
    run(options.name, seconds)
    torch.cuda.synchronize()
    whole = time.perf_counter() - start
    found = {"part": sum(seconds), "count": len(seconds), "whole": whole}
    print("\n" + json.dumps(found), flush=True)
    os._exit(0)  # Libraries leave threads behind.


def measured(options: argparse.Namespace, name: str, who: str) -> dict[str, Any]:
    """What a process finds, whose caches are empty."""
    with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
        options.home = Path(folder)
        command = [sys.executable, __file__, "work", options.command, name, who]
        try:
            done = subprocess.run(
                command,
                env=public_time.environment(who, options),
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"takes more than {PATIENCE} s"}
    if done.returncode or not done.stdout.strip():
        return {"error": done.stderr[-300:]}
    return json.loads(done.stdout.splitlines()[-1])


def measure(options: argparse.Namespace) -> None:
    from cold_models import MODELS

    until = time.time() + options.seconds
    names = list(MODELS) if options.command == "models" else TUNED
    known = collections.Counter(
        (line["what"], line["name"], line["who"]) for line in read(options.out)
    )
    for number in range(options.rounds):
        for name in names:
            for who in SIDES:
                if known[options.command, name, who] > number or time.time() > until:
                    continue
                found = measured(options, name, who)
                line = {"what": options.command, "name": name, "who": who} | found
                with options.out.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(line, flush=True)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(options: argparse.Namespace) -> None:
    best: dict[tuple[str, str], dict[str, dict]] = collections.defaultdict(dict)
    for line in read(options.out):
        of = best[line["what"], line["name"]]
        if "error" in line:
            print(f"{line['name']}, {line['who']}: {line['error']}", file=sys.stderr)
        elif line["who"] not in of or line["part"] < of[line["who"]]["part"]:
            of[line["who"]] = line
    for what, columns in (
        ("models", "| model | kernels | in `triton.compile`: tile s | Triton s | ratio |"),
        ("tuning", "| operation of fla | calls | in autotuners: tile s | Triton s | ratio |"),
    ):
        rows = {name: of for (kind, name), of in best.items() if kind == what and len(of) == 2}
        if not rows:
            continue
        ratios = [of["tile"]["part"] / of["peer"]["part"] for of in rows.values()]
        mean = statistics.geometric_mean(ratios)
        print(f"\n{columns[:-2]} | whole: tile s | Triton s |\n|---|---|---|---|---|---|---|")
        for (name, of), ratio in zip(rows.items(), ratios, strict=True):
            tile, peer = of["tile"], of["peer"]
            print(
                f"| {name} | {tile['count']} | {tile['part']:.2f} | {peer['part']:.2f} | "
                f"{ratio:.2f} | {tile['whole']:.2f} | {peer['whole']:.2f} |"
            )
        print(f"\nThe mean is {mean:.2f}; the goal is {GOALS[what]}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = parser.add_subparsers(dest="command", required=True)
    for name in ("models", "tuning"):
        public_time.add_measuring(sub, name, rounds=1, seconds=300)
    single = sub.add_parser("work")
    for name in ("what", "name", "who"):
        single.add_argument(name)
    shown = sub.add_parser("table")
    shown.add_argument("out", type=Path)
    options = parser.parse_args()
    if options.command == "work":
        work(options)
    elif options.command == "table":
        table(options)
    else:
        measure(options)


if __name__ == "__main__":
    main()
