"""`TensorDescriptor`: a strided tensor of which kernels on gfx1250 copy blocks, and how these lie
in LDS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.errors import TileError
from tile.tools import tensor_descriptor as plain

from ..language._layouts import PaddedSharedLayout, SwizzledSharedLayout
from ..language.amd.cdna5 import PartitionedSharedLayout


class TensorDescriptor(plain.HostDescriptor):
    """A descriptor made on the host: kernels take it as an argument."""

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        layout: PaddedSharedLayout | SwizzledSharedLayout | PartitionedSharedLayout,
        padding: str = "zero",
    ) -> None:
        if padding != "zero":
            raise TileError(
                "Only 'zero' padding is supported by a TensorDescriptor of gfx1250, not "
                f"{padding!r}"
            )
        kinds = (PaddedSharedLayout, SwizzledSharedLayout, PartitionedSharedLayout)
        if not isinstance(layout, kinds):
            raise TileError(
                "the blocks of a TensorDescriptor of gfx1250 lie as a PaddedSharedLayout, a "
                f"SwizzledSharedLayout or a PartitionedSharedLayout says, not {layout!r}"
            )
        super().__init__(base, shape, strides, block_shape)
        self.layout = layout

    @staticmethod
    def from_tensor(tensor: Any, block_shape: Sequence[int], layout: Any) -> TensorDescriptor:
        """The descriptor of a whole array or tensor."""
        found = plain.TensorDescriptor.from_tensor(tensor, block_shape)
        return TensorDescriptor(tensor, found.shape, found.strides, found.block_shape, layout)


__all__ = ["TensorDescriptor"]
