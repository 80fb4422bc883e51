"""Types of values in a kernel: scalars, pointers, blocks."""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Sequence
from typing import Any, ClassVar

from ..element_types import ELEMENT_TYPES
from ..errors import SemanticError

TRITON_MAX_TENSOR_NUMEL = 1 << 20
#: Where programs import types from: `triton.language` under the compatibility switch.
home = "tile.language"


class Shape(tuple):
    """The shape of a block. Programs put together others from parts of it and from lists, as in
    ``x.shape[:-1] + [32]``."""

    def __add__(self, other: Any) -> Shape:
        return Shape((*self, *other)) if isinstance(other, (tuple, list)) else NotImplemented

    def __radd__(self, other: Any) -> Shape:
        return Shape((*other, *self)) if isinstance(other, (tuple, list)) else NotImplemented

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Shape(found) if isinstance(index, slice) else found


class dtype:
    """A scalar type, such as ``tl.float32``."""

    #: Which thread holds which element of a block, in the language that says so.
    layout: Any = None

    SINT_TYPES: ClassVar[list[str]] = ["int8", "int16", "int32", "int64"]
    UINT_TYPES: ClassVar[list[str]] = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES: ClassVar[list[str]] = [
        "fp8e4b15",
        "fp8e4nv",
        "fp8e4b8",
        "fp8e5",
        "fp8e5b16",
        "fp16",
        "bf16",
        "fp32",
        "fp64",
    ]
    STANDARD_FP_TYPES: ClassVar[list[str]] = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES: ClassVar[list[str]] = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name: str) -> None:
        known = ELEMENT_TYPES.get(name)
        if known is None:
            raise SemanticError(f"unknown type name {name!r}")
        self.name = name
        self.primitive_bitwidth, self.mlir, self.short_name = known[:3]
        self.itemsize = max(1, self.primitive_bitwidth // 8)
        self._is_float = name in self.FP_TYPES
        self._is_int = name in self.SINT_TYPES or name in self.UINT_TYPES
        self.int_signedness = None
        if self._is_int:
            signed = name in self.SINT_TYPES
            self.int_signedness = dtype.SIGNEDNESS.SIGNED if signed else dtype.SIGNEDNESS.UNSIGNED
        self.int_bitwidth = self.primitive_bitwidth if self._is_int else 0
        self.fp_mantissa_width = known.mantissa_width
        self.exponent_bias = known.exponent_bias

    # What it is.
    def is_floating(self) -> bool:
        return self._is_float

    def is_standard_floating(self) -> bool:
        return self.name in self.STANDARD_FP_TYPES

    def is_int(self) -> bool:
        return self._is_int

    def is_bool(self) -> bool:
        return self.name == "int1"

    def is_int_signed(self) -> bool:
        return self.int_signedness is dtype.SIGNEDNESS.SIGNED

    def is_int_unsigned(self) -> bool:
        return self.int_signedness is dtype.SIGNEDNESS.UNSIGNED

    def is_fp8(self) -> bool:
        return self.name.startswith("fp8")

    def is_void(self) -> bool:
        return self.name == "void"

    def is_ptr(self) -> bool:
        return False

    def is_block(self) -> bool:
        return False

    def is_const(self) -> bool:
        return False

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        return type_str in ELEMENT_TYPES

    def kind(self) -> dtype.KIND:
        if self.is_bool():
            return dtype.KIND.BOOLEAN
        if self._is_int:
            return dtype.KIND.INTEGRAL
        if self._is_float:
            return dtype.KIND.FLOATING
        raise SemanticError(f"{self} is neither boolean, integral nor floating")

    def get_int_max_value(self) -> int:
        if self.is_int_signed():
            return 2 ** (self.int_bitwidth - 1) - 1
        return 2**self.int_bitwidth - 1

    def get_int_min_value(self) -> int:
        return -(2 ** (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    @property
    def scalar(self) -> dtype:
        """The element type of a block; the type itself otherwise."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def numel(self) -> int:
        return 1

    def with_element_ty(self, element_ty: dtype) -> dtype:
        return element_ty

    @property
    def cache_key_part(self) -> str:
        return self.name

    def codegen_name(self) -> str:
        return self.name

    def mangle(self) -> str:
        return self.short_name

    def to_ir(self, builder: Any) -> Any:
        return builder.type(self)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, dtype) and self.name == other.name)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        """The name by which a program finds it."""
        name = "bfloat16" if self.name == "bf16" else self.name.replace("fp", "float", 1)
        return f"{home}.{name}"


def _is_name(name: str) -> Any:
    return lambda self: self.name == name


for _name in ELEMENT_TYPES:
    setattr(dtype, "is_" + _name, _is_name(_name)) if _name not in ("void",) else None


class pointer_type(dtype):
    """A pointer to a scalar, or to a block (a block pointer)."""

    def __init__(self, element_ty: dtype, address_space: int = 1, const: bool = False) -> None:
        if not isinstance(element_ty, dtype):
            raise SemanticError(f"pointer_type takes a type, not {element_ty!r}")
        self.element_ty = element_ty
        self.address_space = int(address_space)
        self.const = bool(const)
        self.name = f"pointer<{element_ty}>" if not const else f"const_pointer<{element_ty}>"
        space = "" if address_space == 1 else f", {address_space}"
        self.mlir = f"!tt.ptr<{element_ty.mlir}{space}>"
        self.short_name = ("*k" if const else "*") + element_ty.short_name
        self.primitive_bitwidth = 64
        self.itemsize = 8
        self.int_signedness = None
        self.int_bitwidth = 0
        self._is_float = self._is_int = False

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    def is_block_pointer(self) -> bool:
        return self.element_ty.is_block()

    @property
    def cache_key_part(self) -> str:
        return self.short_name

    def mangle(self) -> str:
        return "P" + self.element_ty.mangle()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, pointer_type)
            and self.element_ty == other.element_ty
            and self.address_space == other.address_space
            and self.const == other.const
        )

    def __hash__(self) -> int:
        return hash(self.mlir)

    def __repr__(self) -> str:
        return self.name


class block_type(dtype):
    """A block (tensor) of scalars or pointers."""

    def __init__(self, element_ty: dtype, shape: Sequence[int]) -> None:
        if element_ty.is_block():
            raise SemanticError("a block's elements are scalars or pointers, not blocks")
        self.element_ty = element_ty
        self._shape = Shape(int(d) for d in shape)
        if not self._shape:
            raise SemanticError("a block has at least one dimension")
        self._numel = 1
        for extent in self._shape:
            if extent <= 0:
                raise SemanticError(
                    f"block shape {list(self._shape)} has the extent {extent}; a block has "
                    "elements in every dimension"
                )
            self._numel *= extent
        if self._numel > TRITON_MAX_TENSOR_NUMEL:
            raise SemanticError(
                f"a block of shape {list(self._shape)} has {self._numel} elements, more than the "
                "limit of "
                f"{TRITON_MAX_TENSOR_NUMEL}"
            )
        extents = "x".join(map(str, self._shape))
        self.name = f"<{list(self._shape)}, {element_ty}>"
        self.mlir = f"tensor<{extents}x{element_ty.mlir}>"
        self.short_name = f"{element_ty.short_name}[{','.join(map(str, self._shape))}]"
        self.primitive_bitwidth = element_ty.primitive_bitwidth
        self.itemsize = element_ty.itemsize
        self.int_signedness = element_ty.int_signedness
        self.int_bitwidth = element_ty.int_bitwidth
        self._is_float = self._is_int = False

    def is_block(self) -> bool:
        return True

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def numel(self) -> int:
        return self._numel

    @property
    def nbytes(self) -> int:
        return self._numel * (self.element_ty.primitive_bitwidth // 8)

    def get_block_shapes(self) -> tuple[int, ...]:
        return self._shape

    def with_element_ty(self, element_ty: dtype) -> dtype:
        return self.similar(element_ty, self._shape)

    # The types of what is made of a block. Blocks that have layouts know how these change.

    def similar(self, element_ty: dtype, shape: Sequence[int]) -> block_type:
        """A block of such elements, of the same rank, laid out as this one."""
        return block_type(element_ty, shape)

    def expanded(self, axis: int) -> block_type:
        """With a dimension of one element inserted."""
        return block_type(self.element_ty, (*self._shape[:axis], 1, *self._shape[axis:]))

    def reduced(self, axis: int, element_ty: dtype) -> dtype:
        """Without a dimension; a block of one dimension becomes a scalar."""
        rest = (*self._shape[:axis], *self._shape[axis + 1 :])
        return block_type(element_ty, rest) if rest else element_ty

    def permuted(self, order: Sequence[int]) -> block_type:
        """With its dimensions in another order."""
        return block_type(self.element_ty, [self._shape[i] for i in order])

    def reshaped(self, shape: Sequence[int], reorder: bool) -> block_type:
        """With another shape; in an order that may differ with `reorder`."""
        return block_type(self.element_ty, shape)

    def joined(self) -> block_type:
        """Two of these blocks, side by side in a new last dimension."""
        return block_type(self.element_ty, (*self._shape, 2))

    def halved(self) -> block_type:
        """What `joined` was made of."""
        return block_type(self.element_ty, self._shape[:-1])

    def mangle(self) -> str:
        return f"{self.element_ty.mangle()}S{'_'.join(map(str, self._shape))}S"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, block_type)
            and self._shape == other._shape
            and self.element_ty == other.element_ty
        )

    def __hash__(self) -> int:
        return hash((self.element_ty, self._shape))

    def __repr__(self) -> str:
        return self.name


class const:
    """Annotates a pointer parameter through which nothing is written."""


void = dtype("void")
int1 = dtype("int1")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float8e5 = dtype("fp8e5")
float8e5b16 = dtype("fp8e5b16")
float8e4nv = dtype("fp8e4nv")
float8e4b8 = dtype("fp8e4b8")
float8e4b15 = dtype("fp8e4b15")
float16 = dtype("fp16")
bfloat16 = dtype("bf16")
float32 = dtype("fp32")
float64 = dtype("fp64")
pi32_t = pointer_type(int32)

_BY_SIGNATURE = {known.signature: dtype(name) for name, known in ELEMENT_TYPES.items()}
_ALIASES = {"i1": "i1", "B": "i1", "f16": "fp16", "f32": "fp32", "f64": "fp64"}


def str_to_type(text: str) -> dtype:
    """Reads a signature's spelling of a type: ``i32``, ``*fp16``, ``*ki8``."""
    text = text.strip()
    if text.startswith("*"):
        rest = text[1:]
        is_const = rest.startswith("k")
        return pointer_type(str_to_type(rest[1:] if is_const else rest), const=is_const)
    found = _BY_SIGNATURE.get(_ALIASES.get(text, text))
    if found is None:
        known = ", ".join(sorted(_BY_SIGNATURE))
        raise SemanticError(
            f"unknown type {text!r} in a signature; known are {known}, and * for a pointer to one"
        )
    return found


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of the given width and signedness."""
    if bitwidth == 1:
        return int1
    return _BY_SIGNATURE[f"{'i' if signed else 'u'}{bitwidth}"]


def fp8e4b15_bits(value: float) -> int:
    """The bits of a number in fp8e4b15: half a float16 without an exponent's top
    bit. The largest number is 1.75; nothing stands for NaN and infinities."""
    magnitude = min(abs(value), 1.75) if value == value else 1.75
    half = struct.unpack("<h", struct.pack("<e", magnitude))[0]
    bits = (half * 2 + 0x80) >> 8
    return bits - 128 if math.copysign(1.0, value) < 0 else bits
