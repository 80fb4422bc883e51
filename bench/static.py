"""Quality of the generated code without a GPU, beside the peer's for the same kernels.

    python bench/static.py [--peer PYTHON] [--nvdisasm PATH] [--filter TEXT] [--all] [--summary]

Both compilers compile the same source for the same constants and options; the simulator executes
both PTX texts with every check on, the results are compared with NumPy, and the counters are
what the table shows. Registers, spills and shared memory are what `ptxas -v` says; with
`nvdisasm`, SASS counts come too: the instructions of the kernel, and those of its loops of matrix
products for each matrix instruction.

`--peer` names a Python that has Triton; it compiles in a process of its own. Without it, the
columns of the peer are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="tile-bench-cache-"))

import numpy as np
from peer import load
from static_cases import Case, cases

import tile
import tile.sim
from tile.backends.compiler import GPUTarget

FOLDER = Path(__file__).resolve().parent
#: Metrics: their titles in the table, and what a ratio is taken of.
METRICS = {
    "instructions": "instructions",
    "barriers": "barriers",
    "conflicts": "bank conflicts",
    "sectors": "global sectors",
    "registers": "registers",
    "spills": "spill bytes",
    "shared": "shared bytes",
    "sass": "SASS",
    "loop": "SASS/MMA in loops",
}
LIMIT = 1.05


def compile_ours(case: Case, arch: int, modules: dict[str, Any]) -> dict[str, Any]:
    if case.example not in modules:
        modules[case.example] = load(case.example)
    fn = getattr(modules[case.example], case.kernel)
    source = tile.compiler.ASTSource(
        fn=fn,
        signature=case.signature(fn.arg_names),
        constexprs=case.constants,
        attrs=case.hints(fn.arg_names),
    )
    try:
        compiled = tile.compile(source, target=GPUTarget("cuda", arch, 32), options=case.options)
    except tile.errors.TileError as error:
        return {"error": str(error).splitlines()[0]}
    return {"ptx": compiled.asm["ptx"], "shared": compiled.metadata.shared}


def compile_peer(
    chosen: list[Case], python: str, arch: int, cache: Path | None
) -> dict[str, dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}
    if cache is not None and cache.exists():
        known = {r["name"]: r for r in map(json.loads, cache.read_text().splitlines())}
    missing = [case.name for case in chosen if case.name not in known]
    if missing:
        command = [python, str(FOLDER / "static_peer.py"), str(arch)]
        result = subprocess.run(
            command, input="\n".join(missing), stdout=subprocess.PIPE, text=True, check=True
        )
        if cache is not None:
            with cache.open("a") as file:
                file.write(result.stdout)
        known |= {r["name"]: r for r in map(json.loads, result.stdout.splitlines())}
    return known


def execute(case: Case, ptx: str, shared: int) -> dict[str, Any]:
    """Counters of a checked run of the kernel, whose result is right."""
    name = re.search(r"\.visible\s+\.entry\s+([\w$]+)", ptx).group(1)
    args, output, expected, tolerated = case.numpy()
    # Compilers add parameters of their own: scratch memory, of which these kernels need none.
    args += [None] * (len(tile.sim.load(ptx).params(name)) - len(args))
    block = int(re.search(r"\.(?:req|max)ntid\s+(\d+)", ptx).group(1))
    report = tile.sim.launch(ptx, name, case.grid, block, args, dynamic_shared=shared)
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
    }


def assemble(ptx: str, nvdisasm: str | None) -> dict[str, Any]:
    """What ptxas says, and counts of the machine code."""
    target = re.search(r"^\s*\.target\s+(sm_\w+)", ptx, re.M).group(1)
    with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        from tile.backends.nvidia.tools import require_ptxas

        log = subprocess.run(
            [require_ptxas(), "-v", f"-arch={target}", str(source), "-o", str(binary)],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        found = {
            "registers": int(re.search(r"Used (\d+) registers", log).group(1)),
            "spills": sum(int(n) for n in re.findall(r"(\d+) bytes spill", log)),
        }
        if nvdisasm:
            text = subprocess.run(
                [nvdisasm, "-c", str(binary)], capture_output=True, text=True, check=True
            ).stdout
            found |= sass_counts(text)
    return found


def sass_counts(text: str) -> dict[str, Any]:
    """Instructions of the kernel, and those of loops with matrix instructions for each of them."""
    labels: dict[str, int] = {}
    code: list[str] = []
    for line in text.splitlines():
        if label := re.match(r"\s*(\.L_\w+):", line):
            labels[label.group(1)] = len(code)
        elif instruction := re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?);", line):
            code.append(instruction.group(1))
    loops = []
    for place, instruction in enumerate(code):
        branch = re.search(r"\bBRA\b.*?(\.L_\w+)", instruction)
        if branch and labels.get(branch.group(1), len(code)) < place:
            loops.append(range(labels[branch.group(1)], place + 1))
    is_mma = [bool(re.search(r"\b[HID]MMA\b", x)) for x in code]
    inner = [
        loop
        for loop in loops
        if any(is_mma[i] for i in loop)
        and not any(o != loop and o[0] >= loop[0] and o[-1] <= loop[-1] for o in loops)
    ]
    # A branch to itself and padding follow the end of the kernel.
    total = sum(not re.search(r"\bNOP\b", x) for x in code) - 1
    matrix = sum(is_mma[i] for loop in inner for i in loop)
    return {"sass": total, "loop": sum(map(len, inner)) / matrix if matrix else None}


def measure(case: Case, compiled: dict[str, Any], nvdisasm: str | None) -> dict[str, Any]:
    if "error" in compiled:
        return compiled
    return {
        "shared": compiled["shared"],
        **execute(case, compiled["ptx"], compiled["shared"]),
        **assemble(compiled["ptx"], nvdisasm),
    }


def ratio(ours: float | None, peer: float | None) -> float | None:
    if ours is None or peer is None:
        return None
    return ours / peer if peer else (1.0 if not ours else float("inf"))


def cell(ours: Any, peer: Any) -> str:
    show = lambda v: "-" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v)  # noqa: E731
    if peer is None:
        return show(ours)
    mark = "**" if (ratio(ours, peer) or 0) > LIMIT else ""
    return f"{mark}{show(ours)} / {show(peer)}{mark}"


def print_table(rows: list[tuple[Case, dict, dict]], columns: list[str]) -> None:
    print("| kernel | " + " | ".join(METRICS[c] for c in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for case, ours, peer in rows:
        if "error" in ours:
            print(f"| {case.name} | {ours['error']} |" + " |" * (len(columns) - 1))
            continue
        print(
            f"| {case.name} | " + " | ".join(cell(ours.get(c), peer.get(c)) for c in columns) + " |"
        )


def print_summary(rows: list[tuple[Case, dict, dict]], columns: list[str]) -> None:
    """Worst ratio, number of cases above the limit, and geometric mean, of each metric."""
    both = [(case, o, p) for case, o, p in rows if "error" not in o and p and "error" not in p]
    print("| metric | cases | geometric mean | worst | above 1.05 | worst case |")
    print("|---|---|---|---|---|---|")
    for column in columns:
        ratios = [(ratio(o.get(column), p.get(column)), case.name) for case, o, p in both]
        ratios = [(r, name) for r, name in ratios if r is not None]
        if not ratios:
            continue
        worst, name = max(ratios)
        finite = [r for r, _ in ratios if 0 < r < float("inf")]
        mean = float(np.exp(np.mean(np.log(finite)))) if finite else float("nan")
        above = sum(r > LIMIT for r, _ in ratios)
        print(
            f"| {METRICS[column]} | {len(ratios)} | {mean:.3f} | {worst:.3f} | {above} | {name} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="a Python interpreter that has Triton")
    parser.add_argument("--peer-cache", type=Path, help="keeps the peer's PTX between runs")
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm"))
    parser.add_argument("--arch", type=int, default=80)
    parser.add_argument("--filter", default="", help="cases whose name matches the expression")
    parser.add_argument("--all", action="store_true", help="all combinations of matrix products")
    parser.add_argument("--summary", action="store_true", help="the worst ratios only")
    parser.add_argument("--classes", action="store_true", help="instructions by class as well")
    parser.add_argument("--save", type=Path, help="a folder for PTX and figures")
    arguments = parser.parse_args()

    chosen = [c for c in cases(arguments.all) if re.search(arguments.filter, c.name)]
    peers: dict[str, dict[str, Any]] = {}
    if arguments.peer:
        peers = compile_peer(chosen, arguments.peer, arguments.arch, arguments.peer_cache)
    modules: dict[str, Any] = {}
    compiled = [
        (case, compile_ours(case, arguments.arch, modules), peers.get(case.name, {}))
        for case in chosen
    ]
    if arguments.save:
        arguments.save.mkdir(parents=True, exist_ok=True)
        for case, *both in compiled:
            stem = re.sub(r"\W+", "_", case.name)
            for who, record in zip(("ours", "peer"), both, strict=True):
                if "ptx" in record:
                    (arguments.save / f"{stem}.{who}.ptx").write_text(record["ptx"])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sides = [
            pool.submit(measure, case, record, arguments.nvdisasm) if record else None
            for case, *both in compiled
            for record in both
        ]
        measured = [side.result() if side else {} for side in sides]
    rows = [(c[0], measured[2 * i], measured[2 * i + 1]) for i, c in enumerate(compiled)]

    columns = [m for m in METRICS if any(m in ours for _, ours, _ in rows)]
    if not arguments.summary:
        print_table(rows, columns)
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
        print_summary(rows, columns)


if __name__ == "__main__":
    sys.exit(main())
