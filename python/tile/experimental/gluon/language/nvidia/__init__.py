"""What only NVIDIA's GPUs have."""

from . import ampere, blackwell, hopper, rubin

__all__ = ["ampere", "blackwell", "hopper", "rubin"]
