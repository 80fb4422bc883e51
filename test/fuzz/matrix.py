"""Matrix products, alone and in loops that the compiler pipelines."""

from __future__ import annotations

from typing import Any, NamedTuple

from .convert import coerce
from .counters import odd_range
from .generator import Generator, contiguous, offsets, production
from .memory import base, input_domain, source
from .values import TYPES, Value, fits


def operand_type(g: Generator) -> str:
    types = ["fp16", "fp16", "bf16", "fp32", "fp64", "i8", "fp8e5"]
    if g.config.target >= 89:
        types.append("fp8e4nv")
    return g.choice(types)


def result_type(type: str) -> str:
    if type == "i8":
        return "i32"
    return "fp64" if type == "fp64" else "fp32"


def choose_sizes(g: Generator, type: str) -> tuple[int, int, int]:
    m, n = g.choice((16, 16, 32, 64)), g.choice((8, 16, 16, 32, 64))
    k = g.choice((16, 16, 32, 64))
    if TYPES[type].bits == 8:
        k = max(k, 32)
    n = max(n, 16)
    return g.extent(m, 8), g.extent(n, 8), g.extent(k, 8)


def factor(g: Generator, type: str, shape: tuple[int, ...]) -> Value | None:
    """An operand: a value that is there, if it can be made to fit, or one from memory."""
    top = 4.0
    if g.chance(0.5):
        usable = g.pick(
            lambda v: v.shape and v.numel > 1 and (v.is_int or (v.is_plain and v.bound <= top))
        )
        if usable is not None:
            found = coerce(g, usable, type, shape)
            if found is not None and (found.is_int or (found.is_plain and found.bound <= 64)):
                return found
    return source(g, type, shape, plain=True)


def usable(value: Value | None) -> bool:
    return value is not None and (value.is_int or value.is_plain)


@production(1.5)
def dot(g: Generator) -> Any:
    type = operand_type(g)
    if g.pure:
        return False
    m, n, k = choose_sizes(g, type)
    batch = (g.choice((1, 2, 4)),) if g.chance(0.15) and type in ("fp16", "fp32", "i8") else ()
    if batch:
        m, n, k = min(m, 32), min(n, 32), min(k, 32)
    a = factor(g, type, (*batch, m, k))
    b = factor(g, type, (*batch, k, n))
    if not usable(a) or not usable(b):
        return False
    assert a is not None and b is not None
    out = result_type(type)
    bound, grid = a.bound * b.bound * k, a.grid + b.grid
    if type == "fp32" and not (fits(a.bound, a.grid, "fp16") and fits(b.bound, b.grid, "fp16")):
        return False
    if a.is_float and not fits(bound, grid, out):
        return False
    extra = ""
    if g.chance(0.4):
        c = g.pick(lambda v: v.shape == (*batch, m, n) and v.type == out and v.is_exact)
        if c is not None and (
            c.is_int or (c.is_plain and fits(c.bound + bound, max(c.grid, grid), out))
        ):
            extra = f", {c.name}"
            bound, grid = c.bound + bound, max(c.grid, grid)
    if type == "fp32" and g.chance(0.6):
        extra += f", input_precision='{g.choice(('tf32', 'tf32x3', 'ieee'))}'"
    if type == "fp16" and not extra and g.chance(0.2) and fits(bound, grid, "fp16"):
        extra, out = ", out_dtype=tl.float16", "fp16"
    return g.let(f"tl.dot({a.name}, {b.name}{extra})", out, (*batch, m, n), bound=bound, grid=grid)


def tile_argument(g: Generator, type: str, shape: tuple[int, ...], trips: int, axis: int) -> Any:
    """An array of `trips` tiles along an axis: the text of a pointer to the first, the distance to
    the next, and what is known of the elements."""
    whole = tuple(s * trips if d == axis else s for d, s in enumerate(shape))
    order = list(range(len(shape)))
    if g.chance(0.4):
        g.random.shuffle(order)
    strides = contiguous(whole, tuple(order))
    size = 1
    for extent in whole:
        size *= extent
    properties, domain = input_domain(g, type, plain=True)
    number = sum(a.name.startswith("x") for a in g.arguments)
    pointer, total = base(g, f"x{number}", size)
    g.argument("input", type, "x", size=total, **properties)
    text = f"{pointer} + {offsets(shape, strides)}"
    return text, shape[axis] * strides[axis], domain


def loop_header(g: Generator, trips: int) -> str:
    """The beginning of a loop of so many iterations; returns the name of the iteration's number."""
    options = ""
    if g.chance(0.5):
        options += f", num_stages={g.random.randint(1, 4)}"
    if g.chance(0.1):
        options += f", loop_unroll_factor={g.choice((2, 3))}"
    if g.chance(0.1):
        options += ", disallow_acc_multi_buffer=True"
    if g.chance(0.3):
        options += ", warp_specialize=True"
    if g.chance(0.25):
        return odd_range(g, trips, options)
    bound = str(trips)
    if g.chance(0.6):
        bound = g.argument("scalar", "i32", "t", value=trips).name
    name = g.name("k")
    g.line(f"for {name} in tl.range(0, {bound}{options}):")
    return name


