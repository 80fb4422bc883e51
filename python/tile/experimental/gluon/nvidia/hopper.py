"""`TensorDescriptor`: a strided tensor of which kernels copy blocks, and how these lie in shared
memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tile.errors import TileError
from tile.tools import tensor_descriptor as plain

from ..language._layouts import NVMMASharedLayout


class LayoutError(TileError, AssertionError):
    """A layout does not fit the blocks of a descriptor."""


class TensorDescriptor(plain.HostDescriptor):
    """A descriptor made on the host: kernels take it as an argument."""

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> None:
        if not isinstance(layout, NVMMASharedLayout):
            raise TileError(
                f"the blocks of a TensorDescriptor lie as an NVMMASharedLayout says, not {layout!r}"
            )
        if layout.rank != len(block_shape):
            raise LayoutError(
                f"layout rank must match block shape rank: a block of shape {list(block_shape)} "
                f"needs a layout of as many dimensions, not {layout!r}"
            )
        if round_f32_to_tf32:
            raise TileError("a TensorDescriptor with round_f32_to_tf32 is not built in tile yet")
        super().__init__(base, shape, strides, block_shape, padding)
        self.layout = layout
        self.round_f32_to_tf32 = False

    @staticmethod
    def from_tensor(
        tensor: Any,
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """The descriptor of a whole array or tensor."""
        found = plain.TensorDescriptor.from_tensor(tensor, block_shape, padding)
        return TensorDescriptor(
            tensor, found.shape, found.strides, found.block_shape, layout, padding,
            round_f32_to_tf32,
        )  # fmt: skip


__all__ = ["TensorDescriptor"]


def __getattr__(name: str) -> Any:
    from .._absent import refuse

    return refuse(__name__, name)
