"""Loops of the kinds that the compiler pipelines beside plain matrix products."""

from __future__ import annotations

from typing import Any

from .generator import Generator, contiguous, offsets, production
from .matrix import choose_products, loop_header, operand_type, result_type, tile_argument
from .memory import base
from .values import TYPES, Value, fits


@production(0.7)
def attention_loop(g: Generator) -> Any:
    """Two dots in a row: what is between them is 0 or 1, so the sums stay exact."""
    if g.pure or g.loops:
        return False
    type = g.choice(("fp16", "fp16", "bf16", "fp32"))
    m, n, d = g.choice((16, 32, 64)), g.choice((16, 32, 64)), g.choice((16, 32, 64))
    trips = g.choice((0, 1, 2, 3, 4))
    count = max(trips, 1)
    q, _, q_known = tile_argument(g, type, (m, d), 1, 0)
    turned = g.chance(0.4)
    k, k_step, k_known = tile_argument(g, type, (n, d) if turned else (d, n), count, 1 - turned)
    v, v_step, v_known = tile_argument(g, type, (n, d), count, 0)
    score = q_known["bound"] * k_known["bound"] * d
    score_grid = q_known["grid"] + k_known["grid"]
    bound, grid = v_known["bound"] * n * count, v_known["grid"]
    if not fits(score, score_grid, "fp32") or not fits(bound, grid, "fp32"):
        return False
    names = {key: g.name() for key in ("q", "acc", "best", "sum", "k", "s", "p", "v")}
    g.line(f"{names['q']} = tl.load({q})")
    g.line(f"{names['acc']} = tl.zeros([{m}, {d}], tl.float32)")
    g.line(f"{names['best']} = tl.full([{m}], -1000.0, tl.float32)")
    g.line(f"{names['sum']} = tl.zeros([{m}], tl.int32)")
    counter = loop_header(g, trips)
    g.depth += 1
    g.line(f"{names['k']} = tl.load({k} + {counter} * {k_step})")
    operand = f"tl.trans({names['k']})" if turned else names["k"]
    g.line(f"{names['s']} = tl.dot({names['q']}, {operand})")
    g.line(f"{names['best']} = tl.maximum({names['best']}, tl.max({names['s']}, 1))")
    rule = g.choice(("{s} > 0.0", "{s} >= {best}[:, None]", "{s} < 2.0"))
    g.line(f"{names['p']} = {rule.format(**names)}")
    if g.chance(0.5):
        rows = f"tl.arange(0, {m})[:, None]"
        columns = f"({counter} * {n} + tl.arange(0, {n}))[None, :]"
        g.line(f"{names['p']} = {names['p']} & ({rows} >= {columns})")
    g.line(f"{names['sum']} += tl.sum({names['p']}.to(tl.int32), 1)")
    g.line(f"{names['v']} = tl.load({v} + {counter} * {v_step})")
    element = TYPES[type].tl
    g.line(f"{names['acc']} = tl.dot({names['p']}.to({element}), {names['v']}, {names['acc']})")
    g.depth -= 1
    g.env.append(Value(names["acc"], "fp32", (m, d), bound=bound, grid=grid))
    g.env.append(
        Value(names["best"], "fp32", (m,), bound=max(score, 1000.0), grid=max(score_grid, 0))
    )
    g.env.append(Value(names["sum"], "i32", (m,)))
    return None


@production(0.7)
def lookup_loop(g: Generator) -> Any:
    """Indices are loaded, then what they name: both can be copied ahead."""
    if g.pure or g.loops:
        return False
    shape = g.choose_shape(2)
    trips = g.choice((1, 2, 3, 5))
    size = g.choice((16, 64, 256))
    text, step, _ = tile_argument(g, g.choice(("i32", "i32", "i64", "u8")), shape, trips, 0)
    type = g.choice(("i32", "i64", "fp32", "i8", "fp16"))
    table, _, known = tile_argument(g, type, (size,), 1, 0)
    pointer = table.split(" + tl.arange")[0]
    out = "fp32" if TYPES[type].kind == "f" else "i64"
    bound, grid = known.get("bound", 0.0) * trips, known.get("grid", 0)
    index, item, acc = g.name(), g.name(), g.name()
    g.line(f"{acc} = tl.zeros({list(shape)}, {TYPES[out].tl})")
    counter = loop_header(g, trips)
    g.depth += 1
    g.line(f"{index} = tl.load({text} + {counter} * {step})")
    g.line(f"{item} = tl.load({pointer} + ({index} & {min(size, 128) - 1}))")
    if g.chance(0.3):
        g.line(f"if {counter} != 1:")
        g.line(f"    {acc} += {item}.to({TYPES[out].tl})")
    else:
        g.line(f"{acc} += {item}.to({TYPES[out].tl})")
    g.depth -= 1
    g.env.append(Value(acc, out, shape, bound=bound, grid=grid))
    return None


