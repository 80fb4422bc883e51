"""Metrics that programs give: numbers, lists and tensors."""

from __future__ import annotations

from typing import Any

from ..errors import TileError

#: Bits of the operands that operations are counted for.
FLOPS_WIDTHS = (8, 16, 32, 64)
_FLOPS = {"flops", *(f"flops{width}" for width in FLOPS_WIDTHS)}


def transform_tensor_metrics(metrics: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Numbers and lists, as metrics have them, and tensors of a GPU, which are read later."""
    scalars: dict[str, Any] = {}
    tensors: dict[str, Any] = {}
    for name, value in metrics.items():
        kind = value.__class__
        if kind is int or kind is float:
            if name in _FLOPS:
                value = float(value)
            elif name == "bytes":
                value = int(value)
            scalars[name] = value
        elif is_on_a_device(value):
            tensors[name] = value
        else:
            scalars[name] = typed(name, plain(name, value))
    return scalars, tensors


def is_on_a_device(value: Any) -> bool:
    """Whether a metric is a tensor whose value the host cannot read now."""
    if not hasattr(value, "data_ptr"):
        return False
    return bool(getattr(value, "is_cuda", False))


def plain(name: str, value: Any) -> Any:
    """A metric as a Python number, a text or a list of numbers."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):  # NumPy's and torch's.
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        found = [plain(name, one) for one in value]
        if len(found) == 1 and isinstance(found[0], list):
            return found[0]
        if any(isinstance(one, (list, str)) for one in found):
            raise TileError(f"the metric {name!r} is a vector at most, not {value!r}")
        if any(isinstance(one, float) for one in found):
            found = [float(one) for one in found]
        return found
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        try:
            return int(value.__index__())
        except AttributeError:
            raise TileError(
                f"the metric {name!r} is a number, a list of numbers or a tensor, not {value!r}"
            ) from None
    return value


def typed(name: str, value: Any) -> Any:
    """Operations are counted in floats, bytes in integers, whatever they were given as."""
    if name in _FLOPS:
        return [float(v) for v in value] if isinstance(value, list) else float(value)
    if name == "bytes":
        return [int(v) for v in value] if isinstance(value, list) else int(value)
    return value
