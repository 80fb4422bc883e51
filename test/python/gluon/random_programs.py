"""Random explicit programs on buffers in shared memory, and what they compute.

A program stores, loads, copies asynchronously, commits and waits in a random order; views and
layouts are drawn at random. It never touches a buffer whose copy it has not waited for. That is
all it promises: barriers between threads are the compiler's.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
from fuzz import layouts as rl

N = 32
SLICES = 8

HEADER = """\
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy
from tile.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma


@gluon.jit
def places(LAYOUT: gl.constexpr):
    rows = gl.arange(0, {n}, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, {n}, layout=gl.SliceLayout(0, LAYOUT))
    return rows[:, None] * {n} + columns[None, :]


"""


#: Stand for the group of a copy that is none of `cp.async`.
_BULK, _STORED = "bulk", "stored"


@dataclass
class Program:
    """The text of a kernel `program(x, out, trips)`, and what it writes."""

    text: str
    expected: np.ndarray


class Writing:
    """The lines of a program, and the names in it."""

    lines: list[str]
    made: int

    def say(self, line: str) -> None:
        self.lines.append("    " + line)

    def name(self) -> str:
        self.made += 1
        return f"t{self.made}"


@dataclass
class _State(Writing):
    """What a program has done so far."""

    rng: random.Random
    x: np.ndarray
    buffers: list[np.ndarray | None]
    tensors: dict[str, tuple[np.ndarray, str]] = field(default_factory=dict)
    #: By the buffer: the group of its copy; None while that is not committed.
    in_flight: dict[int, int | str | None] = field(default_factory=dict)
    groups: list[int] = field(default_factory=list)
    #: Buffers at whose barriers not all warps are known to have been.
    waited: set[int] = field(default_factory=set)
    #: The buffers of all bulk stores, in their order.
    stored: list[int] = field(default_factory=list)
    made: int = 0
    outputs: list[np.ndarray] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

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

    # Bulk copies, of programs for sm_90.

    def bulk_load(self) -> bool:
        """A copy that arrives at the barrier of its buffer."""
        if not self.free(False):
            return False
        b, k = self.rng.choice(self.free(False)), self.rng.randrange(SLICES)
        if b in self.waited:
            # A warp that is still at the wait would take the next phase but one for its own.
            self.say("gl.barrier()")
            self.waited.clear()
        if self.rng.random() < 0.5:
            self.say("fence_async_shared()")
        self.say(f"mbarrier.expect(bars.index({b}), xd.nbytes_per_cta)")
        self.say(f"tma.async_load(xd, [{k * N}, 0], bars.index({b}), b{b})")
        self.buffers[b] = self.x[k]
        self.in_flight[b] = _BULK
        return True

    def bulk_wait(self) -> bool:
        coming = [b for b, g in self.in_flight.items() if g is _BULK]
        if not coming:
            return False
        b = self.rng.choice(coming)
        self.say(f"mbarrier.wait(bars.index({b}), phase{b} & 1)")
        self.say(f"phase{b} += 1")
        self.waited.add(b)
        del self.in_flight[b]
        return True

    def bulk_store(self) -> bool:
        """A copy to the output; its buffer may be read, but not written before a wait. Whether the
        program fences ordinary writes or leaves that to the compiler is drawn, too."""
        if not self.free(True):
            return False
        b = self.rng.choice(self.free(True))
        if self.rng.random() < 0.5:
            self.say("fence_async_shared()")
        self.say(f"tma.async_store(od, [{len(self.outputs) * N}, 0], b{b})")
        self.outputs.append(self.buffers[b])
        self.in_flight[b] = _STORED
        self.stored.append(b)
        if self.rng.random() < 0.7:
            return self.store_wait()
        return True

    def store_wait(self, most: int = 2) -> bool:
        """Leaves so many of the last stores under way, at most."""
        left = self.rng.randrange(most + 1)
        self.say(f"tma.store_wait({left})")
        under_way = self.stored[-left:] if left else []
        self.in_flight = {
            b: g for b, g in self.in_flight.items() if g is not _STORED or b in under_way
        }
        return True

    def finish_bulk(self) -> None:
        while self.bulk_wait():
            pass
        self.store_wait(0)

    def finish(self) -> None:
        """Waits for all copies, and shows most buffers: of the others, nobody reads the last."""
        self.commit()
        self.wait(0)
        for b in self.free(True):
            if self.outputs and self.rng.random() < 0.2:
                continue
            name = self.name()
            self.say(f"{name} = b{b}.load(A)")
            self.tensors[name] = self.buffers[b], "A"
            self.output(name)


def _layouts(state: _State) -> None:
    """Of registers: three for loads and sums, one for copies."""
    rng = state.rng
    for name in "ABC":
        state.say(f"{name}: gl.constexpr = gl.{rl.blocked(rng, 2)!r}")
    wide = "[1, 4], [4, 8], [4, 1], [1, 0]"
    narrow = "[1, 1], [1, 32], [4, 1], [1, 0]"
    state.say(f"COPY: gl.constexpr = gl.BlockedLayout({rng.choice([wide, narrow])})")


def _fill(state: _State) -> None:
    """Buffers that a loop reads are filled in front of it."""
    for b in range(len(state.buffers)):
        k = state.rng.randrange(SLICES)
        state.say(f"b{b}.store(gl.load(x + {k * N * N} + places(A)))")
        state.buffers[b] = state.x[k]


def _run(state: _State, steps: list) -> None:
    for _ in range(state.rng.randrange(8, 24)):
        while not state.rng.choice(steps)():
            pass


def _start(seed: int) -> _State:
    rng = random.Random(seed)
    x = np.random.default_rng(seed).integers(-99, 99, (SLICES, N, N)).astype(np.int32)
    return _State(rng, x, [None] * rng.choice([2, 3, 4]))


def _made(state: _State, parameters: str) -> tuple[Program, np.ndarray]:
    text = HEADER.format(n=N) + f"@gluon.jit\ndef program({parameters}):\n"
    text += "\n".join(state.lines) + "\n"
    return Program(text, np.stack(state.outputs)), state.x


def program(seed: int) -> tuple[Program, np.ndarray]:
    """A kernel drawn at random, and its input."""
    state = _start(seed)
    _layouts(state)
    for b in range(len(state.buffers)):
        vec, phases = state.rng.choice([1, 2, 4]), state.rng.choice([1, 4, 8])
        state.say(
            f"b{b} = gl.allocate_shared_memory(gl.int32, [{N}, {N}], "
            f"gl.SwizzledSharedLayout({vec}, 1, {phases}, [1, 0]))"
        )
    _fill(state)
    steps = [
        state.store, state.store_half, state.load, state.load, state.copy, state.copy, state.wait,
        state.compute, state.output,
    ]  # fmt: skip
    _run(state, steps)
    state.finish()
    return _made(state, "x, out, trips")


def bulk_program(seed: int) -> tuple[Program, np.ndarray]:
    """The same for sm_90, with bulk copies: `program(x, xd, out, od)`, where `xd` and `od` are
    descriptors of `x` and `out`."""
    state = _start(seed)
    _layouts(state)
    count = len(state.buffers)
    state.say(f"bars = mbarrier.allocate_mbarrier(batch={count})")
    for b in range(count):
        state.say(f"mbarrier.init(bars.index({b}), count=1)")
        state.say(f"b{b} = gl.allocate_shared_memory(gl.int32, [{N}, {N}], xd.layout)")
        state.say(f"phase{b} = 0")
    _fill(state)
    steps = [
        state.store, state.store_half, state.load, state.bulk_load, state.bulk_load,
        state.bulk_wait, state.bulk_wait, state.bulk_store, state.store_wait, state.compute,
        state.output, state.copy, state.wait,
    ]  # fmt: skip
    _run(state, steps)
    state.finish_bulk()
    state.finish()
    return _made(state, "x, xd, out, od")


def looped(seed: int) -> tuple[Program, np.ndarray]:
    """The same statements in a loop: every iteration computes the same, from buffers that the one
    before has used."""
    made, x = program(seed)
    lines = made.text.splitlines()
    start = next(i for i, line in enumerate(lines) if ".store(gl.load(x" in line)
    body = ["    for _ in range(trips):", *("    " + line for line in lines[start:])]
    return Program("\n".join([*lines[:start], *body]) + "\n", made.expected), x