@production(0.6)
def tiled_product(g: Generator) -> Any:
    """A loop over tiles of the result around the loop of a dot; each result is stored."""
    if g.pure or g.loops:
        return False
    type = operand_type(g)
    out = result_type(type)
    m, n, k = 16, g.choice((16, 32)), 32
    tiles, trips = g.choice((1, 2, 3)), g.choice((1, 2, 3))
    a, a_step, a_known = tile_argument(g, type, (m, k), trips, 1)
    b, b_step, b_known = tile_argument(g, type, (k, n), trips, 0)
    bound = a_known.get("bound", 0) * b_known.get("bound", 0) * k * trips
    grid = a_known.get("grid", 0) + b_known.get("grid", 0)
    if TYPES[type].kind == "f" and not fits(bound * tiles, grid, out):
        return False
    number = sum(x.name.startswith("o") for x in g.arguments)
    pointer, whole = base(g, f"o{number}", m * n * tiles)
    g.argument("output", out, "o", size=whole, flavour="poison")
    acc = g.name()
    options = g.choice(("", "", ", flatten=True", ", num_stages=2"))
    if g.chance(0.2):
        options += ", warp_specialize=True"
    tile = g.name("s")
    g.line(f"for {tile} in tl.range(0, {tiles}{options}):")
    g.depth += 1
    g.line(f"{acc} = tl.zeros([{m}, {n}], {TYPES[out].tl})")
    counter = loop_header(g, trips)
    g.line(
        f"    {acc} = tl.dot(tl.load({a} + {counter} * {a_step}), "
        f"tl.load({b} + {counter} * {b_step}), {acc})"
    )
    where = f"{pointer} + {tile} * {m * n} + {offsets((m, n), contiguous((m, n)))}"
    g.line(f"tl.store({where}, {acc} * ({tile} + 1))")
    g.depth -= 1
    return None


@production(0.8)
def handing_on(g: Generator) -> Any:
    """A loop whose variables hand values on to each other, for one iteration or for several:
    what is loaded, the counter, something from outside; where it loads may come from them."""
    if g.pure or g.loops:
        return False
    shape = g.choose_shape(2)
    trips = g.choice((0, 1, 2, 3, 5))
    rows = 4
    text, step, _ = tile_argument(g, "i32", shape, rows, 0)
    numbers = [g.name() for _ in range(g.random.randint(1, 4))]
    blocks = [g.name() for _ in range(g.random.randint(0, 2))]
    outside = g.argument("scalar", "i32", "n", value=g.random.randint(-9, 9)).name
    acc, x = g.name(), g.name()
    for i, name in enumerate(numbers):
        g.line(f"{name} = {g.choice((i, i + 7, outside))}")
    for i, name in enumerate([acc, *blocks]):
        g.line(f"{name} = tl.full({list(shape)}, {i}, tl.int32)")
    counter = loop_header(g, trips)
    g.depth += 1
    row = g.choice((counter, g.choice(numbers), f"{counter} + {g.choice(numbers)}"))
    g.line(f"{x} = tl.load({text} + (({row}) & {rows - 1}) * {step})")
    terms = [x, *g.random.sample(numbers, g.random.randint(0, len(numbers))), *blocks]
    g.line(f"{acc} = {acc} * 3 + {' + '.join(terms)}")
    for names, sources in (
        (numbers, [counter, outside, f"{counter} + 5", *numbers, *numbers]),
        (blocks, [x, f"{x} + {acc}", *blocks, *blocks]),
    ):
        if not names:
            continue
        values = [g.choice(sources) for _ in names]
        if g.chance(0.4):
            values = [*names[1:], g.choice(sources)]
        if g.chance(0.5):
            g.line(f"{', '.join(names)}, = {', '.join(values)},")
        else:
            for name, value in zip(names, values, strict=True):
                g.line(f"{name} = {value}")
    g.depth -= 1
    g.env += [Value(name, "i32", ()) for name in numbers]
    g.env += [Value(name, "i32", shape) for name in (acc, *blocks)]
    return None


@production(0.6)
def rotating_sums(g: Generator) -> Any:
    """Dots that add to several sums, which change places with each other."""
    if g.pure or g.loops:
        return False
    type, out, (m, n, _), trips, ((a, a_step), (b, b_step)), bound, grid = choose_products(g)
    if TYPES[type].kind == "f" and not fits(bound * 2, grid, out):
        return False
    sums = [g.name() for _ in range(g.choice((2, 2, 3)))]
    for name in sums:
        g.line(f"{name} = tl.zeros([{m}, {n}], {TYPES[out].tl})")
    counter = loop_header(g, trips)
    g.depth += 1
    x, y = g.name(), g.name()
    g.line(f"{x} = tl.load({a} + {counter} * {a_step})")
    g.line(f"{y} = tl.load({b} + {counter} * {b_step})")
    values = [*sums[1:], sums[0]]
    if g.chance(0.3):
        g.random.shuffle(values)
    for i in {g.random.randrange(len(sums)) for _ in sums}:
        values[i] = f"tl.dot({x}, {y}, {values[i]})"
    if g.chance(0.3):
        i = g.random.randrange(len(sums))
        values[i] = f"tl.where({counter} == 1, 0, {values[i]}).to({TYPES[out].tl})"
    g.line(f"{', '.join(sums)} = {', '.join(values)}")
    g.depth -= 1
    g.env += [Value(name, out, (m, n), bound=bound, grid=grid) for name in sums]
    return None
