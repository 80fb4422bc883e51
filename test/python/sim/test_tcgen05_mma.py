# ruff: noqa: E501  (PTX text reads better unbroken)
"""tcgen05.mma: kinds, shapes, layouts of shared memory, where D, A and scale factors are; NumPy forms the dots."""

from __future__ import annotations

import numpy as np
import pytest
import tensor_memory as tm
from tensor_memory import LANES
from tensor_products import check, check_scaled, load64, rng, shifted_rows, zero_columns

import tile.sim
from tile.errors import TileError


@pytest.mark.parametrize("mode", ["128", "64", "32", "none"])
@pytest.mark.parametrize("a", ["f16", "bf16"])
def test_halves_along_k(a, mode):
    check("f16", 128, 64, a, a, mode=mode)


@pytest.mark.parametrize("mode", ["128", "64", "32", "none"])
@pytest.mark.parametrize("ta,tb", [(True, False), (False, True), (True, True)])
def test_halves_across_k(ta, tb, mode):
    check("f16", 128, 64, "bf16", "f16", mode=mode, ta=ta, tb=tb)


@pytest.mark.parametrize(
    "m,n", [(64, 8), (64, 32), (64, 256), (128, 8), (128, 24), (128, 248), (128, 256)]
)
def test_shapes(m, n):
    check("f16", m, n, "f16", "f16")
    check("tf32", m, n, "tf32", "tf32", add=False)
    check("f8f6f4", m, n, "e4m3", "e5m2", seed=5)


@pytest.mark.parametrize("n", [8, 16, 24, 32, 48, 256])
def test_integers(n):
    check("i8", 128, n, "s8", "u8", "s32")
    check("i8", 64, n, "u8", "s8", "s32", add=False, align=16)
    check("i8", 128, n, "s8", "s8", "s32", saturate=1)


