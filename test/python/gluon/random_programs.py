"""Random explicit programs on buffers in shared memory, and what they compute.

A program stores, loads, copies asynchronously, commits and waits in a random order; views and
layouts are drawn at random. It never touches a buffer whose copy it has not waited for. That is
all it promises: barriers between threads are the compiler's.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import random_layouts as rl

N = 32
SLICES = 8

HEADER = """\
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy


@gluon.jit
def places(LAYOUT: gl.constexpr):
    rows = gl.arange(0, {n}, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, {n}, layout=gl.SliceLayout(0, LAYOUT))
    return rows[:, None] * {n} + columns[None, :]


"""


@dataclass
class Program:
    """The text of a kernel `program(x, out, trips)`, and what it writes."""

    text: str
    expected: np.ndarray


@dataclass
class _State:
    """What a program has done so far."""

    rng: random.Random
    x: np.ndarray
    buffers: list[np.ndarray | None]
    tensors: dict[str, tuple[np.ndarray, str]] = field(default_factory=dict)
    #: By the buffer: the group of its copy; None while that is not committed.
    in_flight: dict[int, int | None] = field(default_factory=dict)
    groups: list[int] = field(default_factory=list)
    made: int = 0
    outputs: list[np.ndarray] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        self.lines.append("    " + line)

    def name(self) -> str:
        self.made += 1
        return f"t{self.made}"

    def free(self, defined: bool) -> list[int]:
        return [
            b
            for b in range(len(self.buffers))
            if b not in self.in_flight and (not defined or self.buffers[b] is not None)
        ]

    # Statements; each returns whether there was something to do.

    def store(self) -> bool:
        if not self.tensors or not self.free(False):
            return False
        tensor = self.rng.choice(list(self.tensors))
        b = self.rng.choice(self.free(False))
        self.say(f"b{b}.store({tensor})")
        self.buffers[b] = self.tensors[tensor][0]
        return True

    def store_half(self) -> bool:
        """Into half of the rows of a buffer, from the other half of it."""
        if not self.free(True):
            return False
        b = self.rng.choice(self.free(True))
        layout = self.rng.choice("ABC")
        half = N // 2
        to = self.rng.choice([0, half])
        self.say(f"b{b}.slice({to}, {half}).store(b{b}.slice({half - to}, {half}).load({layout}))")
        value = self.buffers[b].copy()
        value[to : to + half] = self.buffers[b][half - to : half - to + half]
        self.buffers[b] = value
        return True

    def load(self) -> bool:
        if not self.free(True):
            return False
        b = self.rng.choice(self.free(True))
        layout, name = self.rng.choice("ABC"), self.name()
        turned = self.rng.random() < 0.4
        view = f"b{b}.permute((1, 0))" if turned else f"b{b}"
        self.say(f"{name} = {view}.load({layout})")
        value = self.buffers[b].T if turned else self.buffers[b]
        self.tensors[name] = value, layout
        return True

    def copy(self) -> bool:
        if not self.free(False):
            return False
        b, k = self.rng.choice(self.free(False)), self.rng.randrange(SLICES)
        self.say(f"async_copy.async_load(b{b}, x + {k * N * N} + places(COPY))")
        self.buffers[b] = self.x[k]
        self.in_flight[b] = None
        return self.commit() if self.rng.random() < 0.7 else True

    def commit(self) -> bool:
        group = len(self.lines)
        self.say("async_copy.commit_group()")
        self.groups.append(group)
        for b, known in self.in_flight.items():
            self.in_flight[b] = group if known is None else known
        return True

    def wait(self, count: int | None = None) -> bool:
        if count is None:
            count = self.rng.randrange(len(self.groups) + 1)
        self.say(f"async_copy.wait_group({count})")
        done = self.groups[: max(0, len(self.groups) - count)]
        self.groups = self.groups[len(done) :]
        self.in_flight = {b: g for b, g in self.in_flight.items() if g not in done}
        return True

    def compute(self) -> bool:
        if len(self.tensors) < 2:
            return False
        a, b = (self.rng.choice(list(self.tensors)) for _ in range(2))
        layout, name = self.tensors[a][1], self.name()
        self.say(f"{name} = {a} + gl.convert_layout({b}, {layout}) * 3")
        self.tensors[name] = self.tensors[a][0] + self.tensors[b][0] * 3, layout
        return True

    def output(self, tensor: str | None = None) -> bool:
        if not self.tensors:
            return False
        tensor = tensor or self.rng.choice(list(self.tensors))
        value, layout = self.tensors[tensor]
        at = len(self.outputs) * N * N
        self.say(f"gl.store(out + {at} + places({layout}), {tensor})")
        self.outputs.append(value)
        return True

    def finish(self) -> None:
        """Waits for all copies, and shows all buffers."""
        self.commit()
        self.wait(0)
        for b in self.free(True):
            name = self.name()
            self.say(f"{name} = b{b}.load(A)")
            self.tensors[name] = self.buffers[b], "A"
            self.output(name)


def program(seed: int) -> tuple[Program, np.ndarray]:
    """A kernel drawn at random, and its input."""
    rng = random.Random(seed)
    x = np.random.default_rng(seed).integers(-99, 99, (SLICES, N, N)).astype(np.int32)
    state = _State(rng, x, [None] * rng.choice([2, 3, 4]))
    layouts = [f"{name}: gl.constexpr = gl.{rl.blocked(rng, 2)!r}" for name in "ABC"]
    layouts.append(
        "COPY: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])"
        if rng.random() < 0.5
        else "COPY: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])"
    )
    for line in layouts:
        state.say(line)
    for b in range(len(state.buffers)):
        vec = rng.choice([1, 2, 4])
        state.say(
            f"b{b} = gl.allocate_shared_memory(gl.int32, [{N}, {N}], "
            f"gl.SwizzledSharedLayout({vec}, 1, {rng.choice([1, 4, 8])}, [1, 0]))"
        )
    # Buffers that a loop reads are filled in front of it.
    for b in range(len(state.buffers)):
        k = rng.randrange(SLICES)
        state.say(f"b{b}.store(gl.load(x + {k * N * N} + places(A)))")
        state.buffers[b] = x[k]
    steps = [
        state.store, state.store_half, state.load, state.load, state.copy, state.copy, state.wait,
        state.compute, state.output,
    ]  # fmt: skip
    for _ in range(rng.randrange(8, 24)):
        while not rng.choice(steps)():
            pass
    state.finish()
    text = HEADER.format(n=N) + "@gluon.jit\ndef program(x, out, trips):\n"
    text += "\n".join(state.lines) + "\n"
    return Program(text, np.stack(state.outputs)), x


def looped(seed: int) -> tuple[Program, np.ndarray]:
    """The same statements in a loop: every iteration computes the same, from buffers that the one
    before has used."""
    made, x = program(seed)
    lines = made.text.splitlines()
    start = next(i for i, line in enumerate(lines) if ".store(gl.load(x" in line)
    body = ["    for _ in range(trips):", *("    " + line for line in lines[start:])]
    return Program("\n".join([*lines[:start], *body]) + "\n", made.expected), x
