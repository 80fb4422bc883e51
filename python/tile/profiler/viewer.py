"""Shows profiles: trees of call paths with metrics, also those that follow from others.

Trees are GraphFrames of hatchet (the package llnl-hatchet), tables are of pandas:
``pip install llnl-hatchet pandas`` brings both.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from ..errors import TileError
from . import specs
from .derived import ANY_METRIC, derivable, derive
from .state import COMPUTE_METADATA_SCOPE_NAME

INCLUSIVE = " (inc)"
#: Of a number whose kernels ran on more than one device, nothing can be said of the device.
_TEXTS = ("device_id", "device_type")


def _hatchet() -> Any:
    try:
        import hatchet
    except ModuleNotFoundError as error:
        raise TileError(
            f"the viewer needs the package {error.name}: pip install llnl-hatchet pandas"
        ) from None
    return hatchet


# Reading.


def read(filename: str) -> tuple[Any, list[str], list[str], dict[str, Any]]:
    """The tree of a file, its inclusive and its exclusive metrics, and the devices."""
    try:
        if filename.endswith("msgpack"):
            import msgpack

            with open(filename, "rb") as file:
                database = msgpack.load(file, raw=False, strict_map_key=False)
        else:
            with open(filename, encoding="utf-8") as file:
                database = json.load(file)
    except ValueError as error:
        raise TileError(f"{filename} is no profile: {error}") from None
    if isinstance(database, dict) and "traceEvents" in database:
        raise TileError(f"{filename} is a trace: open it at ui.perfetto.dev")
    try:
        return get_raw_metrics(database)
    except (IndexError, KeyError, TypeError, AttributeError):
        raise TileError(f"{filename} is no profile: it has no tree of frames") from None


def get_raw_metrics(database: Sequence[Any]) -> tuple[Any, list[str], list[str], dict[str, Any]]:
    """The same, of what `profiler.data.get` returns."""
    root, devices = database[0], (database[1] if len(database) > 1 else {})
    #: What adds up is listed at the root.
    inclusive = [m for m in root["metrics"] if m not in _TEXTS]
    root = _without_metadata(root)
    exclusive = sorted(_metrics_of(root) - set(inclusive))
    gf = _hatchet().GraphFrame.from_literal([root])
    for name in _TEXTS:
        if name not in gf.dataframe:
            gf.dataframe[name] = None
    gf.exc_metrics = list(inclusive)
    _add_up(gf, inclusive)
    gf.exc_metrics = [*inclusive, *exclusive]
    gf.inc_metrics = [m + INCLUSIVE for m in inclusive]
    return gf, inclusive, exclusive, devices


def _without_metadata(node: dict[str, Any]) -> dict[str, Any]:
    """Without what launches did to describe themselves."""
    children = [
        _without_metadata(child)
        for child in node["children"]
        if child["frame"]["name"] != COMPUTE_METADATA_SCOPE_NAME
    ]
    frame = {"name": node["frame"]["name"], "type": "function"}
    return {"frame": frame, "metrics": node["metrics"], "children": children}


def _metrics_of(node: dict[str, Any]) -> set[str]:
    found = {m for m, v in node["metrics"].items() if isinstance(v, (int, float))} - set(_TEXTS)
    return found.union(*map(_metrics_of, node["children"]))


def _add_up(gf: Any, metrics: Iterable[str]) -> None:
    """Adds a column to the table for each metric: with what is below, too."""
    for metric in metrics:
        values = gf.dataframe[metric].fillna(0).to_dict()
        for node in gf.graph.traverse(order="post"):
            values[node] = values.get(node, 0) + sum(values[child] for child in node.children)
        gf.dataframe[metric + INCLUSIVE] = gf.dataframe.index.map(values)


# What follows from others.


def _by_device(df: Any, device_info: dict[str, Any]) -> Iterable[tuple[Any, str, dict[str, Any]]]:
    """The rows of each device, its kind, and what is known of it."""
    for kind, devices in device_info.items():
        for number, device in devices.items():
            rows = (df["device_type"] == kind) & (df["device_id"].astype(str) == str(number))
            if rows.any():
                yield rows, kind, device


def _least(df: Any) -> Any:
    import pandas

    return pandas.DataFrame(0.0, index=df.index, columns=["min_time"])


def get_min_time_flops(df: Any, device_info: dict[str, Any]) -> Any:
    """The seconds that the operations of each row take at least. Those without a width in their
    name do not count: nobody knows how fast they could be."""
    least = _least(df)
    for rows, kind, device in _by_device(df, device_info):
        for width in (8, 16, 32, 64):
            if f"flops{width}" not in df:
                continue
            peak = specs.max_flops(
                kind, device["arch"], width, device["num_sms"], device["clock_rate"]
            )
            least.loc[rows, "min_time"] += df.loc[rows, f"flops{width}"].fillna(0) / peak
    return least


def get_min_time_bytes(df: Any, device_info: dict[str, Any]) -> Any:
    """The seconds that the bytes of each row take at least."""
    least = _least(df)
    if "bytes" in df:
        for rows, kind, device in _by_device(df, device_info):
            peak = specs.max_bps(
                kind, device["arch"], device["bus_width"], device["memory_clock_rate"]
            )
            least.loc[rows, "min_time"] += df.loc[rows, "bytes"].fillna(0) / peak
    return least


def derive_metrics(
    gf: Any,
    metrics: Sequence[str] | None,
    inclusive_metrics: list[str],
    exclusive_metrics: list[str],
    device_info: dict[str, Any],
) -> list[str]:
    """Adds the columns of metrics that were asked for; returns the columns' names."""
    df = gf.dataframe
    known = {m: m + INCLUSIVE for m in inclusive_metrics} | {m: m for m in exclusive_metrics}
    columns = []
    for metric in metrics or []:
        if metric == "util":
            flops, bytes = get_min_time_flops(df, device_info), get_min_time_bytes(df, device_info)
            least = flops["min_time"].combine(bytes["min_time"], max)
            if "time (ns)" not in df:
                raise TileError("util needs the metric time (ns), which this profile does not have")
            df["util"] = least / (df["time (ns)"] / 1e9)
            columns.append("util")
            continue
        column, values = derive(metric, df, known, gf.graph.roots[0])
        df[column] = values
        columns.append(column)
    for column in columns:
        names = gf.inc_metrics if column.endswith(INCLUSIVE) else gf.exc_metrics
        if column not in names:
            names.append(column)
    return columns


