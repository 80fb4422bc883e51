"""Random kernels with scopes: warps record what plain Python does that runs the same lines."""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import machines
import numpy as np
import pytest

import tile.profiler as proton

pytestmark = [
    pytest.mark.usefixtures("own_settings"),
    pytest.mark.simulator,
    pytest.mark.skipif(machines.interpreting(), reason="the interpreter records nothing"),
]

TARGETS = ["cuda:80", "cuda:90", *machines.AMD_TARGETS]
BLOCKS, WARPS, N, M = 3, 4, 3, 2
HEAD = """import tile
import tile.language as tl
import tile.profiler.language as pl


@tile.jit
def kernel(x, out, n, m, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    data = tl.load(x + at)
    acc = pid + 1
"""
TAIL = """
    tl.store(out + pid * BLOCK + at, data + acc)
"""


class Writer:
    """Lines of a kernel, which are lines of plain Python, too."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = itertools.count()

    def block(self, depth: int, loops: list[str]) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(depth, loops)
        return lines

    def statement(self, depth: int, loops: list[str]) -> list[str]:
        kinds = ["sum", "with", "entered", "for", "if", "while"] if depth else ["sum", "leaf"]
        return getattr(self, self.random.choice(kinds) + "_")(depth - 1, loops)

    def inner(self, depth: int, loops: list[str]) -> list[str]:
        return ["    " + line for line in self.block(depth, loops)]

    def name(self) -> str:
        return self.random.choice("abc")

    def sum_(self, depth: int, loops: list[str]) -> list[str]:
        return [f"acc = (acc * 3 + {self.random.choice([*loops, '1', '5', 'pid'])}) & 1023"]

    def leaf_(self, depth: int, loops: list[str]) -> list[str]:
        return [f'with pl.scope("{self.name()}"):', "    acc = (acc + 7) & 1023"]

    def with_(self, depth: int, loops: list[str]) -> list[str]:
        return [f'with pl.scope("{self.name()}"):', *self.inner(depth, loops)]

    def entered_(self, depth: int, loops: list[str]) -> list[str]:
        name = self.name()
        return [
            f'pl.enter_scope("{name}")', *self.block(depth, loops), f'pl.exit_scope("{name}")',
        ]  # fmt: skip

    def for_(self, depth: int, loops: list[str]) -> list[str]:
        counter = f"i{next(self.numbers)}"
        bound = self.random.choice(["n", "m", "2", "pid", "(acc & 1) + 1"])
        return [f"for {counter} in range({bound}):", *self.inner(depth, [*loops, counter])]

    def while_(self, depth: int, loops: list[str]) -> list[str]:
        counter = f"j{next(self.numbers)}"
        return [
            f"{counter} = pid * 0", f"while {counter} < m:",
            *self.inner(depth, [*loops, counter]), f"    {counter} += 1",
        ]  # fmt: skip

    def if_(self, depth: int, loops: list[str]) -> list[str]:
        left = self.random.choice([*loops, "acc", "pid"])
        lines = [f"if {left} % 3 == {self.random.randint(0, 1)}:", *self.inner(depth, loops)]
        if self.random.random() < 0.5:
            lines += ["else:", *self.inner(depth, loops)]
        return lines


def run_in_python(lines: list[str], pid: int) -> tuple[int, list[tuple[bool, str]]]:
    """What the lines compute in a block, and what they record."""
    log: list[tuple[bool, str]] = []

    @contextmanager
    def scope(name: str) -> Any:
        log.append((True, name))
        yield
        log.append((False, name))

    known = {
        "pid": pid, "n": N, "m": M, "acc": pid + 1,
        "pl": SimpleNamespace(
            scope=scope, enter_scope=lambda n: log.append((True, n)),
            exit_scope=lambda n: log.append((False, n)),
        ),
    }  # fmt: skip
    exec("\n".join(lines), known)
    return known["acc"], log


def spans(log: list[tuple[bool, str]]) -> list[tuple[str, ...]]:
    """Paths of scopes that have both halves, in the order in which they begin."""
    entered: list[tuple[str, int, tuple[str, ...]]] = []
    found = {}
    for position, (is_start, name) in enumerate(log):
        if is_start:
            entered.append((name, position, (*(n for n, _, _ in entered), name)))
            continue
        for i in range(len(entered) - 1, -1, -1):
            if entered[i][0] == name:
                _, begin, path = entered.pop(i)
                found[begin] = path
                break
    return [found[begin] for begin in sorted(found)]


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(12))
def test_records_are_those_of_the_program(
    seed: int, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.run_on(target, monkeypatch)
    choose = random.Random(f"{seed} {target}")
    lines = Writer(seed).block(4, [])
    source = tmp_path / f"scopes_{seed}_{target.replace(':', '_')}.py"
    source.write_text(HEAD + "\n".join("    " + line for line in lines) + TAIL)
    spec = importlib.util.spec_from_file_location(source.stem, source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    strategy = choose.choice(["circular", "flush"])
    optimizations = choose.sample(["clock32", "time_shift", "sched_stores", "sched_barriers"], 2)
    size, room = 8 if "clock32" in optimizations else 16, choose.choice([64, 128, 256])
    mode = (
        f"default:buffer_type={choose.choice(['shared', 'global'])}:buffer_strategy={strategy}"
        f":buffer_size={WARPS * room * size}:optimizations={','.join(optimizations)}"
    )
    x = np.arange(128, dtype=np.int32)
    out = np.full((BLOCKS, 128), -1, np.int32)
    session = proton.start(str(tmp_path / "p"), data="trace", backend="instrumentation", mode=mode)
    try:
        module.kernel[(BLOCKS,)](x, out, N, M, BLOCK=128, num_warps=WARPS)
    finally:
        proton.finalize(session)
    events = json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]
    found: dict[tuple[int, int], list[tuple[str, ...]]] = {}
    for e in events:
        if str(e["pid"]).startswith("kernel Core"):
            block, warp = (int(e[key].rpartition(word)[2]) for key, word in
                           (("pid", "CTA"), ("tid", "warp ")))  # fmt: skip
            found.setdefault((block, warp), []).append(tuple(e["args"]["scopes"]))
    for block in range(BLOCKS):
        acc, log = run_in_python(lines, block)
        np.testing.assert_array_equal(out[block], x + acc)
        kept = log[:room] if strategy == "flush" else log[-room:]
        for warp in range(WARPS):
            assert found.get((block, warp), []) == spans(kept), (mode, lines)
