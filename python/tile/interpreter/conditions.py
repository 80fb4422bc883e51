"""Scalars of a kernel as conditions and numbers of Python."""

from __future__ import annotations

from typing import Any

from ..compiler.flatten import is_sequence
from ..errors import SemanticError
from ..language.creation import scalar_condition
from ..language.promotion import is_constant
from ..language.values import tensor, unwrap
from .collective import Divergent
from .numbers import displayed
from .undefined import check_scalar


def truth(value: Any, what: str = "if") -> bool:
    """Whether a condition holds: a constant, or a scalar of the kernel."""
    value = unwrap(value)
    if not isinstance(value, tensor):
        return bool(value)
    handle = check_scalar(scalar_condition(value, what).handle, f"the condition of `{what}`")
    if handle.size == 1:
        return bool(handle)
    # Elements that are computed together; they must agree.
    nonzero = handle != 0
    if nonzero.all():
        return True
    if nonzero.any():
        raise Divergent
    return False


def has_numbers(value: Any) -> bool:
    """Whether a value has numbers that a branch would turn into tensors."""
    if is_sequence(value):
        return any(map(has_numbers, value))
    if isinstance(value, dict):
        return any(map(has_numbers, value.values()))
    return is_constant(value)


def as_number(value: tensor) -> int | float | bool:
    """A scalar of the kernel as a Python number."""
    handle = check_scalar(value.handle, "a number that Python needs")
    if handle.size != 1:
        if value.type.is_block():
            raise SemanticError(f"a block ({value.type}) is not one number")
        raise Divergent
    return displayed(handle, value.type).reshape(-1)[0].item()
