"""Products of blocks in microscaling formats, alone and in loops: the scales, or the products of
those of both operands, are next to one, so that the sums stay exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .generator import Generator, contiguous, offsets, production
from .matrix import loop_header
from .memory import base
from .values import Value, fits


@dataclass(frozen=True)
class Format:
    """A format of elements: the type that has them in memory, and what they are at most, in
    multiples of 2**-grid."""

    name: str
    type: str
    bound: float
    grid: int
    packed: bool = False


#: e2m1 is any bits: two of 0 to 6 with a sign in a byte.
FORMATS = (
    Format("e2m1", "u8", 6.0, 1, packed=True),
    Format("e4m3", "fp8e4nv", 4.0, 1),
    Format("e5m2", "fp8e5", 3.0, 1),
    Format("bf16", "bf16", 4.0, 1),
    Format("fp16", "fp16", 4.0, 1),
)

#: How many elements along K have a scale: an exponent, or a number of e4m3.
GROUP, GROUP_OF_FLOATS = 32, 16


def array(g: Generator, type: str, shape: tuple[int, ...], trips: int, axis: int,
          **contents: Any) -> str:  # fmt: skip
    """The text of a load of block `{k}` from a new array of blocks along an axis."""
    whole = tuple(s * trips if d == axis else s for d, s in enumerate(shape))
    order = (0, 1) if g.chance(0.7) else (1, 0)
    strides = contiguous(whole, order)
    number = sum(a.name.startswith("x") for a in g.arguments)
    pointer, size = base(g, f"x{number}", whole[0] * whole[1])
    g.argument("input", type, "x", size=size, **contents)
    step = shape[axis] * strides[axis]
    return f"tl.load({pointer} + {offsets(shape, strides)} + {{k}} * {step})"


def elements(g: Generator, format: Format, shape: tuple[int, int], trips: int, axis: int,
             pack: int) -> str:  # fmt: skip
    """The text of a load of an operand whose K is along `axis`; of two elements in a byte those
    along dimension `pack`."""
    if format.packed:
        packed = (shape[0] // (2 if pack == 0 else 1), shape[1] // (2 if pack == 1 else 1))
        return array(g, format.type, packed, trips, axis)
    top = int(format.bound * 2**format.grid)
    return array(g, format.type, shape, trips, axis, flavour="exact", low=-top, high=top,
                 grid=format.grid)  # fmt: skip


def scale(g: Generator, extent: int, k: int, trips: int, about: int = 127) -> str:
    return array(
        g, "u8", (extent, k // GROUP), trips, 1, flavour="small", low=about - 1, high=about + 1
    )


def float_scale(g: Generator, extent: int, k: int, trips: int) -> str:
    """Multiples of a quarter, up to two; the sign does not count."""
    return array(g, "fp8e4nv", (extent, k // GROUP_OF_FLOATS), trips, 1, flavour="exact", low=-8,
                 high=8, grid=2)  # fmt: skip


@production(0.6)
def scaled_product(g: Generator) -> Any:
    """A product of two operands, of which one has scales at least."""
    if g.pure or g.loops:
        return False
    known = [f for f in FORMATS if f.type != "fp8e4nv" or g.config.target >= 89]
    left, right = g.choice(known), g.choice(known)
    if g.chance(0.2):  # Some instructions take two operands of pairs alone.
        left = right = FORMATS[0]
    m, n = g.choice((16, 32, 64)), g.choice((16, 32, 64))
    k = g.extent(g.choice((32, 64, 64, 128)), 32)
    m, n = g.extent(m, 8), g.extent(n, 8)
    trips = g.choice((0, 1, 1, 2, 3))
    count = max(trips, 1)
    scaled = g.choice(("both", "both", "left", "right"))
    # Both are multiplied by them in bf16, which has no room for the bits of wider elements.
    floats = left.packed and right.packed and g.config.target >= 89 and g.chance(0.4)
    # Scales are from a half to two, or multiples of a quarter.
    bound = left.bound * right.bound * 4 * k * count
    grid = left.grid + right.grid + (4 if floats else 2)
    # There is no type for both.
    mixed = {left.name, right.name} == {"bf16", "fp16"}
    if mixed or not fits(bound, grid, "fp32"):
        return False
    # Two elements in a byte are next to each other along K, or across it.
    across = [f.packed and g.chance(0.3) for f in (left, right)]
    x = elements(g, left, (m, k), count, 1, 1 - across[0])
    y = elements(g, right, (k, n), count, 0, int(across[1]))
    ends = scaled == "both" and not floats and g.chance(0.5)
    about = g.random.randint(1, 253) if ends else 127
    x_scale = y_scale = "None"
    if scaled != "right":
        x_scale = float_scale(g, m, k, count) if floats else scale(g, m, k, count, about)
    if scaled != "left":
        y_scale = float_scale(g, n, k, count) if floats else scale(g, n, k, count, 254 - about)
    acc, a, b, s, t = (g.name() for _ in range(5))
    loop = trips != 1 or g.chance(0.5)
    g.line(f"{acc} = tl.zeros([{m}, {n}], tl.float32)")
    counter = loop_header(g, trips) if loop else "0"
    g.depth += loop
    for name, text in ((a, x), (b, y), (s, x_scale), (t, y_scale)):
        g.line(f"{name} = {text.format(k=counter)}")
    packs = "".join(f", {side}_k_pack=False" for side, is_across
                    in zip(("lhs", "rhs"), across, strict=True) if is_across)  # fmt: skip
    fast = ", fast_math=True" if about == 127 and g.chance(0.3) else ""
    product = f'{a}, {s}, "{left.name}", {b}, {t}, "{right.name}"'
    if g.chance(0.7):
        g.line(f"{acc} = tl.dot_scaled({product}, {acc}{fast}{packs})")
    else:
        g.line(f"{acc} += tl.dot_scaled({product}{fast}{packs})")
    g.depth -= loop
    g.env.append(Value(acc, "fp32", (m, n), bound=bound, grid=grid))
    return None
