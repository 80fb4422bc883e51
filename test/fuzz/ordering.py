"""Memory that is read after it was written: carried pointers, one array under two names, locks and
flags. All of it is integers, whose sums do not depend on who comes first."""

from __future__ import annotations

import math
import re
from typing import Any

from .generator import Generator, contiguous, offsets, production
from .matrix import loop_header
from .memory import mask_text, scalar_argument, store_value
from .values import TYPES as INFO
from .values import Value

TYPES = ("i32", "i32", "u32", "i64", "i16", "u8")


def while_header(g: Generator, trips: int) -> str:
    """Begins a while loop that counts; the name of the counter, to be raised at its end."""
    counter = g.name("i")
    g.line(f"{counter} = 0")
    g.line(f"while {counter} < {scalar_argument(g, trips) if g.chance(0.6) else trips}:")
    return counter


def sequence(
    g: Generator, type: str, shape: tuple[int, ...], parts: int, between: int
) -> tuple[str, str, int]:
    """An array of blocks, one after the other, with some elements between them: its name, pointers
    to the first block that belongs to the program, and the distance between blocks."""
    size = math.prod(shape) + between
    name = g.argument("output", type, "o", size=size * parts * g.programs, flavour="small",
                      low=0, high=100).name  # fmt: skip
    text = f"{name} + {offsets(shape, contiguous(shape))}" if shape else name
    if g.programs > 1:
        text += f" + pid * {size * parts}"
    return name, text, size


@production(1)
def pointer_walk(g: Generator) -> Any:
    """Pointers that a loop carries, over an array that it writes."""
    if g.pure or g.loops:
        return False
    type = g.choice(TYPES)
    own = g.chance(0.6)
    shape = own_elements(g, type) if own else g.choose_shape(2) if g.chance(0.7) else ()
    trips = g.choice((0, 1, 2, 3, 5))
    _, text, size = sequence(g, type, shape, trips + 2, 0 if own else g.choice((0, 1)))
    p, q, v = g.name("p"), g.name("p"), g.name()
    g.line(f"{p} = {text}")
    two = g.chance(0.5)
    if two:
        g.line(f"{q} = {p} + {size}")
    counter = while_header(g, trips) if g.chance(0.6) else None
    if counter is None:
        loop_header(g, trips)
    g.depth += 1
    # What is read was written in the iteration before.
    g.line(f"{v} = tl.load({p})" + (f" + tl.load({q})" if two else ""))
    target = f"{q} + {size}" if two else f"{p} + {size}"
    g.line(f"tl.store({target}, {v} * 2)")
    # The compiler orders what one thread writes and all threads read.
    if (shape and not own) or g.chance(0.2):
        g.line("tl.debug_barrier()")
    if two and g.chance(0.5):
        g.line(f"{p}, {q} = {q}, {q} + {size}")
    else:
        g.line(f"{p} += {size}")
        if two:
            g.line(f"{q} += {size}")
    if counter is not None:
        g.line(f"{counter} += 1")
    g.depth -= 1
    return None


@production(1.5)
def overwritten(g: Generator) -> Any:
    """A value that is used after other values were written to where it was loaded from. Of a small
    one every warp has a copy, which it loads itself."""
    if g.pure or g.loops:
        return False
    type = g.choice(TYPES)
    shape = () if g.chance(0.4) else g.choose_shape(2)
    size = math.prod(shape)
    skew = g.choice((0, 0, 1, 3)) if shape else 0
    array = g.argument("output", type, "o", size=size * g.programs, flavour="small", low=0,
                       high=6, skew=skew).name  # fmt: skip
    where = array + (f" + {offsets(shape, contiguous(shape))}" if shape else "")
    if g.programs > 1:
        where += f" + pid * {size}"
    value = g.let(f"tl.load({where})", type, shape, low=0, high=6)
    # What is written may have other threads for the same elements than what is loaded: also where
    # the values do not depend on each other.
    new = value.name if g.chance(0.5) else "3"
    if g.chance(0.5) or type not in ("i32", "u32", "i64"):
        how = g.choice(("", "", ", cache_modifier='.cs'", ", eviction_policy='evict_first'"))
        if shape and g.chance(0.4):
            how += f", mask={mask_text(g, shape)}"
        g.line(f"tl.store({where}, {new} + 1{how})")
    else:
        g.line(f"tl.atomic_add({where}, {new} + 1)")
        if g.chance(0.3):
            g.let(f"tl.load({where})", type, shape, low=0, high=16)
    if shape and g.chance(0.4):
        # Nothing but a branch uses what was read.
        g.line(f"if {scalar_argument(g, 5)} > {g.choice((3, 3, 7))}:")
        g.depth += 1
        store_value(g, value)
        g.depth -= 1
        g.env.remove(value)
    elif not shape and g.chance(0.5):
        trip, acc = g.name("i"), g.name()
        g.line(f"{acc} = tl.arange(0, 128)")
        g.line(f"for {trip} in range({value.name}.to(tl.int32)):")
        g.line(f"    {acc} = tl.cumsum({acc}, 0) & 0xFFFF")
        g.env.append(Value(acc, "i32", (128,)))
    return None


