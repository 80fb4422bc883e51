"""Device times of public libraries' kernels on a GPU, beside Triton's at the same configuration.

    python bench/public_time.py measure results.jsonl --tile FOLDER [--libraries liger,gems]
    python bench/public_time.py table results.jsonl
    python bench/public_time.py dry --tile FOLDER [--libraries liger,gems] [--match EXPRESSION]

The rows (public_time_rows) call the libraries' operations, forward and backward, at sizes of real
models. Each library runs in processes of its own. At first both compilers run without a clock:
this fills their caches and notes digests of the results, so that the table can say which differ.
Then the compilers run in turns. torch's profiler gives the device time of each kernel. The L2
cache is flushed before each call. Of an autotuner's configurations both compilers take the one in
the middle of the list. What is in the output is not measured again, so that a run that was cut off
goes on. FOLDER is where tile is installed; Triton is what `import triton` finds without it.
`dry` needs no GPU: it says which kernels each row launches, and compiles them with both.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import faulthandler
import gc
import importlib
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from quality.public import blocks

HERE = Path(__file__).resolve().parent
LIBRARIES = (
    "liger", "inductor", "gems", "fla", "unsloth", "vllm", "sglang", "moe", "entropy", "experts",
    "states",
)  # fmt: skip
FLUSH_BYTES = 256 << 20
REPEATS = 11
WARM_UP = 2
#: The kernel of `torch.cuda._sleep`.
MARKER = "spin_kernel"
#: A kernel's times below this say more about the clock than about the code, in microseconds.
SHORTEST_US = 4.0
#: How names of Inductor's kernels begin. It loads them from its cache without the compiler.
INDUCTOR = "triton_"
#: What is noted of a kernel that came from there.
UNKNOWN = dict.fromkeys(("registers", "spills", "shared", "warps"))
#: Who takes turns.
SIDES = ("tile", "peer")
#: Of a multiprocessor of sm_90.
SHARED_BYTES = 228 << 10
#: How far the digests of two compilers may be apart, relative to the size of the result.
TOLERANCE = 2e-2


class Launches:
    """The kernels that were launched: what torch's profiler calls them, and their resources."""

    def __init__(self) -> None:
        self.resources: dict[str, dict[str, int]] = {}
        #: Is told of each launch before it happens: the function, its arguments, the others.
        self.watch: Callable[[Any, tuple, dict[str, Any]], None] | None = None

    def install(self) -> None:
        from triton.runtime.jit import JITFunction

        run = JITFunction.run

        def noted(function: Any, *args: Any, **kwargs: Any) -> Any:
            if self.watch is not None:
                self.watch(function, args, kwargs)
            kernel = run(function, *args, **kwargs)
            if kernel is not None and hasattr(kernel, "metadata"):
                self.note(kernel)
            return kernel

        def launch(function: Any, grid: Any) -> Callable[..., Any]:
            return lambda *args, **kwargs: function.run(*args, grid=grid, warmup=False, **kwargs)

        JITFunction.run = noted
        # Launches of tile take a shorter way, which gives no kernel.
        JITFunction.__getitem__ = launch
        self.note_compiled()

    def note_compiled(self) -> None:
        """Inductor compiles a kernel by itself, and launches it by a launcher of its own."""
        import triton

        compile_source = triton.compile

        def noted(*args: Any, **kwargs: Any) -> Any:
            kernel = compile_source(*args, **kwargs)
            self.note(kernel)
            return kernel

        triton.compile = noted

    def note(self, kernel: Any) -> None:
        metadata = kernel.metadata
        name = getattr(metadata, "name", None) or kernel.name
        if name in self.resources:
            return
        with contextlib.suppress(Exception):
            kernel._init_handles()
        self.resources[name] = {
            "registers": getattr(kernel, "n_regs", None),
            "spills": getattr(kernel, "n_spills", None),
            "shared": metadata.shared,
            "warps": metadata.num_warps,
        }


