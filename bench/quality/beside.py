"""The code beside Triton's for the same kernels, both executed in the simulator.

Both compilers compile the same source for the same constants and options. The simulator executes
the assembly of both (PTX or AMDGCN) with every check on (Triton's for sm_90 with none). The
results are compared with NumPy. The table shows the counters. It also shows what `ptxas -v` or the
metadata of the assembly say: registers, spills, shared memory. The code itself is counted as well:
SASS if `nvdisasm` is at hand, AMDGCN always.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import tile
import tile.sim
from tile.backends import parse_target
from tile.backends.compiler import GPUTarget

from .cases import Case, cases_of
from .compiled import MACHINES, compile_ours

BENCH = Path(__file__).resolve().parents[1]


def compile_peer(
    chosen: list[Case], python: str, target: GPUTarget, cache: Path | None, jobs: int
) -> dict[str, dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}
    if cache is not None and cache.exists():
        known = {r["name"]: r for r in map(json.loads, cache.read_text().splitlines())}
    missing = [case.name for case in chosen if case.name not in known]
    command = [python, "-m", "quality.peer_process", target.backend]
    command += [str(target.arch), str(target.warp_size), MACHINES[target.backend].STAGE]
    environment = os.environ | {"PYTHONPATH": str(BENCH)}

    def run(names: list[str]) -> str:
        return subprocess.run(
            command, input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True,
            env=environment,
        ).stdout  # fmt: skip

    # Neighbours take similar times: each process has some of all kinds.
    shares = [missing[i::jobs] for i in range(min(jobs, len(missing)))]
    with ThreadPoolExecutor(jobs) as pool:
        found = "".join(pool.map(run, shares))
    if cache is not None:
        with cache.open("a") as file:
            file.write(found)
    return known | {r["name"]: r for r in map(json.loads, found.splitlines())}


def execute(
    case: Case, target: GPUTarget, text: str, shared: int, check: str = "all"
) -> dict[str, Any]:
    """Counters of a run of the kernel, whose result is right."""
    name, block = MACHINES[target.backend].entry(text)
    args, output, expected, tolerated = case.numpy()
    # Compilers add parameters of their own: scratch memory, of which these kernels need none.
    args += [None] * (len(tile.sim.load(text).params(name)) - len(args))
    report = tile.sim.launch(text, name, case.grid, block, args, dynamic_shared=shared, check=check)
    actual = args[output].astype(np.float64)
    error = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
    if not error <= tolerated:
        raise AssertionError(f"{case.name}: relative error {error}")
    counters = report.counters
    return {
        "instructions": report.warp_instructions,
        "classes": {name: n["warp"] for name, n in counters["by_class"].items()},
        "barriers": counters["barriers"],
        "conflicts": counters["bank_conflicts"],
        "sectors": counters["global_load_sectors"] + counters["global_store_sectors"],
        "waves": (report.occupancy or {}).get("waves"),
    }


def measure(
    case: Case,
    target: GPUTarget,
    compiled: dict[str, Any],
    options: argparse.Namespace,
    check: str,
) -> dict[str, Any]:
    if "error" in compiled:
        return compiled
    text, shared = compiled["text"], compiled["shared"]
    found = {"shared": shared, **MACHINES[target.backend].describe(text, shared, options)}
    if options.assembled:
        return found
    try:
        return found | execute(case, target, text, shared, check)
    except tile.errors.TileError as error:
        return found | {"failure": str(error)}


def compare(
    case: Case, target: GPUTarget, peer: dict[str, Any], options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is found of both compilers' code; of Triton's, nothing if there is none."""
    ours = compile_ours(case, target)
    if options.save:
        stem = re.sub(r"\W+", "_", case.name)
        for who, record in (("ours", ours), ("peer", peer)):
            if "text" in record:
                path = options.save / f"{stem}.{who}.{MACHINES[target.backend].STAGE}"
                path.write_text(record["text"])
    # Triton has no fence between its copies and wgmma, which is one of the checks.
    check = "none" if target == GPUTarget("cuda", 90, 32) else "all"
    return (
        measure(case, target, ours, options, "all"),
        measure(case, target, peer, options, check) if peer else {},
    )


