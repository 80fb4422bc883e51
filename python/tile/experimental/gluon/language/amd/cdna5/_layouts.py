"""Layouts of gfx1250: LDS has partitions that are read at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tile.errors import SemanticError
from tile.language.values import unwrap
from tile.runtime.jit import constexpr_function

from ... import _inference
from ..._amd_layouts import AMDWMMALayout
from ..._layouts import (
    PaddedSharedLayout,
    SharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
    _integers,
)


@dataclass(frozen=True, eq=False)
class PartitionedSharedLayout(SharedLayout):
    """Pieces along `partition_dim` lie in partitions of LDS in turns, `num_groups` times."""

    num_partitions: int
    num_groups: int
    partition_dim: int
    partition_layout: SharedLayout

    _letters = "PTS"

    def __post_init__(self) -> None:
        names = ("num_partitions", "num_groups", "partition_dim", "partition_layout")
        self._set(**{name: unwrap(getattr(self, name)) for name in names})
        for name in names[:2]:
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1 or value & (value - 1):
                raise SemanticError(f"{name} is a power of two, not {value!r}")
        if not isinstance(self.partition_layout, (PaddedSharedLayout, SwizzledSharedLayout)):
            raise SemanticError(
                "the partition_layout of a PartitionedSharedLayout is padded or swizzled, not "
                f"{self.partition_layout!r}"
            )
        if not 0 <= self.partition_dim < self.rank:
            raise SemanticError(
                f"partition_dim is from 0 to {self.rank - 1}, not {self.partition_dim!r}"
            )

    @property
    def rank(self) -> int:
        return self.partition_layout.rank

    @property
    def shape(self) -> list[int]:
        """Of a buffer, where the layout of a piece says its shape."""
        pieces = self.num_partitions * self.num_groups
        piece = self.partition_layout.shape  # type: ignore[attr-defined]
        return [e * pieces if d == self.partition_dim else e for d, e in enumerate(piece)]

    def _of_buffer(self, shape: Sequence[int]) -> SharedLayout:
        """Partitions follow one another. Each has the pieces of its groups, in their order."""
        dim, pieces = self.partition_dim, self.num_partitions * self.num_groups
        if shape[dim] % pieces:
            raise SemanticError(
                f"a buffer of shape {list(shape)} does not have {pieces} equal pieces along "
                f"dimension {dim}, as {self!r} says"
            )
        piece = [e // pieces if d == dim else e for d, e in enumerate(shape)]
        inside = _inference.as_linear(self.partition_layout, piece)
        if inside.block_bases:
            raise SemanticError("buffers in partitions of LDS are of one block")
        steps = [
            [piece[dim] << bit if d == dim else 0 for d in range(self.rank)]
            for bit in range(pieces.bit_length() - 1)
        ]
        turns = self.num_partitions.bit_length() - 1
        bases = [*inside.offset_bases, *steps[turns:], *steps[:turns]]
        if isinstance(self.partition_layout, PaddedSharedLayout):
            pads = self.partition_layout.interval_padding_pairs
            return PaddedSharedLayout(pads, bases, [], list(shape))
        return SharedLinearLayout(bases)

    def _text(self) -> str:
        if not isinstance(self.partition_layout, PaddedSharedLayout):
            raise SemanticError(f"the places of {self!r} depend on the shape of the buffer")
        return self._of_buffer(self.shape)._text()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionedSharedLayout) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


def _piece(layout: Any, dim: int, pieces: int) -> SharedLayout:
    """The layout of one of so many parts along a dimension."""
    if isinstance(layout, SwizzledSharedLayout):
        return layout
    if not isinstance(layout, PaddedSharedLayout) or layout.cga_layout:
        raise SemanticError(
            f"make_partitioned_dot_layouts takes padded or swizzled layouts of one block, not "
            f"{layout!r}"
        )
    shape = [e // pieces if d == dim else e for d, e in enumerate(layout.shape)]
    bases = [basis for basis in layout.offset_bases if basis[dim] < shape[dim]]
    return PaddedSharedLayout(layout.interval_padding_pairs, bases, [], shape)


@constexpr_function
def make_partitioned_dot_layouts(
    block_m: int,
    block_n: int,
    original_layout_a: Any,
    original_layout_b: Any,
    num_warps: int = 4,
    instr_shape: Any = (16, 16, 32),
    a_transposed: bool = False,
    b_transposed: bool = False,
    slice_m: Any = None,
    slice_n: Any = None,
    transposed: bool = True,
) -> tuple[PartitionedSharedLayout, PartitionedSharedLayout, AMDWMMALayout]:
    """Layouts of both operands of a dot and of its accumulator, such that warps that run at the
    same time read different partitions of LDS. A dot multiplies slices of `slice_m` rows and
    `slice_n` columns of the block; each operand has two pieces for each slice."""
    block_m, block_n, warps = unwrap(block_m), unwrap(block_n), unwrap(num_warps)
    shape = _integers(instr_shape, "instr_shape")
    slices = [
        whole if unwrap(part) is None else unwrap(part)
        for whole, part in ((block_m, slice_m), (block_n, slice_n))
    ]
    if warps not in (4, 8):
        raise SemanticError(f"make_partitioned_dot_layouts is for 4 or 8 warps, not {warps}")
    extents = shape[1::-1] if unwrap(transposed) else shape[:2]
    tiles_m, tiles_n = (part // extent for part, extent in zip(slices, extents, strict=True))
    if tiles_m < 4 or tiles_n < 2:
        raise SemanticError(
            f"a slice has at least 4 x 2 instructions of {extents[0]} x {extents[1]}, but one of "
            f"{slices[0]} x {slices[1]} has {tiles_m} x {tiles_n}"
        )
    # The first bit of the number of a warp changes the partition of both operands.
    m, n = tiles_m // 4, tiles_n // 2
    warp_bases = [[tiles_m // 2, n], [m, 0]]
    rest = [[2 * m, 0]]
    if warps == 8:
        warp_bases += rest
        rest = []
    reg_bases = [[0, 1 << bit] for bit in range(n.bit_length() - 1)]
    reg_bases += [[1 << bit, 0] for bit in range(m.bit_length() - 1)] + rest
    layouts = []
    for original, dim, whole, part in (
        (unwrap(original_layout_a), 1 if unwrap(a_transposed) else 0, block_m, slices[0]),
        (unwrap(original_layout_b), 0 if unwrap(b_transposed) else 1, block_n, slices[1]),
    ):
        groups = whole // part
        piece = _piece(original, dim, 2 * groups)
        layouts.append(PartitionedSharedLayout(2, groups, dim, piece))
    wmma = AMDWMMALayout(3, unwrap(transposed), warp_bases, reg_bases, shape)
    return layouts[0], layouts[1], wmma


__all__ = ["PartitionedSharedLayout", "make_partitioned_dot_layouts"]
