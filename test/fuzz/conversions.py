"""Operands of dots that memory has in another type than they are multiplied in. Between the load
and the dot they are converted, taken out of bytes by halves, and scaled by column."""

from __future__ import annotations

from .generator import Generator
from .operands import Operand, Tiles, choose_way
from .values import TYPES

#: By the type of the dot.
STORED = {
    "fp16": ("i8", "i8", "u8", "fp8e5", "fp8e4nv", "fp32", "u4"),
    "bf16": ("i8", "i8", "u8", "fp8e5", "fp16", "u4"),
    "fp32": ("fp16", "bf16", "i8", "i32"),
    "i8": ("u4", "i32"),
}


def choose_tiles(g: Generator, operand: Operand) -> Tiles:
    """How the tiles of an operand are had, sometimes in another type."""
    types = STORED.get(operand.type, ())
    stored = g.choice(types) if types and g.chance(0.25 - 0.15 * g.alone) else operand.type
    if stored != "u4":
        source = Operand(stored, *_rest(operand))
        tiles = choose_way(g)(g, source)
        if stored != operand.type:
            narrow(g, tiles, operand, stored)
        return tiles
    rows, columns = operand.shape
    halves = Operand("u8", (rows // 2, columns), *_rest(operand)[1:])
    tiles = choose_way(g)(g, halves)
    low, high = g.name(), g.name()
    tiles.convert = (
        f"{low} = {{x}} & 15",
        f"{high} = {{x}} >> 4",
        f"{{x}} = tl.reshape(tl.permute(tl.join({low}, {high}), [0, 2, 1]), [{rows}, {columns}])",
        f"{{x}} = {{x}}.to({TYPES[operand.type].tl}) - 8",
    )
    tiles.bound, tiles.grid = 8.0, 0
    scale(g, tiles, operand)
    return tiles


def _rest(operand: Operand) -> tuple:
    return operand.shape, operand.axis, operand.count, operand.runs, operand.shared


def narrow(g: Generator, tiles: Tiles, operand: Operand, stored: str) -> None:
    """The conversion of elements that the type of the dot may have no room for."""
    text = "{x}"
    if stored == "i32":
        text, tiles.bound, tiles.grid = "(({x} & 15) - 8)", 8.0, 0
    tiles.convert = (f"{{x}} = {text}.to({TYPES[operand.type].tl})",)
    scale(g, tiles, operand)


def scale(g: Generator, tiles: Tiles, operand: Operand) -> None:
    """A factor for each column of a right operand."""
    if operand.axis != 0 or TYPES[operand.type].kind != "f" or g.chance(0.6):
        return
    columns = operand.shape[1]
    name = g.argument("input", operand.type, "x", size=columns * operand.count * operand.runs,
                      flavour="exact", low=-2, high=2).name  # fmt: skip
    row = g.name()
    tiles.convert += (
        f"{row} = tl.load({name} + ({operand.run} * {operand.count} + {{k}}) * {columns} + "
        f"tl.arange(0, {columns}))",
        f"{{x}} = {{x}} * {row}[None, :]",
    )
    tiles.bound *= 2.0
