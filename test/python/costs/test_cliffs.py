"""bench/cliffs.py: which points a captured launch is made again at, and that they compute alike."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from measured import BENCH
from reference import sim_only

import tile
import tile.language as tl

pytestmark = sim_only


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCH))
    import captured_launches

    yield captured_launches
    for name in ("captured_launches", "cliffs", "cliff_kernels", "public_time"):
        sys.modules.pop(name, None)


@tile.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, WIDE: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask) * factor + WIDE, mask)


def launch_of(bench: Any, n: int, tuned: set[str] | None = None, **more: Any) -> Any:
    x, out = np.random.rand(n).astype(np.float32), np.full(n, np.nan, np.float32)
    bound = {"x_ptr": x, "out_ptr": out, "n": n, "factor": 3.0, "BLOCK": 64, "WIDE": 64}
    grid = lambda meta: (tile.cdiv(meta["n"], meta["BLOCK"]),)  # noqa: E731
    return bench.Launch(scale, bound | more, grid, [], {}, tuned or set())


def test_points_are_drawn_alike_and_within_bounds(bench: Any) -> None:
    launch = launch_of(bench, 1000)
    every = launch.points("seed", 10_000)
    assert launch.points("seed", 10) == every[:10] != launch.points("other", 10)
    assert {"num_warps": 4, "num_stages": 3, "BLOCK": 64} not in every
    assert len({json.dumps(point) for point in every}) == len(every)
    for point in every:
        assert point["BLOCK"] in (32, 64, 128)
        assert point["BLOCK"] / point["num_warps"] <= bench.MOST_ELEMENTS * 64 / 4
    # All that are within the bound are among them, but for the author's.
    sizes = itertools.product((32, 64, 128), bench.WARPS)
    near = sum(block / warps <= bench.MOST_ELEMENTS * 16 for block, warps in sizes)
    assert len(every) == len(bench.STAGES) * near - 1


def test_only_blocks_of_the_grid_or_the_tuner_vary(bench: Any) -> None:
    assert launch_of(bench, 1000).block_sizes() == {"BLOCK": 64}
    assert launch_of(bench, 1000, {"WIDE"}).block_sizes() == {"BLOCK": 64, "WIDE": 64}
    launch = launch_of(bench, 1000)
    launch.grid = (16,)
    assert launch.block_sizes() == {}


def test_every_point_computes_the_same(bench: Any) -> None:
    launch = launch_of(bench, 777)
    out = launch.bound["out_ptr"]
    for point in launch.points("seed", 6):
        out[:] = np.nan
        launch.run(point)
        np.testing.assert_allclose(out, launch.bound["x_ptr"] * np.float32(3) + 64, rtol=1e-6)


def test_heuristics_follow_the_point(bench: Any) -> None:
    launch = launch_of(bench, 64)
    launch.heuristics = {"WIDE": lambda named: named["BLOCK"] * 2}
    launch.run({"num_warps": 2, "num_stages": 1, "BLOCK": 32})
    expected = launch.bound["x_ptr"] * np.float32(3) + 64
    np.testing.assert_allclose(launch.bound["out_ptr"], expected, rtol=1e-6)
    launch.run({"num_warps": 2, "num_stages": 1, "BLOCK": 128})
    np.testing.assert_allclose(launch.bound["out_ptr"], expected + 192, rtol=1e-6)


def test_a_table_lists_what_is_slow_and_what_differs(
    bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import argparse

    import cliffs

    results = cliffs.Results(tmp_path / "results.jsonl")
    resources = {"launches": 1, "registers": 32, "spills": 0, "shared": 0, "warps": 4}
    for number, (us, norm) in enumerate([(100.0, 1.0), (104.0, 1.0), (150.0, 1.0), (90.0, 7.0)]):
        point = json.dumps({"num_warps": 1 << number, "num_stages": 2})
        for who in cliffs.SIDES:
            place = cliffs.Place("library", "row", "kernel", point, who)
            tile_is = who == "tile"
            results.note(place, cpu=0.5 if tile_is else 1.0)
            results.note(place, digest=[[norm if tile_is else 1.0, 0.5]])
            # Of two rounds the shorter counts.
            for more in (7.0, 0.0):
                time = (us if tile_is else 100.0) + more
                results.note(place, rounds=1, us=time, **resources)
    for who, found in (("tile", {"error": "no"}), ("peer", {"us": 50.0, "rounds": 2})):
        point = json.dumps({"num_warps": 16, "num_stages": 2})
        results.note(cliffs.Place("library", "row", "kernel", point, who), **found)
    cliffs.table(argparse.Namespace(results=results.path, measured="One H200."))
    said = capsys.readouterr().out
    assert said.startswith("# Public kernels") and "One H200." in said
    assert "5 points of 1 kernels run with Triton. At 3 of" in said
    assert "| library | row | `kernel` | 4 warps, 2 stages | 150.0 / 100.0 | 1.50 |" in said
    assert "| library | row | `kernel` | 8 warps, 2 stages |\n" in said
    assert "takes\n0.50 of Triton's processor time" in said
