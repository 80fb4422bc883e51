"""Layouts of tensor memory, and of registers that are loaded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tile.errors import SemanticError
from tile.language.values import unwrap

from ..._layouts import DistributedLinearLayout, _bases, _cluster, _integers, _Layout, _powers


class TensorMemoryLayoutBase(_Layout):
    """Of a buffer in tensor memory."""

    cga_layout: list[list[int]]

    def _set_cluster(self) -> None:
        self._set(cga_layout=_bases(self.cga_layout, "cga_layout"))
        _cluster(self, 2)

    @property
    def rank(self) -> int:
        return 2

    def _splits(self) -> str:
        """Over how many blocks of a cluster rows and columns are divided."""
        parts = [1, 1]
        for basis in self.cga_layout:
            parts = [p * 2 if step else p for p, step in zip(parts, basis, strict=True)]
        names = ("CTASplitM", "CTASplitN")
        return "".join(
            f", {name} = {count}" for name, count in zip(names, parts, strict=True) if count > 1
        )


@dataclass(frozen=True, eq=False)
class TensorMemoryLayout(TensorMemoryLayoutBase):
    """Blocks of `block` rows and columns; `col_stride` elements lie between neighbours of a row."""

    block: Sequence[int]
    col_stride: int
    cga_layout: list[list[int]] = field(default_factory=list)
    two_ctas: bool = False
    fp4_padded: bool = False

    _letters = "TL"

    def __post_init__(self) -> None:
        self._set(
            block=tuple(_integers(self.block, "block")),
            col_stride=unwrap(self.col_stride),
            two_ctas=bool(unwrap(self.two_ctas)),
            fp4_padded=bool(unwrap(self.fp4_padded)),
        )
        if len(self.block) != 2:
            raise SemanticError(f"block is [rows, columns], not {list(self.block)}")
        _powers(self, "block")
        if self.block[0] not in (64, 128):
            raise SemanticError(f"a block has 64 or 128 rows, not {self.block[0]}")
        if self.col_stride not in (1, 2, 4):
            raise SemanticError(f"col_stride is 1, 2 or 4, not {self.col_stride!r}")
        self._set_cluster()

    def _text(self) -> str:
        if self.fp4_padded:
            raise SemanticError("tile has no layout of padded 4-bit floats in tensor memory")
        two = ", twoCTAs = true" if self.two_ctas else ""
        return (
            f"#ttnvgpu.tensor_memory_encoding<blockM = {self.block[0]}, blockN = {self.block[1]}, "
            f"colStride = {self.col_stride}{self._splits()}{two}>"
        )


@dataclass(frozen=True, eq=False)
class TensorMemoryScalesLayout(TensorMemoryLayoutBase):
    """Of the scales of a scaled dot: tiles of 32 rows and 4 columns, in all four windows."""

    cga_layout: list[list[int]] = field(default_factory=list)

    _letters = "TLS"

    def __post_init__(self) -> None:
        self._set_cluster()

    def _text(self) -> str:
        return f"#ttnvgpu.tensor_memory_scales_encoding<{self._splits().removeprefix(', ')}>"


def register_layout(
    layout: Any, shape: Sequence[int], num_warps: int, variant: str
) -> DistributedLinearLayout:
    """In which registers a buffer is loaded when the program does not say it: a row to a lane."""
    if variant != "32x32b":
        raise SemanticError(f"tile knows the instr_variant '32x32b' of loads, not {variant!r}")
    if not isinstance(layout, TensorMemoryLayout) or layout.block[0] != 128:
        raise SemanticError(
            f"say the layout of registers: tile knows the default one of blocks of 128 rows only, "
            f"not of {layout!r}"
        )
    if num_warps % 4 or num_warps & (num_warps - 1):
        raise SemanticError(f"tensor memory is loaded by 4, 8, ... warps, not by {num_warps}")
    rows, columns = shape[-2], shape[-1]
    blocks = []
    for basis in layout.cga_layout:
        step = [0, 0]
        if basis[0]:
            rows //= 2
        if basis[1]:
            columns //= 2
        blocks.append(step)
    within = [0, 0]
    for basis, step in zip(layout.cga_layout, blocks, strict=True):
        for d, extent in enumerate((rows, columns)):
            if basis[d]:
                step[d] = extent << within[d]
                within[d] += 1
    registers = [[0, 1 << bit] for bit in range(columns.bit_length() - 1)]
    registers += [[128 << bit, 0] for bit in range((rows // 128).bit_length() - 1)]
    warps = [[32, 0], [64, 0]]
    for _ in range(num_warps.bit_length() - 3):
        warps.append(registers.pop())
    lanes = [[1 << bit, 0] for bit in range(5)]
    return DistributedLinearLayout(registers, lanes, warps, blocks, list(shape[-2:]))


__all__ = ["TensorMemoryLayout", "TensorMemoryScalesLayout", "register_layout"]
