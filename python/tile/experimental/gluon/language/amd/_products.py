"""Dots by the matrix instructions of AMD's GPUs."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.dtypes import float32
from tile.language.promotion import constant
from tile.language.values import builtin, tensor, unwrap

from .._amd_layouts import AMDMFMALayout, AMDWMMALayout
from .._core import _check_block, matrix_product

#: Instructions that keep as many bits of fp32 as tf32 has, by their extents.
_RELAXED = ([16, 16, 8], [32, 32, 4])


def check_class(cd_regclass: Any, what: str) -> None:
    if unwrap(cd_regclass) is not None:
        raise SemanticError(
            f"{what} with cd_regclass is not built in tile yet: LLVM chooses the registers"
        )


def check_accumulator(acc: Any, kind: type, what: str) -> tensor:
    acc = _check_block(acc, what)
    if not isinstance(acc.type.layout, kind):
        raise SemanticError(
            f"acc of {what} must be in an {kind.__name__}, not in {acc.type.layout!r}"
        )
    return acc


def zero_beside_product() -> None:
    """Triton's front end leaves this constant beside each of these dots, and its public tests
    compare the text. Nothing uses it; it does not get past `glir`."""
    constant(0.0, float32)


@builtin
def mfma(a: Any, b: Any, acc: Any, cd_regclass: Any = None) -> tensor:
    """a * b + acc, by MFMA; the operands are in the `DotOperandLayout` of that of `acc`."""
    a, b = _check_block(a, "mfma"), _check_block(b, "mfma")
    acc = check_accumulator(acc, AMDMFMALayout, "mfma")
    check_class(cd_regclass, "mfma")
    relaxed = a.dtype.name == "fp32" and acc.type.layout.instr_shape in _RELAXED
    zero_beside_product()
    return matrix_product(a, b, acc, "mfma", "tf32" if relaxed else "ieee")


def make_wmma(version: int) -> Any:
    """The function of GPUs whose layouts have this version."""

    def wmma(a: Any, b: Any, acc: Any) -> tensor:
        """a * b + acc, by WMMA; the operands are in the `DotOperandLayout` of that of `acc`."""
        a, b = _check_block(a, "wmma"), _check_block(b, "wmma")
        acc = check_accumulator(acc, AMDWMMALayout, "wmma")
        if acc.type.layout.version != version:
            raise SemanticError(
                f"this wmma takes an AMDWMMALayout of version {version}, not "
                f"{acc.type.layout.version}"
            )
        zero_beside_product()
        return matrix_product(a, b, acc, "wmma", "ieee")

    return builtin(wmma)
