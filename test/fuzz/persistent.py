"""Persistent programs: each takes tiles of a matrix, one after the other, and finds the row and the
column of each. What is written of a tile is cut at the edges of the matrix. Or there is a program
for each tile.
"""

from __future__ import annotations

from .generator import Generator
from .partitions import Loops
from .values import TYPES, Value, fits


def locate(g: Generator, t: str, rows: int, columns: int) -> tuple[str, str]:
    """Emits what the row and the column of a tile are: along rows, along columns, or in groups of
    rows. The names of both."""
    row, column = g.name("r"), g.name("r")
    count = str(columns)
    if g.chance(0.5):
        count = g.argument("scalar", "i32", "n", value=columns).name
    how = g.choice(("rows", "columns", "groups", "swizzle"))
    if how == "rows":
        g.line(f"{row} = {t} // {count}")
        g.line(f"{column} = {t} % {count}")
    elif how == "columns":
        g.line(f"{column} = {t} // {rows}")
        g.line(f"{row} = {t} % {rows}")
    elif how == "swizzle":
        g.line(f"{row}, {column} = tl.swizzle2d({t} // {count}, {t} % {count}, {rows}, {count}, 2)")
    else:
        height = g.choice((1, 2, 3))
        first, size = g.name("r"), g.name("r")
        g.line(f"{first} = {t} // ({height} * {count}) * {height}")
        g.line(f"{size} = min({rows} - {first}, {height})")
        g.line(f"{row} = {first} + {t} % ({height} * {count}) % {size}")
        g.line(f"{column} = {t} % ({height} * {count}) // {size}")
    return row, column


def finish(g: Generator, value: Value, columns: int) -> tuple[str, str]:
    """The type in which a tile is written, and the text of what is written of it, with a row that
    is added and a function that is applied."""
    text, bound, grid = value.name, value.bound, value.grid
    n = value.shape[1]
    if value.type == "fp32" and g.chance(0.4):
        name = g.argument("input", "fp32", "x", size=n * columns, flavour="exact", low=-8, high=8,
                          grid=1).name  # fmt: skip
        row = g.name()
        g.line(f"{row} = tl.load({name} + {{c}} * {n} + tl.arange(0, {n}))")
        text, bound, grid = f"({text} + {row}[None, :])", bound + 4.0, max(grid, 1)
    if value.type == "fp32" and g.chance(0.3):
        text = g.choice((f"tl.maximum({text}, 0.0)", f"tl.where({text} > 0.0, {text}, 0.0)"))
    type = value.type
    narrow = g.choice(("fp16", "fp16", "bf16", "fp32"))
    if value.type == "fp32" and fits(bound, grid, narrow):
        type, text = narrow, f"{text}.to({TYPES[narrow].tl})"
    return type, text


def write(g: Generator, value: Value, rows: int, columns: int) -> list[str]:
    """Statements that write a tile to its place in a matrix of all tiles, but for what is beyond
    its edges. They use pointers or a descriptor, as it is or in two or four parts."""
    m, n = value.shape
    height = max(1, m * rows - g.choice((0, 0, 1, 5, m // 2)))
    width = max(1, n * columns - g.choice((0, 0, 1, 8, n // 2)))
    begin = len(g.lines)
    type, text = finish(g, value, columns)
    lines = [line.strip() for line in g.lines[begin:]]
    del g.lines[begin:]
    tile = g.name()
    lines.append(f"{tile} = {text}")
    step = 128 // TYPES[type].bits
    stride = (width + step - 1) // step * step
    output = g.argument("output", type, "o", size=m * rows * stride, flavour="zero").name
    parts = [(tile, 0, n)]
    while n >= 8 * len(parts) and len(parts) < 4 and g.chance(0.4):
        halves = []
        for part, at, extent in parts:
            left, right = g.name(), g.name()
            turned = f"tl.permute(tl.reshape({part}, [{m}, 2, {extent // 2}]), [0, 2, 1])"
            lines.append(f"{left}, {right} = tl.split({turned})")
            halves += [(left, at, extent // 2), (right, at + extent // 2, extent // 2)]
        parts = halves
    if g.chance(0.5) and parts[0][2] * TYPES[type].bits >= 128:
        desc = g.name("d")
        g.line(
            f"{desc} = tl.make_tensor_descriptor({output}, [{height}, {width}], [{stride}, 1], "
            f"[{m}, {parts[0][2]}])"
        )
        if g.chance(0.2):  # What is written first is written over, with others in between.
            first, *others = parts
            parts = [(f"{first[0]} * 0", *first[1:]), *others, first]
        lines += [f"{desc}.store([{{r}} * {m}, {{c}} * {n} + {at}], {part})"
                  for part, at, _ in parts]  # fmt: skip
        return lines
    for part, at, extent in parts:
        i, j = g.name("r"), g.name("r")
        lines += [
            f"{i} = ({{r}} * {m} + tl.arange(0, {m}))[:, None]",
            f"{j} = ({{c}} * {n} + {at} + tl.arange(0, {extent}))[None, :]",
            f"tl.store({output} + {i} * {stride} + {j}, {part}, "
            f"mask=({i} < {height}) & ({j} < {width}))",
        ]
    return lines


def run_tile(
    g: Generator, loops: Loops, stores: list[str], t: str, rows: int, columns: int
) -> None:
    """The loops of a tile, and what writes it."""
    row, column = locate(g, t, rows, columns)
    loops.emit(t, row, column)
    for store in stores:
        g.line(store.format(t=t, r=row, c=column))


def persistent(g: Generator) -> None:
    """A loop of each program over its tiles, or a program for each tile."""
    rows, columns = g.choice((1, 2, 2, 3)), g.choice((1, 2, 3))
    # What was written before counts on the grid that there is.
    alone = (g.chance(0.35) or g.alone) and not (g.arguments or g.lines)
    if alone:
        g.grid = g.choice(((rows * columns,), (rows, columns), (columns, 1, rows)))
    loops = Loops(g, rows * columns, grid=(rows, columns))
    loops.plan(g.chance(0.15))
    stores = [line for value in loops.sums if value.rank == 2
              for line in write(g, value, rows, columns)]  # fmt: skip
    t = g.name("s")
    if alone:
        g.line(f"{t} = pid")
        run_tile(g, loops, stores, t, rows, columns)
        return
    tiles = str(rows * columns)
    if g.chance(0.6):
        tiles = g.argument("scalar", "i32", "t", value=rows * columns).name
    options = g.choice(("", "", ", flatten=True", ", flatten=True", ", num_stages=2"))
    step = "tl.num_programs(0)" if len(g.grid) == 1 and g.chance(0.5) else str(g.programs)
    g.line(f"for {t} in tl.range(pid, {tiles}, {step}{options}):")
    g.depth += 1
    run_tile(g, loops, stores, t, rows, columns)
    g.depth -= 1
