"""Matrix products of many shapes on a GPU: tile, Triton and the library (cuBLAS) in turns.

    python bench/matmul_sweep.py [--filter PATTERN] [--seconds S] [--jobs N] [--repeats N] [--all]

Each row is one dot: of matrices, of batches, of groups of rows, or with bias and activation.
Both compilers have the same programs and the same list of configurations. Each program is measured
in every configuration, the compilers in turns. The best of each is measured once more, beside the
library, in turns as well. What is needed is compiled first, by many processes at once.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from matmul import give_scratch_memory
from peer import load, load_for_peer
from turns import Candidate, best_times_ms

PROCESSORS = 132

#: bm, bn, bk, warps, stages.
LARGE = [(128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (128, 128, 64, 4, 3)]
MIDDLE = [
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (128, 128, 64, 4, 3),
    (128, 128, 64, 8, 4),
    (128, 128, 128, 8, 3),
    (256, 128, 64, 8, 3),
    (128, 64, 64, 4, 4),
    (128, 64, 128, 4, 3),
    (64, 128, 64, 4, 4),
    (64, 128, 64, 4, 8),
    (64, 128, 128, 4, 3),
    (64, 128, 128, 4, 4),
    (64, 64, 128, 4, 4),
]
SKINNY = {
    16: [(16, 64, 128, 4, 4), (16, 128, 128, 4, 4), (16, 32, 256, 4, 4), (64, 64, 128, 4, 5)],
    32: [(32, 64, 128, 4, 4), (32, 128, 128, 4, 4), (64, 64, 128, 4, 5)],
    64: [(64, 64, 128, 4, 4), (64, 64, 128, 4, 6), (64, 128, 128, 4, 4), (64, 32, 128, 4, 8)],
    128: [
        (64, 64, 128, 4, 6),
        (64, 128, 64, 4, 6),
        (64, 128, 128, 4, 4),
        (128, 64, 128, 4, 4),
        (64, 256, 64, 4, 5),
    ],
}

#: Of operands of 8 and of 32 bits.
BYTES = [(128, 256, 128, 8, 3), (128, 256, 128, 8, 4), (256, 128, 128, 8, 3), (128, 128, 128, 4, 3)]
WORDS = [
    (128, 256, 32, 8, 3),
    (128, 256, 32, 8, 4),
    (128, 128, 32, 4, 3),
    (256, 128, 32, 8, 3),
    (256, 128, 32, 8, 4),
]

#: Tiles of two blocks of a cluster, which copy for each other.
PAIRS = [(512, 128, 64, 8, 4), (256, 256, 64, 8, 4)]

#: How an example is told to work: one program a tile, or one a multiprocessor.
BY_TILE: dict = {}
PERSISTENT = {"programs": PROCESSORS}
IN_PARTS = {**PERSISTENT, "parts": 4}
SPECIALIZED = {"programs": PROCESSORS, "specialize": True}
CLUSTERS = {"specialize": True, "num_ctas": 2}


@dataclasses.dataclass(frozen=True)
class Row:
    kind: str  # matmul, linear, batched or grouped
    shape: tuple[int, ...]  # m, n, k; batches or groups before
    configs: tuple[tuple[int, ...], ...]
    dtype: torch.dtype = torch.float16
    activation: str | None = None

    @property
    def name(self) -> str:
        words = [self.kind, self.activation, str(self.dtype)[6:], "x".join(map(str, self.shape))]
        return " ".join(word for word in words if word)

    @property
    def flops(self) -> int:
        return 2 * math.prod(self.shape[1:] if self.kind == "grouped" else self.shape)


def make_rows() -> list[Row]:
    rows = []

    def add(kind, configs, *shapes, **more):
        rows.extend(Row(kind, shape, tuple(configs), **more) for shape in shapes)

    add("matmul", MIDDLE, (512, 512, 512), (512, 512, 8192), (512, 4096, 1024), (1024, 1024, 1024))
    add("matmul", MIDDLE, (1024, 1024, 8192), (2048, 2048, 512), (2048, 2048, 2048))
    add("matmul", MIDDLE, (1024, 16384, 512), (512, 16384, 4096))
    # Whose rows straddle lines of the L2 cache.
    add("matmul", [*MIDDLE, *PAIRS], (1000, 4104, 2056))
    add("matmul", LARGE, (2048, 2048, 8192), (4096, 4096, 512), (4096, 4096, 2048))
    add("matmul", LARGE, (4096, 4096, 4096), (4096, 4096, 4096), dtype=torch.bfloat16)
    add("matmul", LARGE, (4096, 4096, 8192), (16384, 1024, 4096), (4096, 14336, 4096))
    add("matmul", LARGE, (8192, 8192, 512), (8192, 8192, 2048), (8192, 8192, 8192))
    add("matmul", LARGE, (16384, 16384, 512), (16384, 16384, 4096))
    for m, configs in SKINNY.items():
        add("matmul", configs, (m, 4096, 4096), (m, 8192, 8192), (m, 16384, 2048))
    add("batched", MIDDLE, (32, 512, 512, 512), (16, 1024, 1024, 1024), (64, 1024, 1024, 64))
    add("batched", LARGE, (8, 2048, 2048, 2048))
    add("grouped", LARGE, (8, 8192, 4096, 4096), dtype=torch.bfloat16)
    add("grouped", MIDDLE, (64, 8192, 2816, 2048), (32, 1024, 4096, 2048), dtype=torch.bfloat16)
    add("linear", LARGE, (4096, 4096, 4096), (8192, 8192, 1024), activation="relu")
    add("linear", LARGE, (4096, 4096, 4096), (2048, 8192, 2048), activation="gelu")
    add("linear", MIDDLE, (1024, 4096, 1024), activation="gelu")
    add("matmul", WORDS, (4096, 4096, 4096), dtype=torch.float32)
    add("linear", WORDS, (4096, 4096, 4096), activation="none", dtype=torch.float32)
    add("linear", BYTES, (8192, 8192, 8192), activation="none", dtype=torch.float8_e4m3fn)
    add("linear", BYTES, (4096, 8192, 2048), activation="none", dtype=torch.float8_e4m3fn)
    return list(dict.fromkeys(rows))


def ways_of(row: Row, tile: tuple[int, ...]) -> list[tuple[str, dict]]:
    """The programs that a row is measured with: the name of an example, and its options."""
    bm, bn, *_ = tile
    if tile in PAIRS:
        return [("descriptor_matmul", CLUSTERS)]
    if row.kind == "grouped":
        return [("grouped_matmul", {})]
    example = {"matmul": "descriptor_matmul", "batched": "batched_matmul", "linear": "linear"}
    ways = [(example[row.kind], BY_TILE)]
    *batch, m, n, _ = row.shape
    if math.prod(batch) * -(-m // bm) * -(-n // bn) > PROCESSORS:
        ways += [(example[row.kind], PERSISTENT), (example[row.kind], SPECIALIZED)]
        if bm * bn > 128 * 128:
            ways.append((example[row.kind], IN_PARTS))
    if row.kind == "matmul":
        ways.append(("matmul", {}))
        # As many programs as there are places for, each with a few steps.
        tiles, k = -(-m // bm) * -(-n // bn), row.shape[-1]
        ways += [
            ("split_matmul", {"splits": splits})
            for splits in (2, 4, 8)
            if tiles * splits <= PROCESSORS * 2 and k // splits >= 512
        ]
    return ways


@dataclasses.dataclass
class Problem:
    """The operands of a row. ``launch(module, tile, way)`` runs a program on them."""

    launch: Callable
    out: torch.Tensor
    library: Callable


def make_problem(row: Row) -> Problem:
    def random(*shape, dtype=row.dtype):
        return torch.randn(*shape, device="cuda").to(dtype)

    if row.kind == "grouped":
        groups, m, n, k = row.shape
        a, b, out = random(m, k), random(groups, k, n), random(m, n)
        # Groups of all sizes, the smallest a seventh of the largest.
        sizes = torch.tensor([1 + i * 3 % 7 for i in range(groups)], dtype=torch.float64)
        ends = (torch.cumsum(sizes, 0) * (m / sizes.sum())).to(torch.int32)
        ends[-1] = m
        ends = ends.cuda()
        arguments = (a, b, out, ends)
        library = lambda: torch._grouped_mm(a, b, offs=ends)  # noqa: E731
    elif row.kind == "linear":
        m, n, k = row.shape
        in_eight_bits = row.dtype.itemsize == 1
        out_dtype = torch.float16 if in_eight_bits else row.dtype
        x, w = random(m, k), random(n, k)
        bias, out = random(n, dtype=out_dtype), random(m, n, dtype=out_dtype)
        arguments = (x, w, bias, out)
        if in_eight_bits:
            one = torch.ones((), device="cuda")
            library = lambda: torch._scaled_mm(  # noqa: E731
                x, w.T, one, one, bias=bias, out_dtype=out_dtype, use_fast_accum=True
            )
        elif row.activation == "none":
            library = lambda: torch.addmm(bias, x, w.T)  # noqa: E731
        else:
            use_gelu = row.activation == "gelu"
            library = lambda: torch._addmm_activation(bias, x, w.T, use_gelu=use_gelu)  # noqa: E731
    else:
        *batch, m, n, k = row.shape
        a, b, out = random(*batch, m, k), random(*batch, k, n), random(*batch, m, n)
        arguments = (a, b, out)
        library = lambda: torch.matmul(a, b, out=library_out)  # noqa: E731
        library_out = torch.empty_like(out)
        sums = torch.empty(PROCESSORS * 2 * 128 * 256, device="cuda")
        counters = torch.zeros(PROCESSORS, dtype=torch.int32, device="cuda")
    options = {"activation": row.activation} if row.activation else {}

    def launch(module, tile, way):
        *sizes, warps, stages = tile
        function = module.linear if row.kind == "linear" else module.matmul
        workspace = (sums, counters) if "splits" in way else ()
        return function(
            *arguments, *workspace, *sizes, num_warps=warps, num_stages=stages, **options, **way
        )  # fmt: skip

    return Problem(launch, out, library)


def candidates(row: Row) -> list[tuple[str, dict, tuple[int, ...]]]:
    return [(*way, tile) for tile in row.configs for way in ways_of(row, tile)]


def load_all(rows: list[Row]) -> dict[str, list]:
    examples = sorted({c[0] for row in rows for c in candidates(row)})
    return {name: [load(name), load_for_peer(name)] for name in examples}


def small(row: Row) -> Row:
    """A row with the same programs: sizes that are multiples of 16 are as good as each other."""
    sizes = [min(s, 1024) if s % 16 == 0 else s for s in row.shape]
    if row.kind == "grouped":
        sizes[0] = row.shape[0]
    return dataclasses.replace(row, shape=tuple(sizes))


def compile_part(rows: list[Row], part: int, parts: int) -> None:
    """Fills the caches of both compilers, and says on stdout what did not work."""
    modules = load_all(rows)
    tasks = {}
    for row in rows:
        for which in (0, 1):
            for example, way, tile in candidates(row):
                key = (example, str(way), tile, which, row.dtype, row.activation, row.shape[0])
                key = key[:-1] if row.kind != "grouped" else key
                ragged = tuple(s % 16 for s in row.shape)
                tasks.setdefault((*key, ragged), (row, which, example, way, tile))
    # A compiler that ends the process does not take the others with it.
    ordered = sorted(tasks.values(), key=lambda task: task[1] and "specialize" in task[3])
    problems: dict[Row, Problem] = {}
    for row, which, example, way, tile in ordered[part::parts]:
        module = modules[example][which]
        if module is None:
            continue
        entry = {"module": module.__name__, "way": way, "tile": tile}
        print(json.dumps({"start": entry}), flush=True)
        shrunk = small(row)
        if shrunk not in problems:
            problems[shrunk] = make_problem(shrunk)
        try:
            problems[shrunk].launch(module, tile, way)
            torch.cuda.synchronize()
            print(json.dumps({"done": entry}), flush=True)
        except Exception as error:
            print(json.dumps({"failed": entry, "why": str(error)[:160]}), flush=True)


def compile_all(options) -> set[str]:
    """Compiles in parallel; returns the programs that ended their process."""
    command = [sys.executable, __file__, "--filter", options.filter]
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / f"{i}.txt" for i in range(options.jobs)]
        running = [
            subprocess.Popen([*command, "--part", f"{i}/{options.jobs}"], stdout=log.open("w"))
            for i, log in enumerate(logs)
        ]
        for process in running:
            try:
                process.wait(timeout=options.seconds)
            except subprocess.TimeoutExpired:
                process.kill()
        crashed = set()
        for log in logs:
            events = [json.loads(line) for line in log.read_text().splitlines() if line[:1] == "{"]
            if events and "start" in events[-1]:
                crashed.add(json.dumps(events[-1]["start"]))
    return crashed


def relative_error(actual: torch.Tensor, expected: torch.Tensor) -> float:
    difference = actual.float()
    difference -= expected
    return (difference.norm() / expected.float().norm()).item()


def describe(way: dict, tile) -> str:
    word = "specialised" if "specialize" in way else "persistent" if "programs" in way else ""
    if "parts" in way:
        word += f", {way['parts']} parts"
    if "num_ctas" in way:
        word = "clusters"
    if "splits" in way:
        word = f"{way['splits']} splits"
    return " ".join(filter(None, [",".join(map(str, tile)), word]))


def measure(
    row: Row, modules, crashed: set[str], repeats: int, everything: bool
) -> list[tuple[float, str]]:
    """Speed and choice of tile, Triton and the library, in TFLOP/s."""
    problem = make_problem(row)
    expected = problem.library()
    contestants: list[list[Candidate]] = [[], []]
    for example, way, tile in candidates(row):
        for which, module in enumerate(modules[example]):
            if module is None:
                continue
            entry = {"module": module.__name__, "way": way, "tile": tile}
            if json.dumps(entry) in crashed:
                print(f"{row.name}: {entry} ended its process")
                continue
            problem.out.fill_(float("nan"))
            run = functools.partial(problem.launch, module, tile, way)
            try:
                run()
                error = relative_error(problem.out, expected)
            except Exception as reason:
                if everything:
                    print(f"{row.name}: {entry}: {str(reason)[:120]!r}")
                continue
            if not error < (1e-2 if row.dtype.itemsize == 1 else 4e-3):
                print(f"{row.name}: {entry}: WRONG, relative error {error}", flush=True)
                continue
            label = f"{'pointers' if example == 'matmul' else ''} {describe(way, tile)}".strip()
            contestants[which].append((label, run))

    def show(which: int, label: str, ms: float) -> None:
        if everything:
            print(f"  {row.name} {('tile', 'peer')[which]} {label}: {row.flops / ms / 1e9:.1f}")

    if not repeats:
        repeats = 8 if row.flops < 1 << 40 else 3
    best = best_times_ms(contestants, problem.library, repeats, final=4 * repeats, show=show)
    return [(row.flops / ms / 1e9, label) for ms, label in best]


def geometric_mean(values: list[float]) -> float:
    values = [value for value in values if not math.isnan(value)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only rows whose name this matches")
    parser.add_argument("--seconds", type=float, default=600, help="leave out rows after these")
    parser.add_argument("--jobs", type=int, default=16, help="processes that compile")
    parser.add_argument(
        "--repeats",
        type=int,
        default=0,
        help="turns of each configuration, and a quarter of the best's",
    )
    parser.add_argument("--all", action="store_true", help="show every configuration")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    start = time.monotonic()
    torch.backends.cuda.matmul.allow_tf32 = True
    give_scratch_memory()
    rows = [row for row in make_rows() if re.search(options.filter, row.name)]
    if options.part:
        compile_part(rows, *map(int, options.part.split("/")))
        return
    crashed = compile_all(options)
    print(f"compiled after {time.monotonic() - start:.0f} s", flush=True)
    modules = load_all(rows)
    print("| product | tile TFLOP/s | peer | cuBLAS | tile/peer | tile/cuBLAS | tile's | peer's |")
    print("|---|---|---|---|---|---|---|---|")
    ratios: list[tuple[float, float]] = []
    for row in rows:
        if time.monotonic() - start > options.seconds:
            print(f"{row.name}: no time was left")
            continue
        ours, peer, library = measure(row, modules, crashed, options.repeats, options.all)
        ratios.append((ours[0] / peer[0], ours[0] / library[0]))
        print(
            f"| {row.name} | {ours[0]:.1f} | {peer[0]:.1f} | {library[0]:.1f} "
            f"| {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} | {ours[1]} | {peer[1]} |",
            flush=True,
        )
    means = [geometric_mean([pair[i] for pair in ratios]) for i in (0, 1)]
    print(f"| geometric mean of {len(ratios)} | | | | {means[0]:.3f} | {means[1]:.3f} | | |")
    print(f"took {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
