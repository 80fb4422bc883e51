"""The command line: runs seeds, reproduces them, reduces failures."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from . import gluon, runner, scalars
from .generator import generate
from .options import choose_options
from .program import Program

RUN = Path(__file__).with_name("run.py")

#: How many programs a process runs, at most; and where the time is limited. What is not done of
#: them then is run again by who goes on.
CHUNK, CHUNK_OF_LIMITED = 50, 10

#: Two groups of warps have 128 rows each.
ROWS_OF_GROUPS = 256

SECONDS_BETWEEN_LINES = 5.0

#: Exit statuses: programs failed; none failed, but some were not done in time.
FAILED, TIMED_OUT = 1, 3

#: How many seconds a program gets that was not done in time beside others.
SECONDS_ALONE = 180.0

#: glibc writes over memory that is freed, and uses none of it again at once: what still points
#: there is a crash in most runs, not in few.
PERTURBED = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}


class Clock:
    """When the programs are to end, and which seeds are left then."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.end = time.monotonic() + seconds
        self.left: list[range] = []

    @property
    def remaining(self) -> float:
        return max(0.0, self.end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.remaining == 0.0

    def count_left(self) -> int:
        return sum(map(len, self.left))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="test/fuzz/run.py", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="end after this time; say where to go on"
    )
    parser.add_argument(
        "--mode",
        choices=(
            "interpret",
            "cross",
            "compile",
            "passes",
            "cluster",
            "specialized",
            "partitions",
            "products",
            "groups",
            "programs",
            "undefined",
            "shapes",
            "gluon",
            "python",
            *runner.VALIDATING,
        ),
        default="interpret",
    )
    parser.add_argument(
        "--target", default="", help="run all programs on this GPU, such as hip:gfx942"
    )
    parser.add_argument(
        "--gpu", action="store_true", help="run them on the GPU that is there, not in the simulator"
    )
    parser.add_argument("--show", action="store_true", help="print the programs, run nothing")
    parser.add_argument("--reduce", action="store_true", help="make failing programs smaller")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--program", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.target and ":" not in options.target:
        parser.error(f"a target has the form cuda:90 or hip:gfx942, not {options.target}")
    return options


def program_of(seed: int, target: str, mode: str = "interpret") -> Program:
    """The program of a seed, for a target of its own or for the given one."""
    if mode == "gluon":
        return gluon.generate(seed, target)
    if mode == "python":
        return scalars.generate(seed, target)
    program = generate(
        seed,
        partitions=mode.endswith(("partitions", "products", "groups", "programs")),
        copies=mode.endswith("partitions"),
        forgets=mode == "undefined",
        shapes=mode == "shapes",
        rows=ROWS_OF_GROUPS if mode == "groups" else 0,
        alone=mode == "programs",
    )
    if mode in ("groups", "programs"):
        target = target or "cuda:100"
    if mode in ("cluster", "specialized", "partitions"):
        target = ""  # These are about what Hopper has.
    config = dataclasses.replace(program.config, elsewhere=target)
    options = choose_options(seed, config.machine, program.source)
    return program.replace(config=dataclasses.replace(config, options=options))