@production(1)
def scalar_and_block(g: Generator) -> Any:
    """A block and a scalar of it, which other threads read and write than the block's elements."""
    if g.pure or g.loops:
        return False
    type = g.choice(TYPES)
    shape = g.choose_shape(2)
    size, block = math.prod(shape), offsets(shape, contiguous(shape))
    at = g.random.randrange(size)
    array = g.argument("output", type, "o", size=size * g.programs, flavour="small", low=0,
                       high=6).name  # fmt: skip
    base = array + (f" + pid * {size}" if g.programs > 1 else "")
    trips = g.choice((None, 1, 2, 3))
    if trips is not None:
        loop_header(g, trips)
        g.depth += 1
    # Each of them is ordered with its neighbours: blocks alone would need barriers.
    x, y = g.name(), g.name()
    g.line(f"{x} = tl.load({base} + {at})")
    g.line(f"tl.store({base} + {block}, {x} + {block if type in ('i32', 'i64') else 1})")
    g.line(f"tl.store({base} + {at}, {x} * 2 + 1)")
    if g.chance(0.5):
        g.line(f"{x} = tl.load({base} + {g.random.randrange(size)}, volatile={g.chance(0.5)})")
        g.line(f"tl.store({base} + {at}, {x} + 1)")
    g.line(f"{y} = tl.load({base} + {block})")
    if trips is not None:
        g.depth -= 1
        return None
    g.env.append(Value(y, type, shape))
    return None


