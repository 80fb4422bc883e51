"""The options of a compile for the toy machine."""

from __future__ import annotations

from dataclasses import dataclass

from tile.backends.base import BaseOptions


@dataclass(frozen=True)
class ToyOptions(BaseOptions):
    num_warps: int = 1
    #: What the names of values begin with.
    toy_prefix: str = "v"
    default_dot_input_precision: str = "ieee"
    max_num_imprecise_acc_default: int = 0
    enable_fp_fusion: bool = True

    supported_fp8_dtypes = ()
    allowed_dot_input_precisions = ("ieee",)
