"""Layouts of tensor memory, and of registers that are loaded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tile.errors import SemanticError
from tile.language.values import unwrap

from ..._inference import tensor_registers
from ..._layouts import DistributedLinearLayout, _bases, _cluster, _integers, _Layout, _powers


class TensorMemoryLayoutBase(_Layout):
    """Of a buffer in tensor memory."""

    cga_layout: list[list[int]]

    def _set_cluster(self) -> None:
        self._set(cga_layout=_bases(self.cga_layout, "cga_layout"))
        _cluster(self, 2)
        for dim in (0, 1):
            steps = sorted(basis[dim] for basis in self.cga_layout if basis[dim])
            if steps != [1 << bit for bit in range(len(steps))]:
                raise SemanticError(
                    f"{type(self).__name__}: the bases of cga_layout count the parts of rows and "
                    f"of columns by powers of two, each of them once, not {self.cga_layout}"
                )
        if any(all(basis) for basis in self.cga_layout):
            raise SemanticError(
                f"{type(self).__name__}: a basis of cga_layout is along rows or along columns, "
                f"not {self.cga_layout}"
            )

    @property
    def rank(self) -> int:
        return 2


@dataclass(frozen=True, eq=False)
class TensorMemoryLayout(TensorMemoryLayoutBase):
    """Blocks of `block` rows and columns; `col_stride` elements lie between neighbours of a row.
    With `fp4_padded`, an element of the buffer is two 4-bit floats, each of which takes a byte."""

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
        if self.fp4_padded and self.col_stride != 1:
            raise SemanticError(f"with fp4_padded, col_stride is 1, not {self.col_stride}")
        self._set_cluster()

    def _text(self) -> str:
        two = ", twoCTAs = true" if self.two_ctas else ""
        two += ", fp4Padded = true" if self.fp4_padded else ""
        return (
            f"#ttnvgpu.tensor_memory_encoding<blockM = {self.block[0]}, blockN = {self.block[1]}, "
            f"colStride = {self.col_stride}{_cluster(self, 2)}{two}>"
        )


@dataclass(frozen=True, eq=False)
class TensorMemoryScalesLayout(TensorMemoryLayoutBase):
    """Of the scales of a scaled dot: tiles of 32 rows and 4 columns, in all four windows."""

    cga_layout: list[list[int]] = field(default_factory=list)

    _letters = "TLS"

    def __post_init__(self) -> None:
        self._set_cluster()

    def _text(self) -> str:
        return f"#ttnvgpu.tensor_memory_scales_encoding<{_cluster(self, 2).removeprefix(', ')}>"


_VARIANTS = ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2", "32x32b_splitn")


def _keep_halves(registers: list, lanes: list, warps: list, columns: int) -> None:
    """Gives the halves of the columns to registers, and what the last bit of those counted to the
    lanes or warps that had the halves."""
    half = [0, columns // 2]
    for holders in (lanes, warps):
        if half in holders and registers:
            at = holders.index(half)
            holders[at], registers[-1] = registers[-1], half


def register_layout(descriptor: Any, num_warps: int, variant: str) -> DistributedLinearLayout:
    """In which registers a buffer of this type is loaded, by instructions of this shape.

    Buffers with half of the lanes have no `32x32b`: what takes its place is `16x32bx2`. With
    `32x32b_splitn`, a thread has elements of both halves of the columns, so that a split of them
    moves nothing."""
    if variant not in _VARIANTS:
        raise SemanticError(f"instr_variant is one of {', '.join(_VARIANTS)}, not {variant!r}")
    if num_warps % 4 or num_warps & (num_warps - 1):
        raise SemanticError(f"tensor memory is loaded by 4, 8, ... warps, not by {num_warps}")
    shape = variant.removesuffix("_splitn")
    for name in (shape, "16x32bx2") if shape == "32x32b" else (shape,):
        bases = tensor_registers(descriptor.mlir, num_warps, name, False)
        if bases:
            if shape != variant:
                _keep_halves(*bases[:3], descriptor.shape[-1])
            # The last bits of a block's number may divide nothing.
            blocks = bases[3]
            blocks += [[0, 0]] * (len(descriptor.layout.cga_layout) - len(blocks))
            return DistributedLinearLayout(*bases, list(descriptor.shape[-2:]))
    raise SemanticError(f"no {variant!r} loads {descriptor.name} in {num_warps} warps")


__all__ = ["TensorMemoryLayout", "TensorMemoryScalesLayout", "register_layout"]