def own_elements(g: Generator, type: str) -> tuple[int, ...]:
    """A shape of as many elements for each thread as it loads and stores at once. So it has these
    elements of any such block to itself. No barrier is needed, and nothing else keeps the compiler
    from moving the loads."""
    bits = g.choice(b for b in (32, 64, 128) if b >= INFO[type].bits)
    size = 32 * g.config.num_warps * bits // INFO[type].bits
    return (size,) if g.chance(0.6) else (size // 32, 32)


@production(1.2)
def overlapping(g: Generator) -> Any:
    """Parameters for parts of one array, of which a loop reads some and writes another."""
    if g.pure or g.loops:
        return False
    own, product = g.chance(0.8), g.chance(0.4)
    type = "fp16" if product else g.choice(TYPES)
    shape = own_elements(g, type) if own else (*g.choose_shape(1), 16)
    if product and not (own and len(shape) == 2 and 16 <= shape[0] <= 64):
        return False
    size, trips = math.prod(shape), g.choice((1, 3, 4, 5))
    ahead = g.choice((1, 2, 3))
    # What each program has of the array: blocks to read and to write, then the next program's.
    each = size * (trips + ahead)
    length = each * g.programs
    apart = length if g.chance(0.2) else 0
    content = small(type) if product else {"flavour": "small", "low": 0, "high": 100}
    array = g.argument("output", type, "o", size=length + apart, **content).name
    at = offsets(shape, contiguous(shape))
    if g.programs > 1:
        at = f"pid * {each} + {at}"

    def parameter(begin: int, first: int) -> str:
        if begin + first == 0 and g.chance(0.4):
            return array
        return g.argument("input", type, "x", size=length - first, view=(array, begin + first)).name

    begin = g.random.randint(0, ahead - 1)
    reads = [parameter(apart, size * begin)]
    if g.chance(0.5):
        reads.append(parameter(apart, size * g.random.randint(0, ahead)))
    # Often what is written is read in the next iteration.
    distance = begin + 1 if g.chance(0.7) else g.random.randint(0, ahead)
    first = g.random.randint(0, distance)
    write, value, acc = parameter(0, size * first), g.name(), g.name()
    body = len(g.lines)
    if product:
        g.line(f"{acc} = tl.zeros([{shape[0]}, {shape[0]}], tl.float32)")
    counted = g.chance(0.9)
    if not counted:
        k = while_header(g, trips)
    elif g.chance(0.2):
        k = loop_header(g, trips)
    else:  # A loop that is likely to start loads early.
        k, bound = g.name("k"), g.argument("scalar", "i32", "t", value=trips).name
        options = f"num_stages={g.random.randint(2, 4)}"
        if g.chance(0.3):
            options += ", warp_specialize=True"
        g.line(f"for {k} in tl.range(0, {bound}, {options}):")
    g.depth += 1
    loads = [f"tl.load({r} + {k} * {size} + {at})" for r in reads]
    if product:
        g.line(f"{value} = {' * '.join(loads)}")
        g.line(f"{acc} = tl.dot({value}, tl.trans({value}), {acc})")
        new = f"1.0 - {value}"
    else:
        g.line(f"{value} = {' + '.join(loads)}")
        new = f"{value} * 2 + 1"
    if not own:
        g.line("tl.debug_barrier()")
    g.line(f"tl.store({write} + ({k} + {distance - first}) * {size} + {at}, {new})")
    if not own:
        g.line("tl.debug_barrier()")
    if not counted:
        g.line(f"{k} += 1")
    g.depth -= 1
    if g.chance(0.25):
        outline(g, body, acc if product else write)
    if product:
        g.env.append(Value(acc, "fp32", (shape[0], shape[0]), bound=float(32 * trips)))
    return None


def outline(g: Generator, begin: int, result: str) -> None:
    """Moves lines into a function, which is called where they were."""
    name, lines = g.name("h"), g.lines[begin:]
    del g.lines[begin:]
    text = "\n".join(lines)
    names = ["pid", *(a.name for a in g.arguments)]
    used = ", ".join(n for n in names if re.search(rf"\b{n}\b", text))
    shift = "    " * (g.depth - 1)
    body = "\n".join(line.removeprefix(shift) for line in [*lines, f"{shift}    return {result}"])
    decorator = f"@tile.jit(noinline={g.chance(0.7)})"
    g.functions.append(f"{decorator}\ndef {name}({used}):\n{body}")
    g.line(f"{result} = {name}({used})" if result.startswith("v") else f"{name}({used})")


@production(1)
def rows_in_place(g: Generator) -> Any:
    """A carried pointer to rows; in each row a loop that the compiler would like to start early."""
    if g.pure or g.loops:
        return False
    type = g.choice(("fp16", "fp16", "i8"))
    out = "i32" if type == "i8" else "fp32"
    m = 32 if type == "i8" else 16
    rows, trips = g.choice((1, 2, 3)), g.choice((1, 2, 3))
    step = m * m
    name = g.argument("output", type, "o", size=step * (trips + 1) * g.programs,
                      **small(type)).name  # fmt: skip
    p, acc, x = g.name("p"), g.name(), g.name()
    g.line(f"{p} = {name} + {offsets((m, m), contiguous((m, m)))}")
    if g.programs > 1:
        g.line(f"{p} += pid * {step * (trips + 1)}")
    row = while_header(g, rows) if g.chance(0.7) else None
    if row is None:
        loop_header(g, rows)
    g.depth += 1
    g.line(f"{acc} = tl.zeros([{m}, {m}], tl.{'int32' if out == 'i32' else 'float32'})")
    inner = loop_header(g, trips)
    g.line(f"    {x} = tl.load({p} + {inner} * {step})")
    g.line(f"    {acc} = tl.dot({x}, {x}, {acc})")
    if g.chance(0.6):
        # The next tile of the same array.
        g.line("    tl.debug_barrier()")
        g.line(f"    tl.store({p} + ({inner} + 1) * {step}, ({acc} > 3).to({INFO[type].tl}))")
        g.line("    tl.debug_barrier()")
    else:
        g.line("tl.debug_barrier()")
        g.line(f"tl.store({p}, ({acc} > 3).to({INFO[type].tl}))")
        g.line("tl.debug_barrier()")
    if row is not None:
        g.line(f"{row} += 1")
    g.depth -= 1
    return None


def small(type: str) -> dict[str, Any]:
    """Contents of zeros and ones."""
    if type == "i8":
        return {"flavour": "small", "low": 0, "high": 1}
    return {"flavour": "exact", "low": 0, "high": 1, "grid": 0}


@production(0.6)
def locked(g: Generator) -> Any:
    """Programs that add to the same block, one at a time."""
    if g.pure or g.loops:
        return False
    shape = g.choose_shape(2)
    value = g.pick(lambda v: v.is_int and v.type in ("i32", "i64", "u32") and v.shape == shape)
    type = value.type if value is not None else "i32"
    lock = g.argument("output", "i32", "a", size=1, flavour="zero").name
    size = math.prod(shape)
    data = g.argument("output", type, "o", size=size, flavour="small", low=0, high=50).name
    where, old = f"{data} + {offsets(shape, contiguous(shape))}", g.name()
    trips = g.choice((None, 1, 2, 3))
    if trips is not None:
        loop_header(g, trips)
        g.depth += 1
    g.line(f"while tl.atomic_cas({lock}, 0, 1{g.choice(('', ', sem=' + repr('acquire')))}) == 1:")
    g.line("    pass")
    g.line(f"{old} = tl.load({where})")
    g.line(f"tl.store({where}, {old} + {value.name if value is not None else 'pid + 1'})")
    g.line("tl.debug_barrier()")
    g.line(f"tl.atomic_xchg({lock}, 0{g.choice(('', ', sem=' + repr('release')))})")
    if trips is not None:
        g.depth -= 1
    return None


@production(1)
def relay(g: Generator) -> Any:
    """Programs that wait for a flag, add to what the one before them left, and raise the flag."""
    # In a branch, some programs might not get to raise their flag.
    if g.pure or g.depth > 1 or g.programs == 1 or len(g.grid) > 1:
        return False
    shape = g.choose_shape(2)
    size = math.prod(shape)
    flag = g.argument("output", "i32", "a", size=1, flavour="zero").name
    data = g.argument("output", "i32", "o", size=size * (g.programs + 1), flavour="small",
                      low=0, high=50).name  # fmt: skip
    at, old = offsets(shape, contiguous(shape)), g.name()
    v = g.pick(lambda v: v.type == "i32" and v.shape == shape)
    g.line(f"while tl.atomic_add({flag}, 0, sem='acquire') != pid:")
    g.line("    pass")
    g.line(f"{old} = tl.load({data} + pid * {size} + {at})")
    g.line(f"tl.store({data} + (pid + 1) * {size} + {at}, {old} * 3 + {v.name if v else 'pid'})")
    g.line("tl.debug_barrier()")
    g.line(f"tl.atomic_xchg({flag}, pid + 1, sem='release')")
    return None


@production(0.6)
def last_one(g: Generator) -> Any:
    """Each program writes a part, the last one of them adds all parts up."""
    if g.pure or g.loops:
        return False
    size = 2 ** g.random.randint(0, 8)
    parts = g.argument("output", "i32", "o", size=size * g.programs, flavour="poison").name
    total = g.argument("output", "i32", "o", size=size, flavour="poison").name
    count = g.argument("output", "i32", "a", size=1, flavour="zero").name
    at = f"tl.arange(0, {size})"
    v = g.pick(lambda v: v.type == "i32" and v.shape == (size,))
    g.line(f"tl.store({parts} + pid * {size} + {at}, {v.name if v else f'pid * 3 + {at}'})")
    g.line("tl.debug_barrier()")
    g.line(f"if tl.atomic_add({count}, 1) == {g.programs - 1}:")
    g.depth += 1
    acc = g.name()
    g.line(f"{acc} = tl.zeros([{size}], tl.int32)")
    k = loop_header(g, g.programs)
    g.line(f"    {acc} += tl.load({parts} + {k} * {size} + {at})")
    g.line(f"tl.store({total} + {at}, {acc})")
    g.depth -= 1
    return None


@production(0.8)
def product_outside(g: Generator) -> Any:
    """A dot before a loop that adds it, or that uses it as an operand of others."""
    if g.pure or g.loops:
        return False
    m, trips = g.choice((16, 32)), g.choice((0, 1, 2, 3))
    a = g.argument("input", "fp16", "x", size=m * m, **small("fp16")).name
    b = g.argument("input", "fp16", "x", size=m * m * max(trips, 1), **small("fp16")).name
    tile = offsets((m, m), contiguous((m, m)))
    d, acc, x, y = g.name(), g.name(), g.name(), g.name()
    g.line(f"{x} = tl.load({a} + {tile})")
    g.line(f"{d} = tl.dot({x}, tl.trans({x}))")
    g.line(f"{acc} = {g.choice((f'tl.zeros([{m}, {m}], tl.float32)', d, f'{d} * 0.0'))}")
    k = loop_header(g, trips)
    g.depth += 1
    g.line(f"{y} = tl.load({b} + {k} * {m * m} + {tile})")
    how = g.choice(("sum", "product", "both", "after"))
    if how == "product":
        g.line(f"{acc} += tl.dot({x}, {y})")
    elif how == "both":
        g.line(f"{acc} = tl.dot({x}, {y}, {acc}) + {d}")
    elif how == "after":
        g.line(f"{acc} = tl.dot({y}, {x}) + {acc}")
    else:
        g.line(f"{acc} = {acc} + {d} + {y}")
    g.depth -= 1
    bound = float(m * 2 * (trips + 1) + trips + 1)
    g.env.append(Value(acc, "fp32", (m, m), bound=bound))
    if g.chance(0.5):
        g.env.append(Value(d, "fp32", (m, m), bound=float(m)))
    return None


@production(0.8)
def descriptor_loop(g: Generator) -> Any:
    """Blocks moved by descriptors in a loop, partly out of bounds."""
    if g.pure or g.loops:
        return False
    type = g.choice(("i32", "i16", "u8", "fp16", "fp32"))
    rows, columns, trips = (
        g.choice((8, 16)),
        g.choice((16, 32, 64)),
        g.choice((1, 2, 3)),
    )
    height = max(1, rows * trips - g.choice((0, 0, 1, 5)))
    width = columns + g.choice((0, 16, 32))
    content = small(type) if type[0] == "f" else {"flavour": "small", "low": 0, "high": 99}
    size = height * width
    x = g.argument("input", type, "x", size=size, **content).name
    o = g.argument("output", type, "o", size=size * g.programs, flavour="zero").name
    part = f" + pid * {size}" if g.programs > 1 else ""
    source, target, block = g.name("d"), g.name("d"), g.name()
    for name, pointer in ((source, x), (target, o + part)):
        g.line(f"{name} = tl.make_tensor_descriptor({pointer}, [{height}, {width}], "
               f"[{width}, 1], [{rows}, {columns}])")  # fmt: skip
    left = g.choice((0, 0, -3, 8, width - 5))
    k = loop_header(g, trips)
    g.depth += 1
    down = f"{k} * {rows}" if g.chance(0.7) else f"({trips} - {k} - 1) * {rows} - 1"
    g.line(f"{block} = {source}.load([{down}, {left}])")
    if g.chance(0.5):
        g.line(f"{block} = {block} + {block}")
    g.line(f"{target}.store([{k} * {rows}, {g.choice((left, 0))}], {block})")
    g.depth -= 1
    return None


MEMORY_FUNCTIONS = (
    # A reduction, which goes through shared memory, and a store.
    "def {n}(p, q, k, N: tl.constexpr):\n"
    "    v = tl.load(p + k * N + tl.arange(0, N))\n"
    "    s = tl.sum(v, 0)\n"
    "    tl.store(q + k, s)\n"
    "    return v + s",
    # A transposition, and what the caller wrote before.
    "def {n}(p, q, k, N: tl.constexpr):\n"
    "    v = tl.load(p + k * N + tl.arange(0, N))\n"
    "    w = tl.reshape(tl.trans(tl.reshape(v, [N // 4, 4])), [N])\n"
    "    tl.store(q + k, tl.max(w, 0) + tl.load(p))\n"
    "    return w",
    # A loop and an early end.
    "def {n}(p, q, k, N: tl.constexpr):\n"
    "    acc = tl.zeros([N], tl.int32)\n"
    "    if k > 1:\n"
    "        return acc\n"
    "    for i in range(k + 1):\n"
    "        acc += tl.cumsum(tl.load(p + i * N + tl.arange(0, N)), 0)\n"
    "    tl.store(q + k, tl.min(acc, 0))\n"
    "    return acc",
)


@production(0.8)
def memory_function(g: Generator) -> Any:
    """A function, called and not inlined, that reads and writes, in a loop of its caller."""
    if g.pure or g.loops:
        return False
    size, trips = g.choice((32, 64, 256)), g.choice((1, 2, 3))
    name, acc = g.name("h"), g.name()
    decorator = f"@tile.jit(noinline={g.chance(0.7)})"
    g.functions.append(f"{decorator}\n{g.choice(MEMORY_FUNCTIONS).format(n=name)}")
    x = g.argument("input", "i32", "x", size=size * trips, flavour="small", low=-50, high=50).name
    o = g.argument("output", "i32", "o", size=trips * g.programs, flavour="poison").name
    part = f" + pid * {trips}" if g.programs > 1 else ""
    g.line(f"{acc} = tl.arange(0, {size})")
    k = loop_header(g, trips)
    g.line(f"    {acc} += {name}({x}, {o}{part}, {k}, {size})")
    g.env.append(Value(acc, "i32", (size,)))
    return None
