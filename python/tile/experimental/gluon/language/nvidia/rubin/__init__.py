"""sm_107: what sm_100 has, and more. Names and front end; tile has no code generator for it."""

from __future__ import annotations

from dataclasses import dataclass

from tile.errors import SemanticError
from tile.language.values import unwrap

from ..blackwell import *  # noqa: F403
from ..blackwell import __all__ as _of_blackwell
from ..blackwell._layouts import TensorMemoryScalesLayout as _Scales
from ..blackwell._packed import add4, fma4, mul4, sub4
from .mbarrier import arrive as _arrive  # noqa: F401 (This module is `rubin.mbarrier`.)


@dataclass(frozen=True, eq=False)
class TensorMemoryScalesLayout(_Scales):
    """As on sm_100; `block_rep_order` says which dimension the tiles of scales follow first."""

    block_rep_order: str = "mnThenK"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(block_rep_order=unwrap(self.block_rep_order))
        if self.block_rep_order not in ("mnThenK", "kThenMn"):
            raise SemanticError(
                f"block_rep_order is 'mnThenK' or 'kThenMn', not {self.block_rep_order!r}"
            )

    def _text(self) -> str:
        if self.block_rep_order != "mnThenK":
            raise SemanticError("tile has no layout of scales that follow K first")
        return super()._text()


__all__ = [*_of_blackwell, "add4", "fma4", "mul4", "sub4"]
