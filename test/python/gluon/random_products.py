"""Random explicit programs whose dots run on, and what they compute.

Dots start in a random order, add to zero, to sums, or to each other's; waits leave some of them
under way. Layout conversions take shared memory meanwhile, and many buffers are used but once. A
program writes no buffer that a dot may still read, and reads no sum before a wait for it.
Whose memory is free, and where threads wait for each other, is up to the compiler.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
from fuzz import layouts as rl
from random_programs import HEADER, Program, Writing

N = 64
SLICES = 4
MOST_PENDING = 7

IMPORTS = """\
from tile.experimental.gluon.language.nvidia.hopper import (
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
"""


@dataclass
class _State(Writing):
    """What a program has done so far."""

    rng: random.Random
    x: np.ndarray
    buffers: list[np.ndarray] = field(default_factory=list)
    #: By their names: values and layouts.
    tensors: dict[str, tuple[np.ndarray, str]] = field(default_factory=dict)
    sums: dict[str, np.ndarray] = field(default_factory=dict)
    #: Dots under way, in their order: what they read.
    running: list[set[int]] = field(default_factory=list)
    #: Sums of dots: the value, and the number of the last one that adds to it.
    unfinished: dict[str, tuple[np.ndarray, int]] = field(default_factory=dict)
    started: int = 0
    made: int = 0
    outputs: list[np.ndarray] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    # Statements; each returns whether there was something to do.

    def fill(self) -> bool:
        """A buffer, more often than not a new one, gets a tensor."""
        if self.tensors and self.rng.random() < 0.5:
            tensor = self.rng.choice(list(self.tensors))
            value = self.tensors[tensor][0]
        else:
            k = self.rng.randrange(SLICES)
            tensor, value = f"gl.load(x + {k * N * N} + places(A))", self.x[k]
        free = [
            b for b in range(len(self.buffers)) if not any(b in reads for reads in self.running)
        ]
        if free and self.rng.random() < 0.4:
            b = self.rng.choice(free)
            self.buffers[b] = value
        else:
            b = len(self.buffers)
            self.buffers.append(value)
            self.say(f"b{b} = gl.allocate_shared_memory(gl.float16, [{N}, {N}], SHARED)")
        self.say(f"b{b}.store({tensor})")
        return True

    def load(self) -> bool:
        b = self.rng.randrange(len(self.buffers))
        layout, name = self.rng.choice("ABC"), self.name()
        self.say(f"{name} = b{b}.load({layout})")
        self.tensors[name] = self.buffers[b], layout
        return True

    def convert(self) -> bool:
        if not self.tensors:
            return False
        source = self.rng.choice(list(self.tensors))
        layout, name = self.rng.choice("ABC"), self.name()
        self.say(f"{name} = gl.convert_layout({source}, {layout})")
        self.tensors[name] = self.tensors[source][0], layout
        return True

    def multiply(self) -> bool:
        if len(self.running) > MOST_PENDING:
            return False
        a, b = (self.rng.randrange(len(self.buffers)) for _ in range(2))
        left, right = self.buffers[a], self.buffers[b]
        operands = [f"b{a}", f"b{b}"]
        if self.rng.random() < 0.3:
            operands[1] += ".permute((1, 0))"
            right = right.T
        product = left.astype(np.float32) @ right.astype(np.float32)
        kind, name = self.rng.random(), self.name()
        if kind < 0.3 and self.unfinished:
            to = self.rng.choice(list(self.unfinished))
            product = product + self.unfinished.pop(to)[0]
        elif kind < 0.6 and self.sums:
            base = self.rng.choice(list(self.sums))
            to, product = f"warpgroup_mma_init({base})", product + self.sums[base]
        else:
            to = f"warpgroup_mma_init(gl.full([{N}, {N}], 0.0, gl.float32, MMA))"
        self.say(f"{name} = warpgroup_mma({', '.join(operands)}, {to}, is_async=True)")
        self.unfinished[name] = product, self.started
        self.started += 1
        self.running.append({a, b})
        return True

    def wait(self, most: int = MOST_PENDING) -> bool:
        left = self.rng.randrange(min(most, len(self.running)) + 1)
        done = [n for n, (_, last) in self.unfinished.items() if last < self.started - left]
        if not done:
            return False
        # Others are never read.
        named = self.rng.sample(done, self.rng.randrange(1, len(done) + 1))
        results = [self.name() for _ in named]
        self.say(f"{', '.join(results)} = warpgroup_mma_wait({left}, deps=({', '.join(named)},))")
        self.sums |= {r: self.unfinished[n][0] for r, n in zip(results, named, strict=True)}
        for n in done:
            del self.unfinished[n]
        self.running = self.running[len(self.running) - left :]
        return True

    def output(self) -> bool:
        """A sum, or a tensor."""
        at = len(self.outputs) * N * N
        if self.sums and self.rng.random() < 0.7:
            name = self.rng.choice(list(self.sums))
            self.say(f"gl.store(out + {at} + places(MMA), {name})")
            self.outputs.append(self.sums[name])
        elif self.tensors:
            name = self.rng.choice(list(self.tensors))
            value, layout = self.tensors[name]
            self.say(f"gl.store(out + {at} + places({layout}), {name}.to(gl.float32))")
            self.outputs.append(value.astype(np.float32))
        else:
            return False
        return True


def product_program(seed: int) -> tuple[Program, np.ndarray]:
    """A kernel `program(x, out)` for sm_90, and its input."""
    rng = random.Random(seed)
    x = np.random.default_rng(seed).integers(-2, 3, (SLICES, N, N)).astype(np.float16)
    state = _State(rng, x)
    for name in "ABC":
        state.say(f"{name}: gl.constexpr = gl.{rl.blocked(rng, 2)!r}")
    state.say(f"MMA: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, {N}, 16])")
    width = rng.choice([32, 64, 128])
    state.say(f"SHARED: gl.constexpr = gl.NVMMASharedLayout({width}, 16, 2)")
    state.fill()
    steps = [
        state.fill, state.load, state.convert, state.convert, state.multiply, state.multiply,
        state.wait, state.output,
    ]  # fmt: skip
    for _ in range(rng.randrange(10, 26)):
        while not rng.choice(steps)():
            pass
    state.wait(0)
    while not state.output():
        state.load()
    text = HEADER.format(n=N).replace("\n\n\n@gluon", "\n" + IMPORTS + "\n\n@gluon", 1)
    text += "@gluon.jit\ndef program(x, out):\n" + "\n".join(state.lines) + "\n"
    return Program(text, np.stack(state.outputs)), x
