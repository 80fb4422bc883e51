# ruff: noqa: E501  (PTX text reads better unbroken)
"""tcgen05.mma: kinds, shapes, layouts of shared memory, where D, A and scale factors are; NumPy forms the products."""

from __future__ import annotations

import numpy as np
import pytest
import tensor_memory as tm
from tensor_memory import LANES

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(31)
K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}


def word(value, d):
    if d == "f16":
        return int(np.float16(value).view(np.uint16))
    return int(np.float32(value).view(np.uint32)) if d == "f32" else int(value) & 0xFFFFFFFF


def number(bits, d):
    if d == "f16":
        return float(np.uint16(bits & 0xFFFF).view(np.float16))
    return float(np.uint32(bits).view(np.float32)) if d == "f32" else int(np.uint32(bits).view(np.int32))  # fmt: skip


def matrix_from_words(tensor, shape, d, **where):
    m, n = shape
    out = np.zeros(shape)
    for i in range(m):
        for j in range(n):
            cta, lane, column = tm.place_of_sum(i, j, shape, **where)
            out[i, j] = number(tensor[cta, lane, column], d)
    return out


def load64(name, value):
    return f"mov.b64 {name}, {value};"


def check(
    kind, m, n, a, b, d="f32", mode="128", ta=False, tb=False, tensor_a=False, add=True, group=1, stationary=False,
    align=0, negate=(0, 0), saturate=0, scale_input=None, kept=None, extra="", seed=0, mode_b=None, target=None,
):  # fmt: skip
    k = K[kind]
    ctas = group
    av, ac = tm.random_elements(rng, a, (m, k))
    bv, bc = tm.random_elements(rng, b, (n, k))
    shared = np.zeros((ctas, 65536), np.uint8)
    columns = 512 if tensor_a else 256
    tensor = rng.integers(0, 1 << 32, (ctas, LANES, columns), dtype=np.uint64).astype(np.uint32)
    shape, where = (m, n), {"group": group, "stationary": stationary, "align": align}
    cv = rng.integers(-1000, 1000, shape) if d == "s32" else rng.standard_normal(shape)
    if saturate:
        cv = rng.choice([2**31 - 100, -(2**31) + 100], shape)
    cv = np.array([[number(word(x, d), d) for x in row] for row in cv])
    for i in range(m):
        for j in range(n):
            tensor[tm.place_of_sum(i, j, shape, **where)] = word(cv[i, j], d)
    descriptors = []
    rows, cols = m // ctas, n // ctas
    for cta in range(ctas):
        da, end = (0, 0) if tensor_a else tm.put_matrix(shared[cta], 0, ac[cta * rows :][:rows], a, mode, ta)  # fmt: skip
        at = (end + 1023) // 1024 * 1024
        db, _ = tm.put_matrix(shared[cta], at, bc[cta * cols :][:cols], b, mode_b or mode, tb)
        descriptors.append((da, db))
    assert len(set(descriptors)) == 1
    da, db = descriptors[0]
    operand = "%d0"
    if tensor_a:
        operand = "[%a]"
        put_a(tensor, ac, a, shape, where)
    bits = tm.idesc(kind, m, n, a, b, d, ta, tb, *negate, saturate)
    mask = ""
    if kept is not None:
        mask = "{" + ", ".join(f"%x{i}" for i in range(4 * group)) + "}, "
    scale = "" if scale_input is None else f", {scale_input}"
    setup = "".join(f"mov.b32 %x{i}, {int(w)};" for i, w in enumerate([] if kept is None else kept))
    body = f"""{load64("%d0", da)} {load64("%d1", db)} mov.b32 %i, {bits}; add.u32 %a, %t, {256 + (align << 16)}; {setup}
tcgen05.mma{".ws" if stationary else ""}.cta_group::{group}.kind::{kind}{extra} [%t+{align << 16}], {operand}, %d1, %i, {mask}{"%always" if add else "!%always"}{scale};"""
    options = {"group": group, "schedule_seed": seed}
    if target:
        options["target"] = target
    after = tm.run(body, shared if group == 2 else shared[0], tensor if group == 2 else tensor[0], **options).reshape(tensor.shape)  # fmt: skip
    want = (-1) ** sum(negate) * (av @ bv.T)
    if add:
        want = want + cv * (0.5**scale_input if scale_input else 1)
    if saturate:
        want = np.clip(want, -(2**31), 2**31 - 1)
    got = matrix_from_words(after, shape, d, **where)
    touched = np.zeros(tensor.shape, bool)
    for i in range(m):
        for j in range(n):
            place = tm.place_of_sum(i, j, shape, **where)
            if kept is not None and int(kept[4 * place[0] + place[1] // 32]) >> place[1] % 32 & 1:
                want[i, j] = cv[i, j]
            touched[place] = True
    np.testing.assert_array_equal(after[~touched], tensor[~touched])
    if d == "s32":
        np.testing.assert_array_equal(got, want)
    else:
        bound = np.abs(av) @ np.abs(bv.T) + np.abs(cv)
        near = np.abs(got - want) <= bound * (2.0**-10 if d == "f16" else 2.0**-21) + 1e-4
        if d == "f16":
            near |= np.abs(want) > 65000
        assert near.all(), (np.argwhere(~near)[:4], got[~near][:4], want[~near][:4])


def put_a(tensor, codes, kind, shape, where):
    """A in tensor memory, 256 columns behind D: a row in its lane, 32-bit words along K."""
    bits = tm.element_bits(kind, False)
    for i, row in enumerate(codes):
        for lane_of in {tm.place_of_sum(i, j, shape, **where)[:2] for j in (0, shape[1] - 1)}:
            cta, lane = lane_of
            for k, code in enumerate(row):
                column, shift = 256 + k * bits // 32, k * bits % 32
                value = int(code) << (2 if kind == "e2m1" else 0)
                old = int(tensor[cta, lane, column])
                tensor[cta, lane, column] = old & ~(((1 << bits) - 1) << shift) | value << shift


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


# ---- Scale factors ------------------------------------------------------------------------------------------------


def check_scaled(kind, a, b, scale, factors, spelled, ids=(0, 0), n=64, m=128, group=1, tensor_a=False, seed=0, assumptions=(), together=False, target="sm_100a"):  # fmt: skip
    k, packed, ctas = K[kind], kind != "mxf8f6f4", group
    av, ac = tm.random_elements(rng, a, (m, k))
    bv, bc = tm.random_elements(rng, b, (n, k))
    shared = np.zeros((ctas, 65536), np.uint8)
    tensor = rng.integers(0, 1 << 32, (ctas, LANES, 512), dtype=np.uint64).astype(np.uint32)
    low, high = (120, 135) if scale == "ue8m0" else (8, 96)
    sa, sb = (rng.integers(low, high, (rows, factors)).astype(np.uint8) for rows in (m, n))
    rows, cols = m // ctas, n // ctas
    shape, where = (m, n), {"group": group}
    cv = rng.standard_normal(shape).astype(np.float32)
    for cta in range(ctas):
        da, end = (0, 0) if tensor_a else tm.put_matrix(shared[cta], 0, ac[cta * rows :][:rows], a, "128", False, packed)  # fmt: skip
        at = (end + 1023) // 1024 * 1024
        db, _ = tm.put_matrix(shared[cta], at, bc[cta * cols :][:cols], b, "128", False, packed)
        tm.put_scales(tensor[cta], 400, sa[cta * rows :][:rows], ids[0])
        if group == 2 and m == 128 and not together:
            # The upper half of the columns has its factors in the upper half of the lanes.
            for half in (0, 1):
                lanes = np.zeros((LANES, 512), np.uint32)
                tm.put_scales(lanes, 420, sb[half * cols :][:cols], ids[1])
                tensor[cta, 64 * half : 64 * half + 64, 420:440] = lanes[64 * half :][:64, 420:440]
        else:
            tm.put_scales(tensor[cta], 420, sb, ids[1])
    if tensor_a:
        for i, row in enumerate(ac):
            for j, code in enumerate(row):
                bits = 4 if packed else 8
                value = int(code) << (2 if not packed and a == "e2m1" else 0)
                at = (0, i, 300 + j * bits // 32)
                shift = j * bits % 32
                tensor[at] = int(tensor[at]) & ~(((1 << bits) - 1) << shift) | value << shift
    for i in range(m):
        for j in range(n):
            tensor[tm.place_of_sum(i, j, shape, **where)] = word(cv[i, j], "f32")
    bits = tm.idesc_scaled(kind, m, n, a, b, scale, *ids)
    body = f"""{load64("%d0", da)} {load64("%d1", db)} mov.b32 %i, {bits}; add.u32 %a, %t, 400;
tcgen05.mma.cta_group::{group}.kind::{kind}.block_scale{spelled} [%t], {"[%t+300]" if tensor_a else "%d0"}, %d1, %i, [%a], [%a+20], %always;"""
    after = tm.run(body, shared if group == 2 else shared[0], tensor if group == 2 else tensor[0], group=group, schedule_seed=seed, assumptions=assumptions, target=target).reshape(tensor.shape)  # fmt: skip
    dtype = {"ue8m0": tm.ml_dtypes.float8_e8m0fnu, "ue4m3": tm.ml_dtypes.float8_e4m3fn}[scale]
    wide = [np.repeat(s.view(dtype).astype(np.float64), k // factors, axis=1) for s in (sa, sb)]
    want = (av * wide[0]) @ (bv * wide[1]).T + cv
    bound = np.abs(av * wide[0]) @ np.abs(bv * wide[1]).T + np.abs(cv)
    got = matrix_from_words(after, shape, "f32", **where)
    assert (np.abs(got - want) <= bound * 2.0**-22).all()
    touched = np.zeros(tensor.shape, bool)
    for i in range(m):
        for j in range(n):
            touched[tm.place_of_sum(i, j, shape, **where)] = True
    np.testing.assert_array_equal(after[~touched], tensor[~touched])


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


# ---- What is refused ------------------------------------------------------------------------------------------------

MMA = "tcgen05.mma.cta_group::1.kind::f16 [%t], %d0, %d1, %i, %always;"


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (MMA, "sm_120a", "needs .target sm_100a, sm_100f"),
        (MMA.replace("kind::f16", "kind::i8"), "sm_103a", "needs .target sm_100a or sm_110a"),
        (MMA.replace("mma", "mma.sp"), "sm_100a", "sparse products are not supported"),
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
