"""sm_80 and later: asynchronous copies, and ``mma.sync``."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.state import current
from tile.language.values import builtin, tensor, unwrap

from ..._core import _check_block, matrix_product
from ..._layouts import DotOperandLayout, NVMMADistributedLayout
from ..._policies import FractionalEvictionPolicy
from ..._policies import NvidiaCachePolicy as CachePolicy
from . import async_copy, mbarrier


@builtin
def mma_v2(a: Any, b: Any, acc: Any, input_precision: Any = None) -> tensor:
    """a * b + acc, by ``mma.sync``; the operands are in the `DotOperandLayout` of that of `acc`."""
    a, b, acc = (_check_block(x, "mma_v2") for x in (a, b, acc))
    layout = acc.type.layout
    if not isinstance(layout, NVMMADistributedLayout) or layout.version[0] != 2:
        raise SemanticError(
            f"acc of mma_v2 must be in NVMMADistributedLayout(version=[2, 0], ...), not in "
            f"{layout!r}"
        )
    precision = unwrap(input_precision) or current().options.default_dot_input_precision
    return matrix_product(a, b, acc, "mma_v2", precision)


__all__ = [
    "CachePolicy", "DotOperandLayout", "FractionalEvictionPolicy", "NVMMADistributedLayout",
    "async_copy", "mbarrier", "mma_v2",
]  # fmt: skip
