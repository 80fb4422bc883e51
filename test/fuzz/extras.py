"""Hints, constants, functions of the library, other ways to store."""

from __future__ import annotations

from typing import Any

from .convert import finite
from .elementwise import partner
from .floats import drifts
from .generator import Generator, contiguous, production
from .memory import base, scalar_argument, tolerance
from .values import Value


@production(0.5)
def hint(g: Generator) -> Any:
    """A promise that is true."""
    how = g.choice(("multiple", "contiguous", "assume", "static"))
    if how == "static":
        g.line("tl.static_assert(True, 'holds')")
        return None
    if how == "assume" and not g.pure:
        number = g.choice((2, 5, 17))
        g.line(f"tl.assume({scalar_argument(g, number)} > {number - 1})")
        return None
    size = 2 ** g.random.randint(2, 7)
    if how == "multiple":
        step = g.choice((4, 8, 16))
        text = f"tl.multiple_of(tl.arange(0, {size}) * {step}, {step})"
        return g.let(text, "i32", (size,), low=0, high=(size - 1) * step)
    if how == "contiguous":
        text = f"tl.max_contiguous(tl.arange(0, {size}), {size})"
        return g.let(text, "i32", (size,), low=0, high=size - 1)
    return False


@production(0.7)
def assertion(g: Generator) -> Any:
    """An assertion that holds, of all elements or of those under a mask; compiles may leave it
    out."""
    x = g.pick(lambda v: v.is_int and v.info.bits >= 16)
    if x is None:
        return False
    limit = g.choice((0, 1, 7, 100))
    known = x.low is not None and x.high is not None and x.high < 2**31 and x.low > -(2**31)
    if known and g.chance(0.5):
        test = f"({x.name} >= {x.low}) & ({x.name} <= {x.high})"
    elif x.shape and g.chance(0.6):
        test = f"{x.name} > {limit}, mask={x.name} >= {limit + 1}"
    else:
        test = f"({x.name} ^ {x.name}) == 0"
    if not x.shape and "mask" not in test and g.chance(0.4):
        g.line(f"assert {test}")
    else:
        g.line(f"tl.device_assert({test})")
    return None


@production(0.5)
def constant_parameter(g: Generator) -> Any:
    """A parameter that is a constant: a number, a type, a shape, or a choice."""
    if g.pure:
        return False
    shape = g.choose_shape(2)
    how = g.choice(("number", "shape", "flag"))
    if how == "number":
        number = g.choice((0, 1, 3, 7, 100))
        name = g.argument("constexpr", "i32", "C", value=number).name
        x = g.pick(g.ints)
        if x is None:
            return False
        return g.let(f"{x.name} * {name} + {name}", x.type, x.shape)
    if how == "shape":
        name = g.argument("constexpr", "i32", "C", value=shape).name
        return g.let(f"tl.zeros({name}, tl.int32) + 5", "i32", shape, low=5, high=5)
    name = g.argument("constexpr", "i1", "C", value=g.chance(0.5)).name
    x = g.pick(lambda v: v.is_int)
    if x is None:
        return False
    return g.let(f"{x.name} + 1 if {name} else {x.name} - 1", x.type, x.shape)


@production(0.5)
def ceiling(g: Generator) -> Any:
    x = g.pick(lambda v: v.is_int and v.low is not None and v.high is not None and v.low >= 0)
    if x is None or x.info.bits < 16 or x.high is None or x.high > 2**14:
        return False
    return g.let(f"tl.cdiv({x.name}, {g.choice((1, 3, 8, 64))})", x.type, x.shape)


@production(0.3)
def swizzle(g: Generator) -> Any:
    first, second = g.name(), g.name()
    rows, columns = g.choice((2, 5, 8)), g.choice((3, 4))
    index = f"tl.arange(0, {g.choice((4, 16))})"
    if g.programs > 1 and not g.pure:
        index = "pid"
    shape = () if index == "pid" else (int(index.split()[-1][:-1]),)
    text = f"tl.swizzle2d({index} // {columns} % {rows}, {index} % {columns}, {rows}, {columns}, 2)"
    g.line(f"{first}, {second} = {text}")
    g.env += [Value(name, "i32", shape) for name in (first, second)]
    return None


