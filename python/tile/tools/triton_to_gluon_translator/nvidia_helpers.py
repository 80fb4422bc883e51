"""What translated kernels need on NVIDIA GPUs."""

from __future__ import annotations

from typing import Any

from tile.experimental.gluon.language import NVMMASharedLayout
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor
from tile.language.dtypes import str_to_type
from tile.runtime.specialize import type_name


def convert_host_descriptor(desc: Any) -> TensorDescriptor:
    """A descriptor of the host for a translated kernel: it says how blocks lie in shared memory."""
    block = list(desc.block_shape)
    layout = NVMMASharedLayout.get_default_for(block, str_to_type(type_name(desc.base.dtype)))
    return TensorDescriptor(
        desc.base, list(desc.shape), list(desc.strides), block, layout, desc.padding,
        getattr(desc, "round_f32_to_tf32", False),
    )  # fmt: skip


__all__ = ["convert_host_descriptor"]
