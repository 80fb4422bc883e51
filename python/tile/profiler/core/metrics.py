"""Metrics: how those of one place are put together, and what their names say."""

from __future__ import annotations

from typing import Any

Scalar = int | float
Value = Scalar | list[int] | list[float] | str

#: Suffixes of names: a property of a place that does not add up, and a metric of the place alone.
PROPERTY, EXCLUSIVE = " (pty)", " (exc)"


def split_name(name: str) -> tuple[str, bool, bool]:
    """The name without its suffix, whether it is a property, and whether it is exclusive."""
    if not name.endswith(")"):
        return name, False, False
    for suffix in (PROPERTY, EXCLUSIVE):
        if name.endswith(suffix):
            return name.removesuffix(suffix), suffix == PROPERTY, suffix == EXCLUSIVE
    return name, False, False


def type_of(value: Any) -> str:
    """What a value is, in the words of the error below."""
    if isinstance(value, list):
        return f"vector<{type_of(value[0]) if value else 'int64_t'}>"
    if isinstance(value, str):
        return "string"
    return "double" if isinstance(value, float) else "int64_t"


_PLAIN = {int: "int64_t", float: "double"}


class MetricTypes:
    """The types of a session's metrics: one name has one type."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, str]] = {}

    def check(self, metrics: dict[str, Any]) -> None:
        """Refuses a value of another type than its name had before."""
        all_known = self._known
        for name, value in metrics.items():
            given = _PLAIN.get(value.__class__) or type_of(value)
            found = all_known.get(name)
            if found is None:
                found = all_known[name] = (len(all_known), given)
            index, known = found
            if known != given:
                raise TypeError(
                    f"Metric value type mismatch for valueId {index} ({name}): "
                    f"current={known}, new={given}"
                )


def added(old: Any, new: Any) -> Any:
    """Two values of one metric at one place."""
    if isinstance(new, str):
        return new
    if isinstance(new, list):
        longer = max(len(old), len(new))
        padded = [list(v) + [0] * (longer - len(v)) for v in (old, new)]
        return [a + b for a, b in zip(*padded, strict=True)]
    return old + new
