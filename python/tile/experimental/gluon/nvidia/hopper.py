"""`TensorDescriptor`: a strided tensor of which kernels copy blocks, and how these lie in shared
memory. Of a `TensorDescriptorIm2Col` they copy pixels."""

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

    #: How copies go through the tensor.
    mode = "tiled"

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
        _check_layout(layout, block_shape)
        super().__init__(base, shape, strides, block_shape, padding, round_f32_to_tf32)
        self.layout = layout

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


class TensorDescriptorIm2Col(plain.TensorDescriptor):
    """A descriptor made on the host, of a tensor of images: its first dimension counts them, its
    last the channels of a pixel. Copies of `block_shape` = [pixels, channels] begin at a pixel, and
    go on along the inner dimensions first, `element_strides` apart.

    The pixels are in a box. It begins at `pixel_box_lower_corner`, and ends at
    `pixel_box_upper_corner` as seen from the last pixel of an image. Both have one entry for each
    dimension between the first and the last.
    """

    mode = "im2col"

    def __init__(
        self,
        base: Any,
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: Sequence[int] | None = None,
        pixel_box_lower_corner: Sequence[int] | None = None,
        pixel_box_upper_corner: Sequence[int] | None = None,
    ) -> None:
        rank = len(shape)
        if not 3 <= rank <= 5:
            raise TileError(f"a TensorDescriptorIm2Col has 3 to 5 dimensions, not {rank}")
        if len(block_shape) != 2:
            raise TileError(
                "the block of a TensorDescriptorIm2Col is [pixels, channels], not "
                f"{list(block_shape)}"
            )
        _check_layout(layout, block_shape)
        if not 1 <= block_shape[0] <= _MOST_PIXELS:
            raise TileError(
                f"a copy takes 1 to {_MOST_PIXELS} pixels, not {block_shape[0]}: so says "
                f"block_shape={list(block_shape)}"
            )
        super().__init__(base, shape, strides, list(block_shape), padding, round_f32_to_tf32)
        self.layout = layout
        self.element_strides = _entries("element_strides", element_strides, 1, rank, 1, 8)
        bound = 1 << _CORNER_BITS[rank] - 1
        self.pixel_box_lower_corner = _entries(
            "pixel_box_lower_corner", pixel_box_lower_corner, 0, rank - 2, -bound, bound - 1
        )
        self.pixel_box_upper_corner = _entries(
            "pixel_box_upper_corner", pixel_box_upper_corner, 0, rank - 2, -bound, bound - 1
        )
        for size, low, high in zip(
            shape[1:-1], self.pixel_box_lower_corner, self.pixel_box_upper_corner, strict=True
        ):
            if low > size - 1 + high:
                raise TileError(
                    f"the box of pixels of a TensorDescriptorIm2Col is empty: it goes from {low} "
                    f"to {size - 1 + high} in a dimension of {size}"
                )

    def __post_init__(self) -> None:
        # A block has two dimensions, however many the tensor has.
        block, self.block_shape = self.block_shape, [1] * len(self.shape)
        super().__post_init__()
        self.block_shape = block

    @staticmethod
    def from_tensor(  # type: ignore[override]
        tensor: Any,
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
        element_strides: Sequence[int] | None = None,
        pixel_box_lower_corner: Sequence[int] | None = None,
        pixel_box_upper_corner: Sequence[int] | None = None,
    ) -> TensorDescriptorIm2Col:
        """The descriptor of a whole array or tensor."""
        found = plain.TensorDescriptor.from_tensor(tensor, [1] * len(tensor.shape), padding)
        return TensorDescriptorIm2Col(
            tensor, found.shape, found.strides, block_shape, layout, padding, round_f32_to_tf32,
            element_strides, pixel_box_lower_corner, pixel_box_upper_corner,
        )  # fmt: skip


#: What the hardware takes at once.
_MOST_PIXELS = 1024
#: Bits that the corners of the box of pixels have, by rank.
_CORNER_BITS = {3: 16, 4: 8, 5: 5}


def _check_layout(layout: NVMMASharedLayout, block_shape: Sequence[int]) -> None:
    if not isinstance(layout, NVMMASharedLayout):
        raise TileError(
            f"the blocks of a TensorDescriptor lie as an NVMMASharedLayout says, not {layout!r}"
        )
    if layout.rank != len(block_shape):
        raise LayoutError(
            f"layout rank must match block shape rank: a block of shape {list(block_shape)} "
            f"needs a layout of as many dimensions, not {layout!r}"
        )


def _entries(
    what: str, values: Sequence[int] | None, default: int, count: int, low: int, high: int
) -> list[int]:
    found = [default] * count if values is None else [int(v) for v in values]
    if len(found) != count or any(not low <= v <= high for v in found):
        raise TileError(
            f"the {what} of a TensorDescriptorIm2Col has {count} numbers from {low} to {high}, not "
            f"{found}"
        )
    return found


__all__ = ["TensorDescriptor", "TensorDescriptorIm2Col"]
