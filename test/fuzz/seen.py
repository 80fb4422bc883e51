"""Tiles that descriptors store and that the program reads again, by everything that reads global
memory. Nothing but the store's own end is between the two, which is enough where the copy engine
stores: programs of one block on Hopper.
"""

from __future__ import annotations

from typing import Any

from .generator import Generator, contiguous, offsets
from .memory import base
from .results import outputs
from .values import TYPES, Value

#: Expressions that read the tile which begins `{row}` rows behind the first. `{d}` is a descriptor
#: of tiles, `{rows}` one of rows, `{at}` are pointers, `{m}` and `{n}` the sizes of a tile.
READS = (
    "tl.load({at})",
    "tl.load({at}, volatile=True)",
    "tl.load({at}, cache_modifier='.cv')",
    "tl.load({p} + ({row}) * {n}) + tl.zeros([{m}, {n}], {type})",
    "tl.sum(tl.load({at}), 1)[:, None] + tl.zeros([{m}, {n}], {type})",
    "{d}.load([{row}, 0])",
    "{rows}.gather({row} + tl.arange(0, {m}), 0)",
    "tl.atomic_add({at}, tl.zeros([{m}, {n}], {type}))",
    "tl.atomic_max({at}, tl.full([{m}, {n}], -99, {type}))",
    "tl.atomic_cas({at}, tl.full([{m}, {n}], 77, {type}), tl.zeros([{m}, {n}], {type}))",
    "{function}({at})",
)


def tile_of(g: Generator, type: str, m: int, n: int, steps: int) -> tuple[str, str, str]:
    """A new output of tiles: the text of a pointer to it, descriptors of its tiles and rows."""
    pointer, whole = base(g, f"o{outputs(g)}", steps * m * n)
    g.argument("output", type, "o", size=whole, flavour="zero")
    names = []
    for rows in (m, 1):
        names.append(g.name("d"))
        g.line(
            f"{names[-1]} = tl.make_tensor_descriptor({pointer}, [{steps * m}, {n}], [{n}, 1], "
            f"[{rows}, {n}])"
        )
    return pointer, names[0], names[1]


def header(g: Generator, steps: int) -> str:
    bound = str(steps)
    if g.chance(0.6):
        bound = g.argument("scalar", "i32", "t", value=steps).name
    options = f", num_stages={g.choice((0, 1, 2, 3))}" if g.chance(0.5) else ""
    counter = g.name("s")
    g.line(f"for {counter} in tl.range(0, {bound}{options}):")
    return counter


def stored_and_read(g: Generator) -> Any:
    """Each iteration stores a tile and reads one that is stored."""
    type = "i32"
    m, n, steps = g.choice((16, 32, 64)), g.choice((8, 32, 64)), g.choice((2, 3, 4))
    pointer, tiles, rows = tile_of(g, type, m, n, steps)
    source = g.argument("input", type, "x", size=steps * m * n, flavour="small", low=-9,
                        high=9).name  # fmt: skip
    at = offsets((m, n), contiguous((m, n)))
    function = g.name("h")
    g.functions.append(
        f"@tile.jit(noinline={g.chance(0.5)})\ndef {function}(p):\n    return tl.load(p)"
    )
    total = g.name()
    g.line(f"{total} = tl.zeros([{m}, {n}], {TYPES[type].tl})")
    t = header(g, steps)
    g.depth += 1
    row = g.choice((f"{t} * {m}", f"tl.maximum({t} - 1, 0) * {m}", f"({t} // 2) * {m}"))
    read = g.choice(READS).format(
        at=f"{pointer} + ({row}) * {n} + {at}", p=pointer, row=row, d=tiles, rows=rows, m=m, n=n,
        type=TYPES[type].tl, function=function,
    )  # fmt: skip
    lines = [
        f"{tiles}.store([{t} * {m}, 0], tl.load({source} + {t} * {m * n} + {at}))",
        f"{total} += {read}",
    ]
    if g.chance(0.2):  # What is read was stored in the iteration before, or not at all.
        lines.reverse()
    for line in lines:
        g.line(line)
    g.depth -= 1
    g.env.append(Value(total, type, (m, n)))


def multiplied_again(g: Generator) -> Any:
    """Products of what the round before stored, whose loads the loop pipelines."""
    m = n = g.choice((64, 64, 32))
    steps, rounds = g.choice((1, 2, 3)), g.choice((2, 3))
    pointer, tiles, _ = tile_of(g, "fp16", m, n, steps)
    known = {"flavour": "exact", "low": -1, "high": 1, "grid": 0}
    weights = g.argument("input", "fp16", "x", size=n * n, **known).name
    at, square = (offsets((rows, n), contiguous((rows, n))) for rows in (m, n))
    acc, total = g.name(), g.name()
    g.line(f"{total} = tl.zeros([{m}, {n}], tl.float32)")
    g.line(f"for {g.name('s')} in tl.range(0, {rounds}):")
    g.depth += 1
    g.line(f"{acc} = tl.zeros([{m}, {n}], tl.float32)")
    k = header(g, steps)
    g.depth += 1
    x = g.choice((f"tl.load({pointer} + {k} * {m * n} + {at})", f"{tiles}.load([{k} * {m}, 0])"))
    g.line(f"{acc} = tl.dot({x}, tl.load({weights} + {square}), {acc})")
    g.depth -= 1
    k = header(g, steps)
    g.depth += 1
    g.line(f"{tiles}.store([{k} * {m}, 0], ({acc} <= {k} - 1).to(tl.float16))")
    g.depth -= 1
    g.line(f"{total} += {acc}")
    g.depth -= 1
    g.env.append(Value(total, "fp32", (m, n), bound=float(n * steps * rounds), grid=0))


def seen(g: Generator) -> None:
    g.choice((stored_and_read, stored_and_read, multiplied_again))(g)
