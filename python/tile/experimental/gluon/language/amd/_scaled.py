"""Operands in microscaling formats: floats of 4 and 8 bits, with a power of two for each group."""

from __future__ import annotations

import dataclasses
from typing import Any

from tile.errors import SemanticError
from tile.language import dtypes as dt
from tile.language.collective import _SCALED_FORMATS
from tile.language.creation import checked_axis
from tile.language.memory import choose
from tile.language.promotion import is_constant
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap, unwrap_shape
from tile.runtime.jit import constexpr_function

from .. import _inference
from .._amd_layouts import AMDMFMALayout, AMDWMMALayout
from .._core import _check_block, full, shared_memory_descriptor
from .._layouts import DistributedLinearLayout, DotOperandLayout
from .._types import distributed_type
from ._products import check_accumulator, check_class, zero_beside_product

#: Elements along K that share a scale, on gfx950.
_GROUP = 32
#: The lanes of a wave.
_LANES = 64
_FORMATS = {"e2m1": ("int8", "uint8"), "e4m3": ("fp8e4nv", "int8", "uint8"),
            "e5m2": ("fp8e5", "int8", "uint8")}  # fmt: skip


def is_byte(element: dt.dtype) -> bool:
    return element.is_int() and element.primitive_bitwidth == 8


