"""Programs with explicit layouts: layouts, swizzles, views and copies are drawn at random.

A program moves matrices between global memory, registers and buffers in shared memory, and computes
a little. It never touches a buffer whose copy it has not waited for; barriers between its threads
are the compiler's. What it writes is known from NumPy alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from . import layouts
from .program import Argument, Config, Program
from .values import TYPES

#: What programs run on that are not told.
MACHINES = ("cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100")

HEADER = """\
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import AMDMFMALayout, AMDWMMALayout, cdna3, rdna3, rdna4
from tile.experimental.gluon.language.amd.cdna5 import PartitionedSharedLayout
from tile.experimental.gluon.language.amd.cdna4 import async_copy as lds
from tile.experimental.gluon.language.nvidia import blackwell
from tile.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2


@gluon.jit
def places(M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, LAYOUT))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
"""


#: Arithmetic on pairs, and in NumPy.
_PACKED = (
    ("max2", "np.fmax"), ("min2", "np.fmin"), ("add2", "np.add"), ("sub2", "np.subtract"),
)  # fmt: skip


def text_of(layout: object) -> str:
    """The call that makes a layout, in a program."""
    text = repr(layout)
    for name in ("AutoLayout", "BlockedLayout", "SliceLayout", "DistributedLinearLayout",
                 "DotOperandLayout", "NVMMADistributedLayout", "NVMMASharedLayout",
                 "SwizzledSharedLayout", "PaddedSharedLayout", "SharedLinearLayout"):  # fmt: skip
        text = text.replace(name + "(", f"gl.{name}(")
    return text


@dataclass
class Tensor:
    """A variable of the program, and of the NumPy that says what it is."""

    name: str
    shape: tuple[int, int]


@dataclass
class Buffer:
    name: str
    shape: tuple[int, int]
    #: The variable of NumPy that it holds; None if that is nothing yet.
    holds: str | None = None
    #: Whether there is a copy into it that has not been waited for, and its group; -1 while that
    #: is open.
    is_pending: bool = False
    group: int = -1


class Writer:
    def __init__(self, seed: int, machine: str) -> None:
        self.random = random.Random(f"{seed} gluon")
        self.machine = machine
        self.is_amd = machine.startswith("hip:")
        self.lanes = 64 if machine.startswith("hip:gfx9") else 32
        self.warps = self.random.choice((1, 2, 4, 4, 4, 8))
        self.type = self.random.choice(("i32", "i32", "i32", "i8", "i16", "i64", "fp16", "fp32"))
        self.lines: list[str] = []
        self.steps: list[str] = []
        self.tensors: list[Tensor] = []
        self.buffers: list[Buffer] = []
        self.outputs: list[tuple[str, tuple[int, int]]] = []
        self.group = 0
        self.closed: list[int] = []
        self.made = 0
        side = (16, 32, 64) if self.chance(0.8) else (8, 16, 128)
        self.rows, self.columns = self.random.choice(side), self.random.choice(side)
        # LLVM takes minutes for lanes that hold hundreds of elements.
        while self.rows * self.columns > 32 * self.warps * self.lanes:
            self.warps *= 2

    # Chance.

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def layout(self, shape: tuple[int, int]) -> str:
        drawn = layouts.distributed(self.random, list(shape), self.warps, self.lanes, self.machine)
        return self.constant(text_of(drawn))

    def constant(self, text: str) -> str:
        name = self.name("L")
        self.lines.append(f"{name}: gl.constexpr = {text}")
        return name

    def name(self, letter: str) -> str:
        self.made += 1
        return f"{letter}{self.made}"

    def bits(self) -> int:
        return TYPES[self.type].bits

    def element(self) -> str:
        return TYPES[self.type].tl.replace("tl.", "gl.")

    def tensor(self, text: str, known: str, shape: tuple[int, int]) -> Tensor:
        made = Tensor(self.name("t"), shape)
        self.lines.append(f"{made.name} = {text}")
        self.steps.append(f"{made.name} := {known}")
        self.tensors.append(made)
        return made

    def known(self, text: str) -> str:
        """A variable of NumPy alone."""
        name = self.name("k")
        self.steps.append(f"{name} := {text}")
        return name

    def part(self, shape: tuple[int, int]) -> tuple[int, str]:
        """A matrix of the input: where it begins, and in NumPy."""
        size = shape[0] * shape[1]
        begin = self.random.randrange(4) * 16
        return begin, f"x[{begin}:{begin + size}].reshape{shape}"

    # Registers.

    def load(self) -> bool:
        shape = (self.rows, self.columns)[:: self.random.choice((1, -1))]
        layout = self.layout(shape)
        begin, known = self.part(shape)
        at = f"places({shape[0]}, {shape[1]}, {layout})"
        if not self.chance(0.4):
            self.tensor(f"gl.load(x + {begin} + {at})", known, shape)
            return True
        limit = self.random.randrange(shape[0] * shape[1])
        # Beside the loads of all machines, those of AMD's.
        if self.is_amd and self.chance(0.5):
            text = f"cdna3.buffer_load(x + {begin}, {at}, mask={at} < n - {{}}, other=5)"
        else:
            text = f"gl.load(x + {begin} + {at}, mask={at} < n - {{}}, other=5)"
        masked = f"np.where(np.arange({shape[0] * shape[1]}).reshape{shape} < {limit}, {known}, 5)"
        self.tensor(text.format(1000 - limit), f"({masked}).astype(x.dtype)", shape)
        return True

    def pick(self, shape: tuple[int, int] | None = None) -> Tensor | None:
        fitting = [t for t in self.tensors if shape is None or t.shape == shape]
        return self.random.choice(fitting) if fitting else None

    def convert(self) -> bool:
        source = self.pick()
        if source is None:
            return False
        text = f"gl.convert_layout({source.name}, {self.layout(source.shape)})"
        self.tensor(text, source.name, source.shape)
        return True

    def combine(self) -> bool:
        a = self.pick()
        b = a and self.pick(a.shape)
        if a is None or b is None:
            return False
        right = f"gl.convert_layout({b.name}, {a.name}.type.layout)"
        function, known = self.random.choice(
            (("gl.maximum", "np.maximum"), ("gl.minimum", "np.minimum"))
        )
        if TYPES[self.type].kind == "f" and not self.is_amd and self.chance(0.8):
            # Sums are rounded once, as those of NumPy are.
            function, known = self.random.choice(_PACKED)
            self.tensor(
                f"blackwell.{function}({a.name}, {right})", f"{known}({a.name}, {b.name})", a.shape
            )
        elif TYPES[self.type].kind == "i" and self.chance(0.7):
            self.tensor(f"{a.name} * 3 - {right}", f"{a.name} * 3 - {b.name}", a.shape)
        else:
            self.tensor(f"{function}({a.name}, {right})", f"{known}({a.name}, {b.name})", a.shape)
        return True

    def turn(self) -> bool:
        source = self.pick()
        if source is None:
            return False
        if self.chance(0.5):
            shape = source.shape[::-1]
            self.tensor(f"gl.permute({source.name}, (1, 0))", f"{source.name}.T", shape)
        else:
            whole = source.shape[0] * source.shape[1]
            rows = self.random.choice([r for r in (1, 8, 16, 32, 64) if r <= whole])
            shape = (rows, whole // rows)
            text = f"gl.reshape({source.name}, [{shape[0]}, {shape[1]}])"
            self.tensor(text, f"{source.name}.reshape{shape}", shape)
        return True

    def reduce(self) -> bool:
        source = self.pick()
        if source is None:
            return False
        axis = self.random.randrange(2)
        value = f"gl.cast(gl.max({source.name}, {axis}), {self.element()})"
        most = f"{source.name}.max({axis}, keepdims=True)"
        if TYPES[self.type].kind == "f":
            text, known = f"gl.minimum({source.name}, {{}})", f"np.minimum({source.name}, {most})"
        else:
            text, known = f"{source.name} ^ {{}}", f"np.bitwise_xor({source.name}, {most})"
        text = text.format(f"gl.expand_dims({value}, {axis})")
        self.tensor(text, known, source.shape)
        return True

    def product(self) -> bool:
        """Of small numbers, so that sums are exact in any order; into fp32, and back."""
        a = self.pick()
        b = a and self.pick((a.shape[1], a.shape[0]))
        if a is None or b is None or self.bits() > 32:
            return False
        m, k = a.shape
        layout, k_width = layouts.accumulator(self.random, self.machine, self.warps)
        tile = getattr(layout, "instr_shape", [16, 8])
        least_k = max(16, tile[2] if len(tile) > 2 else 0, k_width * (1 if self.is_amd else 8))
        if m < 16 or m % tile[0] or m % tile[1] or k < least_k:
            return False
        acc = self.constant(text_of(layout))
        multiply = {"cuda": "mma_v2", "hip:gfx9": "cdna3.mfma", "hip:gfx11": "rdna3.wmma",
                    "hip:gfx12": "rdna4.wmma"}  # fmt: skip
        name = next(f for prefix, f in multiply.items() if self.machine.startswith(prefix))
        operands = [
            f"gl.convert_layout(gl.cast(({t.name} != 0), gl.float16), "
            f"gl.DotOperandLayout({i}, {acc}, {k_width}))"
            for i, t in enumerate((a, b))
        ]
        text = (
            f"gl.cast({name}({operands[0]}, {operands[1]}, gl.zeros([{m}, {m}], gl.float32, {acc}))"
        )
        known = f"(({a.name} != 0).astype('i4') @ ({b.name} != 0).astype('i4'))"
        self.tensor(f"{text}, gl.int32).to({self.element()})", f"{known}.astype(x.dtype)", (m, m))
        return True

    # Shared memory.

    def buffer(self) -> bool:
        """A new buffer, or several, of which one is used."""
        if len(self.buffers) >= 4:
            return False
        shape = (self.rows, self.columns)[:: self.random.choice((1, -1))]
        drawn = layouts.shared(self.random, list(shape), self.bits(), self.machine)
        layout = self.constant(text_of(drawn))
        name = self.name("b")
        if self.chance(0.3):
            count = self.random.choice((2, 3))
            self.lines.append(
                f"{name} = gl.allocate_shared_memory({self.element()}, [{count}, {shape[0]}, "
                f"{shape[1]}], {layout}).index({self.random.randrange(count)} + n - 1000)"
            )
        else:
            self.lines.append(
                f"{name} = gl.allocate_shared_memory({self.element()}, [{shape[0]}, {shape[1]}], "
                f"{layout})"
            )
        made = Buffer(name, shape)
        self.buffers.append(made)
        # A loop that runs this again finds it as the first time.
        self.fill(made)
        return True

    def fill(self, buffer: Buffer) -> None:
        layout = self.layout(buffer.shape)
        begin, known = self.part(buffer.shape)
        at = f"places({buffer.shape[0]}, {buffer.shape[1]}, {layout})"
        self.lines.append(f"{buffer.name}.store(gl.load(x + {begin} + {at}))")
        buffer.holds = self.known(known)

    def free(self) -> Buffer | None:
        found = [b for b in self.buffers if not b.is_pending]
        return self.random.choice(found) if found else None

    def store(self) -> bool:
        buffer = self.free()
        value = buffer and self.pick(buffer.shape)
        if buffer is None or value is None:
            return False
        self.lines.append(f"{buffer.name}.store({value.name})")
        buffer.holds = self.known(value.name)
        return True

    def read(self) -> bool:
        buffer = self.free()
        if buffer is None:
            return False
        shape, view, known = buffer.shape, buffer.name, buffer.holds
        kind = self.random.choice(("whole", "whole", "turned", "part", "reshaped"))
        if kind == "turned":
            shape, view, known = shape[::-1], f"{view}.permute((1, 0))", f"{known}.T"
        elif kind == "part":
            half = shape[0] // 2
            begin = self.random.choice((0, half))
            shape = (half, shape[1])
            view, known = f"{view}.slice({begin}, {half})", f"{known}[{begin}:{begin + half}]"
        elif kind == "reshaped":
            shape = (shape[0] * 2, shape[1] // 2)
            view, known = f"{view}.reshape({list(shape)})", f"{known}.reshape{shape}"
        self.tensor(f"{view}.load({self.layout(shape)})", str(known), shape)
        return True

    def store_half(self) -> bool:
        """Into half of the rows, from the other half."""
        buffer = self.free()
        if buffer is None:
            return False
        half = buffer.shape[0] // 2
        to = self.random.choice((0, half))
        layout = self.layout((half, buffer.shape[1]))
        part = f"{buffer.name}.slice({half - to}, {half}).load({layout})"
        self.lines.append(f"{buffer.name}.slice({to}, {half}).store({part})")
        moved = f"{buffer.holds}[{half - to}:{half - to + half}]"
        buffer.holds = self.known(f"np.concatenate(({moved}, {moved}))")
        return True

    # Chosen elements of buffers.

    def indices(self, shape: tuple[int, int], extent: int) -> tuple[str, str, str]:
        """Numbers below `extent` in a layout: that layout, the text, and what NumPy says."""
        layout = self.layout(shape)
        factor, shift = self.random.choice((1, 3, 5, 7)), self.random.randrange(extent)
        numbers = f"np.arange({shape[0] * shape[1]}, dtype='i4').reshape{shape}"
        text = f"(places({shape[0]}, {shape[1]}, {layout}) * {factor} + {shift}) % {extent}"
        return layout, text, f"(({numbers} * {factor} + {shift}) % {extent})"

    def gather(self) -> bool:
        buffer = self.free()
        if buffer is None:
            return False
        axis = self.random.randrange(2)
        extents = list(buffer.shape)
        if self.chance(0.4) and extents[axis] > 8:
            extents[axis] //= 2
        shape = (extents[0], extents[1])
        _, text, known = self.indices(shape, buffer.shape[axis])
        self.tensor(
            f"{buffer.name}.gather({text}, {axis})",
            f"np.take_along_axis({buffer.holds}, {known}, {axis})", shape,
        )  # fmt: skip
        return True

    def scatter(self) -> bool:
        """Each value to a place of its own: along the axis, turned round."""
        buffer = self.free()
        value = buffer and self.pick(buffer.shape)
        if buffer is None or value is None:
            return False
        axis, layout = self.random.randrange(2), self.layout(buffer.shape)
        rows, columns = buffer.shape
        at = f"places({rows}, {columns}, {layout})"
        own = f"{at} // {columns}" if axis == 0 else f"{at} % {columns}"
        shift = self.random.randrange(buffer.shape[axis])
        self.lines.append(
            f"{buffer.name}.scatter(gl.convert_layout({value.name}, {layout}), "
            f"({own} + {shift}) % {buffer.shape[axis]}, {axis})"
        )
        buffer.holds = self.known(f"np.roll({value.name}, {shift}, {axis})")
        return True

    def count(self) -> bool:
        """Several values are added to one element, in any order."""
        buffer = self.free()
        value = buffer and self.pick(buffer.shape)
        if buffer is None or value is None or self.type not in ("i32", "i64"):
            return False
        axis = self.random.randrange(2)
        layout, text, known = self.indices(buffer.shape, buffer.shape[axis])
        self.lines.append(
            f"{buffer.name}.atomic_scatter_add(gl.convert_layout({value.name}, {layout}), {text}, "
            f"{axis})"
        )
        rows, columns = buffer.shape
        where = f"({known}, np.arange({columns})[None, :])"
        if axis == 1:
            where = f"(np.arange({rows})[:, None], {known})"
        buffer.holds = self.known(
            f"(lambda c, i, v: (np.add.at(c, i, v), c)[1])({buffer.holds}.copy(), {where}, "
            f"{value.name})"
        )
        return True

    # Copies.

    def copy(self) -> bool:
        buffer = self.free()
        if buffer is None:
            return False
        layout = self.layout(buffer.shape)
        begin, known = self.part(buffer.shape)
        count = buffer.shape[0] * buffer.shape[1]
        at = f"places({buffer.shape[0]}, {buffer.shape[1]}, {layout})"
        mask = ""
        if self.chance(0.4):
            limit = self.random.randrange(count)
            mask = f", mask={at} < n - {1000 - limit}"
            known = f"np.where(np.arange({count}).reshape{buffer.shape} < {limit}, {known}, 0)"
            known = f"({known}).astype(x.dtype)"
        if not self.is_amd:
            self.lines.append(f"async_copy.async_load({buffer.name}, x + {begin} + {at}{mask})")
        elif self.chance(0.5):
            self.lines.append(f"lds.buffer_load_to_shared({buffer.name}, x + {begin}, {at}{mask})")
        else:
            self.lines.append(f"lds.global_load_to_shared({buffer.name}, x + {begin} + {at}{mask})")
        buffer.holds, buffer.is_pending, buffer.group = self.known(known), True, -1
        return self.commit() if self.chance(0.7) else True

    def copies(self) -> str:
        return "lds" if self.is_amd else "async_copy"

    def commit(self) -> bool:
        self.lines.append(f"{self.copies()}.commit_group()")
        self.group += 1
        self.closed.append(self.group)
        for buffer in self.buffers:
            if buffer.is_pending and buffer.group < 0:
                buffer.group = self.group
        return True

    def wait(self, count: int | None = None) -> bool:
        count = self.random.randrange(len(self.closed) + 1) if count is None else count
        self.lines.append(f"{self.copies()}.wait_group({count})")
        done = self.closed[: max(0, len(self.closed) - count)]
        self.closed = self.closed[len(done) :]
        for buffer in self.buffers:
            if buffer.is_pending and buffer.group in done:
                buffer.is_pending = False
        return True

    # Results.

    def write(self) -> bool:
        value = self.pick()
        if value is None or len(self.outputs) >= 6:
            return False
        out = f"o{len(self.outputs)}"
        at = f"places({value.shape[0]}, {value.shape[1]}, {value.name}.type.layout)"
        if self.is_amd and self.chance(0.5):
            self.lines.append(f"cdna3.buffer_store({value.name}, {out}, {at})")
        else:
            self.lines.append(f"gl.store({out} + {at}, {value.name})")
        self.outputs.append((value.name, value.shape))
        return True

    def finish(self) -> None:
        """Waits for all copies, and shows all buffers."""
        self.commit()
        self.wait(0)
        for buffer in self.buffers:
            made = self.tensor(
                f"{buffer.name}.load({self.layout(buffer.shape)})", str(buffer.holds), buffer.shape
            )
            self.tensors = [made]
            self.outputs = self.outputs[:8]
            self.write()
        if not self.outputs:
            self.load()
            self.write()

    def run(self) -> None:
        steps = [
            self.load, self.convert, self.combine, self.turn, self.reduce, self.product,
            self.buffer, self.store, self.read, self.read, self.store_half, self.copy, self.copy,
            self.wait, self.write, self.gather, self.scatter, self.count,
        ]  # fmt: skip
        self.load()
        for _ in range(self.random.randrange(6, 22)):
            while not self.random.choice(steps)():
                pass
        self.finish()


def generate(seed: int, machine: str = "") -> Program:
    """The program of a seed, for a machine of its own or for the given one."""
    machine = machine or MACHINES[seed % len(MACHINES)]
    writer = Writer(seed, machine)
    writer.run()
    outputs = [f"o{i}" for i in range(len(writer.outputs))]
    body = writer.lines
    if writer.chance(0.4):
        body = ["for _ in range(trips):", *("    " + line for line in body)]
    source = f"{HEADER}def kernel(x, {', '.join(outputs)}, n, trips):\n"
    source += "".join(f"    {line}\n" for line in body)
    kind = writer.type
    flavour = {"flavour": "full"} if TYPES[kind].kind == "i" else {
        "flavour": "exact", "low": -9, "high": 9}  # fmt: skip
    arguments = [Argument("x", "input", kind, size=128 * 128 + 64, **flavour)]
    for name, (value, shape) in zip(outputs, writer.outputs, strict=True):
        known = f"({', '.join(writer.steps)}, {value})[-1]"
        arguments.append(
            Argument(name, "output", kind, shape[0] * shape[1], flavour="poison", known=known)
        )
    arguments.append(Argument("n", "scalar", "i32", value=1000))
    arguments.append(Argument("trips", "scalar", "i32", value=2))
    vendor, _, arch = machine.partition(":")
    config = Config(
        int(arch) if vendor == "cuda" else 80, writer.warps,
        elsewhere=machine if vendor == "hip" else "",
    )  # fmt: skip
    return Program(seed, source, tuple(arguments), config=config)
