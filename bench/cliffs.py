"""Looks for cliffs: public kernels at ten points each of warps, stages and block sizes.

    python bench/cliffs.py measure results.jsonl --tile FOLDER --packages FOLDER
    python bench/cliffs.py table results.jsonl --measured "CARD, DATE, COMMIT" > bench/CLIFFS.md
    python bench/cliffs.py dry results.jsonl --tile FOLDER --packages FOLDER

Kernels are captured where rows of `public_time.py` launch them, with all arguments. Ten points of
a kernel are drawn, always the same: numbers of warps and of stages, and block sizes of half and of
twice the author's. The author's own point is none of them. A block size is one that the grid
follows, or that the author's autotuner varies. At a point a thread has at most four times the
author's elements.

At first `--jobs` processes compile all points, and note the processor time of each. Then both
compilers run in turns, point by point, each kernel on the arguments as they were captured. What is
in the output is not measured again: a run that was cut off goes on. `dry` only compiles, without
a GPU.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import faulthandler
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import public_time
from captured_launches import MOST_ELEMENTS, Capture, Launch, Point, fill_what_is_empty
from cliff_kernels import KERNELS
from public_time import SIDES, agree, digest

POINTS = 10
#: A point that takes more seconds of the processor to compile counts as one that does not.
COMPILE_PATIENCE = 60
#: A row that takes more seconds to run and to time ends its process.
TIME_PATIENCE = 90
#: A launch that takes longer, in seconds, is not timed.
LONGEST_LAUNCH = 0.1
#: What a point may take of the other compiler's time, and the share of points that shall.
MOST_TIME, SHARE = 1.05, 0.99
#: What was compiled before takes less, in seconds.
FROM_CACHE = 0.01
#: What a compile may take, in seconds of the processor, and of the other compiler's.
MOST_SECONDS, MOST_OF_PEER = 10.0, 1.0
#: What the page says first.
HEAD = """# Public kernels at drawn points, beside Triton's

`python bench/cliffs.py measure results.jsonl --tile FOLDER --packages FOLDER`, then
`table results.jsonl`. {measured}

Kernels of [public libraries](PUBLIC_TIME.md) are launched again at {points} points each, always the
same: other numbers of warps and of stages, and block sizes of half and of twice the author's. At a
point a thread has at most {elements} times the author's elements. Both compilers run in turns."""

# The results: a line for each thing that is known of a point.


@dataclasses.dataclass(frozen=True)
class Place:
    """A point of a kernel, by one compiler."""

    library: str
    row: str
    kernel: str
    point: str
    who: str


class Results:
    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        # Another process may be writing the last one.
        whole, _, _ = self.path.read_text().rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

    def note(self, place: Place, **found: Any) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(dataclasses.asdict(place) | found) + "\n")

    def by_place(self) -> dict[Place, dict[str, Any]]:
        """What is known of each point; of several times the least."""
        known: dict[Place, dict[str, Any]] = collections.defaultdict(dict)
        fields = [field.name for field in dataclasses.fields(Place)]
        for line in self.lines():
            found = known[Place(*(line.pop(name) for name in fields))]
            if "us" in line and line["us"] >= found.get("us", float("inf")):
                line = {"rounds": line["rounds"]}
            found["rounds"] = found.get("rounds", 0) + line.pop("rounds", 0)
            found.update(line)
        return known


