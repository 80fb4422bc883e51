"""Linear layouts, by the names that Triton's Python gives them.

Each wraps a `tile._C.layout.LinearLayout`. Where Triton ends the process, a ValueError says why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tile._C import layout as _native

_Bases = Sequence[tuple[str, Sequence[Sequence[int]]]]


class LinearLayout:
    """A linear map over F2 from named indices to named indices."""

    def __init__(self, native: Any) -> None:
        self._native = native

    @staticmethod
    def identity_1d(size: int, inDim: str, outDim: str) -> LinearLayout:
        """Each index gives itself."""
        return LinearLayout.strided_1d(size, 1, inDim, outDim)

    @staticmethod
    def strided_1d(size: int, stride: int, inDim: str, outDim: str) -> LinearLayout:
        """Each index gives itself times `stride`."""
        for name, value in (("size", size), ("stride", stride)):
            if value < 1 or value & (value - 1):
                raise ValueError(f"{name} must be a power of two, not {value}")
        images = [[stride << bit] for bit in range(size.bit_length() - 1)]
        extent = size * stride if size > 1 else 1
        return LinearLayout(_native.LinearLayout({inDim: images}, {outDim: extent}, False))

    @staticmethod
    def zeros_1d(size: int, inDim: str, outDim: str, outDimSize: int = 1) -> LinearLayout:
        """Each index gives 0."""
        if size < 1 or size & (size - 1):
            raise ValueError(f"size must be a power of two, not {size}")
        images = [[0]] * (size.bit_length() - 1)
        return LinearLayout(_native.LinearLayout({inDim: images}, {outDim: outDimSize}, False))

    @staticmethod
    def from_bases(
        bases: _Bases,
        out_dim_names: Sequence[str],
        out_dim_sizes: Sequence[int] | None = None,
        require_surjective: bool = True,
    ) -> LinearLayout:
        """From what each bit of each input dimension gives. The sizes of the output dimensions
        follow from that, unless they are given."""
        if out_dim_sizes is None:
            if not require_surjective:
                raise ValueError("out_dim_sizes must be provided when require_surjective is false")
            outs: Any = list(out_dim_names)
        else:
            outs = dict(zip(out_dim_names, out_dim_sizes, strict=True))
        images = {name: [list(image) for image in of] for name, of in bases}
        return LinearLayout(_native.LinearLayout(images, outs, require_surjective))

    @property
    def bases(self) -> list[tuple[str, list[list[int]]]]:
        """What each bit of each input dimension gives."""
        found = self._native.bases.items()
        return [(name, [list(image) for image in images]) for name, images in found]

    @property
    def out_dims(self) -> list[tuple[str, int]]:
        """The output dimensions with their sizes."""
        return list(self._native.out_dims.items())

    @property
    def num_in_dims(self) -> int:
        return len(self._native.in_dims)

    @property
    def num_out_dims(self) -> int:
        return len(self._native.out_dims)

    def get_in_dim_names(self) -> list[str]:
        return list(self._native.in_dims)

    def get_out_dim_names(self) -> list[str]:
        return list(self._native.out_dims)

    def is_surjective(self) -> bool:
        return self._native.is_surjective

    def is_injective(self) -> bool:
        return self._native.is_injective

    def is_invertible(self) -> bool:
        return self._native.is_invertible

    def apply(self, inputs: Mapping[str, int]) -> dict[str, int]:
        """The indices that some indices give."""
        return self._native.apply(dict(inputs))

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """First this layout, then `outer`."""
        return LinearLayout(self._native.compose(outer._native))

    def invert(self) -> LinearLayout:
        return LinearLayout(self._native.invert())

    def pseudoinvert(self) -> LinearLayout:
        """Of all that give an index, one; also where there are several, or none."""
        return LinearLayout(self._native.pseudoinvert())

    def invert_and_compose(self, outer: LinearLayout) -> LinearLayout:
        """Which index of `outer` gives the same as an index of this layout."""
        return LinearLayout(self._native.invert_and_compose(outer._native))

    def get_matrix_view(self) -> list[list[int]]:
        """The matrix of the map: a row for each bit of the output, from the lowest."""
        columns = [image for _, images in self.bases for image in images]
        return [
            [column[dim] >> bit & 1 for column in columns]
            for dim, (_, size) in enumerate(self.out_dims)
            for bit in range(int(math.log2(size)))
        ]

    def get_distributed_view(self, use_hardware_view: bool) -> str:
        """A table of who holds each element of a tensor, or of what each register holds."""
        return self._view(use_hardware_view, ("register", "lane", "warp"))

    def get_shared_view(self, use_hardware_view: bool) -> str:
        """A table of the offset of each element of a buffer, or of the element at each offset."""
        return self._view(use_hardware_view, ("offset",))

    def _view(self, hardware: bool, needed: tuple[str, ...]) -> str:
        from tile.experimental.gluon.language._views import hardware_view
        from tile.tools.layout import render_text

        for name in needed:
            if name not in self._native.in_dims:
                raise ValueError(f"this view needs the input dimension {name!r}")
        return (hardware_view if hardware else render_text)(self._native)

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """Both side by side. In dimensions of one name, `other` has the higher bits."""
        return LinearLayout(self._native * other._native)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearLayout) and self._native == other._native

    def __hash__(self) -> int:
        return hash(self._native)

    def __str__(self) -> str:
        return str(self._native)

    __repr__ = __str__


__all__ = ["LinearLayout"]