class Products(NamedTuple):
    """The dots of a loop: their types, the sizes of their tiles, where these are, and what is
    known of their sum."""

    type: str
    out: str
    sizes: tuple[int, int, int]
    trips: int
    tiles: tuple[tuple[str, int], tuple[str, int]]
    bound: float
    grid: int


def choose_products(g: Generator) -> Products:
    type = operand_type(g)
    m, n, k = choose_sizes(g, type)
    trips = g.choice((0, 1, 2, 3, 5))
    count = max(trips, 1)
    a, a_step, a_known = tile_argument(g, type, (m, k), count, 1)
    b, b_step, b_known = tile_argument(g, type, (k, n), count, 0)
    return Products(
        type,
        result_type(type),
        (m, n, k),
        trips,
        ((a, a_step), (b, b_step)),
        bound=a_known.get("bound", 0) * b_known.get("bound", 0) * k * count,
        grid=a_known.get("grid", 0) + b_known.get("grid", 0),
    )


@production(1)
def product_loop(g: Generator) -> Any:
    """The loop of a matrix product: tiles are loaded, multiplied and added up."""
    if g.pure or g.loops:
        return False
    type, out, (m, n, k), trips, ((a, a_step), (b, b_step)), bound, grid = choose_products(g)
    bias_bound, bias_grid = 16.0, 2
    if TYPES[type].kind == "f" and not fits(
        bound * 2 + bias_bound * max(trips, 1), max(grid, bias_grid), out
    ):
        return False
    pa, pb, acc = g.name("p"), g.name("p"), g.name()
    g.line(f"{pa} = {a}")
    g.line(f"{pb} = {b}")
    g.line(f"{acc} = tl.zeros([{m}, {n}], {TYPES[out].tl})")
    counter = loop_header(g, trips)
    g.depth += 1
    moves = g.chance(0.6)
    masked = g.chance(0.3)
    at = [pa, pb] if moves else [f"{pa} + {counter} * {a_step}", f"{pb} + {counter} * {b_step}"]
    mask = ""
    if masked:
        limit = g.random.randint(1, k)
        mask = f", mask=(tl.arange(0, {k}) < {limit})[None, :], other=0"
    x, y = g.name(), g.name()
    g.line(f"{x} = tl.load({at[0]}{mask})")
    g.line(f"{y} = tl.load({at[1]})")
    if g.chance(0.25) and TYPES[type].kind == "f" and TYPES[type].bits > 8:
        g.line(f"{x} = {g.choice((f'-{x}', f'tl.abs({x})', f'tl.where({x} > 0.0, {x}, 0.0)'))}")
    if g.chance(0.2):
        g.line(f"if {counter} != 1:")
        g.depth += 1
        g.line(f"{acc} = tl.dot({x}, {y}, {acc})")
        g.depth -= 1
    elif g.chance(0.3):
        g.line(f"{acc} += tl.dot({x}, {y})")
    else:
        g.line(f"{acc} = tl.dot({x}, {y}, {acc})")
    if moves:
        g.line(f"{pa} += {a_step}")
        g.line(f"{pb} += {b_step}")
    g.depth -= 1
    g.env.append(Value(acc, out, (m, n), bound=bound, grid=grid))
    return None


