"""Random programs whose partitions take rounds with a sum in tensor memory, executed.

Passes make the rings, lower them, and give each partition its warps. The reference runs the same
program on an array.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
from tile import _C

pytestmark = sim_only

M, N, K = 128, 16, 16
PASSES = (
    "nvws-insert-tmem-aref,nvws-assign-stage-phase,nvws-lower-aref,"
    "nvws-partition-loops,canonicalize,nvws-lower-warp-group,triton-nvidia-mma-lowering"
)
HEADER = """
#rows = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#few = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = 128, blockN = 16, colStride = 1>
!a = !ttg.memdesc<128x16xf16, #shared, #smem>
!b = !ttg.memdesc<16x16xf16, #shared, #smem>
!sum = !ttg.memdesc<128x16xf32, #tmem, #ttnvgpu.tensor_memory, mutable>
!rows = tensor<128x16xf32, #rows>
!token = !ttg.async.token
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
"""  # noqa: E501


@dataclass
class Store:
    """Writes a number everywhere, in some iterations only if `some`."""

    partition: int | None
    value: int
    some: bool = False


@dataclass
class Mma:
    """Adds a dot to the sum, or overwrites it."""

    partition: int
    adds: bool


@dataclass
class Load:
    """Loads the sum, and stores it to the output of this number."""

    partition: int | None
    number: int


@dataclass
class If:
    """Branches of even and of odd iterations."""

    then: list = field(default_factory=list)
    otherwise: list = field(default_factory=list)


@dataclass
class For:
    """A loop with so many iterations."""

    trips: int
    body: list


def owner_of(statements: list) -> int | None:
    """The partition of the first access."""
    for statement in statements:
        if isinstance(statement, If):
            inside = owner_of(statement.then + statement.otherwise)
        elif isinstance(statement, For):
            inside = owner_of(statement.body)
        else:
            inside = statement.partition
        if inside is not None:
            return inside
    return None


class Text:
    """A program as IR."""

    def __init__(self, partitions: tuple[int, int], outputs: int) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.partitions = partitions
        self.outputs = outputs
        self.all = ", ".join(map(str, range(max(partitions) + 1)))
        self.iteration = "%c0"
        self.inner = "%c0"

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def mark(self, partition: int | None) -> str:
        return "" if partition is None else f" {{ttg.partition = array<i32: {partition}>}}"

    def write(self, statement, token: str) -> str:
        """Appends a statement; the token behind it."""
        result = self.name()
        match statement:
            case Store(partition, value, some):
                at = self.mark(partition)
                constant = self.name()
                self.add(f"{constant} = arith.constant dense<{value}.0> : !rows")
                pred = "%even" if some else "%true"
                self.add(
                    f"{result} = ttnvgpu.tmem_store {constant}, %d[{token}], {pred}{at}"
                    " : !rows -> !sum"
                )
            case Mma(partition, adds):
                self.add(
                    f"{result} = ttnvgpu.tc_gen5_mma %a, %b, %d[{token}], %{str(adds).lower()},"
                    f" %true{self.mark(partition)} : !a, !b, !sum"
                )
            case Load(partition, number):
                at = self.mark(partition)
                value = self.name()
                self.add(f"{value}, {result} = ttnvgpu.tmem_load %d[{token}]{at} : !sum -> !rows")
                self.write_output(value, number, at)
            case If(then, otherwise):
                marks = self.mark_all(owner_of(then + otherwise))
                self.add(f"{result} = scf.if %even -> (!token) {{")
                self.write_block(then, token)
                self.add("} else {")
                self.write_block(otherwise, token)
                self.add(f"}} {marks}")
            case For(trips, body):
                argument, inner = self.name(), self.name()
                marks = self.mark_all(owner_of(body))
                self.add(
                    f"{result} = scf.for {inner} = %c0 to %c{trips} step %c1"
                    f" iter_args({argument} = {token}) -> (!token) : i32 {{"
                )
                around, self.inner = self.inner, inner
                self.write_block(body, argument)
                self.inner = around
                self.add(f"}} {marks}")
        return result

    def write_block(self, statements: list, token: str) -> None:
        for statement in statements:
            token = self.write(statement, token)
        self.add(f"scf.yield {{ttg.partition = array<i32: {self.all}>}} {token} : !token")

    def mark_all(self, owner: int | None) -> str:
        owner = self.partitions[0] if owner is None else owner
        return (
            f"{{ttg.partition = array<i32: {self.all}>, "
            f"ttg.partition.outputs = [array<i32: {owner}>]}}"
        )

    def write_output(self, value: str, number: int, at: str) -> None:
        """out[number, iteration, inner] = value"""
        x, y, z, offset, base, pointer = (self.name() for _ in range(6))
        self.add(f"{x} = arith.muli {self.iteration}, %c4{at} : i32")
        self.add(f"{y} = arith.addi {x}, {self.inner}{at} : i32")
        self.add(f"{z} = arith.addi {y}, %start{number}{at} : i32")
        self.add(f"{offset} = arith.muli {z}, %size{at} : i32")
        self.add(f"{base} = tt.addptr %out, {offset}{at} : !tt.ptr<f32>, i32")
        self.add(
            f"{pointer}s = tt.splat {base}{at} : !tt.ptr<f32> -> tensor<128x16x!tt.ptr<f32>, #rows>"
        )
        self.add(
            f"{pointer} = tt.addptr {pointer}s, %at{at}"
            " : tensor<128x16x!tt.ptr<f32>, #rows>, tensor<128x16xi32, #rows>"
        )
        self.add(f"tt.store {pointer}, {value}{at} : tensor<128x16x!tt.ptr<f32>, #rows>")


def grid(name: str, layout: str, rows: int) -> list[str]:
    """The place of each element of a matrix with 16 columns."""
    vector = f"tensor<{rows}xi32, #ttg.slice<{{dim = 1, parent = {layout}}}>>"
    columns = f"tensor<16xi32, #ttg.slice<{{dim = 0, parent = {layout}}}>>"
    whole = f"tensor<{rows}x16xi32, {layout}>"
    return [
        f"%r{name} = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : {vector}",
        f"%s{name} = arith.constant dense<16> : {vector}",
        f"%t{name} = arith.muli %r{name}, %s{name} : {vector}",
        f"%e{name} = tt.expand_dims %t{name} {{axis = 1 : i32}} : {vector}"
        f" -> tensor<{rows}x1xi32, {layout}>",
        f"%f{name} = tt.broadcast %e{name} : tensor<{rows}x1xi32, {layout}> -> {whole}",
        f"%c{name} = tt.make_range {{end = 16 : i32, start = 0 : i32}} : {columns}",
        f"%g{name} = tt.expand_dims %c{name} {{axis = 0 : i32}} : {columns}"
        f" -> tensor<1x16xi32, {layout}>",
        f"%h{name} = tt.broadcast %g{name} : tensor<1x16xi32, {layout}> -> {whole}",
        f"%{name} = arith.addi %f{name}, %h{name} : {whole}",
    ]


def operand(name: str, layout: str, rows: int) -> list[str]:
    pointers = f"tensor<{rows}x16x!tt.ptr<f16>, {layout}>"
    return [
        *grid(f"{name}at", layout, rows),
        f"%{name}base = tt.splat %{name}_ptr : !tt.ptr<f16> -> {pointers}",
        f"%{name}p = tt.addptr %{name}base, %{name}at : {pointers},"
        f" tensor<{rows}x16xi32, {layout}>",
        f"%{name}x = tt.load %{name}p : {pointers}",
        f"%{name} = ttg.local_alloc %{name}x : (tensor<{rows}x16xf16, {layout}>) -> !{name}",
    ]


@dataclass
class Program:
    """What all warps do first, what partitions do in a loop, and what all warps do then."""

    before: list
    body: list
    after: list
    partitions: tuple[int, int]
    outputs: int
    is_while: bool = False
    one_buffer: bool = False
    stored_at_birth: bool = False

    def to_ir(self) -> str:
        text = Text(self.partitions, self.outputs)
        everybody = f"array<i32: {text.all}>"
        owner = owner_of(self.body)
        body_owner = f"array<i32: {self.partitions[0] if owner is None else owner}>"
        for line in (
            "tt.func public @k(%a_ptr: !tt.ptr<f16>, %b_ptr: !tt.ptr<f16>, %out: !tt.ptr<f32>, "
            "%steps: i32) {",
            *(f"%c{i} = arith.constant {i} : i32" for i in range(5)),
            f"%size = arith.constant {M * N} : i32",
            "%true = arith.constant true",
            "%false = arith.constant false",
            "%plane = arith.muli %steps, %c4 : i32",
            *grid("at", "#rows", M),
            *operand("a", "#rows", M),
            *operand("b", "#few", K),
            "ttnvgpu.fence_async_shared {bCluster = false}",
        ):
            text.add(line)
        for number in range(self.outputs):
            text.add(f"%n{number} = arith.constant {number} : i32")
            text.add(f"%start{number} = arith.muli %plane, %n{number} : i32")
        if self.stored_at_birth:
            text.add("%zero = arith.constant dense<7.0> : !rows")
            text.add("%d, %t0 = ttnvgpu.tmem_alloc %zero : (!rows) -> (!sum, !token)")
        else:
            text.add("%d, %t0 = ttnvgpu.tmem_alloc : () -> (!sum, !token)")
        token = "%t0"
        for statement in self.before:
            token = text.write(statement, token)
        more = ", tt.disallow_acc_multi_buffer" if self.one_buffer else ""
        marks = (
            f"tt.warp_specialize, ttg.partition = {everybody}, "
            f"ttg.warp_specialize.tag = 0 : i32{more}"
        )
        text.iteration = "%i"
        if self.is_while:
            text.add(
                f"%loop:2 = scf.while (%j = %c0, %t1 = {token}) : (i32, !token) -> (i32, !token) {{"
            )
            text.add(f"%go = arith.cmpi slt, %j, %steps {{ttg.partition = {everybody}}} : i32")
            text.add(f"scf.condition(%go) {{ttg.partition = {everybody}}} %j, %t1 : i32, !token")
            text.add("} do {")
            text.add("^bb0(%i: i32, %t2: !token):")
        else:
            text.add(
                "%loop = scf.for %i = %c0 to %steps step %c1"
                f" iter_args(%t2 = {token}) -> (!token) : i32 {{"
            )
        text.add(f"%bit = arith.andi %i, %c1 {{ttg.partition = {everybody}}} : i32")
        text.add(f"%even = arith.cmpi eq, %bit, %c0 {{ttg.partition = {everybody}}} : i32")
        token = "%t2"
        for statement in self.body:
            token = text.write(statement, token)
        if self.is_while:
            text.add(f"%next = arith.addi %i, %c1 {{ttg.partition = {everybody}}} : i32")
            text.add(f"scf.yield {{ttg.partition = {everybody}}} %next, {token} : i32, !token")
            text.add(
                f"}} attributes {{{marks}, ttg.partition.outputs = [{everybody}, {body_owner}]}}"
            )
            token = "%loop#1"
        else:
            text.add(f"scf.yield {{ttg.partition = {everybody}}} {token} : !token")
            text.add(f"}} {{{marks}, ttg.partition.outputs = [{body_owner}]}}")
            token = "%loop"
        text.iteration = "%c0"
        for statement in self.after:
            token = text.write(statement, token)
        text.add("tt.return")
        text.add("}")
        return HEADER + "\n".join(text.lines) + "\n}\n"

    def run(self, product: np.ndarray, steps: int) -> dict[tuple[int, int, int], np.ndarray]:
        """What each load finds."""
        found: dict[tuple[int, int, int], np.ndarray] = {}
        total = np.full((M, N), 7.0 if self.stored_at_birth else np.nan, np.float32)

        def step(statements: list, iteration: int, inner: int) -> None:
            nonlocal total
            for statement in statements:
                match statement:
                    case Store(_, value, some):
                        if not some or iteration % 2 == 0:
                            total = np.full((M, N), value, np.float32)
                    case Mma(_, adds):
                        total = total + product if adds else product
                    case Load(_, number):
                        found[number, iteration, inner] = total
                    case If(then, otherwise):
                        step(otherwise if iteration % 2 else then, iteration, inner)
                    case For(trips, body):
                        for i in range(trips):
                            step(body, iteration, i)

        step(self.before, 0, 0)
        for i in range(steps):
            step(self.body, i, 0)
        step(self.after, 0, 0)
        return found


def compile_program(program: Program, tmp_path):
    module = _C.ir.Module.parse(program.to_ir(), _C.ir.Context())
    _C.passes.PassManager.parse(PASSES, module.context).run(module)
    path = tmp_path / "kernel.ttgir"
    path.write_text(str(module))
    assert "nvws" not in path.read_text()
    return tile.compile(str(path), target=tile.GPUTarget("cuda", 100, 32), stop_at="ptx")


def check(program: Program, tmp_path, schedules: int = 3) -> None:
    kernel = compile_program(program, tmp_path)
    ptx = kernel.asm["ptx"]
    # Nothing may be left for partitions to do.
    threads = int(re.search(r"reqntid (\d+)", ptx)[1])
    generator = np.random.default_rng(1)
    a = generator.integers(-2, 3, (M, K)).astype(np.float16)
    b = generator.integers(-2, 3, (K, N)).astype(np.float16)
    product = a.astype(np.float32) @ b.astype(np.float32)
    for steps in (0, 1, 4):
        out = poisoned((max(program.outputs, 1), max(steps, 1), 4, M, N), "fp32")
        expected = out.copy()
        for (number, iteration, inner), value in program.run(product, steps).items():
            expected.reshape(-1, M, N)[(number * steps + iteration) * 4 + inner] = value
        tile.sim.launch(
            ptx, "k", 1, threads, [a, b, out, steps],
            dynamic_shared=kernel.metadata.shared, schedules=schedules,
        )  # fmt: skip
        np.testing.assert_array_equal(out, expected)


#: Programs of one idea each.
PROGRAMS = {
    "dots, and all warps load": Program(
        [Store(None, 0)], [Mma(1, True)], [Load(None, 0)], (1, 0), 1
    ),
    "each sum is loaded, and overwritten": Program(
        [Store(None, 2)], [Mma(1, True), Load(0, 0), Store(1, 3)], [], (1, 0), 1
    ),
    "a sum is loaded in some iterations": Program(
        [Store(None, 2)], [Mma(1, True), If([Load(0, 0)]), Store(1, 3)], [], (1, 0), 1
    ),
    "all warps load what the second partition of a ring left": Program(
        [Store(None, 2)], [Load(0, 0), Store(0, 1), Mma(2, True)], [Load(None, 1)], (0, 2), 2
    ),
    "a fresh slot would lose what is in the buffer": Program(
        [Store(None, 2)],
        [For(2, [Store(1, 5), Load(0, 0)]), Load(0, 1), Mma(1, False)],
        [Load(None, 2)],
        (1, 0),
        3,
    ),
    "a tensor core reads a slot last": Program(
        [Store(None, 2)], [Store(0, 1), Mma(1, True)], [], (0, 1), 0
    ),
    "tiles in a loop that decides at its start": Program(
        [],
        [Mma(1, False), For(3, [Mma(1, True)]), Load(0, 0)],
        [],
        (1, 0),
        1,
        is_while=True,
        stored_at_birth=True,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path):
    check(PROGRAMS[name], tmp_path)


class Generator:
    """Random programs. Each load has a number of its own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loads = 0

    def access(self, partition: int | None, mma: bool):
        kind = self.random.choice(["store", "load", "load"] + ["mma"] * 3 * mma)
        if kind == "mma":
            return Mma(partition, self.random.random() < 0.6)
        if kind == "store":
            some = partition is not None and self.random.random() < 0.3
            return Store(partition, self.random.randrange(1, 9), some)
        self.loads += 1
        return Load(partition, self.loads - 1)

    def block(self, partitions: tuple[int, int], depth: int, in_for: bool) -> list:
        statements: list = []
        for _ in range(self.random.randrange(1, 4)):
            what = self.random.random()
            if depth > 0 and what < 0.2:
                statements.append(
                    If(
                        self.block(partitions, depth - 1, in_for),
                        self.block(partitions, depth - 1, in_for)
                        if self.random.random() < 0.4
                        else [],
                    )
                )
            elif depth > 0 and what < 0.4 and not in_for:
                trips = self.random.randrange(4)
                statements.append(For(trips, self.block(partitions, depth - 1, True)))
            else:
                statements.append(self.access(self.random.choice(partitions), mma=True))
        return statements

    def program(self) -> Program:
        partitions = self.random.choice([(0, 1), (1, 0), (1, 2), (2, 1)])
        stored = self.random.random() < 0.3
        before = [] if stored else [Store(None, 5)]
        for _ in range(self.random.randrange(2)):
            before.append(self.access(None, mma=False))
        body = self.block(partitions, 2, False)
        after = [self.access(None, mma=False) for _ in range(self.random.randrange(3))]
        return Program(
            before, body, after, partitions, self.loads, self.random.random() < 0.4,
            self.random.random() < 0.3, stored,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_random_program(seed, tmp_path):
    check(Generator(seed).program(), tmp_path)


def matmul_ir() -> str:
    """One partition loads operands, one multiplies, and one stores the sum of each second step."""
    lines = Text((1, 0), 1)
    for line in (
        "tt.func public @k(%a_ptr: !tt.ptr<f16>, %b_ptr: !tt.ptr<f16>, %out: !tt.ptr<f32>, "
        "%steps: i32) {",
        *(f"%c{i} = arith.constant {i} : i32" for i in range(5)),
        f"%size = arith.constant {M * N} : i32",
        f"%a_size = arith.constant {M * K} : i32",
        f"%b_size = arith.constant {K * N} : i32",
        "%start0 = arith.constant 0 : i32",
        "%true = arith.constant true",
        "%zero = arith.constant dense<0.0> : !rows",
        *grid("at", "#rows", M),
        *operand("a", "#rows", M)[:-2],
        *operand("b", "#few", K)[:-2],
        "%d, %t0 = ttnvgpu.tmem_alloc %zero : (!rows) -> (!sum, !token)",
        "%loop = scf.for %i = %c0 to %steps step %c1 iter_args(%t = %t0) -> (!token) : i32 {",
    ):
        lines.add(line)
    load = "{ttg.partition = array<i32: 2>}"
    for name, layout, rows in (("a", "#rows", M), ("b", "#few", K)):
        values = f"tensor<{rows}x16xi32, {layout}>"
        pointers = f"tensor<{rows}x16x!tt.ptr<f16>, {layout}>"
        for line in (
            f"%{name}o = arith.muli %i, %{name}_size {load} : i32",
            f"%{name}s = tt.splat %{name}o {load} : i32 -> {values}",
            f"%{name}q = tt.addptr %{name}p, %{name}s {load} : {pointers}, {values}",
            f"%{name}x = tt.load %{name}q {load} : {pointers}",
            f"%{name} = ttg.local_alloc %{name}x {load}"
            f" : (tensor<{rows}x16xf16, {layout}>) -> !{name}",
        ):
            lines.add(line)
    both = "{ttg.partition = array<i32: 0, 1>}"
    lines.add(f"%bit = arith.andi %i, %c1 {both} : i32")
    lines.add(f"%even = arith.cmpi eq, %bit, %c0 {both} : i32")
    lines.all = "0, 1"
    lines.iteration = "%i"
    token = lines.write(Mma(1, True), "%t")
    token = lines.write(If([Load(0, 0)]), token)
    lines.add(f"scf.yield {{ttg.partition = array<i32: 0, 1, 2>}} {token} : !token")
    lines.add(
        "} {tt.warp_specialize, ttg.partition = array<i32: 0, 1, 2>, "
        "ttg.partition.outputs = [array<i32: 1>], ttg.warp_specialize.tag = 0 : i32}"
    )
    lines.add("tt.return")
    lines.add("}")
    return HEADER + "\n".join(lines.lines) + "\n}\n"


def test_operands_and_sums_in_rings(tmp_path):
    """Tensor cores read operands from rings, and say so later than the loop ends."""
    module = _C.ir.Module.parse(matmul_ir(), _C.ir.Context())
    _C.passes.PassManager.parse(f"nvws-insert-aref,{PASSES}", module.context).run(module)
    path = tmp_path / "kernel.ttgir"
    path.write_text(str(module))
    kernel = tile.compile(str(path), target=tile.GPUTarget("cuda", 100, 32), stop_at="ptx")
    generator = np.random.default_rng(1)
    for steps in (0, 1, 2, 5):
        a = generator.integers(-2, 3, (steps, M, K)).astype(np.float16)
        b = generator.integers(-2, 3, (steps, K, N)).astype(np.float16)
        out = poisoned((max(steps, 1), 4, M, N), "fp32")
        expected = out.copy()
        sums = np.cumsum(a.astype(np.float32) @ b.astype(np.float32), axis=0)
        expected[:steps:2, 0] = sums[::2]
        tile.sim.launch(
            kernel.asm["ptx"], "k", 1, 384, [a, b, out, steps],
            dynamic_shared=kernel.metadata.shared, schedules=4,
        )  # fmt: skip
        np.testing.assert_array_equal(out, expected)
