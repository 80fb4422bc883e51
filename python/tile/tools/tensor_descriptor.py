"""`TensorDescriptor`: a strided tensor of which kernels move blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import TileError
from ..runtime.descriptors import ALIGNMENT
from ..runtime.specialize import address_of, item_size, type_name


@dataclass
class HostDescriptor:
    """What all descriptors made on the host have. Kernels take them as arguments, and load
    and store blocks of `block_shape` by their coordinates.

    The base is aligned to 16 bytes, the last stride is 1, and the others are
    multiples of 16 bytes. Out of bounds, blocks read as `padding` ("zero" or
    "nan") and are not written. With `round_f32_to_tf32`, loads round numbers of
    fp32 to the nearest of tf32.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        rank = len(self.shape)
        if not 1 <= rank <= 5:
            raise TileError(f"a TensorDescriptor has 1 to 5 dimensions, not {rank}")
        for name in ("strides", "block_shape"):
            if len(getattr(self, name)) != rank:
                raise TileError(
                    f"a TensorDescriptor of {rank} dimensions needs as many entries in {name}, "
                    f"not {len(getattr(self, name))}"
                )
        if any(not 0 <= extent < 2**31 for extent in self.shape):
            raise TileError(
                f"the extents of a TensorDescriptor are from 0 to 2**31 - 1, not {list(self.shape)}"
            )
        self._check_padding()
        if self.round_f32_to_tf32 and type_name(self.base.dtype) != "fp32":
            raise TileError(
                "round_f32_to_tf32 is only supported for float32 tensors, not for "
                f"{type_name(self.base.dtype)}"
            )
        if 0 in self.shape:  # Nothing is accessed: all that a kernel reads is padding.
            return
        address = address_of(self.base)
        if address % ALIGNMENT:
            raise TileError(
                f"the base of a TensorDescriptor must be aligned to {ALIGNMENT} bytes, but its "
                f"address is {address:#x}, {address % ALIGNMENT} more than a multiple"
            )
        size = item_size(self.base)
        if self.strides[-1] != 1:
            raise TileError(
                "the last dimension of a TensorDescriptor must be contiguous, but its stride is "
                f"{self.strides[-1]}"
            )
        for i, stride in enumerate(self.strides[:-1]):
            if stride * size % ALIGNMENT:
                raise TileError(
                    f"the strides of a TensorDescriptor must be multiples of {ALIGNMENT} bytes, "
                    f"but stride {i} is {stride} elements of {size} bytes; pad the rows"
                )

    def _check_padding(self) -> None:
        if self.padding not in ("zero", "nan"):
            raise TileError(
                f"the padding of a TensorDescriptor is 'zero' or 'nan', not {self.padding!r}"
            )
        if self.padding == "nan" and type_name(self.base.dtype)[0] in "iu":
            raise TileError("integers cannot be padded with NaN; use padding='zero'")


class TensorDescriptor(HostDescriptor):
    """A descriptor whose blocks lie in shared memory as the compiler wants."""

    @staticmethod
    def from_tensor(
        tensor: Any,
        block_shape: Sequence[int],
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """The descriptor of a whole array or tensor."""
        if hasattr(tensor, "stride"):
            strides = list(tensor.stride())
        else:
            size = item_size(tensor)
            strides = [stride // size for stride in tensor.strides]
        return TensorDescriptor(
            tensor, list(tensor.shape), strides, list(block_shape), padding, round_f32_to_tf32
        )


__all__ = ["HostDescriptor", "TensorDescriptor"]
