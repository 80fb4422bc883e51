"""The types of elements: how each part of the world calls them, their sizes and encodings."""

from __future__ import annotations

from typing import NamedTuple


class ElementType(NamedTuple):
    """What is known about a type of elements."""

    bits: int
    #: How MLIR spells it, without a sign.
    mlir: str
    #: How signatures of kernels spell it.
    signature: str
    #: How NumPy, ml_dtypes and torch spell it, where that is not its name.
    array: str = ""
    #: Of floating point, the bits of the mantissa and the bias of the exponent.
    mantissa_width: int | None = None
    exponent_bias: int | None = None


#: By the names that the language gives them.
ELEMENT_TYPES: dict[str, ElementType] = {
    "void": ElementType(0, "none", "void"),
    "int1": ElementType(1, "i1", "i1", "bool"),
    "int8": ElementType(8, "i8", "i8"),
    "int16": ElementType(16, "i16", "i16"),
    "int32": ElementType(32, "i32", "i32"),
    "int64": ElementType(64, "i64", "i64"),
    "uint8": ElementType(8, "i8", "u8"),
    "uint16": ElementType(16, "i16", "u16"),
    "uint32": ElementType(32, "i32", "u32"),
    "uint64": ElementType(64, "i64", "u64"),
    # Converted by the front end.
    "fp8e4b15": ElementType(8, "i8", "fp8e4b15", "float8_e4m3b11fnuz", 3, 15),
    "fp8e4nv": ElementType(8, "f8E4M3FN", "fp8e4nv", "float8_e4m3fn", 3, 7),
    "fp8e4b8": ElementType(8, "f8E4M3FNUZ", "fp8e4b8", "float8_e4m3fnuz", 3, 8),
    "fp8e5": ElementType(8, "f8E5M2", "fp8e5", "float8_e5m2", 2, 15),
    "fp8e5b16": ElementType(8, "f8E5M2FNUZ", "fp8e5b16", "float8_e5m2fnuz", 2, 16),
    "fp16": ElementType(16, "f16", "fp16", "float16", 10, 15),
    "bf16": ElementType(16, "bf16", "bf16", "bfloat16", 7, 127),
    "fp32": ElementType(32, "f32", "fp32", "float32", 23, 127),
    "fp64": ElementType(64, "f64", "fp64", "float64", 52, 1023),
}

#: The signature's spelling of what elements can be, by all names that they have.
SIGNATURE_NAMES: dict[str, str] = {
    spelling: known.signature
    for name, known in ELEMENT_TYPES.items()
    if known.bits
    for spelling in (name, known.array or name, known.signature)
}

#: The spellings of those that parameters of kernels can have: all but floats of 8 bits.
SCALAR_SIGNATURES = frozenset(
    known.signature
    for known in ELEMENT_TYPES.values()
    if known.bits and not (known.bits == 8 and known.exponent_bias)
)