def processor_time() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def end_after(seconds: int | None) -> None:
    """Ends this process when it has used so many seconds more of the processor, or never."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = most if seconds is None else int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (end, most))


class Worker:
    """A process that works on rows of a library by one compiler."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.library, self.who, self.count = options.library, options.who, options.points
        self.dry = options.dry
        self.results = Results(options.out)
        self.capture = Capture(copies=options.timing)
        self.launched = public_time.prepare(self.who, dry=options.dry)
        self.capture.install()
        self.launched.watch = self.capture.watch
        if not options.dry:
            fill_what_is_empty()
        self.rows = public_time.rows_of(self.library)
        self.clock = public_time.Clock() if options.timing else None
        self.timed: dict[str, Place] = {}

    def take(self, row: str) -> None:
        """Runs a row, which launches the kernels that are wanted."""
        import torch

        self.capture.found.clear()
        gc.collect()
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()
        torch.manual_seed(0)
        self.capture.wanted = set(KERNELS[self.library][row])
        try:
            self.rows[row]()()
        except Exception as error:
            print(f"{self.library} {row}: {type(error).__name__}: {error}", flush=True)
        for name in self.capture.wanted - set(self.capture.found):
            print(f"{self.library} {row}: {name} was not launched", flush=True)

    def points(self, row: str) -> Iterator[tuple[Place, Launch, Point]]:
        for kernel, launch in self.capture.found.items():
            for point in launch.points(f"{self.library} {row} {kernel}", self.count):
                yield Place(self.library, row, kernel, json.dumps(point), self.who), launch, point

    def compile(self, row: str) -> None:
        """Compiles each point that is not known, and notes the processor time it took."""
        self.take(row)
        known = self.results.by_place()
        for place, launch, point in self.points(row):
            found = known.get(place, {})
            if found.get("begun") and "cpu" not in found and "error" not in found:
                self.results.note(place, error=f"takes more than {COMPILE_PATIENCE} s to compile")
                continue
            if "error" in found or "us" in found:
                continue
            self.results.note(place, begun=True)
            end_after(COMPILE_PATIENCE)
            start = processor_time()
            try:
                kernel = launch.run(point, warmup=True)
                if not self.dry:
                    _ = kernel.asm["cubin"]
            except Exception as error:
                self.results.note(place, error=text_of(error))
            else:
                if "cpu" not in found:
                    self.results.note(place, cpu=round(processor_time() - start, 4))
            end_after(None)

    def time(self, row: str, first: bool) -> None:
        """Times each point once; in the first round it also says what the results are."""
        faulthandler.dump_traceback_later(TIME_PATIENCE, exit=True)
        if first or not self.capture.found:
            self.take(row)
        known = self.results.by_place()
        for place, launch, point in self.points(row):
            found = known.get(place, {})
            if "error" in found or (first and found.get("rounds", 0)):
                continue
            if found.get("launching") and "digest" not in found:
                self.results.note(place, error="ended its process")
                continue
            self.results.note(place, launching=True)
            try:
                self.time_point(place, launch, point, "digest" not in found)
            except Exception as error:
                self.results.note(place, error=text_of(error))
                if "CUDA" in str(error):
                    raise  # Nothing later in this process can work.
        faulthandler.cancel_dump_traceback_later()

    def time_point(self, place: Place, launch: Launch, point: Point, first: bool) -> None:
        import torch

        def run() -> None:
            launch.run(point)

        self.launched.resources.clear()
        launch.restore()
        run()
        torch.cuda.synchronize()
        if first:
            self.results.note(place, digest=digest(launch.written()))
            start = time.perf_counter()
            run()
            torch.cuda.synchronize()
            seconds = time.perf_counter() - start
            if seconds > LONGEST_LAUNCH:
                raise RuntimeError(f"a launch takes {seconds:.2f} s")
        key = json.dumps([dataclasses.astuple(place), len(self.timed)])
        self.timed[key] = place
        self.clock.time(key, run, self.launched, launch.restore)

    def finish(self) -> None:
        """Notes the times of this process."""
        if self.clock is None:
            return
        for key, kernels in self.clock.times():
            if kernels:
                (values,) = kernels.values()
                self.results.note(self.timed[key], rounds=1, **values)


def text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def work(options: argparse.Namespace) -> None:
    """Takes commands from the standard input, and says when it is done with each."""
    worker = Worker(options)
    print("ready", flush=True)
    try:
        for line in sys.stdin:
            command = json.loads(line)
            if command["do"] == "compile":
                worker.compile(command["row"])
            else:
                worker.time(command["row"], command["first"])
            print("done", flush=True)
    except Exception:
        traceback.print_exc()
    try:
        worker.finish()
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(0)  # Libraries leave threads behind.


# The process that hands out the work.


