"""What the host prepares for kernels on NVIDIA's GPUs."""

from . import blackwell, hopper

__all__ = ["blackwell", "hopper"]