def take_the_middle_configuration() -> None:
    """Both compilers run what an autotuner has in the middle of its list, and measure nothing."""
    from triton.runtime.autotuner import Autotuner

    prune = Autotuner.prune_configs

    def middle(tuner: Any, kwargs: Any) -> list[Any]:
        left = list(prune(tuner, kwargs))
        return [left[len(left) // 2]]

    Autotuner.prune_configs = middle
    with contextlib.suppress(ImportError):
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner

        construct = CachingAutotuner.__init__

        def with_one(self: Any, *args: Any, **kwargs: Any) -> None:
            construct(self, *args, **kwargs)
            if getattr(self, "configs", None):
                self.configs = [self.configs[len(self.configs) // 2]]

        CachingAutotuner.__init__ = with_one


def digest(value: Any) -> list[list[float]]:
    """Of each floating tensor in a result: its norm, and its dot with a fixed wave."""
    import torch

    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [entry for item in value for entry in digest(item)]
    if not isinstance(value, torch.Tensor) or not value.numel():
        return []
    flat = value.detach().flatten()[: 1 << 24]
    flat = torch.nan_to_num(flat.double(), 0.0, 0.0, 0.0)
    wave = torch.cos(torch.arange(flat.numel(), device=flat.device, dtype=torch.float64))
    return [[flat.norm().item(), (flat * wave).sum().item()]]


class Clock:
    """torch's profiler over the rows of a process, which takes seconds to start.

    A marker stands on the stream before the timed calls of a row, and another behind them.
    """

    def __init__(self) -> None:
        import torch

        kinds = [torch.profiler.ProfilerActivity.CUDA]
        self.profile = torch.profiler.profile(activities=kinds)
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
        self.names: list[tuple[str, dict[str, Any]]] = []
        self.profile.start()

    def time(
        self,
        row: str,
        run: Callable[[], Any],
        launched: Launches,
        before: Callable[[], Any] = lambda: None,
    ) -> None:
        """Runs it for its times; ``before`` runs before each time."""
        import torch

        torch.cuda._sleep(1)
        for _ in range(REPEATS):
            before()
            self.flush.zero_()
            run()
        torch.cuda._sleep(1)
        torch.cuda.synchronize()
        self.names.append((row, dict(launched.resources)))

    def times(self) -> Iterator[tuple[str, dict[str, dict[str, Any]]]]:
        """Of each row: the median time of each kernel in one call, and its launches in a call."""
        self.profile.stop()
        # `events()` of the profiler takes minutes for some thousand kernels.
        with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
            path = Path(folder, "trace.json")
            self.profile.export_chrome_trace(str(path))
            events = json.loads(path.read_text())["traceEvents"]
        kernels = sorted(
            (event["ts"], event["name"], event["dur"])
            for event in events
            if event.get("cat") == "kernel"
        )
        marks = [i for i, (_, name, _) in enumerate(kernels) if MARKER in name]
        for (row, resources), first, last in zip(self.names, marks[::2], marks[1::2], strict=True):
            yield row, medians(kernels[first:last], resources)


def medians(
    kernels: list[tuple[float, str, float]], resources: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    spans: dict[str, list[float]] = collections.defaultdict(list)
    for _, name, duration in kernels:
        if name in resources or name.startswith(INDUCTOR):
            spans[name].append(duration)
    result = {}
    for name, each in spans.items():
        count = len(each) // REPEATS
        if count * REPEATS != len(each) or not count:
            continue
        calls = [sum(each[i * count : (i + 1) * count]) for i in range(REPEATS)]
        result[name] = {"us": round(statistics.median(calls), 2), "launches": count}
        result[name] |= resources.get(name, UNKNOWN)
    return result


@dataclasses.dataclass
class Round:
    """A library's rows by one compiler, once."""

    library: str
    who: str
    number: int

    def note(self, path: Path, row: str, found: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.write(json.dumps(dataclasses.asdict(self) | {"row": row} | found) + "\n")

    def done(self, path: Path) -> set[str]:
        lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
        return {
            line["row"]
            for line in lines
            if (line["library"], line["who"], line["number"])
            == (self.library, self.who, self.number)
        }


def check_compiler(who: str) -> None:
    """Ends the process where `import triton` gives another compiler than the one to measure."""
    import triton

    found = "tile" if triton.__name__.startswith("tile.") else "peer"
    if found != who:
        sys.exit(f"the compiler to measure is {who}, but `import triton` gives {triton.__file__}")


def prepare(who: str, dry: bool = False) -> Launches:
    """Makes this process one that runs rows by that compiler, and notes what they launch."""
    check_compiler(who)
    sys.path[:0] = [str(HERE), str(HERE.parent / "test" / "clients")]
    if dry:
        importlib.import_module("without_gpu").compile_only(who)
    launched = Launches()
    launched.install()
    take_the_middle_configuration()
    return launched


def rows_of(library: str) -> dict[str, Callable[[], Callable[[], Any]]]:
    return importlib.import_module(f"public_time_rows.{library}").rows()


def is_row(library: str, name: str, match: str) -> bool:
    return re.search(match, f"{library} {name}") is not None


def run_rows(this: Round, out: Path, until: float, part: tuple[int, int], match: str) -> None:
    """Runs a library's rows in this process: round 0 for their results, the others for times."""
    import torch

    faulthandler.dump_traceback_later(max(1.0, until + 10 - time.time()), exit=True)
    launched = prepare(this.who)
    rows = rows_of(this.library)
    done = this.done(out)
    clock = Clock() if this.number else None
    for number, (name, make) in enumerate(rows.items()):
        if name in done or number % part[1] != part[0] or not is_row(this.library, name, match):
            continue
        if time.time() > until:
            break
        try:
            found = run_row(name, make, launched, clock)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"[:300]}
        if found:
            this.note(out, name, found)
        if "CUDA" in found.get("error", ""):
            break  # Nothing later in this process can work.
        gc.collect()
        torch.cuda.empty_cache()
    if clock:
        for name, kernels in clock.times():
            this.note(out, name, {"kernels": kernels})
    sys.stdout.flush()
    os._exit(0)  # Libraries leave threads behind.


def run_row(name: str, make: Callable, launched: Launches, clock: Clock | None) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    run = make()
    launched.resources.clear()
    result = run()
    if clock is None:
        return {"digest": digest(result)}
    for _ in range(WARM_UP):
        run()
    torch.cuda.synchronize()
    clock.time(name, run, launched)
    return {}


def run_dry(library: str, who: str, match: str) -> None:
    """Compiles what the rows launch, and says what that is."""
    launched = prepare(who, dry=True)
    for name, make in rows_of(library).items():
        if not is_row(library, name, match):
            continue
        launched.resources.clear()
        started = time.perf_counter()
        try:
            make()()
            said = ", ".join(launched.resources) or "no kernel"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"[:300]
        print(f"{who} {library} {name}: {said}, {time.perf_counter() - started:.1f} s", flush=True)
    sys.stdout.flush()
    os._exit(0)  # Libraries leave threads behind.


def dry(options: argparse.Namespace) -> None:
    options.home.mkdir(parents=True, exist_ok=True)
    for library in options.libraries.split(","):
        for who in options.sides.split(","):
            arguments = [sys.executable, __file__, "dry-rows", library, who, options.match]
            without = {"TILE_DRIVER": "sim"} if who == "tile" else {}
            subprocess.run(arguments, env=environment(who, options) | without)


def environment(who: str, options: argparse.Namespace) -> dict[str, str]:
    """Caches of each compiler's own; tile is found only where it is meant."""
    home = options.home / who
    home.mkdir(parents=True, exist_ok=True)
    paths = [str(p) for p in options.packages]
    if who == "tile":
        # Python reads no .pth file from PYTHONPATH, so the switch is on by this one.
        (home / "sitecustomize.py").write_text("import tile_compat_hook\n")
        paths[:0] = [str(home), str(options.tile)]
    compat = {"TILE_COMPAT": "1"} if who == "tile" else {}
    old = os.environ.get("PYTHONPATH")
    return (
        os.environ
        | compat
        | {
            "PYTHONPATH": ":".join(paths + ([old] if old else [])),
            "HOME": str(home),
            "TORCHINDUCTOR_CACHE_DIR": str(home / "inductor"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TRITON_CACHE_DIR": str(home / "cache"),
            "TILE_CACHE_DIR": str(home / "cache"),
            "FLAGGEMS_CACHE_DIR": str(home / "gems"),
            "GEMS_VENDOR": "nvidia",
        }
    )


def commands(
    this: Round, options: argparse.Namespace, until: float, jobs: int
) -> Iterator[subprocess.Popen]:
    for job in range(jobs):
        arguments = [sys.executable, __file__, "rows", str(options.out), this.library, this.who]
        arguments += [str(this.number), str(until), f"{job}/{jobs}", options.match]
        log = (options.home / f"{this.library}-{this.who}-{this.number}-{job}.log").open("w")
        yield subprocess.Popen(
            arguments,
            env=environment(this.who, options),
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def wait(processes: list[subprocess.Popen], until: float) -> None:
    for process in processes:
        try:
            process.wait(max(1.0, until + 20 - time.time()))
        except subprocess.TimeoutExpired:
            process.kill()


def measure(options: argparse.Namespace) -> None:
    """Fills the caches with all processors, then times each library, the compilers in turns."""
    until = time.time() + options.seconds
    options.home.mkdir(parents=True, exist_ok=True)
    libraries = options.libraries.split(",")
    sides = options.sides.split(",")
    if options.warm:
        filling = [
            process
            for library in libraries
            for who in sides
            for process in commands(Round(library, who, 0), options, until, options.warm)
        ]
        wait(filling, min(until, time.time() + options.warm_seconds))
    for library in libraries:
        for number in range(1, options.rounds + 1):
            for who in sides:
                end = min(until, time.time() + options.patience)
                if time.time() < until:
                    wait(list(commands(Round(library, who, number), options, end, 1)), end)


def agree(ours: list[list[float]], peers: list[list[float]]) -> bool:
    if len(ours) != len(peers):
        return False
    return all(
        math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE * max(abs(x[0]), 1e-6))
        for x, y in zip(ours, peers, strict=True)
        for a, b in zip(x, y, strict=True)
    )


def read(path: Path) -> tuple[dict, dict, list[str]]:
    """(library, row, kernel) to each compiler's best round; whether digests agree; what failed."""
    best: dict[tuple[str, str, str], dict[str, dict]] = collections.defaultdict(dict)
    digests: dict[tuple[str, str], dict[str, Any]] = collections.defaultdict(dict)
    errors: dict[tuple[str, str], dict[str, str]] = collections.defaultdict(dict)
    for line in map(json.loads, path.read_text().splitlines()):
        key = (line["library"], line["row"])
        if "error" in line:
            errors[key][line["who"]] = line["error"]
            continue
        if "digest" in line:
            digests[key][line["who"]] = line["digest"]
            continue
        for name, values in line["kernels"].items():
            old = best[(*key, name)].get(line["who"])
            if old is None or values["us"] < old["us"]:
                best[(*key, name)][line["who"]] = values
    # Nothing is known of a row whose first run was cut off with one of the compilers.
    checked = {
        key: agree(both["tile"], both["peer"]) if len(both) == 2 else None
        for key, both in digests.items()
    }
    failed = [
        f"{library} {row}: {who}: {text}"
        for (library, row), of in errors.items()
        for who, text in of.items()
    ]
    return best, checked, failed


def table(options: argparse.Namespace) -> None:
    best, checked, failed = read(options.results)
    both = {key: of for key, of in best.items() if len(of) == 2}
    short = {k for k, of in both.items() if of["peer"]["us"] / of["peer"]["launches"] < SHORTEST_US}
    rows = {k: of for k, of in both.items() if k not in short}
    ratio = {key: of["tile"]["us"] / of["peer"]["us"] for key, of in rows.items()}
    if not ratio:
        sys.exit("no kernel was measured with both compilers")
    mean = statistics.geometric_mean(ratio.values())
    slower = sum(r > 1.02 for r in ratio.values())
    differ = sorted(key for key, same in checked.items() if same is False)
    unknown = sorted({key[:2] for key in both if checked.get(key[:2]) is None})
    print(f"{len(ratio)} kernels of {len({k[0] for k in ratio})} libraries: tile takes {mean:.3f}")
    print(f"of Triton's time in the mean; {slower} take more than 1.02, the longest")
    print(f"{max(ratio.values()):.2f}. {len(short)} more take less than {SHORTEST_US:.0f} us.\n")
    print("| library | rows | kernels | mean | above 1.02 | longest |")
    print("|---|---|---|---|---|---|")
    for library in dict.fromkeys(key[0] for key in ratio):
        each = {key: r for key, r in ratio.items() if key[0] == library}
        average = statistics.geometric_mean(each.values())
        above = sum(r > 1.02 for r in each.values())
        count = len({key[1] for key in each})
        longest = max(each.values())
        print(f"| {library} | {count} | {len(each)} | {average:.3f} | {above} | {longest:.2f} |")
    print("\nTimes in us, `tile / peer`:\n")
    print("| library | row | kernel | us | ratio | registers | spills | shared | warps | blocks |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for key, of in sorted(rows.items(), key=lambda item: -ratio[item[0]]):
        cells = [f"{of['tile']['us']:.1f} / {of['peer']['us']:.1f}", f"{ratio[key]:.2f}"]
        for field in ("registers", "spills", "shared", "warps"):
            cells.append(f"{of['tile'][field]} / {of['peer'][field]}")
        held = (blocks(of[who], SHARED_BYTES) if of[who]["registers"] else None for who in SIDES)
        cells.append(" / ".join(map(str, held)))
        library, row, kernel = key
        print(f"| {library} | {row} | `{kernel[:60]}` | {' | '.join(cells)} |")
    for title, lines in (
        ("Results that differ", [f"{a} {b}" for a, b in differ]),
        ("Results that were not compared", [f"{a} {b}" for a, b in unknown]),
        ("Not measured", failed),
    ):
        if lines:
            print(f"\n{title}:\n")
            for line in lines:
                print(f"- {line}")


def add_places(parser: argparse.ArgumentParser) -> None:
    """Where compilers and libraries are, and which of them to run."""
    parser.add_argument("--tile", type=Path, required=True, help="where tile is installed")
    parser.add_argument("--packages", type=Path, nargs="*", default=[], help="the libraries")
    parser.add_argument("--libraries", default=",".join(LIBRARIES))
    parser.add_argument("--home", type=Path, default=Path("/tmp/public-time"))
    parser.add_argument("--sides", default=",".join(SIDES), help="the compilers to run")
    parser.add_argument("--match", default="", help="rows that it finds, as `library row`")


def add_measuring(sub: Any, name: str, rounds: int, seconds: float) -> argparse.ArgumentParser:
    """A command that measures into a file, and goes on where an earlier one was cut off."""
    parser = sub.add_parser(name)
    parser.add_argument("out", type=Path)
    add_places(parser)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seconds", type=float, default=seconds, help="for all")
    return parser


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = parser.add_subparsers(dest="command", required=True)
    measuring = add_measuring(sub, "measure", rounds=2, seconds=540)
    measuring.add_argument("--warm", type=int, default=0, help="processes a library, before")
    measuring.add_argument("--warm-seconds", type=float, default=120, help="for all of them")
    measuring.add_argument("--patience", type=float, default=120, help="seconds for a process")
    compiling = sub.add_parser("dry")
    add_places(compiling)
    compiling = sub.add_parser("dry-rows")
    for name in ("library", "who", "match"):
        compiling.add_argument(name)
    single = sub.add_parser("rows")
    single.add_argument("out", type=Path)
    single.add_argument("library")
    single.add_argument("who")
    single.add_argument("number", type=int)
    single.add_argument("until", type=float)
    single.add_argument("part")
    single.add_argument("match")
    shown = sub.add_parser("table")
    shown.add_argument("results", type=Path)
    options = parser.parse_args()
    if options.command == "measure":
        measure(options)
    elif options.command == "rows":
        number, count = map(int, options.part.split("/"))
        this = Round(options.library, options.who, options.number)
        run_rows(this, options.out, options.until, (number, count), options.match)
    elif options.command == "dry":
        dry(options)
    elif options.command == "dry-rows":
        run_dry(options.library, options.who, options.match)
    else:
        table(options)


if __name__ == "__main__":
    main()