@pytest.mark.parametrize("b", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
@pytest.mark.parametrize("a", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
def test_narrow_floats(a, b):
    check("f8f6f4", 128, 16, a, b)
    check("f8f6f4", 64, 16, a, b, "f16", mode="none")


def test_bytes_across_k():
    check("f8f6f4", 128, 32, "e4m3", "e5m2", ta=True, tb=True)
    check("i8", 128, 64, "s8", "s8", "s32", ta=True, tb=True, mode="64")


def test_tf32_across_k():
    check("tf32", 128, 64, "tf32", "tf32", mode="atoms", ta=True, tb=True)
    check("tf32", 128, 64, "tf32", "tf32", mode="128", mode_b="atoms", tb=True)


@pytest.mark.parametrize("kind,a,b,d", [("f16", "f16", "bf16", "f32"), ("tf32", "tf32", "tf32", "f32"), ("f8f6f4", "e2m3", "e2m1", "f32"), ("f8f6f4", "e2m1", "e4m3", "f16"), ("i8", "s8", "u8", "s32")])  # fmt: skip
@pytest.mark.parametrize("m,align", [(128, 0), (64, 0), (64, 16)])
def test_a_in_tensor_memory(kind, a, b, d, m, align):
    check(kind, m, 32, a, b, d, tensor_a=True, align=align)


def test_half_sums_and_signs():
    check("f16", 128, 64, "f16", "f16", "f16")
    check("f16", 64, 64, "f16", "f16", "f16", align=16, add=False)
    for negate in ((0, 1), (1, 0), (1, 1)):
        check("f16", 64, 32, "bf16", "bf16", negate=negate)
    check("tf32", 128, 16, "tf32", "tf32", negate=(1, 0), tensor_a=True)


@pytest.mark.parametrize("s", [0, 1, 15])
def test_scaled_d(s):
    check("f16", 128, 32, "f16", "f16", scale_input=s)
    check("tf32", 64, 32, "tf32", "tf32", scale_input=s, target="sm_103a")


def test_lanes_that_are_kept():
    words = rng.integers(0, 1 << 32, 8, dtype=np.uint64)
    check("f16", 128, 32, "f16", "f16", kept=words[:4])
    check("i8", 64, 32, "s8", "s8", "s32", kept=words[4:])
    check("f16", 256, 32, "bf16", "bf16", kept=words, group=2)


@pytest.mark.parametrize("n", [64, 128, 256])
@pytest.mark.parametrize("m", [32, 64, 128])
def test_weight_stationary(m, n):
    check("f16", m, n, "f16", "f16", stationary=True, extra=".collector::b1::fill")
    check("i8", m, n, "s8", "s8", "s32", stationary=True)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("m", [128, 256])
def test_pairs(m, seed):
    check("f16", m, 64, "f16", "f16", group=2, seed=seed)
    check("f8f6f4", m, 32, "e4m3", "e2m1", group=2, add=False, seed=seed)
    check("tf32", m, 256, "tf32", "tf32", group=2, seed=seed)


@pytest.mark.parametrize("m", [128, 256])
def test_a_of_pairs_in_tensor_memory(m):
    check("f16", m, 64, "f16", "f16", group=2, tensor_a=True)


# ---- .ashift --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind,a,b,d", [("f16", "f16", "bf16", "f32"), ("tf32", "tf32", "tf32", "f32"), ("f8f6f4", "e4m3", "e2m1", "f32"), ("i8", "s8", "u8", "s32")])  # fmt: skip
@pytest.mark.parametrize("m,group", [(128, 1), (256, 2), (128, 2)])
def test_shifted_rows(kind, a, b, d, m, group):
    check(kind, m, 32, a, b, d, tensor_a=True, group=group, extra=".ashift", shift=shifted_rows(m, 32))  # fmt: skip


def test_assumption_ashift_all_lanes():
    """Open: whether rows move across the borders of 32 lanes. By default they do not."""
    options = {"tensor_a": True, "extra": ".ashift", "shift": shifted_rows(128, 128)}
    check("f16", 128, 32, "f16", "f16", assumptions=["ashift-all-lanes"], **options)
    with pytest.raises(AssertionError):
        check("f16", 128, 32, "f16", "f16", **options)


def test_assumption_shift_up():
    """Open: the direction. It is that of tcgen05.shift."""
    options = {"tensor_a": True, "extra": ".ashift.collector::a::lastuse"}
    check("f16", 128, 32, "f16", "f16", shift=shifted_rows(128, 32, up=True), assumptions=["shift-up"], **options)  # fmt: skip


# ---- Masks of zero columns ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("m,n", [(32, 64), (64, 128), (128, 64), (128, 256)])
def test_zero_columns(m, n, seed):
    mine = np.random.default_rng(seed)
    parts = 128 // m
    used, skipped = (int(x) for x in mine.integers(1, 40, 2))
    first = [int(x) for x in mine.integers(0, 2, parts)]
    counts = [int(mine.integers(0, skipped if f else used)) for f in first]
    zeros = zero_columns(n, parts, counts, first, used, skipped)
    check("f16", m, n, "f16", "f16", stationary=True, zeros=zeros, add=seed % 2 == 0)
    check("i8", m, n, "s8", "u8", "s32", stationary=True, zeros=zeros)


def test_a_mask_that_is_off():
    zeros = zero_columns(64, 1, [3], [1], 5, 7)
    off = np.zeros(64, bool), zeros[1] & ~(1 << 39)
    check("f16", 128, 64, "f16", "f16", stationary=True, zeros=off)


# ---- Scale factors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a,b", [("e4m3", "e4m3"), ("e5m2", "e2m3"), ("e3m2", "e2m1"), ("e2m1", "e4m3")])  # fmt: skip
@pytest.mark.parametrize("byte", [0, 1, 2, 3])
def test_one_factor(a, b, byte):
    check_scaled("mxf8f6f4", a, b, "ue8m0", 1, ["", ".scale_vec::1X", ".block32"][byte % 3], (byte, 3 - byte))  # fmt: skip


@pytest.mark.parametrize("n", [8, 40, 256])
@pytest.mark.parametrize("seed", [0, 4])
def test_columns_of_scaled_products(n, seed):
    check_scaled("mxf8f6f4", "e4m3", "e5m2", "ue8m0", 1, "", n=n, seed=seed)
    check_scaled("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, ".block16", n=n, seed=seed)


@pytest.mark.parametrize("byte", [0, 2])
@pytest.mark.parametrize("kind,spelled", [("mxf4", ""), ("mxf4", ".block32"), ("mxf4", ".scale_vec::2X"), ("mxf4nvf4", ".block32"), ("mxf4nvf4", ".scale_vec::2X")])  # fmt: skip
def test_two_factors(kind, spelled, byte):
    check_scaled(kind, "e2m1", "e2m1", "ue8m0", 2, spelled, (byte, 2 - byte))


@pytest.mark.parametrize("scale", ["ue4m3", "ue8m0"])
@pytest.mark.parametrize("spelled", [".block16", ".scale_vec::4X"])
def test_four_factors(scale, spelled):
    check_scaled("mxf4nvf4", "e2m1", "e2m1", scale, 4, spelled)


def test_scaled_products_with_a_in_tensor_memory():
    check_scaled("mxf8f6f4", "e2m1", "e3m2", "ue8m0", 1, "", tensor_a=True)
    check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 2, "", tensor_a=True)


@pytest.mark.parametrize("m", [128, 256])
def test_scaled_products_of_pairs(m):
    check_scaled("mxf8f6f4", "e4m3", "e4m3", "ue8m0", 1, "", n=64, m=m, group=2)
    check_scaled("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, ".block16", n=128, m=m, group=2)


def test_assumption_scales_together():
    """Open: whether the factors of B for a pair with M = 128 lie as for one CTA. Not by default."""
    check_scaled("mxf8f6f4", "e4m3", "e4m3", "ue8m0", 1, "", n=64, m=128, group=2, together=True, assumptions=["scales-together"])  # fmt: skip
    with pytest.raises(AssertionError):
        check_scaled("mxf8f6f4", "e4m3", "e4m3", "ue8m0", 1, "", n=64, m=128, group=2, together=True)  # fmt: skip


# ---- K = 96 ---------------------------------------------------------------------------------------------------------

K96 = {"k96": True, "target": "sm_103a"}


@pytest.mark.parametrize("kind", ["mxf4", "mxf4nvf4"])
@pytest.mark.parametrize("ids", [(0, 0), (1, 3), (2, 1), (3, 2)])
def test_three_factors(kind, ids):
    check_scaled(kind, "e2m1", "e2m1", "ue8m0", 3, ".block32", ids, **K96)


@pytest.mark.parametrize("scale", ["ue4m3", "ue8m0"])
@pytest.mark.parametrize("ids", [(0, 0), (2, 0), (2, 2)])
def test_six_factors(scale, ids):
    check_scaled("mxf4nvf4", "e2m1", "e2m1", scale, 6, ".block16", ids, n=256, **K96)


@pytest.mark.parametrize("mode", ["none", "64", "128"])
def test_modes_of_k96(mode):
    check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", mode=mode, **K96)
    check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", mode=mode, tensor_a=True, **K96)


@pytest.mark.parametrize("seed", [0, 1])
def test_k96_behind_the_edge_of_a_swizzle(seed):
    check_scaled(
        "mxf4nvf4", "e2m1", "e2m1", "ue4m3", 6, ".block16", absolute=True, seed=seed, **K96
    )


def test_k96_of_pairs():
    check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", (2, 0), m=256, group=2, **K96)


def test_assumption_k96_scales_interleaved():
    """Open: where the factors go on that a word has no room for. By default behind the first words of all rows."""
    options = {"n": 64, **K96}
    check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", (3, 3), interleaved=True, assumptions=["k96-scales-interleaved"], **options)  # fmt: skip
    with pytest.raises(AssertionError):
        check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", (3, 3), interleaved=True, **options)


def test_assumption_k96_pairs_only():
    """Open: whether one CTA has K = 96. By default it has."""
    with pytest.raises(tile.sim.SimulationError, match=r"M = 128.*does not have"):
        check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", assumptions=["k96-pairs-only"], **K96)
    check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", m=256, group=2, assumptions=["k96-pairs-only"], **K96)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "sm_100a"}, "K = 96, which only"),
        ({"m": 128, "group": 2}, "M = 128"),
        ({"mode": "32"}, "beyond the swizzle's width"),
    ],
)
def test_k96_that_must_not_be(options, message):
    with pytest.raises(tile.sim.SimulationError, match=message):
        check_scaled("mxf4", "e2m1", "e2m1", "ue8m0", 3, "", **{**K96, **options})


# ---- What is refused ------------------------------------------------------------------------------------------------

MMA = "tcgen05.mma.cta_group::1.kind::f16 [%t], %d0, %d1, %i, %always;"


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (MMA, "sm_120a", "needs .target sm_100a, sm_100f"),
        (MMA.replace("kind::f16", "kind::i8"), "sm_103a", "needs .target sm_100a or sm_110a"),
        (MMA.replace("mma", "mma.sp"), "sm_100a", "sparse products into tensor memory are not supported by the simulator"),
        (MMA.replace("mma", "mma.ws").replace("f16", "f16.ashift").replace("%d0", "[%a]"), "sm_100a", "ashift goes not with .ws"),
        (MMA.replace(".kind::f16", ""), "sm_100a", "needs a kind"),
        (MMA.replace(".cta_group::1", ""), "sm_100a", "needs .cta_group"),
        (MMA.replace(", %always", ""), "sm_100a", "expected 5"),
        (MMA.replace("%d1", "[%a]"), "sm_100a", "expected a register"),
        (MMA.replace("%always", "%always, 16"), "sm_100a", "out of the range"),
        (MMA.replace("%always", "%always, 1").replace("kind::f16", "kind::f8f6f4"), "sm_100a", "scale D"),
        (MMA.replace("%always", "{%x0, %x1}, %always"), "sm_100a", "expected 4 words"),
        (MMA.replace("kind::f16", "kind::mxf8f6f4"), "sm_100a", "needs .block_scale"),
        (MMA.replace("kind::f16", "kind::f16.block_scale"), "sm_100a", "has no .block_scale"),
        (MMA.replace("mma.cta_group::1.kind::f16", "mma.ws.cta_group::2.kind::f16"), "sm_100a", r"both \.cta_group::1|ws goes with"),
        ("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::2X [%t], %d0, %d1, %i, [%t], [%t], %always;", "sm_100a", "no such scale vector"),
        ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%t], %d0, %d1, %i, [%t], [%t], %always;", "sm_100a", "needs the size"),
        ("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%t], %d0, %d1, %i, [%t], [%t], %always;", "sm_100f", "needs .target sm_100a, sm_103a or sm_110a"),
        (MMA.replace("kind::f16", "kind::f16.ashift"), "sm_100a", "needs A in tensor memory"),
        (MMA.replace("kind::f16", "kind::f16.collector::a::keep"), "sm_100a", "no such collector"),
    ],
)  # fmt: skip
def test_refused(text, target, message):
    with pytest.raises(TileError, match=message):
        tm.run(text, np.zeros(2048, np.uint8), np.zeros((LANES, 32), np.uint32), target=target)