def ratio(target: GPUTarget, metric: str, both: tuple[dict, dict]) -> float | None:
    machine = MACHINES[target.backend]
    ours, peer = (record.get(metric) for record in both)
    if ours is None or peer is None or not machine.is_comparable(metric, *both):
        return None
    if metric in machine.MORE_IS_BETTER:
        ours, peer = peer, ours
    # What the machine hands out in larger portions.
    if granule := machine.granules(target.arch).get(metric):
        ours, peer = (-(-value // granule) * granule for value in (ours, peer))
    return ours / peer if peer else (1.0 if not ours else float("inf"))


def cell(target: GPUTarget, metric: str, both: tuple[dict, dict], limit: float) -> str:
    show = lambda v: "-" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v)  # noqa: E731
    ours, peer = (record.get(metric) for record in both)
    if peer is None:
        return show(ours)
    mark = "**" if (ratio(target, metric, both) or 0) > limit else ""
    return f"{mark}{show(ours)} / {show(peer)}{mark}"


def columns_of(rows: list[tuple[Case, dict, dict]], target: GPUTarget) -> list[str]:
    metrics = MACHINES[target.backend].METRICS
    return [m for m in metrics if any(x.get(m) is not None for _, *both in rows for x in both)]


def print_table(rows: list[tuple[Case, dict, dict]], target: GPUTarget, limit: float) -> None:
    columns = columns_of(rows, target)
    print("| kernel | " + " | ".join(MACHINES[target.backend].METRICS[c] for c in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for case, ours, peer in rows:
        if "error" in ours:
            print(f"| {case.name} | {ours['error']} |" + " |" * (len(columns) - 1))
            continue
        cells = [cell(target, c, (ours, peer), limit) for c in columns]
        print(f"| {case.name} | {' | '.join(cells)} |")


def print_summary(rows: list[tuple[Case, dict, dict]], target: GPUTarget, limit: float) -> None:
    """Worst ratio, number of cases above the limit, and geometric mean, of each metric."""
    machine = MACHINES[target.backend]
    both = [(case, o, p) for case, o, p in rows if "error" not in o and p and "error" not in p]
    print(f"| metric | cases | geometric mean | worst | above {limit} | worst case |")
    print("|---|---|---|---|---|---|")
    for column in columns_of(rows, target):
        ratios = [(ratio(target, column, sides), case.name) for case, *sides in both]
        ratios = [(r, name) for r, name in ratios if r is not None]
        if not ratios:
            continue
        worst, name = max(ratios)
        finite = [r for r, _ in ratios if 0 < r < float("inf")]
        mean = float(np.exp(np.mean(np.log(finite)))) if finite else float("nan")
        above = sum(r > limit for r, _ in ratios)
        title = machine.METRICS[column]
        print(f"| {title} | {len(ratios)} | {mean:.3f} | {worst:.3f} | {above} | {name} |")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--peer", help="a Python interpreter that has Triton")
    parser.add_argument("--peer-cache", type=Path, help="keeps Triton's code between runs")
    parser.add_argument("--target", default="cuda:80", help="such as cuda:80 or hip:gfx942")
    parser.add_argument("--filter", default="", help="cases whose name matches the expression")
    parser.add_argument("--all", action="store_true", help="all combinations of matrix products")
    parser.add_argument("--limit", type=float, help="ratios above are marked and counted")
    parser.add_argument("--summary", action="store_true", help="the worst ratios only")
    parser.add_argument("--assembled", action="store_true", help="executes nothing")
    parser.add_argument("--classes", action="store_true", help="instructions by class as well")
    parser.add_argument("--save", type=Path, help="a folder for the code")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    for machine in MACHINES.values():
        machine.add_options(parser)


def run(arguments: argparse.Namespace) -> int:
    target = parse_target(arguments.target)
    known = cases_of(target.backend, target.arch, arguments.all)
    chosen = [c for c in known if re.search(arguments.filter, c.name)]
    peers: dict[str, dict[str, Any]] = {}
    if arguments.peer:
        peers = compile_peer(chosen, arguments.peer, target, arguments.peer_cache, arguments.jobs)
    if arguments.save:
        arguments.save.mkdir(parents=True, exist_ok=True)
    # Compilers' contexts and threads are not handed on to processes that are forked.
    new = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, new) as pool:
        sides = [
            pool.submit(compare, case, target, peers.get(case.name, {}), arguments)
            for case in chosen
        ]
        rows = [(case, *side.result()) for case, side in zip(chosen, sides, strict=True)]

    limit = arguments.limit or MACHINES[target.backend].LIMIT
    for case, *both in rows:
        for who, record in zip(("ours", "Triton's"), both, strict=True):
            if problem := record.get("failure") or record.get("error"):
                print(f"{case.name}, {who}: {problem}", file=sys.stderr)
    if not arguments.summary:
        print_table(rows, target, limit)
        print()
    if arguments.classes:
        for case, ours, peer in rows:
            if "classes" not in ours:
                continue
            names = sorted({*ours.get("classes", {}), *peer.get("classes", {})})
            both = [
                (n, ours["classes"].get(n, 0), peer.get("classes", {}).get(n, 0)) for n in names
            ]
            print(case.name, ", ".join(f"{n} {o}/{p}" for n, o, p in both if o or p))
        print()
    if peers:
        print_summary(rows, target, limit)
    return 0
