"""Tensors of 4-bit floats and of their scales, as tests of scaled dots make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: The magnitudes of e2m1, by their three bits.
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_NAN_SCALE = 255
_SCALE_BIAS = 127


class _Elements:
    """Codes of one byte each, made of numbers or, with `random`, of a size."""

    def __init__(self, data: Any = None, size: Any = None, device: Any = None) -> None:
        import torch

        self.device = device if device is not None else getattr(data, "device", None)
        if data is not None:
            self.data = self._from_float(torch.as_tensor(data, device=self.device))
            self.device = self.data.device
        elif size is not None:
            self.size = size if isinstance(size, tuple) else (size,)
        else:
            raise ValueError("either data or size must be given")

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError


class MXFP4Tensor(_Elements):
    """Elements of e2m1: one in the low bits of each byte of `data`."""

    def random(self) -> MXFP4Tensor:
        """Fills with random elements of all encodings."""
        import torch

        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        """The values, in another type."""
        import torch

        table = torch.tensor(_MAGNITUDES, dtype=torch.float32, device=self.data.device)
        values = table[(self.data & 7).long()]
        return torch.where(self.data & 8 > 0, -values, values).to(dtype)

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        """To nearest, ties to even; what is beyond the largest value becomes it."""
        import torch

        table = torch.tensor(_MAGNITUDES, dtype=torch.float64, device=values.device)
        wide = values.double()
        size = torch.nan_to_num(wide.abs(), nan=6.0, posinf=6.0).clamp(max=6.0)
        middles = (table[1:] + table[:-1]) / 2
        # A value in the middle goes to the even one of its neighbours.
        code = torch.searchsorted(middles, size, right=False)
        tie = (size[..., None] == middles).any(-1)
        code = torch.where(tie & (code % 2 == 1), code + 1, code)
        return (code + 8 * torch.signbit(wide)).to(torch.uint8)

    def to_packed_tensor(self, dim: int) -> torch.Tensor:
        """Two neighbours along a dimension in each byte, the first in the low bits. The last of an
        odd number has zero beside it."""
        import torch

        rank = self.data.dim()
        assert -rank <= dim < rank, f"there is no dimension {dim} of {rank}"
        at = dim % rank
        data = self.data
        if data.shape[at] % 2:
            data = torch.cat([data, torch.zeros_like(data.narrow(at, 0, 1))], at)
        low, high = data.unflatten(at, (data.shape[at] // 2, 2)).unbind(at + 1)
        return (high << 4) | low

    def unpack_packed_tensor(
        self, packed_tensor: torch.Tensor, dim: int, original_shape: Any
    ) -> torch.Tensor:
        """The elements of a packed tensor."""
        import torch

        at = dim % packed_tensor.dim()
        parts = torch.stack([packed_tensor & 15, packed_tensor >> 4], at + 1)
        shape = tuple(original_shape)
        return parts.flatten(at, at + 1).narrow(at, 0, shape[at]).reshape(shape)


class MXScaleTensor(_Elements):
    """Scales of e8m0: powers of two, by their exponents."""

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Fills with random powers of two between two values; never with NaN."""
        import torch

        bias = _SCALE_BIAS
        first = 0 if low is None else int(torch.tensor(low).log2().floor()) + bias
        last = _NAN_SCALE - 1 if high is None else int(torch.tensor(high).log2().floor()) + bias
        first, last = max(first, 0), min(last, _NAN_SCALE - 1)
        self.data = torch.randint(first, last + 1, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: torch.dtype) -> torch.Tensor:
        """The values, in another type."""
        import torch

        exponents = self.data.to(torch.float64) - _SCALE_BIAS
        values = torch.exp2(exponents)
        return torch.where(self.data == _NAN_SCALE, torch.nan, values).to(torch.float32).to(dtype)

    def _from_float(self, values: torch.Tensor) -> torch.Tensor:
        """The power of two below; NaN for what is not a positive number."""
        import torch

        wide = values.double()
        valid = torch.isfinite(wide) & (wide > 0)
        exponents = torch.where(valid, wide, 1.0).log2().floor().clamp(-_SCALE_BIAS, _SCALE_BIAS)
        return torch.where(valid, exponents + _SCALE_BIAS, _NAN_SCALE).to(torch.uint8)


__all__ = ["MXFP4Tensor", "MXScaleTensor"]
