"""Arithmetic, mathematics, and tensors that change their shape."""

from __future__ import annotations

import functools
import re
from typing import Any

from .values import UntranslatedError, element_name, literal
from .writer import Writer, operation


@operation("arith.constant")
def _constant(w: Writer, op: Any) -> str | None:
    value = op.results[0]
    ty, text = w.type(value), w.attribute(op, "value")
    if ty.shape is None:
        w.number(value, literal(text.split(" : ")[0], ty.element), ty.element)
        return None
    found = re.match(r"dense<([^\[\]]*)>", text)
    if not found:
        raise UntranslatedError("the language has no constant tensors of different elements")
    number = literal(found[1].strip('"'), ty.element)
    return f"gl.full({list(ty.shape)}, {number}, {element_name(ty.element)}, {w.layout(ty)})"


def _operands(w: Writer, op: Any) -> list[str]:
    """Operands, one of which at least is a value of the language."""
    values = list(op.operands)
    texts = [w.get(v) for v in values]
    if all(w.is_number(v) for v in values):
        texts[0] = w.typed(values[0])
    return texts


_BINARY = {
    "arith.addi": "+", "arith.subi": "-", "arith.muli": "*", "arith.divsi": "//",
    "arith.remsi": "%", "arith.andi": "&", "arith.ori": "|", "arith.xori": "^",
    "arith.shli": "<<", "arith.shrsi": ">>", "arith.addf": "+", "arith.subf": "-",
    "arith.mulf": "*", "arith.divf": "/", "arith.remf": "%", "tt.addptr": "+",
}  # fmt: skip


@operation(*_BINARY)
def _binary(w: Writer, op: Any) -> str:
    left, right = _operands(w, op)
    return f"{left} {_BINARY[op.name]} {right}"


def _unsigned(w: Writer, value: Any) -> str:
    ty = w.type(value)
    return f"{w.typed(value)}.to(gl.uint{ty.width})" if ty.width > 1 else w.typed(value)


_UNSIGNED = {"arith.divui": "//", "arith.remui": "%", "arith.shrui": ">>"}


@operation(*_UNSIGNED)
def _unsigned_binary(w: Writer, op: Any) -> str:
    left, right = (_unsigned(w, v) for v in op.operands)
    name = element_name(w.type(op.results[0]).element)
    return f"({left} {_UNSIGNED[op.name]} {right}).to({name})"


_FUNCTIONS = {
    "arith.maxsi": "gl.maximum({}, {})", "arith.minsi": "gl.minimum({}, {})",
    "arith.maxnumf": "gl.maximum({}, {})", "arith.minnumf": "gl.minimum({}, {})",
    "arith.maximumf": "gl.maximum({}, {}, propagate_nan=gl.PropagateNan.ALL)",
    "arith.minimumf": "gl.minimum({}, {}, propagate_nan=gl.PropagateNan.ALL)",
    "tt.precise_sqrt": "gl.sqrt_rn({})", "tt.precise_divf": "gl.div_rn({}, {})",
    "math.exp": "gl.exp({})", "math.exp2": "gl.exp2({})", "math.log": "gl.log({})",
    "math.log2": "gl.log2({})", "math.sin": "gl.sin({})", "math.cos": "gl.cos({})",
    "math.sqrt": "gl.sqrt({})", "math.rsqrt": "gl.rsqrt({})", "math.absf": "gl.abs({})",
    "math.absi": "gl.abs({})", "math.floor": "gl.floor({})", "math.ceil": "gl.ceil({})",
    "math.erf": "gl.erf({})", "math.fma": "gl.fma({}, {}, {})",
}  # fmt: skip


@operation(*_FUNCTIONS)
def _function(w: Writer, op: Any) -> str:
    return _FUNCTIONS[op.name].format(*_operands(w, op))


@operation("arith.maxui", "arith.minui")
def _unsigned_extreme(w: Writer, op: Any) -> str:
    left, right = (_unsigned(w, v) for v in op.operands)
    name = element_name(w.type(op.results[0]).element)
    return f"gl.{op.name[6:9]}imum({left}, {right}).to({name})"


@operation("tt.mulhiui")
def _high(w: Writer, op: Any) -> str:
    left, right = (_unsigned(w, v) for v in op.operands)
    return f"gl.umulhi({left}, {right}).to({element_name(w.type(op.results[0]).element)})"


@operation("tt.clampf")
def _clamp(w: Writer, op: Any) -> str:
    x, low, high = (w.typed(v) for v in op.operands)
    nan = "gl.PropagateNan.ALL" if w.integer(op, "propagateNan") == 0xFFFF else None
    return f"gl.clamp({x}, {low}, {high}{f', propagate_nan={nan}' if nan else ''})"


@operation("arith.negf")
def _negative(w: Writer, op: Any) -> str:
    return f"-{w.typed(op.operands[0])}"


_SIGNED_ORDER = ["==", "!=", "<", "<=", ">", ">="]


@operation("arith.cmpi")
def _compare(w: Writer, op: Any) -> str:
    number = w.integer(op, "predicate")
    if number < 6:
        left, right = _operands(w, op)
        return f"{left} {_SIGNED_ORDER[number]} {right}"
    left, right = (_unsigned(w, v) for v in op.operands)
    return f"{left} {_SIGNED_ORDER[number - 4]} {right}"


