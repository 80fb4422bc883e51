"""Descriptors are those of sm_90."""

from .hopper import TensorDescriptor

__all__ = ["TensorDescriptor"]
