"""The signature of a variant: ``*fp32:16, i32, i32:1, 1024``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..errors import TileError
from ..runtime import descriptors

_C_TYPES = {
    "i1": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "fp16": "uint16_t", "bf16": "uint16_t", "fp32": "float", "fp64": "double",
}  # fmt: skip


#: What C and C++ keep for themselves, beyond what Python does.
KEYWORDS = set(
    """
    alignas alignof asm auto bool case catch char char8_t char16_t char32_t co_await co_return
    co_yield concept const const_cast consteval constexpr constinit decltype default delete do
    double dynamic_cast enum explicit export extern false float friend goto inline int long mutable
    namespace new noexcept nullptr operator private protected public register reinterpret_cast
    requires restrict short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true typedef typeid typename typeof union unsigned using virtual void
    volatile wchar_t and_eq bitand bitor compl not_eq or_eq xor xor_eq
""".split()
)
#: Macros of headers that programs have, and what our functions have beside the kernel's parameters.
_TAKEN = {"NULL", "assert", "errno", "linux", "unix", "stream", "algo_id"}


@dataclass(frozen=True)
class Argument:
    """One parameter of a kernel, in one variant."""

    name: str
    #: The type, or "constexpr" for a value that is compiled in.
    type: str
    #: 16 for a multiple of 16, 1 for the number 1.
    hint: int | None = None
    value: Any = None
    #: What it is called in C, where that is something else.
    c_name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "c_name", self.c_name or self.name)

    @property
    def is_constant(self) -> bool:
        return self.type == "constexpr"

    @property
    def suffix(self) -> str:
        """What the hint adds to the name of the variant."""
        return {16: "d", 1: "c", None: ""}[self.hint]

    def c_parameters(self) -> list[tuple[str, str]]:
        """The C types and names of what a caller gives."""
        if self.is_constant:
            return []
        if not descriptors.is_descriptor(self.type):
            return [(_c_type(self.type), self.c_name)]
        rank = len(descriptors.parse(self.type)[1])
        shape = [("int32_t", f"{self.c_name}_shape{i}") for i in range(rank)]
        strides = [("int64_t", f"{self.c_name}_stride{i}") for i in range(rank)]
        return [
            ("CUdeviceptr", self.c_name),
            *shape,
            *strides,
            ("bool", f"{self.c_name}_pads_with_nan"),
        ]

    def c_arguments(self) -> list[str]:
        """The names of what the kernel takes, in its order."""
        if self.is_constant or self.hint == 1:
            return []
        names = [name for _, name in self.c_parameters()]
        # A kernel takes the shape and strides of a descriptor twice.
        return [*names, *names[1:-1]] if descriptors.is_descriptor(self.type) else names

    def condition(self) -> str | None:
        """When the variant may be used, in C."""
        if self.is_constant or self.hint is None:
            return None
        return f"{self.c_name} % 16 == 0" if self.hint == 16 else f"{self.c_name} == 1"


def _c_type(name: str) -> str:
    if name.startswith("*"):
        return "CUdeviceptr"
    return _C_TYPES[name]


def split(text: str, brackets: str = "[]()<>") -> Iterator[str]:
    """The entries; commas in brackets and quotes do not separate them."""
    depth, start, quote = 0, 0, ""
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in brackets[::2]:
            depth += 1
        elif c in brackets[1::2]:
            depth -= 1
        elif c == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    if text[start:].strip():
        yield text[start:].strip()


def parse_signature(text: str, names: list[str]) -> list[Argument]:
    """The arguments that a signature describes, for parameters with these names."""
    entries = list(split(text))
    if len(entries) != len(names):
        raise TileError(
            f"the signature has {len(entries)} entries, but the kernel has {len(names)} "
            f"parameters: {', '.join(names)}"
        )
    return _with_names([_parse(entry, name) for entry, name in zip(entries, names, strict=True)])


def _with_names(arguments: list[Argument]) -> list[Argument]:
    """The arguments, named as C allows: a kernel's `int` is `int_` there."""
    used: set[str] = set()
    named = []
    # The names that need no change are kept by those that have them.
    kept = {a.name for a in arguments} - KEYWORDS - _TAKEN
    for argument in arguments:
        name = argument.name
        while True:
            candidate = replace(argument, c_name=name)
            mine = {n for _, n in candidate.c_parameters()}
            others = kept - {argument.name}
            if not (mine & (KEYWORDS | _TAKEN | used | others)) and not name.startswith("tile_"):
                break
            name = f"p_{name}" if name.startswith("tile_") else name + "_"
        used |= mine
        named.append(candidate)
    return named


def _parse(entry: str, name: str) -> Argument:
    if descriptors.is_descriptor(entry):
        descriptors.check_block(entry)
        if descriptors.pixel_rank(entry):
            raise TileError(
                f"`{name}` is a TensorDescriptorIm2Col: kernels as C take none of them yet"
            )
        return Argument(name, entry)
    type_name, colon, hint = entry.rpartition(":") if ":" in entry else (entry, "", "")
    type_name = type_name.strip()
    if type_name.removeprefix("*") in _C_TYPES or type_name.startswith("*"):
        if colon and hint.strip() not in ("1", "16"):
            raise TileError(f"the hint of `{name}` is 16 or 1, not {hint.strip()}")
        number = int(hint) if colon else None
        if number == 1 and (type_name[0] not in "iu" or type_name == "i1"):
            raise TileError(f"`{name}` is {type_name}: only an integer is the number 1")
        return Argument(name, type_name, number)
    try:
        return Argument(name, "constexpr", value=ast.literal_eval(entry))
    except (ValueError, SyntaxError):
        raise TileError(
            f"`{name}` is `{entry}`, which is neither a type ({', '.join(_C_TYPES)}, a pointer "
            "such as *fp32, tensordesc<fp16[64, 64]>) nor a constant"
        ) from None
