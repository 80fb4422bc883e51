"""Attention on sm_100 whose sums further warps correct, and some of whose powers of two are
polynomials."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import sim_only
from test_row_groups import run

import tile

#: An H100 or H200 has none of this.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    return name


def groups(kernel) -> list[int]:
    """Warps of the partitions that compute or correct, for each loop the same."""
    text = kernel.asm["ttgir"]
    found = [int(n) for n in re.findall(r"partition\d\(.*num_warps\((\d+)\)", text)]
    loops = text.count("ttg.warp_specialize(")
    found = found[: len(found) // loops] * loops
    return found[1 : len(found) // loops]


def corrects(kernel) -> bool:
    """Whether the last partition corrects sums, and no other one does."""
    loops = kernel.asm["ttgir"].split("ttg.warp_specialize(")[1:]
    for loop in loops:
        parts = re.split(r"default \{|partition\d\(", loop)
        computing = [p for p in parts if "math.exp2" in p]
        last = parts[-1]
        if "tmem_subslice" not in last or "tc_gen5_mma" in last or "math.exp2" in last:
            return False
        if any("ttng.tmem_subslice" in p for p in computing):
            return False
    return True


@pytest.mark.parametrize("kind", ["fp16", "bf16", "e4m3", "e5m2"])
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_types(kind, d, causal):
    kernel = run(kind, 300, 300, d, 64, causal, row_groups=2, correction_group=True)
    assert groups(kernel) == [4, 4] and corrects(kernel)
    assert kernel.n_spills == 0


@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize(("length", "keys"), [(256, 2), (511, 64), (40, 200), (257, 130)])
def test_ragged(length, keys, loops):
    """Loops without iterations, too."""
    kernel = run("fp16", length, keys, 64, 64, loops=loops, row_groups=2, correction_group=True)
    assert corrects(kernel)


@pytest.mark.parametrize(("warps", "stages"), [(4, 1), (4, 3), (8, 1), (8, 4)])
def test_options(warps, stages):
    kernel = run(
        "fp16", 300, 300, 64, 64, loops=1, num_warps=warps, num_stages=stages, row_groups=2,
        correction_group=True,
    )  # fmt: skip
    assert corrects(kernel)


@pytest.mark.parametrize("causal", [False, True])
def test_one_group(causal):
    """128 rows: one group computes weights, and one corrects."""
    kernel = run("fp16", 300, 300, 64, 64, causal, bm=128, num_warps=4, correction_group=True)
    assert groups(kernel) == [4] and corrects(kernel)


def test_any_order(monkeypatch):
    """Groups that run far ahead of each other: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "12")
    kernel = run("fp16", 256, 500, 64, 64, num_stages=3, row_groups=2, correction_group=True)
    assert corrects(kernel)


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
def test_targets(target):
    assert corrects(run("fp16", 256, 128, 128, 64, correction_group=True))


def test_default():
    assert corrects(run("fp16", 256, 128, 64, 64, row_groups=2))
    assert corrects(run("fp16", 256, 128, 64, 64, bm=128, num_warps=4))


@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize("causal", [False, True])
def test_over_tiles(causal, loops):
    """The further warps go through all tiles, too. Loops without iterations are among them."""
    kernel = run(
        "fp16", 700, 700, 64, 64, causal, loops, programs=2, row_groups=2, num_stages=3
    )  # fmt: skip
    assert groups(kernel) == [4, 4] and corrects(kernel)
    assert kernel.n_spills == 0


def test_never():
    assert groups(run("fp16", 256, 128, 128, 64, correction_group=False)) == [4]
    with pytest.raises(tile.TileError, match="correction_group is True or False, not 2"):
        run("fp16", 256, 128, 64, 64, correction_group=2)