@production(0.5)
def softmax(g: Generator) -> Any:
    x = g.pick(lambda v: v.shape and v.type == "fp32" and v.is_exact)
    if x is None or drifts(g):
        return False
    small = finite(g, x, 4.0)
    axis = g.random.randrange(x.rank)
    text = f"tl.softmax({small.name}, {axis})"
    return g.let(text, "fp32", x.shape, kind="approx", bound=1.0, error=2.0**-17)


@production(0.6)
def choice(g: Generator) -> Any:
    """A conditional expression on a scalar."""
    x = g.pick(lambda v: v.is_exact)
    if x is None:
        return False
    flag = g.pick(lambda v: v.is_bool and not v.shape)
    other = g.pick(lambda v: v.type == x.type and v.shape == x.shape and v.kind == x.kind)
    if flag is None or other is None or (x.is_float and x.kind == "exact"):
        return False
    return g.let(
        f"{x.name} if {flag.name} else {other.name}",
        x.type,
        x.shape,
        kind=x.kind,
        special=x.special or other.special,
    )


@production(0.6)
def several_conditions(g: Generator) -> Any:
    """and, or, not on scalars; a chain of comparisons."""
    x = g.pick(lambda v: v.is_int and not v.shape and v.info.bits >= 32 and v.info.kind == "i")
    if x is None:
        return False
    found = partner(g, x, lambda v: v.is_bool and not v.shape)
    texts = [f"-5 < {x.name} < 100", f"{x.name} > 0 or {x.name} == -1", f"not {x.name} > 7"]
    if found is not None:
        texts.append(f"{found[0].name} and {x.name} != 3")
    return g.let(g.choice(texts), "i1", ())


@production(0.7)
def block_store(g: Generator) -> Any:
    """A store through a block pointer or a descriptor, partly out of bounds."""
    if g.pure or g.loops:
        return False
    x = g.pick(lambda v: 0 < v.rank <= 3 and not v.is_bool)
    if x is None:
        return False
    whole = tuple(s + g.choice((0, 0, 1, -1, 3)) if s > 1 else s for s in x.shape)
    order = list(range(x.rank))
    descriptor = g.chance(0.4) and x.shape[-1] * x.info.bits >= 128 and x.info.bits >= 8
    if not descriptor:
        g.random.shuffle(order)
    strides = list(contiguous(whole, tuple(order)))
    if descriptor:  # Rows begin at multiples of 16 bytes.
        step = 128 // x.info.bits
        for d in reversed(range(x.rank - 1)):
            row = whole[d + 1] * strides[d + 1]
            strides[d] = (row + step - 1) // step * step
    size = sum((w - 1) * s for w, s in zip(whole, strides, strict=True)) + 1
    size = (size + 63) // 64 * 64
    number = sum(a.name.startswith("o") for a in g.arguments)
    pointer, total = base(g, f"o{number}", size)
    g.argument("output", x.type, "o", size=total, flavour="poison", tolerance=tolerance(x))
    at = [g.choice((0, 0, 1, -1, 2)) for _ in whole]
    name = g.name("b")
    if descriptor:
        g.line(
            f"{name} = tl.make_tensor_descriptor({pointer}, {list(whole)}, {strides}, "
            f"{list(x.shape)})"
        )
        g.line(f"{name}.store({at}, {x.name})")
        return None
    g.line(
        f"{name} = tl.make_block_ptr({pointer}, {list(whole)}, {strides}, {at}, {list(x.shape)}, "
        f"{list(reversed(order))})"
    )
    g.line(f"tl.store({name}, {x.name}, boundary_check={tuple(range(x.rank))})")
    return None


@production(0.6)
def library(g: Generator) -> Any:
    """Integer functions of the device library."""
    x = g.pick(lambda v: v.type == "i32")
    if x is None:
        return False
    name = g.choice(("popc", "clz", "brev", "ffs"))
    return g.let(f"libdevice.{name}({x.name})", "i32", x.shape)
