"""Metrics that follow from those of a profile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..errors import TileError

_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_GREAT = {"": 1.0, "g": 1e9, "t": 1e12}
_TIMES = {"time": "time (ns)", "cpu_time": "cpu_time (ns)"}
_TIME = re.compile(r"^(?P<average>avg_)?(?P<what>time|cpu_time)/(?P<unit>s|ms|us|ns)$")
_RATE = re.compile(r"^(?P<unit>[gt]?)(?P<what>byte|flop(?P<width>8|16|32|64)?)/s$")

#: For the help of commands.
ANY_METRIC = (
    "Metrics are those of the file (see --list), time/s, avg_time/s, cpu_time/s and "
    "avg_cpu_time/s, also in ms, us and ns, flop/s, flop8/s to flop64/s and byte/s, also with g "
    "and t in front, util, and METRIC/%."
)


def derivable(known: Sequence[str]) -> list[str]:
    """The metrics that can be derived from some."""
    found = []
    for what, source in _TIMES.items():
        if source in known:
            found.append(f"{what}/{{s,ms,us,ns}}")
            if "count" in known:
                found.append(f"avg_{what}/{{s,ms,us,ns}}")
    if "time (ns)" in known:
        for source in known:
            if re.match(r"^(flops(8|16|32|64)?|bytes)$", source):
                found.append(
                    f"{{,g,t}}{source.replace('flops', 'flop').replace('bytes', 'byte')}/s"
                )
        found.append("util")
    found += [f"{name.partition(' (')[0]}/%" for name in known]
    return found


def _column(source: str, known: dict[str, str], metric: str) -> str:
    if source not in known:
        raise TileError(
            f"the metric {metric!r} needs {source!r}, which this profile does not have; it has "
            f"{', '.join(known)}"
        )
    return known[source]


def _like(name: str, *columns: str) -> str:
    """The name of a column that follows from others: with what is below, as those are."""
    return name + " (inc)" if any(c.endswith(" (inc)") for c in columns) else name


def derive(metric: str, df: Any, known: dict[str, str], root: Any) -> tuple[str, Any]:
    """The column of a metric and its values, from the columns of known ones."""
    if metric in known:
        return known[metric], df[known[metric]]
    if found := _TIME.match(metric):
        column = _column(_TIMES[found["what"]], known, metric)
        values = df[column] / _NANOSECONDS[found["unit"]]
        if found["average"]:
            values = values / df[_column("count", known, metric)]
        return _like(metric, column), values
    if found := _RATE.match(metric):
        time = _column("time (ns)", known, metric)
        if found["what"] == "byte":
            sources = ["bytes"]
        elif found["width"]:
            sources = [f"flops{found['width']}"]
        else:
            sources = [s for s in known if re.match(r"^flops\d*$", s)] or ["flops"]
        columns = [_column(source, known, metric) for source in sources]
        amount = sum(df[c].fillna(0) for c in columns)
        return _like(metric, *columns), amount / (df[time] / 1e9) / _GREAT[found["unit"]]
    if metric.endswith("/%"):
        name = metric.removesuffix("/%")
        source = next((s for s in known if s == name or s.partition(" (")[0] == name), name)
        column = _column(source, known, metric)
        whole = df.loc[root, column] if column.endswith(" (inc)") else df[column].sum()
        return _like(metric, column), df[column] / whole * 100
    raise TileError(f"unknown metric {metric!r}; the profile has {', '.join(known)}. {ANY_METRIC}")
