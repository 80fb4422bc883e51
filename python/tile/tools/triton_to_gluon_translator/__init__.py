"""Kernels of `tile.language` as programs with explicit layouts, as source to source."""

from .slice_kernel import slice_kernel
from .target import TranslatorTarget
from .translator import convert_triton_to_gluon, translate_kernels, translate_paths

__all__ = [
    "TranslatorTarget", "convert_triton_to_gluon", "slice_kernel", "translate_kernels",
    "translate_paths",
]  # fmt: skip
