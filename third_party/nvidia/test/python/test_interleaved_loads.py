"""Random programs on tensor memory compute the same after triton-nvidia-interleave-tmem."""

from __future__ import annotations

import random as chances

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
from tile import _C

pytestmark = sim_only

ROWS, COLS = 128, 64
WIDTHS = (16, 32, 64)


def layout(width: int) -> str:
    columns = ", ".join(f"[0, {1 << bit}]" for bit in range(width.bit_length() - 1))
    lanes = ", ".join(f"[{1 << bit}, 0]" for bit in range(5))
    return (
        f"#ttg.linear<{{register = [{columns}], lane = [{lanes}], warp = [[32, 0], [64, 0]], "
        "block = []}>"
    )


def part_type(width: int) -> str:
    whole = f", {ROWS}x{COLS}" if width < COLS else ""
    return f"!ttg.memdesc<{ROWS}x{width}xf32, #tmem, #ttnvgpu.tensor_memory, mutable{whole}>"


def block_type(width: int, element: str = "f32") -> str:
    return f"tensor<{ROWS}x{width}x{element}, #L{width}>"


class Program:
    """A list of operations as IR, and what they do to NumPy arrays."""

    def __init__(self, seed: int) -> None:
        self.chance = chances.Random(seed)
        self.lines: list[str] = []
        self.buffers = {name: random((ROWS, COLS), "fp32", seed) for name in ("d", "e")}
        self.inputs = {name: array.copy() for name, array in self.buffers.items()}
        self.values: list[tuple[str, int, np.ndarray]] = []
        self.outputs: list[np.ndarray] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pointers(self, argument: str, width: int) -> str:
        """The addresses of the first `width` columns of an array."""
        n, at = f"{argument}{self.count}", self.name()
        rows, cols = (f"#ttg.slice<{{dim = {dim}, parent = #L{width}}}>" for dim in (1, 0))
        shape, pointers = block_type(width, "i32"), block_type(width, "!tt.ptr<f32>")
        self.lines.append(f"""
    %r{n} = tt.make_range {{end = {ROWS} : i32, start = 0 : i32}} : tensor<{ROWS}xi32, {rows}>
    %c{n} = tt.make_range {{end = {width} : i32, start = 0 : i32}} : tensor<{width}xi32, {cols}>
    %s{n} = arith.constant dense<{COLS}> : tensor<{ROWS}xi32, {rows}>
    %m{n} = arith.muli %r{n}, %s{n} : tensor<{ROWS}xi32, {rows}>
    %x{n} = tt.expand_dims %m{n} {{axis = 1 : i32}} : tensor<{ROWS}xi32, {rows}> -> tensor<{ROWS}x1xi32, #L{width}>
    %y{n} = tt.expand_dims %c{n} {{axis = 0 : i32}} : tensor<{width}xi32, {cols}> -> tensor<1x{width}xi32, #L{width}>
    %bx{n} = tt.broadcast %x{n} : tensor<{ROWS}x1xi32, #L{width}> -> {shape}
    %by{n} = tt.broadcast %y{n} : tensor<1x{width}xi32, #L{width}> -> {shape}
    %o{n} = arith.addi %bx{n}, %by{n} : {shape}
    %p{n} = tt.splat %{argument} : !tt.ptr<f32> -> {pointers}
    {at} = tt.addptr %p{n}, %o{n} : {pointers}, {shape}
""")  # noqa: E501
        return at

    def part(self) -> tuple[str, str, int, slice]:
        buffer, width = self.chance.choice("de"), self.chance.choice(WIDTHS)
        offset = self.chance.randrange(0, COLS, width)
        if width == COLS:
            return f"%{buffer}", buffer, width, slice(None)
        view = self.name()
        self.lines.append(
            f"    {view} = ttnvgpu.tmem_subslice %{buffer} {{offset = {offset} : i32}} : "
            f"{part_type(COLS)} -> {part_type(width)}"
        )
        return view, buffer, width, slice(offset, offset + width)

    def load(self) -> None:
        view, buffer, width, columns = self.part()
        name = self.name()
        self.lines.append(
            f"    {name} = ttnvgpu.tmem_load {view} : {part_type(width)} -> {block_type(width)}"
        )
        self.values.append((name, width, self.buffers[buffer][:, columns].copy()))

    def store(self) -> None:
        view, buffer, width, columns = self.part()
        fitting = [value for value in self.values if value[1] == width]
        if not fitting:
            return
        value, _, array = self.chance.choice(fitting)
        self.lines.append(
            f"    ttnvgpu.tmem_store {value}, {view}, %true : "
            f"{block_type(width)} -> {part_type(width)}"
        )
        self.buffers[buffer][:, columns] = array

    def compute(self) -> None:
        if not self.values:
            return
        value, width, array = self.chance.choice(self.values)
        other, _, second = self.chance.choice([v for v in self.values if v[1] == width])
        name = self.name()
        self.lines.append(f"    {name} = arith.subf {value}, {other} : {block_type(width)}")
        self.values.append((name, width, array - second))

    def write(self, value: str, width: int, array: np.ndarray) -> None:
        at = self.pointers(f"out{len(self.outputs)}", width)
        self.lines.append(f"    tt.store {at}, {value} : {block_type(width, '!tt.ptr<f32>')}")
        self.outputs.append(array)

    def text(self) -> str:
        for name in self.buffers:
            at, value = self.pointers(f"in_{name}", COLS), self.name()
            self.lines.append(f"""
    {value} = tt.load {at} : {block_type(COLS, "!tt.ptr<f32>")}
    %{name} = ttnvgpu.tmem_alloc : () -> {part_type(COLS)}
    ttnvgpu.tmem_store {value}, %{name}, %true : {block_type(COLS)} -> {part_type(COLS)}
""")
        for _ in range(14):
            self.chance.choice((self.load, self.load, self.compute, self.store, self.store))()
        for value in self.chance.sample(self.values, min(3, len(self.values))):
            self.write(*value)
        for name, array in self.buffers.items():
            value = self.name()
            self.lines.append(
                f"    {value} = ttnvgpu.tmem_load %{name} : {part_type(COLS)} -> {block_type(COLS)}"
            )
            self.write(value, COLS, array)
        names = [f"in_{name}" for name in self.buffers]
        names += [f"out{i}" for i in range(len(self.outputs))]
        arguments = ", ".join(f"%{name}: !tt.ptr<f32>" for name in names)
        layouts = "\n".join(f"#L{width} = {layout(width)}" for width in WIDTHS)
        body = "\n".join(self.lines)
        return f"""
{layouts}
#tmem = #ttnvgpu.tensor_memory_encoding<blockM = {ROWS}, blockN = {COLS}, colStride = 1>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                    ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @k({arguments}) {{
    %true = arith.constant true
{body}
    tt.return
  }}
}}
"""


def run(seed: int, tmp_path) -> bool:
    """Whether the pass moved anything."""
    program = Program(seed)
    module = _C.ir.Module.parse(program.text(), _C.ir.Context())
    before = str(module)
    _C.passes.PassManager.parse("triton-nvidia-interleave-tmem", module.context).run(module)
    after = str(module)
    path = tmp_path / "kernel.ttgir"
    path.write_text(after)
    kernel = tile.compile(str(path), target=tile.GPUTarget("cuda", 100, 32), stop_at="ptx")
    outputs = [poisoned((ROWS, COLS), "fp32") for _ in program.outputs]
    arguments = [*program.inputs.values(), *outputs]
    shared = kernel.metadata.shared
    tile.sim.launch(kernel.asm["ptx"], "k", 1, 128, arguments, dynamic_shared=shared)
    for out, expected in zip(outputs, program.outputs, strict=True):
        np.testing.assert_array_equal(out[:, : expected.shape[1]], expected, err_msg=after)
    return before != after


def test_random_programs(tmp_path):
    assert sum(run(seed, tmp_path) for seed in range(40)) > 20


@pytest.mark.slow
def test_many_random_programs(tmp_path):
    for seed in range(1000, 1600):
        run(seed, tmp_path)