@pytest.mark.parametrize("kind", ["fp16", "bf16", "e4m3"])
@pytest.mark.parametrize("causal", [False, True])
def test_polynomials(kind, causal):
    kernel = run(kind, 300, 300, 64, 64, causal, exp2_polynomial=True)
    assert "polynomial_pairs = " in kernel.asm["ttgir"]
    assert "add.rm.f32x2" in kernel.asm["ptx"]
    kernel = run(kind, 300, 300, 64, 64, causal, exp2_polynomial=False)
    assert "polynomial_pairs" not in kernel.asm["ttgir"]
    assert "add.rm.f32x2" not in kernel.asm["ptx"]


@pytest.mark.parametrize("target", ["cuda:90", "cuda:120"], indirect=True)
def test_no_polynomials_elsewhere(target):
    kernel = run("fp16", 256, 128, 64, 64, bm=128, num_warps=4, exp2_polynomial=True)
    assert "polynomial_pairs" not in kernel.asm["ttgir"]


_POWERS = """
#layout = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @powers(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %c1024 = arith.constant 1024 : i32
    %pid = tt.get_program_id x : i32
    %start = arith.muli %pid, %c1024 : i32
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #layout>
    %base = tt.splat %start : i32 -> tensor<1024xi32, #layout>
    %at = arith.addi %base, %range : tensor<1024xi32, #layout>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #layout>
    %from = tt.addptr %xs, %at : tensor<1024x!tt.ptr<f32>, #layout>, tensor<1024xi32, #layout>
    %value = tt.load %from : tensor<1024x!tt.ptr<f32>, #layout>
    %power = math.exp2 %value {ttnvgpu.polynomial_pairs = 1 : i32} : tensor<1024xf32, #layout>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #layout>
    %to = tt.addptr %ys, %at : tensor<1024x!tt.ptr<f32>, #layout>, tensor<1024xi32, #layout>
    tt.store %to, %power : tensor<1024x!tt.ptr<f32>, #layout>
    tt.return
  }
}
"""  # noqa: E501


def powers(x: np.ndarray, tmp_path) -> np.ndarray:
    """Powers of two by the polynomial, in the simulator."""
    path = tmp_path / "powers.ttgir"
    path.write_text(_POWERS)
    kernel = tile.compile(str(path))
    assert "ex2" not in kernel.asm["ptx"]
    padded = np.zeros(-(-len(x) // 1024) * 1024, np.float32)
    padded[: len(x)] = x
    y = np.full_like(padded, np.nan)
    kernel[(len(padded) // 1024, 1, 1)](padded, y)
    return y[: len(x)]


def test_error_of_polynomial(tmp_path):
    """Floats of [-126, 0], as many of each binade; all of them were enumerated once, by
    `polynomial_by_numpy` (docs/numerics.md)."""
    bits = np.arange(0x30000000, 0x42FC0000, 1511, dtype=np.uint32) | np.uint32(1 << 31)
    x = np.concatenate([bits.view(np.float32), -np.arange(127, dtype=np.float32)])
    found = powers(x, tmp_path)
    np.testing.assert_array_equal(found, polynomial_by_numpy(x))
    exact = np.exp2(x.astype(np.float64))
    assert np.abs(found / exact - 1).max() < 8.6e-5
    whole = x == np.floor(x)
    np.testing.assert_array_equal(found[whole], exact[whole])


def polynomial_by_numpy(x: np.ndarray) -> np.ndarray:
    whole = np.floor(x)
    part = (x - whole).astype(np.float64)
    power = np.full_like(x, 0.07706704)
    for c in (0.227645, 0.69511676, 1.0):
        power = (part * power + np.float64(np.float32(c))).astype(np.float32)
    return np.ldexp(power, whole.astype(np.int32))


def test_extreme_powers(tmp_path):
    """The same as those of the unit for powers: results below 2^-126 are 0."""
    inf = np.inf
    x = np.array([-inf, -3e38, -200, -127, -126.5, -0.0, 0.0, 1e-40, 127, 128, 300, inf, np.nan])
    found = powers(x.astype(np.float32), tmp_path)
    expected = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2.0**127, inf, inf, inf, np.nan])
    np.testing.assert_array_equal(found, expected.astype(np.float32))
