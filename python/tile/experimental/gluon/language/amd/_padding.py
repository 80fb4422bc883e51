"""Padded layouts of LDS from which operands are read without conflicts of banks."""

from __future__ import annotations

from typing import Any

from tile.language.values import unwrap, unwrap_shape
from tile.runtime.jit import constexpr_function

from .._amd_layouts import AMDMFMALayout
from .._layouts import DotOperandLayout, PaddedSharedLayout

#: What a wave writes by one instruction that goes straight to LDS, in bytes. No gap is within.
_WRITTEN = 1024
#: The gap behind it: two accesses of 16 bytes.
_GAP = 32


@constexpr_function
def compute_efficient_padded_shared_layout(
    dot_operand_layout: Any, shape: Any, dtype: Any, is_k_contig: bool = True
) -> Any:
    """The layout of a buffer for an operand of `mfma`, or None where tile knows none.

    `k_width` is 4, 8 or 16. Elements have 4, 8 or 16 bits, and lie side by side along K. Rows
    that one instruction reads lie in different writes, and so one gap apart.
    """
    layout, extents, bits = unwrap(dot_operand_layout), list(unwrap_shape(shape)), unwrap(dtype)
    bits = bits.primitive_bitwidth
    if (
        not isinstance(layout, DotOperandLayout)
        or not isinstance(layout.parent, AMDMFMALayout)
        or len(extents) != 2
        or layout.k_width not in (4, 8, 16)
        or bits not in (4, 8, 16)
        or not unwrap(is_k_contig)
    ):
        return None
    along = 1 - layout.operand_index  # K.
    across = layout.operand_index
    row_bytes = extents[along] * bits // 8
    lanes = layout.parent.instr_shape[layout.operand_index]
    bits_of_rows = list(range(extents[across].bit_length() - 1))
    read = [bit for bit in bits_of_rows if 1 << bit < lanes]
    others = [bit for bit in bits_of_rows if 1 << bit >= lanes]
    # So many rows are written at once.
    count = max(0, (_WRITTEN // row_bytes).bit_length() - 1) if row_bytes <= _WRITTEN else 0
    order = [*others[:count], *read, *others[count:]]

    def basis(dim: int, bit: int) -> list[int]:
        return [1 << bit if d == dim else 0 for d in range(2)]

    bases = [basis(along, bit) for bit in range(extents[along].bit_length() - 1)]
    bases += [basis(across, bit) for bit in order]
    interval = extents[along] << min(count, len(others))
    return PaddedSharedLayout([[interval, _GAP * 8 // bits]], bases, [], extents)


__all__ = ["compute_efficient_padded_shared_layout"]