def blocks_of_operand(
    g: Generator, type: str, shape: tuple[int, int], trips: int, inner: int
) -> tuple[str, Any]:
    """A descriptor of `trips` blocks of an operand along dimension `inner`; returns the text of the
    block of an iteration `{k}`, and what is known of the elements."""
    whole = [s * trips if d == inner else s for d, s in enumerate(shape)]
    # Out of bounds are zeros.
    bounds = [max(1, w - g.choice((0, 0, 0, 1, 5))) for w in whole]
    at = ["{k} * " + str(s) if d == inner else "0" for d, s in enumerate(shape)]
    if g.chance(0.15):
        at[1 - inner] = str(g.choice((-16, 8, 16)))
    block = list(shape)
    turned = g.chance(0.4)
    if turned:
        whole, bounds, at, block = whole[::-1], bounds[::-1], at[::-1], block[::-1]
    step = 128 // TYPES[type].bits
    stride = (whole[1] + g.choice((0, 0, 8, step)) + step - 1) // step * step
    properties, domain = input_domain(g, type, plain=True)
    number = sum(a.name.startswith("x") for a in g.arguments)
    # Programs begin at multiples of 16 bytes.
    pointer, total = base(g, f"x{number}", (whole[0] * stride + 15) // 16 * 16)
    g.argument("input", type, "x", size=total, **properties)
    name = g.name("d")
    g.line(f"{name} = tl.make_tensor_descriptor({pointer}, {bounds}, [{stride}, 1], {block})")
    text = f"{name}.load([{', '.join(at)}])" + (".T" if turned else "")
    return text, domain


@production(0.8)
def descriptor_product_loop(g: Generator) -> Any:
    """The loop of a matrix product whose operands come through descriptors, in tiles that warp
    groups multiply and in smaller ones; sometimes one for each of several tiles."""
    if g.pure or g.loops:
        return False
    type = g.choice(("fp16", "fp16", "bf16", "fp32", "i8", "fp8e5"))
    out = result_type(type)
    m, n = g.choice((16, 64, 64, 128)), g.choice((16, 32, 64, 64))
    k = max(g.choice((16, 32, 64)), 32 if TYPES[type].bits == 8 else 16)
    tiles = g.choice((1, 1, 1, 2, 3))
    trips = g.choice((0, 1, 2, 3, 5))
    a, a_known = blocks_of_operand(g, type, (m, k), max(trips, 1), 1)
    b, b_known = blocks_of_operand(g, type, (k, n), max(trips, 1), 0)
    terms = k * max(trips, 1) * tiles
    bound = a_known.get("bound", 0) * b_known.get("bound", 0) * terms
    grid = a_known.get("grid", 0) + b_known.get("grid", 0)
    if TYPES[type].kind == "f" and not fits(bound * 2, grid, out):
        return False
    total, acc = g.name(), g.name()
    zeros = f"tl.zeros([{m}, {n}], {TYPES[out].tl})"
    g.line(f"{total} = {zeros}")
    if tiles > 1:
        options = g.choice(("", ", flatten=True", ", warp_specialize=True, flatten=True"))
        g.line(f"for {g.name('i')} in tl.range(0, {tiles}{options}):")
        g.depth += 1
    g.line(f"{acc} = {zeros}")
    counter = loop_header(g, trips)
    g.depth += 1
    x, y = g.name(), g.name()
    g.line(f"{x} = {a.format(k=counter)}")
    g.line(f"{y} = {b.format(k=counter)}")
    if g.chance(0.2) and TYPES[type].kind == "f" and TYPES[type].bits > 8:
        g.line(f"{x} = {g.choice((f'-{x}', f'tl.where({x} > 0.0, {x}, 0.0)'))}")
    g.line(f"{acc} = tl.dot({x}, {y}, {acc})")
    g.depth -= 1
    g.line(f"{total} += {acc}")
    if tiles > 1:
        g.depth -= 1
    g.env.append(Value(total, out, (m, n), bound=bound, grid=grid))
    return None


@production(1.2)
def stream_loop(g: Generator) -> Any:
    """A loop over tiles in memory that keeps sums, extremes, or writes each tile back."""
    if g.pure or g.loops:
        return False
    type = g.choice(("i8", "i16", "i32", "i64", "u8", "u32", "fp16", "bf16", "fp32", "fp64"))
    shape = g.choose_shape(2)
    trips = g.choice((1, 2, 3, 4, 7))
    axis = g.random.randrange(len(shape))
    text, step, known = tile_argument(g, type, shape, trips, axis)
    acc_type = "i64" if TYPES[type].kind in "iu" else "fp64" if type == "fp64" else "fp32"
    bound = known.get("bound", 0) * trips * 2
    if TYPES[type].kind == "f" and not fits(bound, known.get("grid", 0), acc_type):
        return False
    acc, pointer = g.name(), g.name("p")
    g.line(f"{pointer} = {text}")
    g.line(f"{acc} = tl.zeros({list(shape)}, {TYPES[acc_type].tl})")
    counter = loop_header(g, trips)
    g.depth += 1
    item = g.name()
    g.line(f"{item} = tl.load({pointer} + {counter} * {step})")
    if g.chance(0.3):
        number = sum(a.name.startswith("o") for a in g.arguments)
        size = shape[0] * (shape[1] if len(shape) > 1 else 1)
        out, whole = base(g, f"o{number}", size * trips)
        g.argument("output", type, "o", size=whole, flavour="poison")
        g.line(
            f"tl.store({out} + {counter} * {size} + {offsets(shape, contiguous(shape))}, {item})"
        )
    update = g.choice(("{a} += {x}.to({t})", "{a} = tl.maximum({a}, {x}.to({t}))",
                       "{a} += tl.where({k} % 2 == 0, {x}, 0).to({t})"))  # fmt: skip
    g.line(update.format(a=acc, x=item, t=TYPES[acc_type].tl, k=counter))
    g.depth -= 1
    g.env.append(Value(acc, acc_type, shape, bound=bound, grid=known.get("grid", 0)))
    return None