# Which frames, and how they are shown.


def _kept(gf: Any, nodes: set[Any]) -> Any:
    """The tree with these nodes alone; what is below others goes up. Metrics stay what they are."""
    table = gf.dataframe
    rows = table.to_dict("index")

    def below(node: Any) -> list[dict[str, Any]]:
        children = [literal for child in node.children for literal in below(child)]
        if node not in nodes:
            return children
        row = rows[node]
        metrics = {c: v for c, v in row.items() if c != "name" and v is not None and v == v}
        frame = {"name": row["name"], "type": "function"}
        return [{"frame": frame, "metrics": metrics, "children": children}]

    found = _hatchet().GraphFrame.from_literal([r for root in gf.graph.roots for r in below(root)])
    for column in table.columns:
        if column not in found.dataframe:
            found.dataframe[column] = None
    found.inc_metrics, found.exc_metrics = list(gf.inc_metrics), list(gf.exc_metrics)
    return found


def filter_frames(
    gf: Any,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
    metric: str | None = None,
) -> Any:
    """The paths through a frame that `include` matches.

    Frames that `exclude` matches are left out, with what is below them. So are frames that have
    less than this part of the root's metric.
    """
    df = gf.dataframe
    keep = set(df.index)
    for pattern, wanted in ((include, True), (exclude, False)):
        if not pattern:
            continue
        regex = re.compile(pattern)
        hits = {node for node, name in df["name"].items() if regex.search(name)}
        below: set[Any] = set()
        for node in hits:
            below.update(node.traverse())
        if not wanted:
            keep -= below
            continue
        above: set[Any] = set()
        for node in hits:
            above.update(step for path in node.paths() for step in path)
        keep &= below | above
    if threshold and metric:
        least = threshold * df.loc[gf.graph.roots[0], metric]
        keep &= {node for node, value in df[metric].items() if value >= least}
    if not keep:
        raise TileError("no frame is left: look at --include, --exclude and --threshold")
    return gf if len(keep) == len(df) else _kept(gf, keep)


_PLACE = re.compile(r"^(?P<path>.*?)(?P<file>[^/\\]+):(?P<line>\d+)@(?P<function>.*)$")
_FORMATS = {
    "full": None, "file_function_line": r"\g<file>:\g<line>@\g<function>",
    "function_line": r"\g<line>@\g<function>", "file_function": r"\g<file>@\g<function>",
}  # fmt: skip


def format_frames(gf: Any, format: str | None) -> Any:
    """Shortens the names of frames that say a place."""
    shape = _FORMATS[format] if format else None
    if shape is not None:
        gf.dataframe["name"] = [_PLACE.sub(shape, name) for name in gf.dataframe["name"]]
    return gf


def parse(
    metrics: Sequence[str] | None,
    filename: str,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
) -> tuple[Any, list[str]]:
    """The tree of a file with the columns of some metrics, and their names."""
    gf, inclusive, exclusive, devices = read(filename)
    columns = derive_metrics(gf, metrics, inclusive, exclusive, devices)
    gf = filter_frames(gf, include, exclude, threshold, columns[-1] if columns else None)
    return gf, columns


