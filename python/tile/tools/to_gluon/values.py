"""Types, layouts, constants and names of IR as the language spells them."""

from __future__ import annotations

import keyword
import re
import struct
from dataclasses import dataclass
from typing import Any

from tile.errors import TileError


class UntranslatedError(TileError):
    """Something in IR that the language with layouts has no name for."""


#: Element types.
ELEMENTS = {
    "i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "f8E5M2": "float8e5", "f8E4M3FN": "float8e4nv", "f8E4M3FNUZ": "float8e4b8",
    "f8E5M2FNUZ": "float8e5b16",
}  # fmt: skip
_FLOAT_BITS = {"f64": ("<d", "<Q"), "f32": ("<f", "<I"), "f16": ("<e", "<H")}


@dataclass(frozen=True)
class Type:
    """A type of IR: of a scalar if it has no shape, else of a tensor or a buffer."""

    text: str
    element: str
    shape: tuple[int, ...] | None = None
    layout: str = ""
    is_buffer: bool = False

    @property
    def is_pointer(self) -> bool:
        return self.element.startswith("!tt.ptr<")

    @property
    def is_integer(self) -> bool:
        return re.fullmatch(r"i\d+", self.element) is not None

    @property
    def width(self) -> int:
        return int(re.sub(r"\D", "", self.element)[:2] or 0)


def _parts(text: str) -> list[str]:
    """The parts of a list, but for commas inside of brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "<[{(") - (char in ">]})")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def type_of(text: str) -> Type:
    """Reads ``tensor<64x!tt.ptr<f32>, #layout>``, ``!ttg.memdesc<...>``, or a scalar's type. Of a
    descriptor it is the type of its blocks."""
    if text.startswith("!tt.tensordesc<"):
        return type_of(text[len("!tt.tensordesc<") : -1])
    for prefix in ("tensor<", "!ttg.memdesc<"):
        if text.startswith(prefix):
            first, *rest = _parts(text[len(prefix) : -1])
            extents = re.match(r"(?:\d+x)+", first)
            dims = extents.group(0) if extents else ""
            shape = tuple(int(d) for d in dims.split("x")[:-1])
            layout = rest[0] if rest else ""
            return Type(text, first[len(dims) :], shape, layout, prefix != "tensor<")
    return Type(text, text)


def element_name(element: str) -> str:
    if element not in ELEMENTS:
        raise UntranslatedError(f"the language has no name for the type {element}")
    return f"gl.{ELEMENTS[element]}"


def literal(text: str, element: str) -> str:
    """A constant as Python writes it."""
    if text in ("true", "false"):
        return text.capitalize()
    if element.startswith("i"):
        return str(int(text, 0))
    if text.startswith("0x"):
        if element == "bf16":
            value = struct.unpack("<f", struct.pack("<I", int(text, 16) << 16))[0]
        elif element in _FLOAT_BITS:
            as_float, as_bits = _FLOAT_BITS[element]
            value = struct.unpack(as_float, struct.pack(as_bits, int(text, 16)))[0]
        else:
            raise UntranslatedError(f"no literal stands for {text} of type {element}")
    else:
        value = float(text)
    if value != value or value in (float("inf"), float("-inf")):
        sign, name = ("-", str(value)[1:]) if value < 0 else ("", str(value))
        return f'{sign}float("{name}")'
    return repr(value)


_LAYOUT_NAME = re.compile(r"\b(AMD\w+Layout|[A-Z]\w*Layout)\(")


def layout_text(text: str, shape: tuple[int, ...]) -> str:
    """A layout as the language writes it."""
    from tile.experimental.gluon.language._syntax import layout_of

    try:
        written = repr(layout_of(text, shape))
    except ValueError as error:
        raise UntranslatedError(str(error)) from None
    return _LAYOUT_NAME.sub(
        lambda found: ("gl.amd." if found[1].startswith("AMD") else "gl.") + found[0], written
    )


class Names:
    """Names of values, each for one value."""

    _RESERVED = frozenset({*keyword.kwlist, "gl", "gluon", "ampere", "hopper", "range", "float"})

    def __init__(self, taken: Any = ()) -> None:
        self._taken = set(taken) | set(self._RESERVED)

    def new(self, wanted: str) -> str:
        base = re.sub(r"\W", "_", wanted) or "v"
        if base[0].isdigit():
            base = f"v{base}"
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name


def name_in(location: str) -> str | None:
    """The name of a variable that a location carries."""
    found = re.match(r'loc\("([A-Za-z_]\w*)"\(', location)
    return found[1] if found else None