#: By the number of the predicate: those that the language has.
_FLOAT_ORDER = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
#: Those that hold for NaN as well, by the one that they are the opposite of.
_OPPOSITES = {9: 5, 10: 4, 11: 3, 12: 2}
#: Those that only ask whether a number is NaN: what one, and what two numbers are asked.
_NAN = {7: ("==", "&"), 14: ("!=", "|")}


@operation("arith.cmpf")
def _compare_floats(w: Writer, op: Any) -> str:
    number = w.integer(op, "predicate")
    left, right = _operands(w, op)
    if number in _FLOAT_ORDER:
        return f"{left} {_FLOAT_ORDER[number]} {right}"
    if number in _OPPOSITES:
        return f"~({left} {_FLOAT_ORDER[_OPPOSITES[number]]} {right})"
    if number in _NAN:
        same, both = _NAN[number]
        if left == right:
            return f"{left} {same} {left}"
        left, right = (w.typed(v) for v in op.operands)
        return f"({left} {same} {left}) {both} ({right} {same} {right})"
    differ = f"({left} < {right}) | ({left} > {right})"
    if number in (6, 8):
        return differ if number == 6 else f"~({differ})"
    raise UntranslatedError("a comparison of floats that is always the same")


@functools.cache
def _libraries() -> dict[str, tuple[str, tuple[Any, ...]]]:
    """The functions of the device library: their names and types, by symbol."""
    from tile.language.extra.libdevice import _TABLE

    return {
        symbol: (name, types)
        for name, kinds in _TABLE.items()
        for types, (symbol, _) in kinds.items()
    }


@operation("tt.extern_elementwise")
def _library(w: Writer, op: Any) -> str:
    symbol = w.attribute(op, "symbol").strip('"')
    if symbol not in _libraries():
        raise UntranslatedError(f"the language has no name for the function {symbol}")
    name, types = _libraries()[symbol]
    arguments = [
        _unsigned(w, value) if ty.is_int() and not ty.is_int_signed() else w.typed(value)
        for value, ty in zip(op.operands, types, strict=True)
    ]
    text = f"gl.extra.libdevice.{name}({', '.join(arguments)})"
    ty = w.type(op.results[0])
    return f"{text}.to({element_name(ty.element)})" if ty.is_integer else text


@operation("ub.poison")
def _undefined(w: Writer, op: Any) -> str:
    ty = w.type(op.results[0])
    if ty.is_pointer:
        raise UntranslatedError("an undefined pointer")
    layout = f", {w.layout(ty)}" if ty.shape is not None else ""
    return f"gl.full({list(ty.shape or ())}, 0, {element_name(ty.element)}{layout})"


@operation("arith.select")
def _select(w: Writer, op: Any) -> str:
    condition, yes, no = op.operands
    return f"gl.where({w.typed(condition)}, {w.typed(yes)}, {w.typed(no)})"


@operation(
    "arith.extsi", "arith.extf", "arith.trunci", "arith.truncf", "arith.sitofp", "arith.fptosi"
)
def _cast(w: Writer, op: Any) -> str:
    source, target = w.type(op.operands[0]), w.type(op.results[0])
    if op.name in ("arith.extsi", "arith.sitofp") and source.element == "i1":
        raise UntranslatedError("the language extends conditions without sign")
    if op.name == "arith.trunci" and target.element == "i1":
        return f"({w.typed(op.operands[0])} & 1) != 0"
    return f"{w.typed(op.operands[0])}.to({element_name(target.element)})"


@operation("arith.extui", "arith.uitofp")
def _unsigned_cast(w: Writer, op: Any) -> str:
    name = element_name(w.type(op.results[0]).element)
    return f"{_unsigned(w, op.operands[0])}.to({name})"


@operation("arith.fptoui")
def _to_unsigned(w: Writer, op: Any) -> str:
    ty = w.type(op.results[0])
    name = element_name(ty.element)
    return f"{w.typed(op.operands[0])}.to(gl.uint{ty.width}).to({name})"


@operation("tt.fp_to_fp")
def _convert_float(w: Writer, op: Any) -> str:
    name = element_name(w.type(op.results[0]).element)
    rounding = {"": "", "0": ', fp_downcast_rounding="rtz"', "1": ""}[
        w.attribute(op, "rounding").split(" ")[0]
    ]
    return f"{w.typed(op.operands[0])}.to({name}{rounding})"


@operation("tt.bitcast", "arith.bitcast")
def _bitcast(w: Writer, op: Any) -> str:
    ty = w.type(op.results[0])
    if ty.is_pointer:
        return f"{w.typed(op.operands[0])}.to({pointer_name(ty.element)}, bitcast=True)"
    return f"{w.typed(op.operands[0])}.to({element_name(ty.element)}, bitcast=True)"


def pointer_name(element: str) -> str:
    pointee = element[len("!tt.ptr<") : -1].split(",")[0]
    return f"gl.pointer_type({element_name(pointee)})"