def _less(one: Any, other: Any, columns: list[str]) -> dict[str, Any]:
    """The node of a tree less that of another, at the same path; either may be missing."""
    (gf, node), (other_gf, other_node) = one, other
    metrics = {c: _value(gf, node, c) - _value(other_gf, other_node, c) for c in columns}
    names: dict[str, list[Any]] = {}
    for side, (table, parent) in enumerate((one, other)):
        for child in parent.children if parent is not None else ():
            pair = names.setdefault(table.dataframe.at[child, "name"], [None, None])
            pair[side] = child
    present = gf if node is not None else other_gf
    name = present.dataframe.at[node if node is not None else other_node, "name"]
    return {
        "frame": {"name": name, "type": "function"},
        "metrics": metrics,
        "children": [_less((gf, a), (other_gf, b), columns) for a, b in names.values()],
    }


def _value(gf: Any, node: Any, column: str) -> float:
    value = gf.dataframe.at[node, column] if node is not None else 0
    return float(value) if value == value and value is not None else 0.0


def apply_diff_profile(
    gf: Any,
    derived_metrics: list[str],
    diff_file: str,
    metrics: Sequence[str],
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
) -> Any:
    """The tree less that of another file, path by path."""
    other, _ = parse(metrics, diff_file, include, exclude, threshold)
    root = _less((gf, gf.graph.roots[0]), (other, other.graph.roots[0]), derived_metrics)
    found = _hatchet().GraphFrame.from_literal([root])
    found.inc_metrics = [m for m in derived_metrics if m.endswith(INCLUSIVE)]
    found.exc_metrics = [m for m in derived_metrics if not m.endswith(INCLUSIVE)]
    return found


# Showing.


def print_tree(
    gf: Any,
    metrics: list[str],
    depth: int = 100,
    format: str | None = None,
    print_sorted: bool = False,
) -> None:
    """Prints the tree; with `print_sorted`, the frames by their first metric as well."""
    gf = format_frames(gf, format)
    print(gf.tree(metric_column=metrics, expand_name=True, depth=depth, render_header=False))
    if print_sorted and metrics:
        print(f"Sorted by {metrics[0]}:")
        rows = gf.dataframe.sort_values(by=[metrics[0]], ascending=False)
        for name, value in zip(rows["name"], rows[metrics[0]], strict=True):
            if value == value:  # Others have none.
                print(f"{value:14.6g}  {name}")


def list_metrics(filename: str) -> dict[str, list[str]]:
    """The metrics that a file has, and those that follow."""
    _, inclusive, exclusive, _ = read(filename)
    own = [*inclusive, *exclusive]
    return {"Metrics": own, "Derived": derivable(own)}


def show_metrics(filename: str) -> None:
    """Prints the metrics that a file has, and those that follow."""
    for title, names in list_metrics(filename).items():
        print(f"{title}:")
        for name in names:
            print(f"  {name}")


def _two(context: click.Context, parameter: click.Parameter, text: str | None) -> list[str]:
    names = [name.strip() for name in text.split(",")] if text else []
    if len(names) > 2:
        raise click.BadParameter("at most two metrics: the one shown, and the threshold's")
    return names


@click.command(
    "proton-viewer", context_settings={"help_option_names": ["-h", "--help"]}, epilog=ANY_METRIC
)
@click.option("-l", "--list", "only_list", is_flag=True, help="Print the metrics.")
@click.option("--json", "as_json", is_flag=True, help="With --list: as JSON.")
@click.option(
    "-m", "--metrics", callback=_two, metavar="A[,B]",
    help="The metric to show; the threshold is one of B, where there are two.",
)  # fmt: skip
@click.option("-i", "--include", metavar="REGEX", help="Only paths through frames like this.")
@click.option("-e", "--exclude", metavar="REGEX", help="Without frames like this.")
@click.option(
    "-t", "--threshold", type=float, help="Without frames that have less of the root's metric."
)
@click.option("-d", "--depth", type=int, default=100, help="Levels to show.")
@click.option(
    "-f", "--format", "format", type=click.Choice(list(_FORMATS)), default="full",
    help="How places are shown.",
)  # fmt: skip
@click.option("--print-sorted", is_flag=True, help="Also print frames by their metric.")
@click.option("-diff", "--diff-profile", metavar="FILE", help="Show FILE... less this profile.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def command(
    only_list: bool, as_json: bool, metrics: list[str], include: str | None, exclude: str | None,
    threshold: float | None, depth: int, format: str, print_sorted: bool,
    diff_profile: str | None, files: tuple[str, ...],
) -> None:  # fmt: skip
    """Show profiles as trees of call paths."""
    for file in files:
        if only_list and as_json:
            print(json.dumps({k.lower(): v for k, v in list_metrics(file).items()}, indent=1))
            continue
        if only_list:
            show_metrics(file)
            continue
        gf, columns = parse(metrics, file, include, exclude, threshold)
        if diff_profile:
            gf = apply_diff_profile(gf, columns, diff_profile, metrics, include, exclude, threshold)
        print_tree(gf, columns[:1], depth, format, print_sorted)


def main() -> None:
    """The command, from the shell."""
    from ..cli import run_command

    sys.exit(run_command(command, sys.argv[1:], "proton-viewer"))


if __name__ == "__main__":
    main()