GOOD = tm.idesc("f16", 128, 16, "f16", "f16")
GOOD_MATRIX = tm.sdesc(0, 16, 1024, "128")


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({}, None, ""),
        ({"i": GOOD | 4}, "bad-descriptor", "sparse"),
        ({"a": GOOD_MATRIX | 1 << 52}, "bad-descriptor", "goes with K = 96"),
        ({"i": tm.idesc("f16", 128, 16, "f16", "f16") | 2 << 7}, "bad-descriptor", "type of elements"),
        ({"i": tm.idesc("f16", 96, 16, "f16", "f16")}, "bad-descriptor", "M = 96"),
        ({"i": tm.idesc("f16", 128, 0, "f16", "f16")}, "bad-descriptor", "N = 0"),
        ({"i": tm.idesc("f16", 128, 16, "bf16", "f16", "f16")}, "bad-descriptor", "type of D"),
        ({"i": GOOD | 1 << 23}, "bad-descriptor", "must be zero"),
        ({"a": GOOD_MATRIX & ~(1 << 46)}, "bad-descriptor", "bits 48 to 46"),
        ({"a": GOOD_MATRIX | 1 << 61}, "bad-descriptor", "no mode"),
        ({"a": GOOD_MATRIX | 1 << 55}, "bad-descriptor", "must be zero"),
        ({"a": tm.sdesc(0, 16, 1024, "atoms")}, "bad-descriptor", "tf32"),
        ({"a": tm.sdesc(40000, 16, 1024, "128")}, "out-of-bounds", "reaches byte"),
        ({"d": "%t+0x100000"}, "wrong-lanes", "names lane 16"),
        ({"d": "%t+24"}, "out-of-bounds", "columns 24 to 39"),
    ],
)  # fmt: skip
def test_descriptors(change, kind, message):
    a, i, d = change.get("a", GOOD_MATRIX), change.get("i", GOOD), change.get("d", "%t")
    body = f"{load64('%d0', a)} {load64('%d1', GOOD_MATRIX)} mov.b32 %i, {i}; tcgen05.mma.cta_group::1.kind::f16 [{d}], %d0, %d1, %i, %always;"
    arguments = (body, np.zeros(16384, np.uint8), np.zeros((LANES, 32), np.uint32))
    if kind is None:
        tm.run(*arguments)
        return
    with pytest.raises(tile.sim.SimulationError, match=kind) as caught:
        tm.run(*arguments)
    assert message in str(caught.value)