@operation("tt.ptr_to_int")
def _to_integer(w: Writer, op: Any) -> str:
    return f"{w.typed(op.operands[0])}.to(gl.int64)"


@operation("tt.int_to_ptr")
def _to_pointer(w: Writer, op: Any) -> str:
    return f"{w.typed(op.operands[0])}.to({pointer_name(w.type(op.results[0]).element)})"


# Shapes.


@operation("tt.make_range")
def _range(w: Writer, op: Any) -> str:
    ty = w.type(op.results[0])
    start, end = w.integer(op, "start"), w.integer(op, "end")
    return f"gl.arange({start}, {end}, {w.layout(ty)})"


@operation("tt.splat")
def _splat(w: Writer, op: Any) -> str:
    value, ty = op.operands[0], w.type(op.results[0])
    text = w.typed(value)
    name = f"{text}.dtype" if ty.is_pointer else element_name(ty.element)
    return f"gl.full({list(ty.shape or ())}, {text}, {name}, {w.layout(ty)})"


@operation("tt.expand_dims")
def _expand(w: Writer, op: Any) -> str:
    return f"gl.expand_dims({w.get(op.operands[0])}, {w.integer(op, 'axis')})"


@operation("tt.broadcast")
def _broadcast(w: Writer, op: Any) -> str:
    return f"{w.get(op.operands[0])}.broadcast_to({list(w.type(op.results[0]).shape or ())})"


@operation("tt.reshape")
def _reshape(w: Writer, op: Any) -> str:
    shape = list(w.type(op.results[0]).shape or ())
    if w.integer(op, "allow_reorder"):
        raise UntranslatedError("a reshape that changes the order of elements")
    return w.inferred(op, f"gl.reshape({w.get(op.operands[0])}, {shape})", "reshape", shape)


@operation("tt.trans")
def _permute(w: Writer, op: Any) -> str:
    order = w.integers(op, "order")
    return w.inferred(op, f"gl.permute({w.get(op.operands[0])}, {order})", "trans", order)


@operation("tt.join")
def _join(w: Writer, op: Any) -> str:
    left, right = (w.get(v) for v in op.operands)
    return w.inferred(op, f"gl.join({left}, {right})", "join")


@operation("tt.split")
def _split(w: Writer, op: Any) -> str:
    from tile.experimental.gluon.language._layouts import SliceLayout
    from tile.experimental.gluon.language._syntax import layout_of

    source = w.type(op.operands[0])
    shape = source.shape or ()
    found = SliceLayout(len(shape) - 1, layout_of(source.layout, shape))
    names = [w.names.new("half") for _ in op.results]
    w.put(f"{', '.join(names)} = gl.split({w.get(op.operands[0])})")
    return ", ".join(
        w.settled(result, name, found) for result, name in zip(op.results, names, strict=True)
    )


@operation("tt.unsplat")
def _item(w: Writer, op: Any) -> str:
    return f"{w.get(op.operands[0])}.item()"


@operation("ttg.fp4_to_fp")
def _fp4(w: Writer, op: Any) -> str:
    name, axis = element_name(w.type(op.results[0]).element), w.integer(op, "axis")
    text = f"gl.fp4_to_fp({w.get(op.operands[0])}, {name}, {axis})"
    return w.inferred(op, text, "fp4_to_fp", [axis])


@operation("ttg.convert_layout")
def _convert(w: Writer, op: Any) -> str:
    return f"gl.convert_layout({w.get(op.operands[0])}, {w.layout(w.type(op.results[0]))})"


@operation("tt.gather")
def _gather(w: Writer, op: Any) -> str:
    source, indices = (w.get(v) for v in op.operands)
    return f"gl.gather({source}, {indices}, {w.integer(op, 'axis')})"


@operation("tt.histogram")
def _histogram(w: Writer, op: Any) -> str:
    ty = w.type(op.results[0])
    source, *mask = (w.get(v) for v in op.operands)
    more = f", mask={mask[0]}" if mask else ""
    return f"gl.histogram({source}, {(ty.shape or (0,))[0]}{more}, layout={w.layout(ty)})"


_PRECISION = {0: "tf32", 1: "tf32x3", 2: "ieee", 3: "bf16x3", 4: "bf16x6"}


@operation("tt.dot")
def _dot(w: Writer, op: Any) -> str:
    a, b, acc = (w.get(v) for v in op.operands)
    layout = w.type(op.results[0]).layout
    if layout.startswith("#ttg.nvidia_mma"):
        w.program.imports.add("ampere")
        precision = _PRECISION[w.integer(op, "inputPrecision")]
        return f'ampere.mma_v2({a}, {b}, {acc}, input_precision="{precision}")'
    if layout.startswith("#ttg.blocked"):
        return f"gl.dot_fma({a}, {b}, {acc})"
    if layout.startswith("#ttg.amd_mfma"):
        return f"gl.amd.cdna3.mfma({a}, {b}, {acc})"
    if layout.startswith("#ttg.amd_wmma"):
        return f"gl.amd.rdna3.wmma({a}, {b}, {acc})"
    raise UntranslatedError(f"a product in the layout {layout}")
