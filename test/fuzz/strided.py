"""Products of matrices in memory as libraries write them: rows are some distance apart, which is
known at run time. Each dimension has a bound in a mask, or rows wrap around."""

from __future__ import annotations

from typing import Any

from .generator import Generator, production
from .matrix import result_type
from .memory import base, input_domain, scalar_argument
from .values import TYPES, Value, fits


def number(g: Generator, value: int) -> str:
    """A number in the text, or passed by the launch."""
    return scalar_argument(g, value) if g.chance(0.6) else str(value)


def matrix(g: Generator, type: str, rows: int, columns: int) -> tuple[str, str, Any]:
    """A matrix whose rows are contiguous: its first element, the distance of rows, and what is
    known of the elements."""
    step = 128 // TYPES[type].bits
    stride = columns + g.choice((0, 0, 0, 1, step))
    if g.chance(0.8):
        stride = (stride + step - 1) // step * step
    if g.chance(0.05):
        stride = 0
    properties, known = input_domain(g, type, plain=True)
    count = sum(a.name.startswith("x") for a in g.arguments)
    size = (rows - 1) * stride + columns
    pointer, total = base(g, f"x{count}", (size + 15) // 16 * 16)
    g.argument("input", type, "x", size=total, **properties)
    return pointer, number(g, stride), known


class Operand:
    """One of a dot: its tile is `outer` times `inner` elements, and the loop goes along the
    inner ones."""

    def __init__(self, g: Generator, type: str, outer: int, inner: int, size: int) -> None:
        self.g, self.outer, self.inner = g, outer, inner
        self.bound = max(1, outer - g.choice((0, 0, 1, 5, 8)))
        self.turned = g.chance(0.5)
        shape = (size, self.bound) if self.turned else (self.bound, size)
        self.pointer, self.stride, self.known = matrix(g, type, *shape)
        self.limit = number(g, self.bound)
        self.wraps = g.chance(0.4)
        wide = ".to(tl.int64)" if g.chance(0.2) else ""
        self.rows = f"tl.arange(0, {outer}){wide}"

    def tile(self, is_left: bool) -> tuple[str, str, str | None]:
        """Addresses of the first tile, by how much one element along the loop goes on, and a mask
        of rows."""
        along, across = ("[None, :]", "[:, None]") if is_left else ("[:, None]", "[None, :]")
        rows = f"({self.rows} % {self.limit})" if self.wraps else self.rows
        rows, inner = f"{rows}{across}", f"tl.arange(0, {self.inner}){along}"
        step = self.stride if self.turned else "1"
        if self.turned:
            text = f"{self.pointer} + {inner} * {self.stride} + {rows}"
        else:
            text = f"{self.pointer} + {rows} * {self.stride} + {inner}"
        mask = None if self.wraps else f"(({self.rows}) < {self.limit}){across}"
        if self.bound == self.outer and self.g.chance(0.6):
            mask = None
        return text, step, mask


@production(1.0)
def strided_product_loop(g: Generator) -> Any:
    if g.pure or g.loops:
        return False
    type = g.choice(("fp16", "fp16", "bf16", "fp32", "i8", "fp8e5"))
    out = result_type(type)
    m, n = g.choice((16, 64, 64, 128)), g.choice((16, 32, 64, 64))
    k = max(g.choice((16, 32, 64)), 32 if TYPES[type].bits == 8 else 16)
    first = g.choice((0, 0, 0, k, 2 * k, 3))
    trips = g.choice((0, 1, 2, 3, 5))
    size = max(1, first + k * trips - g.choice((0, 0, 0, 1, 8, 16)))
    left, right = Operand(g, type, m, k, size), Operand(g, type, n, k, size)
    bound = left.known.get("bound", 0) * right.known.get("bound", 0) * k * (trips + 1)
    grid = left.known.get("grid", 0) + right.known.get("grid", 0)
    if TYPES[type].kind == "f" and not fits(bound * 2, grid, out):
        return False
    end = number(g, size)
    form = g.choice(("moves", "counts", "steps"))
    acc, counter = g.name(), g.name("k")
    g.line(f"{acc} = tl.zeros([{m}, {n}], {TYPES[out].tl})")
    tiles = [left.tile(True), right.tile(False)]
    pointers = [g.name("p"), g.name("p")]
    for name, (text, step, _) in zip(pointers, tiles, strict=True):
        begin = f" + {first} * {step}" if first and form != "steps" else ""
        g.line(f"{name} = {text}{begin}")
    options = g.choice(("", "", ", num_stages=2", ", num_stages=4", ", warp_specialize=True"))
    if form == "steps":
        g.line(f"for {counter} in tl.range({number(g, first)}, {end}, {k}{options}):")
        place = counter
    else:
        rounds = f"tl.cdiv({end} - {first}, {k})"
        g.line(f"for {counter} in tl.range(0, {rounds}{options}):")
        place = f"{counter} * {k}"
    g.depth += 1
    values = []
    for name, is_left, (_, step, mask) in zip(pointers, (True, False), tiles, strict=True):
        along = "[None, :]" if is_left else "[:, None]"
        inner = f"tl.arange(0, {k}){along}"
        origin = "" if form == "steps" else f" - {first}"
        inside = g.choice((f"({inner} < {end}{origin} - {place})",
                           f"({place} + {inner} < {end}{origin})",
                           f"({end}{origin} > {place} + {inner})"))  # fmt: skip
        text = inside if mask is None else f"{mask} & {inside}"
        at = name if form == "moves" else f"{name} + {place} * {step}"
        values.append(g.name())
        g.line(f"{values[-1]} = tl.load({at}, mask={text}, other=0)")
    g.line(f"{acc} = tl.dot({values[0]}, {values[1]}, {acc})")
    if form == "moves":
        for name, (_, step, _) in zip(pointers, tiles, strict=True):
            g.line(f"{name} += {k} * {step}")
    g.depth -= 1
    g.env.append(Value(acc, out, (m, n), bound=bound, grid=grid))
    return None