@constexpr_function
def get_mfma_scale_layout(dot_operand_layout: Any, shape: Any, scale_factor: Any = 32) -> Any:
    """The layout of the scales of an operand of `mfma_scaled`. They lie in the rows of A, or in
    rows for the columns of B: `shape` is [M or N, K / 32]."""
    layout, (rows, groups) = unwrap(dot_operand_layout), unwrap_shape(shape)
    if unwrap(scale_factor) != _GROUP:
        raise SemanticError(
            f"gfx950 has a scale for every {_GROUP} elements along K, not for {scale_factor!r}"
        )
    if not isinstance(layout, DotOperandLayout) or not isinstance(layout.parent, AMDMFMALayout):
        raise SemanticError(
            f"get_mfma_scale_layout takes a DotOperandLayout of an AMDMFMALayout, not {layout!r}"
        )
    left = layout.operand_index == 0
    k = groups * _GROUP
    whole = [rows, k] if left else [k, rows]
    bases = _inference.linear_layout(layout, whole).bases

    def rows_of(name: str) -> list[list[int]]:
        found = [basis if left else basis[::-1] for basis in bases.get(name, [])]
        return [[row, 0] for row, k in found if not k]

    m = layout.parent.instr_shape[0 if left else 1]
    lanes = [[1 << i if 1 << i < rows else 0, 0] for i in range(m.bit_length() - 1)]
    lanes += [[0, 1 << i if 1 << i < groups else 0] for i in range((_LANES // m).bit_length() - 1)]
    registers = [[0, 1 << i] for i in range(groups.bit_length() - 1)]
    registers += [basis for basis in rows_of("register") if any(basis)]
    registers = [basis for basis in registers if basis not in lanes]
    return DistributedLinearLayout(
        registers, lanes, rows_of("warp"), rows_of("block"), [rows, groups]
    )


@constexpr_function
def get_wmma_scale_layout(dot_operand_layout: Any, shape: Any, scale_factor: Any = 32) -> Any:
    """The layout of the scales of an operand of `wmma_scaled`. They lie in the rows of A, or in
    rows for the columns of B: `shape` is [M or N, K / 32]."""
    layout, (rows, groups) = unwrap(dot_operand_layout), unwrap_shape(shape)
    if unwrap(scale_factor) != _GROUP:
        raise SemanticError(
            f"tile knows a scale for every {_GROUP} elements along K, not for {scale_factor!r}"
        )
    if not isinstance(layout, DotOperandLayout) or not isinstance(layout.parent, AMDWMMALayout):
        raise SemanticError(
            f"get_wmma_scale_layout takes a DotOperandLayout of an AMDWMMALayout, not {layout!r}"
        )
    left = layout.operand_index == 0
    whole = [rows, layout.parent.instr_shape[2]]
    bases = _inference.linear_layout(layout, whole if left else whole[::-1]).bases

    def rows_of(name: str) -> list[list[int]]:
        found = [basis if left else basis[::-1] for basis in bases.get(name, [])]
        return [[row, 0] for row, k in found if not k]

    # Half of the lanes have the rows of an instruction, the others have the same again.
    lanes = [*[[1 << i, 0] for i in range(4)], [0, 0]]
    registers = [[0, 1 << i] for i in range(groups.bit_length() - 1)]
    registers += [basis for basis in rows_of("register") if any(basis)]
    return DistributedLinearLayout(
        registers, lanes, rows_of("warp"), rows_of("block"), [rows, groups]
    )


class _Kind:
    """What differs between `mfma_scaled` and `wmma_scaled`."""

    def __init__(self, name: str, layout: type, scale_layout: Any) -> None:
        self.name = name
        self.layout = layout
        self.scale_layout = scale_layout

    def fits(self, parent: Any, acc: Any, format: str) -> bool:
        """Whether operands of the format may be in this layout, with that of the accumulator."""
        if self.layout is AMDMFMALayout or format != "e2m1":
            return bool(parent == acc)
        # Two elements are in a byte, which is what the layout counts.
        m, n, k = acc.instr_shape
        return bool(parent == dataclasses.replace(acc, instr_shape=[m, n, k // 2]))

    def operand(self, value: Any, index: int, format: str, acc: tensor) -> tuple[tensor, int]:
        """An operand, and how many elements a number of it holds."""
        value = _check_block(value, self.name)
        if value.dtype.name not in _FORMATS[format]:
            raise SemanticError(
                f"operand {index} of {self.name} in format {format} is of {_FORMATS[format][0]}, "
                f"not {value.dtype}"
            )
        layout = value.type.layout
        if (
            not isinstance(layout, DotOperandLayout)
            or layout.operand_index != index
            or not self.fits(layout.parent, acc.type.layout, format)
        ):
            raise SemanticError(
                f"operand {index} of {self.name} must be in DotOperandLayout({index}, <the layout "
                f"of acc>, 16), with acc in\n    {acc.type.layout!r},\nbut it is in\n    "
                f"{layout!r}"
            )
        return value, 2 if format == "e2m1" else 1

    def scale(self, value: Any, shape: list[int], layout: Any) -> Any:
        value = unwrap(value)
        if value is None:
            return None
        wanted = self.scale_layout(layout, shape)
        if is_constant(value) or (isinstance(value, tensor) and not value.type.is_block()):
            # One scale for all.
            return full(shape, value, dt.uint8, wanted)
        value = _check_block(value, self.name)
        if not is_byte(value.dtype) or list(value.shape) != shape:
            raise SemanticError(
                f"scales of this operand of {self.name} are {shape} bytes, not {describe(value)}"
            )
        if _inference.linear_layout(value.type.layout, shape) != _inference.linear_layout(
            wanted, shape
        ):
            raise SemanticError(
                f"the scales must be in the layout that {self.scale_layout.__name__} gives,\n"
                f"    {wanted!r},\nbut they are in\n    {value.type.layout!r}"
            )
        return value

    def product(
        self, a: Any, a_scale: Any, a_format: Any, b: Any, b_scale: Any, b_format: Any, acc: Any
    ) -> tensor:
        acc = check_accumulator(acc, self.layout, self.name)
        a_format, b_format = unwrap(a_format), unwrap(b_format)
        for format in (a_format, b_format):
            choose(dict.fromkeys(_FORMATS), format, f"a format of {self.name}")
        a, a_packed = self.operand(a, 0, a_format, acc)
        b, b_packed = self.operand(b, 1, b_format, acc)
        (m, k), n = (a.shape[0], a.shape[1] * a_packed), b.shape[1]
        if b.shape[0] * b_packed != k or list(acc.shape) != [m, n]:
            raise SemanticError(
                f"{self.name} cannot multiply {[m, k]} with {[b.shape[0] * b_packed, n]} into "
                f"{list(acc.shape)}"
            )
        scales = [
            self.scale(a_scale, [m, k // _GROUP], a.type.layout),
            self.scale(b_scale, [n, k // _GROUP], b.type.layout),
        ]
        builder = current()
        handles = [a.handle, b.handle, acc.handle, *[s.handle for s in scales if s is not None]]
        attributes = {
            "a_elem_type": builder.int_attr(32, _SCALED_FORMATS[a_format]),
            "b_elem_type": builder.int_attr(32, _SCALED_FORMATS[b_format]),
            "fastMath": builder.bool_attr(False),
            "lhs_k_pack": builder.bool_attr(True),
            "rhs_k_pack": builder.bool_attr(True),
            "operandSegmentSizes": builder.i32_array_attr(
                [1, 1, 1, *[int(s is not None) for s in scales]]
            ),
        }
        zero_beside_product()
        ty = acc.type
        handle = builder.create_one("tt.dot_scaled", handles, attributes, (builder.type(ty),))
        return tensor(handle, ty)


_MFMA = _Kind("mfma_scaled", AMDMFMALayout, get_mfma_scale_layout)
_WMMA = _Kind("wmma_scaled", AMDWMMALayout, get_wmma_scale_layout)
#: The exponent of e8m0 that stands for one.
_ONE = 127


@builtin
def mfma_scaled(
    a: Any,
    a_scale: Any,
    a_format: Any,
    b: Any,
    b_scale: Any,
    b_format: Any,
    acc: Any,
    cd_regclass: Any = None,
) -> tensor:
    """(a * a_scale) * (b * b_scale) + acc. Formats are "e2m1" (two in a byte, along K), "e4m3" and
    "e5m2"; scales are the exponents of powers of two, of e8m0."""
    check_class(cd_regclass, "mfma_scaled")
    return _MFMA.product(a, a_scale, a_format, b, b_scale, b_format, acc)


@builtin
def wmma_scaled(
    a: Any, a_scale: Any, a_format: Any, b: Any, b_scale: Any, b_format: Any, acc: Any
) -> tensor:
    """(a * a_scale) * (b * b_scale) + acc, on gfx1250: tile writes its IR, and has no code for it.
    Formats and scales are those of `mfma_scaled`."""
    a_scale, b_scale = (_ONE if unwrap(s) is None else s for s in (a_scale, b_scale))
    return _WMMA.product(a, a_scale, a_format, b, b_scale, b_format, acc)


@builtin
def scaled_upcast(src: Any, scale: Any, elem_type: Any, axis: Any = None) -> tensor:
    """Floats of 4 bits (two in a byte, along `axis`) or 8, times their scales, as fp16 or bf16.
    There is a scale, the exponent of a power of two, for each element of the result."""
    src, scale = _check_block(src, "scaled_upcast"), _check_block(scale, "scaled_upcast")
    elem_type = unwrap(elem_type)
    if elem_type not in (dt.float16, dt.bfloat16):
        raise SemanticError(f"Expected elem_type to be fp16 or bf16, not {elem_type}")
    if not is_byte(scale.dtype):
        raise SemanticError(
            f"Expected scale to use raw E8M0 payload in int8/uint8, not {scale.dtype}"
        )
    b = current()
    attributes = {}
    if is_byte(src.dtype):
        if unwrap(axis) is None:
            raise SemanticError("scaled_upcast of packed floats needs axis, along which they lie")
        at = checked_axis(axis, src.ndim, "scaled_upcast")
        shape = [2 * e if d == at else e for d, e in enumerate(src.shape)]
        layout = _inference.infer("fp4_to_fp", src.type.layout, src.shape, [at], shape)
        ty = distributed_type(elem_type, shape, layout)
        attributes["axis"] = b.int_attr(32, at)
        name = "amdg.scaled_upcast_fp4"
    elif src.dtype.name in ("fp8e4nv", "fp8e5"):
        ty = src.type.with_element_ty(elem_type)
        name = "amdg.scaled_upcast_fp8"
    else:
        raise SemanticError(f"scaled_upcast takes bytes, fp8e4nv or fp8e5, not {src.dtype}")
    if scale.type.with_element_ty(elem_type) != ty:
        kind = "fp8" if src.dtype.is_fp8() else "fp4"
        raise SemanticError(
            f"Expected scale layout for {kind} scaled_upcast to be that of the result, "
            f"{list(ty.shape)} in\n    {ty.layout!r},\nnot {list(scale.shape)} in\n    "
            f"{scale.type.layout!r}"
        )
    handles = (src.handle, scale.handle)
    return tensor(b.create_one(name, handles, attributes, (b.type(ty),)), ty)


@builtin
def load_shared_fp4_repacked(mem_desc: Any, layout: Any) -> tensor:
    """Reads bytes that hold two floats of 4 bits along M (or N), as an operand whose bytes hold two
    along K."""
    if not isinstance(mem_desc, shared_memory_descriptor) or not is_byte(mem_desc.dtype):
        raise SemanticError(
            f"load_shared_fp4_repacked reads a buffer of bytes, not {describe(mem_desc)}"
        )
    layout = unwrap(layout)
    if not isinstance(layout, DotOperandLayout) or mem_desc.rank != 2:
        raise SemanticError(
            "load_shared_fp4_repacked reads a matrix in a DotOperandLayout, not "
            f"{list(mem_desc.shape)} in {layout!r}"
        )
    rows, columns = mem_desc.shape
    shape = [rows * 2, columns // 2] if layout.operand_index == 0 else [rows // 2, columns * 2]
    ty = distributed_type(mem_desc.dtype, shape, layout)
    b = current()
    handle = b.create_one(
        "amdg.local_load_packed_tranposed", (mem_desc.handle,), None, (b.type(ty),)
    )
    return tensor(handle, ty)