def worker(options: argparse.Namespace) -> None:
    """Runs seeds; a line of JSON for the beginning of each, and one if it fails, proves nothing or
    had to be made easier."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TILE_CACHE_DIR"] = cache
        for seed in range(options.seed, options.seed + options.count):
            print(json.dumps({"seed": seed}), flush=True)
            try:
                outcome = runner.check(program_of(seed, options.target, options.mode), options.mode)
                if outcome.why or outcome.counts:
                    found = dataclasses.asdict(outcome)
                    print(json.dumps({"seed": seed, "outcome": found}), flush=True)
            except runner.Failure as failure:
                found = {"kind": failure.kind, "message": failure.message,
                         "signature": failure.signature}  # fmt: skip
                print(json.dumps({"seed": seed, "failure": found}), flush=True)


def one(mode: str) -> None:
    """Runs the program on the standard input; prints how it fails."""
    from .program import Argument, Config

    names = {"Program": Program, "Argument": Argument, "Config": Config}
    program = eval(sys.stdin.read(), names)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TILE_CACHE_DIR"] = cache
        try:
            runner.check(program, mode)
        except runner.Failure as failure:
            print(failure.signature)


def chunk(seed: int, count: int, mode: str, timeout: float = 60.0, target: str = "") -> list[dict]:
    """The failures among some seeds."""
    return run_chunk(seed, count, mode, timeout, target)[0]


def run_chunk(
    seed: int,
    count: int,
    mode: str,
    timeout: float = 60.0,
    target: str = "",
    gpu: bool = False,
    clock: Clock | None = None,
) -> tuple[list[dict], list[dict]]:
    """The failures among some seeds, and the outcomes of those that were not run as they were
    meant. They are run in processes of their own: a crash of the compiler is a failure of the seed
    that was being run, and the rest are run after it. When the time of `clock` is up, it is told
    which seeds are left."""
    clock = clock or Clock()
    failures: list[dict] = []
    outcomes: list[dict] = []
    end = seed + count
    environment = {**PERTURBED, **os.environ, "TILE_DRIVER": "cuda" if gpu else "sim"}
    while seed < end:
        if clock.is_over:
            clock.left.append(range(seed, end))
            break
        command = [sys.executable, str(RUN), "--worker", f"--seed={seed}", f"--count={end - seed}",
                   f"--mode={mode}", f"--target={target}"]  # fmt: skip
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        try:
            each = 10.0 if mode in runner.VALIDATING else 3.0
            limit = timeout + (end - seed) * each
            out, err = process.communicate(timeout=min(limit, clock.remaining))
            kind, why = "crash", f"exit status {process.returncode}: {err[-1500:]}"
        except subprocess.TimeoutExpired as expired:
            process.kill()
            out, err = process.communicate()
            kind, why = "timeout", f"not done after {expired.timeout:.0f} s"
        records = [json.loads(line) for line in out.splitlines() if line.startswith('{"seed"')]
        failures += [{"seed": r["seed"], **r["failure"]} for r in records if "failure" in r]
        outcomes += [{"seed": r["seed"], **r["outcome"]} for r in records if "outcome" in r]
        if process.returncode == 0:
            break
        last = records[-1]["seed"] if records else seed
        if kind == "timeout" and clock.is_over:
            clock.left.append(range(last, end))
            break
        first = next(
            (line for line in why.splitlines() if "Assertion" in line or "Error" in line), ""
        )
        signature = runner.Failure(kind, first or why[:100]).signature
        failures.append({"seed": last, "kind": kind, "message": why, "signature": signature})
        seed = last + 1
    return failures, outcomes


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.worker:
        worker(options)
        return 0
    if options.program:
        one(options.mode)
        return 0
    if options.show:
        for seed in range(options.seed, options.seed + options.count):
            print(program_of(seed, options.target, options.mode).describe())
        return 0
    os.environ.update(TILE_DRIVER="cuda" if options.gpu else "sim")
    begin = time.time()
    clock = Clock(options.seconds)
    failures, outcomes = spread(options, clock)
    if not clock.is_over:
        failures = again_alone(failures, outcomes, options)
    inconclusive = without_proof(outcomes)
    slow = sum(failure["kind"] == "timeout" for failure in failures)
    wrong = len(failures) - slow
    groups: dict[str, list[dict]] = {}
    for failure in failures:
        groups.setdefault(failure["signature"], []).append(failure)
    for signature, group in sorted(groups.items(), key=lambda item: -len(item[1])):
        seeds = ", ".join(str(f["seed"]) for f in group[:8])
        print(f"\n== {len(group)} x {signature}\n   seeds {seeds}\n   {group[0]['message'][:600]}")
        if options.reduce and options.mode != "python":  # There each change has another result.
            program = program_of(group[0]["seed"], options.target, options.mode)
            report(program, options.mode, signature)
    explain(outcomes)
    summarize(outcomes)
    elapsed = time.time() - begin
    count = options.count - clock.count_left()
    if clock.left:
        print(f"\nthe time is up; go on with --seed {min(left.start for left in clock.left)}")
    print(
        f"\n{count - len(failures) - inconclusive} passed, {wrong} failed, "
        f"{slow} timed out, {inconclusive} prove nothing, {elapsed:.1f} s "
        f"({1000 * elapsed / max(1, count):.0f} ms each)"
    )
    return FAILED if wrong else TIMED_OUT if slow else 0


def again_alone(
    failures: list[dict], outcomes: list[dict], options: argparse.Namespace
) -> list[dict]:
    """The failures, where each program that was not done in time runs once more, with nothing
    beside it. A busy machine, or the programs before it, may have taken the time."""
    left: list[dict] = []
    for failure in failures:
        if failure["kind"] != "timeout":
            left.append(failure)
            continue
        seed = failure["seed"]
        found, others = run_chunk(
            seed, 1, options.mode, SECONDS_ALONE, target=options.target, gpu=options.gpu
        )
        print(f"seed {seed} once more, alone: {found[0]['signature'] if found else 'passed'}")
        left += found
        outcomes += others
    return left


def summarize(outcomes: list[dict]) -> None:
    """Says what was executed between passes, and what was not."""
    total: Counter[str] = Counter()
    for outcome in outcomes:
        total.update(outcome["counts"])
    if not total:
        return
    parts, known = total["modules in part"], total["operations"]
    unknown = sum(n for name, n in total.items() if name.startswith("unknown "))
    share = 100 * unknown / max(1, known)
    print(
        f"\n{total['modules']} modules between passes, {parts} of them in part; "
        f"{known} operations, {unknown} unknown ({share:.3f} %)"
    )
    for name, count in total.most_common():
        if name.startswith(("unknown ", "mended ")):
            print(f"   {count} x {name}")


def without_proof(outcomes: list[dict]) -> int:
    return sum(not outcome["proves"] for outcome in outcomes)


def explain(outcomes: list[dict]) -> None:
    """Says why programs proved nothing, or had to be made easier to prove anything."""
    reasons: dict[tuple[bool, str], list[int]] = {}
    for outcome in (o for o in outcomes if o["why"]):
        reasons.setdefault((outcome["proves"], outcome["why"]), []).append(outcome["seed"])
    for (proves, why), seeds in sorted(reasons.items(), key=lambda item: -len(item[1])):
        what = "made easier" if proves else "prove nothing"
        print(f"{len(seeds)} {what}: {why}; seeds {', '.join(map(str, seeds[:8]))}")


def spread(options: argparse.Namespace, clock: Clock) -> tuple[list[dict], list[dict]]:
    """All failures, found by several processes, and the outcomes of programs that were not run as
    they were meant; says how far it is every few seconds."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    most = CHUNK if clock.end == math.inf else CHUNK_OF_LIMITED
    size = max(1, min(most, options.count // options.jobs))
    end = options.seed + options.count
    chunks = [(s, min(size, end - s)) for s in range(options.seed, end, size)]
    failures: list[dict] = []
    outcomes: list[dict] = []
    done = 0
    begin = said = time.time()
    with ThreadPoolExecutor(options.jobs) as pool:
        counts = {
            pool.submit(
                run_chunk,
                s,
                count,
                options.mode,
                target=options.target,
                gpu=options.gpu,
                clock=clock,
            ): count
            for s, count in chunks
        }
        for future in as_completed(counts):
            found, others = future.result()
            failures += found
            done += counts[future]
            outcomes += others
            for failure in found:
                what = "was not done in time" if failure["kind"] == "timeout" else "failed"
                print(f"seed {failure['seed']} {what}: {failure['signature']}", flush=True)
            # What is left afterwards has not run.
            if time.time() - said > SECONDS_BETWEEN_LINES and not clock.is_over:
                said = time.time()
                inconclusive = without_proof(outcomes)
                slow = sum(failure["kind"] == "timeout" for failure in failures)
                print(f"{done} of {options.count}: {done - len(failures) - inconclusive} passed, "
                      f"{len(failures) - slow} failed, {slow} not done in time, "
                      f"{inconclusive} prove nothing, {said - begin:.0f} s",
                      flush=True)  # fmt: skip
    return sorted(failures, key=lambda failure: failure["seed"]), outcomes


def report(program: Program, mode: str, signature: str) -> None:
    """Prints a failing program, made smaller."""
    from .reducer import reduce

    print(reduce(program, mode, signature).describe())
