"""The roofline of a launch as a drawing: work for each byte to the right, work a second upwards,
both by powers of ten."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT, LEFT, TOP = 480, 240, 60, 12
_SECTOR = 32


@dataclass
class Point:
    x: float
    y: float


@dataclass
class Tick:
    at: float
    label: str


@dataclass
class Roofline:
    #: What is counted: floating-point operations of tensor cores, or instructions of lanes.
    work: str
    intensity: float
    #: Along the slope of memory up to where the ceiling begins, and along that.
    roof: list[Point]
    kernel: Point
    xs: list[Tick]
    ys: list[Tick]

    @property
    def path(self) -> str:
        return " ".join(f"{p.x:.1f},{p.y:.1f}" for p in self.roof)


def _si(exponent: int) -> str:
    names = {0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}
    base = exponent // 3 * 3
    return f"{10 ** (exponent - base)}{names[base]}" if base in names else f"1e{exponent}"


def roofline(counters: dict[str, Any], roof: dict[str, Any]) -> Roofline | None:
    """None where the kernel moves nothing, or does nothing."""
    bytes_moved = _SECTOR * (counters["global_load_sectors"] + counters["global_store_sectors"])
    bytes_moved += counters["async_bytes"]
    flops = counters["tensor_flops"]
    work = flops or counters["lane_instructions"]
    ceiling_seconds = roof["tensor"] if flops else roof["issue"]
    if not (bytes_moved and work and roof["memory"] and ceiling_seconds):
        return None
    bandwidth, ceiling = bytes_moved / roof["memory"], work / ceiling_seconds
    intensity, reached = work / bytes_moved, work / roof["seconds"]
    ridge = ceiling / bandwidth
    low = math.floor(math.log10(min(intensity, ridge))) - 1
    high = math.ceil(math.log10(max(intensity, ridge))) + 1
    top = math.ceil(math.log10(ceiling))
    bottom = math.floor(math.log10(min(bandwidth * 10**low, reached)))

    def place(x: float, y: float) -> Point:
        across = (math.log10(x) - low) / (high - low)
        up = (math.log10(y) - bottom) / max(1, top - bottom)
        return Point(LEFT + across * (WIDTH - LEFT - 10), TOP + (1 - up) * (HEIGHT - TOP - 40))

    return Roofline(
        "tensor-core operations" if flops else "lane instructions",
        intensity,
        [
            place(10**low, bandwidth * 10**low),
            place(ridge, ceiling),
            place(10**high, ceiling),
        ],
        place(intensity, reached),
        [Tick(place(10**e, ceiling).x, f"1e{e}") for e in range(low, high + 1)],
        [Tick(place(1, 10**e).y, _si(e)) for e in range(bottom, top + 1)],
    )
