"""What ``triton.language.standard`` has beside our own names."""

from tile import constexpr_function
from tile.language import interleave as interleave
from tile.language import ravel as ravel
from tile.language import zeros as zeros
from tile.language import zeros_like as zeros_like


@constexpr_function
def _log2(i: int) -> int:
    """The logarithm of a power of two."""
    return int(i).bit_length() - 1