class Child:
    """A worker's process, as seen from outside."""

    def __init__(
        self, options: argparse.Namespace, library: str, who: str, name: str, *more: str
    ) -> None:
        arguments = [sys.executable, __file__, "work", str(options.out.resolve()), library, who]
        arguments += ["--points", str(options.points), *more]
        if options.command == "dry":
            arguments.append("--dry")
        environment = public_time.environment(who, options)
        if options.command == "dry" and who == "tile":
            environment["TILE_DRIVER"] = "sim"
        self.log = (options.home / f"{library}-{who}-{name}.log").open("a")
        self.process = subprocess.Popen(
            arguments,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def wait_for(self, word: str) -> bool:
        """Whether it said so; False where it ended before."""
        for line in self.process.stdout:
            if line.strip() == word:
                return True
            self.log.write(line)
            self.log.flush()
        return False

    def do(self, **command: Any) -> bool:
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        return self.wait_for("done")

    def end(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def wanted(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    for library, rows in KERNELS.items():
        for row in rows:
            if library in options.libraries.split(",") and public_time.is_row(
                library, row, options.match
            ):
                yield library, row


def compile_all(options: argparse.Namespace, until: float) -> None:
    """Each job takes a row of a compiler after the other; a process serves the same library on."""
    rows = sorted(wanted(options), key=lambda row: -len(KERNELS[row[0]][row[1]]))
    queue = collections.deque((*row, who) for row in rows for who in options.sides.split(","))
    lock = threading.Lock()

    def next_task(library: str | None, who: str | None) -> tuple[str, str, str] | None:
        """One for the process that there is, if any."""
        with lock:
            if not queue or time.time() > until:
                return None
            same = (task for task in queue if (task[0], task[2]) == (library, who))
            task = next(same, queue[0])
            queue.remove(task)
            return task

    def job(number: int) -> None:
        child, library, who = None, None, None
        while (task := next_task(library, who)) is not None:
            if child is not None and (task[0], task[2]) != (library, who):
                child.end()
                child = None
            library, row, who = task
            for _ in range(POINTS * len(KERNELS[library][row])):
                if child is None:
                    child = Child(options, library, who, f"compile-{number}-{row.split()[0]}")
                    child.wait_for("ready")
                if child.do(do="compile", row=row) or time.time() > until:
                    break
                child.end()  # A point ended it; the next process notes that, and goes on.
                child = None
        if child is not None:
            child.end()

    threads = [threading.Thread(target=job, args=(n,)) for n in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def untimed(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Rows with a point that is neither timed as often as wanted nor known not to work."""
    known = Results(options.out).by_place()
    open_rows = {
        (place.library, place.row)
        for place, found in known.items()
        if "error" not in found and found.get("rounds", 0) < options.rounds
    }
    return [row for row in wanted(options) if row in open_rows]


def time_all(options: argparse.Namespace, until: float) -> None:
    """Both compilers in turns; all processes start at once, and one of them has the GPU."""
    left, sides = untimed(options), options.sides.split(",")
    libraries = list(dict.fromkeys(library for library, _ in left))

    def start(library: str, who: str) -> Child:
        return Child(options, library, who, "time", "--timing")

    children = {(library, who): start(library, who) for library in libraries for who in sides}
    for child in children.values():
        child.wait_for("ready")
    for library in libraries:
        for row in (row for other, row in left if other == library):
            for number in range(options.rounds):
                for who in sides if number % 2 == 0 else sides[::-1]:
                    if time.time() > until:
                        continue
                    if not children[library, who].do(do="time", row=row, first=number == 0):
                        children[library, who].end()
                        children[library, who] = start(library, who)
                        children[library, who].wait_for("ready")
        for who in sides:
            children[library, who].end()


def measure(options: argparse.Namespace) -> None:
    started = time.time()
    until = started + options.seconds
    options.home.mkdir(parents=True, exist_ok=True)
    compile_all(options, min(until, started + options.compile_seconds))
    print(f"compiled, {time.time() - started:.0f} s", flush=True)
    if options.command == "measure":
        time_all(options, until)
        print(f"timed, {time.time() - started:.0f} s", flush=True)


# The table.


def point_text(point: str) -> str:
    values = json.loads(point)
    words = [f"{values.pop('num_warps')} warps", f"{values.pop('num_stages')} stages"]
    return ", ".join(words + [f"{name} {value}" for name, value in values.items()])


def print_table(title: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    if not rows:
        return
    print(f"\n{title}:\n")
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")


def table(options: argparse.Namespace) -> None:
    pairs: dict[tuple[str, str, str, str], dict[str, dict]] = collections.defaultdict(dict)
    for place, found in Results(options.results).by_place().items():
        pairs[place.library, place.row, place.kernel, place.point][place.who] = found
    both = {key: of for key, of in pairs.items() if len(of) == 2}
    print(HEAD.format(points=POINTS, elements=MOST_ELEMENTS, measured=options.measured))
    print_compiles(both)
    print_times(both)


def print_compiles(both: dict[tuple, dict[str, dict]]) -> None:
    compiled = {
        key: of
        for key, of in both.items()
        if all(of[who].get("cpu", 0.0) > FROM_CACHE for who in SIDES)
    }
    if not compiled:
        sys.exit("no point was compiled by both compilers")
    ratio = {key: of["tile"]["cpu"] / of["peer"]["cpu"] for key, of in compiled.items()}
    longest = {who: max(of[who]["cpu"] for of in compiled.values()) for who in SIDES}
    mean = statistics.geometric_mean(ratio.values())
    slower = [key for key, r in ratio.items() if r > MOST_OF_PEER]
    long = [k for k, of in both.items() if of["tile"].get("cpu", 0) > MOST_SECONDS]
    kernels = {key[:3] for key in both}
    print("\n## Compiling\n")
    print(f"{len(compiled)} points of {len(kernels)} kernels compile with both. tile takes")
    print(f"{mean:.2f} of Triton's processor time in the mean, at most {max(ratio.values()):.2f};")
    print(f"{len(slower)} points take more than Triton. The longest compile takes")
    print(f"{longest['tile']:.1f} s (Triton: {longest['peer']:.1f} s).")
    rows = [
        (
            *(*key[:2], f"`{key[2]}`", point_text(key[3])),
            f"{ratio.get(key, float('nan')):.2f}",
            *(f"{both[key][who].get('cpu', float('nan')):.2f}" for who in SIDES),
        )
        for key in sorted({*slower, *long}, key=lambda key: -ratio.get(key, 0))
    ]
    columns = ("library", "row", "kernel", "point", "ratio", "tile s", "Triton s")
    print_table("Points that take more than Triton, or more than 10 s", columns, rows)
    failed = [
        (*key[:2], f"`{key[2]}`", point_text(key[3]), who, of[who]["error"])
        for key, of in both.items()
        for who in SIDES
        if "error" in of[who]
    ]
    columns = ("library", "row", "kernel", "point", "compiler", "what it says")
    print_table("Points that do not run", columns, failed)


def print_times(both: dict[tuple, dict[str, dict]]) -> None:
    timed = {
        key: of
        for key, of in both.items()
        if all("us" in of[who] for who in SIDES) and of["peer"]["us"] >= public_time.SHORTEST_US
    }
    lost = [k for k, of in both.items() if "error" in of["tile"] and "us" in of["peer"]]
    if not timed:
        return
    ratio = {key: of["tile"]["us"] / of["peer"]["us"] for key, of in timed.items()}
    near = sum(r <= MOST_TIME for r in ratio.values())
    mean = statistics.geometric_mean(ratio.values())
    differ = [
        key
        for key, of in both.items()
        if all("digest" in of[who] for who in SIDES)
        and not agree(of["tile"]["digest"], of["peer"]["digest"])
    ]
    count = len(ratio) + len(lost)
    print("\n## Times\n")
    print(f"{count} points of {len({k[:3] for k in ratio})} kernels run with Triton. At {near} of")
    print(
        f"them ({near / count:.1%}; goal {SHARE:.0%}) tile takes at most {MOST_TIME} of its time."
    )
    print(f"The mean is {mean:.3f}, the longest {max(ratio.values()):.2f}; {len(lost)} do not run")
    print(f"with tile. Results differ at {len(differ)}.")
    rows = []
    for library in dict.fromkeys(key[0] for key in ratio):
        each = [r for key, r in ratio.items() if key[0] == library]
        within = sum(r <= MOST_TIME for r in each)
        average = statistics.geometric_mean(each)
        rows.append((library, len(each), within, f"{average:.3f}", f"{max(each):.2f}"))
    columns = ("library", "points", f"at most {MOST_TIME}", "mean", "longest")
    print_table("By library", columns, rows)
    rows = []
    for key in sorted(ratio, key=lambda key: -ratio[key]):
        if ratio[key] <= MOST_TIME:
            break
        of = timed[key]
        cells = [f"{of['tile']['us']:.1f} / {of['peer']['us']:.1f}", f"{ratio[key]:.2f}"]
        for field in ("registers", "spills", "shared"):
            cells.append(f"{of['tile'][field]} / {of['peer'][field]}")
        rows.append((*key[:2], f"`{key[2]}`", point_text(key[3]), *cells))
    columns = ("library", "row", "kernel", "point", "us, tile / Triton", "ratio")
    columns += ("registers", "spills", "shared")
    print_table(f"Points above {MOST_TIME}", columns, rows)
    print_table(
        "Points whose results differ",
        ("library", "row", "kernel", "point"),
        [(*key[:2], f"`{key[2]}`", point_text(key[3])) for key in differ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sub = parser.add_subparsers(dest="command", required=True)
    for name in ("measure", "dry"):
        measuring = public_time.add_measuring(sub, name, rounds=2, seconds=420)
        measuring.add_argument("--jobs", type=int, default=os.cpu_count(), help="that compile")
        measuring.add_argument("--compile-seconds", type=float, default=600)
        measuring.add_argument("--points", type=int, default=POINTS, help="of each kernel")
    single = sub.add_parser("work")
    single.add_argument("out", type=Path)
    single.add_argument("library")
    single.add_argument("who")
    single.add_argument("--dry", action="store_true")
    single.add_argument("--timing", action="store_true")
    single.add_argument("--points", type=int, default=POINTS)
    shown = sub.add_parser("table")
    shown.add_argument("results", type=Path)
    shown.add_argument("--measured", default="", help="where, when and what")
    options = parser.parse_args()
    if options.command == "work":
        work(options)
    elif options.command == "table":
        table(options)
    else:
        measure(options)


if __name__ == "__main__":
    main()
