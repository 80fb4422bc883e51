"""Attention whose rows are divided among two groups of warps. Each computes weights of 128 rows
while the tensor core multiplies for the other group."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from reference import DTYPES, poisoned, random, sim_only
from test_specialized_loops import attention as by_pointers

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    return name


@tile.jit
def weigh(scores, top, total):
    new_top = tl.maximum(top, tl.max(scores, 1))
    weights = tl.math.exp2(scores - new_top[:, None])
    shrink = tl.math.exp2(top - new_top)
    return weights, shrink, new_top, total * shrink + tl.sum(weights, 1)


@tile.jit
def attend(
    q, k_desc, v_desc, start, scale, S, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    CAUSAL: tl.constexpr, LOOPS: tl.constexpr, SPECIALIZED: tl.constexpr,
):  # fmt: skip
    """With two loops, blocks below the diagonal come first. With one, a branch masks the others."""
    rows = start + tl.arange(0, BM)
    top = tl.full([BM], -1.0e30, tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    scale = scale * 1.4426950408889634
    end = tl.minimum(S, start + BM) if CAUSAL else S
    whole = tl.minimum(S, start) // BN * BN if CAUSAL else S // BN * BN
    for part in tl.static_range(LOOPS):
        low, high = (whole, end) if part == 1 else (0, whole)
        if LOOPS == 1:
            low, high = 0, end
        for begin in tl.range(low, high, BN, warp_specialize=SPECIALIZED):
            scores = tl.dot(q, k_desc.load([begin, 0]).T) * scale
            if part == 1 or (LOOPS == 1 and begin >= whole):
                cols = begin + tl.arange(0, BN)
                seen = cols[None, :] < S
                if CAUSAL:
                    seen &= rows[:, None] >= cols[None, :]
                scores = tl.where(seen, scores, -1.0e30)
            weights, shrink, top, total = weigh(scores, top, total)
            v = v_desc.load([begin, 0])
            acc = tl.dot(weights.to(v.dtype), v, acc * shrink[:, None])
    return acc / total[:, None], top + tl.math.log2(total)


@tile.jit
def attention(
    q_desc, k_desc, v_desc, out_desc, sums_ptr, scale, L, S, D: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr, CAUSAL: tl.constexpr, LOOPS: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0) * BM
    rows = start + tl.arange(0, BM)
    q = q_desc.load([start, 0])
    out, sums = attend(q, k_desc, v_desc, start, scale, S, D, BM, BN, CAUSAL, LOOPS, True)
    out_desc.store([start, 0], out.to(out_desc.dtype))
    tl.store(sums_ptr + rows, sums, mask=rows < L)


@tile.jit
def over_tiles(
    q_desc, k_desc, v_desc, out_desc, sums_ptr, scale, L, S, D: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr, CAUSAL: tl.constexpr, LOOPS: tl.constexpr,
):  # fmt: skip
    """Each program goes over several blocks of rows."""
    tiles = tl.cdiv(L, BM)
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=True):
        start = (tiles - 1 - t) * BM
        rows = start + tl.arange(0, BM)
        q = q_desc.load([start, 0])
        out, sums = attend(q, k_desc, v_desc, start, scale, S, D, BM, BN, CAUSAL, LOOPS, False)
        out_desc.store([start, 0], out.to(out_desc.dtype))
        tl.store(sums_ptr + rows, sums, mask=rows < L)


def reference(q, k, v, causal: bool):
    """Results, and logarithms of the sums of weights."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.T * q.shape[1] ** -0.5
    if causal:
        scores = np.where(np.arange(len(q))[:, None] >= np.arange(len(k)), scores, -np.inf)
    top = scores.max(1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(1, keepdims=True)
    return weights / total @ v, ((top + np.log(total)) / np.log(2))[:, 0]


FLOAT8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def operands(kind: str, length: int, keys: int, d: int):
    wide = (random((n, d), "fp32", seed) for seed, n in enumerate((length, keys, keys)))
    return (x.astype(FLOAT8[kind] if kind in FLOAT8 else DTYPES[kind]) for x in wide)


#: How far results may be from the reference. Weights have few bits: 4 and 3 of fp8.
TOLERANCES = {"fp16": 2e-3, "bf16": 1.6e-2, "e4m3": 8e-2, "e5m2": 1.6e-1}


def run(
    kind: str, length: int, keys: int, d: int, bn: int, causal: bool = False, loops: int = 2,
    bm: int = 256, programs: int | None = None, **options,
):  # fmt: skip
    """`programs`: how many go over all blocks of rows; by default each has one."""
    q, k, v = operands(kind, length, keys, d)
    out, sums = poisoned((length, d), "fp16" if kind in FLOAT8 else kind), poisoned(length, "fp32")
    blocks = ((q, [bm, d]), (k, [bn, d]), (v, [bn, d]), (out, [bm, d]))
    compiled = over_tiles if programs else attention
    kernel = compiled[(programs or tile.cdiv(length, bm),)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), sums, d**-0.5, length,
        keys, d, bm, bn, causal, loops, **{"num_warps": 8, "num_stages": 2, **options},
    )  # fmt: skip
    expected, logarithms = reference(q, k, v, causal)
    tolerance = TOLERANCES[kind]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(sums, logarithms, rtol=1e-3, atol=tolerance)
    return kernel


def partitions(kernel) -> list[int]:
    """Warps of the partitions beside the default group, for each loop the same."""
    assert "tcgen05.mma" in kernel.asm["ptx"] and "mma.sync" not in kernel.asm["ptx"]
    text = kernel.asm["ttgir"]
    found = [int(n) for n in re.findall(r"partition\d\(.*num_warps\((\d+)\)", text)]
    loops = text.count("ttg.warp_specialize(")
    assert found == found[: len(found) // loops] * loops
    return found[: len(found) // loops]


def has_two_groups(kernel) -> bool:
    text = kernel.asm["ttgir"]
    # A third one may correct the sums of both.
    if partitions(kernel)[1:] not in ([4], [4, 4]):
        return False
    default, _, second = text[text.index("ttg.warp_specialize(") :].partition("partition1(")
    return "tc_gen5_mma" in default and "tc_gen5_mma" in second


@pytest.mark.parametrize("kind", ["fp16", "bf16", "e4m3", "e5m2"])
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_types(kind, d, causal):
    kernel = run(kind, 300, 300, d, 64, causal, row_groups=2)
    assert has_two_groups(kernel) and kernel.n_spills == 0


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
def test_targets(target):
    assert has_two_groups(run("fp16", 256, 128, 128, 64))


@pytest.mark.parametrize(
    ("kind", "d", "bn", "expected"),
    [("bf16", 128, 64, True), ("fp16", 64, 64, True), ("fp16", 128, 32, True),
     ("fp16", 64, 32, False)],
)  # fmt: skip
def test_where_it_pays(kind, d, bn, expected):
    """Where dots take little of an iteration, groups gain less than they tell each other."""
    assert has_two_groups(run(kind, 256, 128, d, bn)) == expected


@pytest.mark.parametrize("loops", [1, 2])
@pytest.mark.parametrize(("length", "keys"), [(256, 2), (511, 64), (40, 200), (257, 130)])
def test_ragged(length, keys, loops):
    """Loops without iterations, too."""
    kernel = run("fp16", length, keys, 64, 64, loops=loops, row_groups=2)
    assert has_two_groups(kernel)


@pytest.mark.parametrize(("warps", "stages"), [(4, 1), (4, 3), (8, 1), (8, 4)])
@pytest.mark.parametrize("causal", [False, True])
def test_options(warps, stages, causal):
    kernel = run(
        "fp16", 300, 300, 64, 64, causal, loops=1, num_warps=warps, num_stages=stages, row_groups=2
    )
    assert has_two_groups(kernel)


def test_wide_blocks_of_keys():
    """Two halves take all 512 columns of tensor memory, in each of two loops."""
    kernel = run("fp16", 256, 300, 64, 128)
    assert has_two_groups(kernel) and kernel.metadata.tmem_size == 512
    assert "memdesc_reinterpret %result" not in kernel.asm["ttgir"]


def test_any_order(monkeypatch):
    """Groups that run far ahead of each other: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "12")
    assert has_two_groups(run("fp16", 256, 500, 64, 64, num_stages=3, row_groups=2))


@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_pointers_on_request(d, causal):
    bm, bn, length = 256, 32, 300
    q, k, v = operands("fp16", length, length, d)
    out = poisoned((length, d), "fp16")
    grid, args = (2,), (q, k, v, out, d**-0.5, length, length, d, bm, bn, causal)
    kernel = by_pointers[grid](*args, num_warps=8, num_stages=2, row_groups=2)
    assert partitions(kernel)[:2] == [4, 4] and has_two_groups(kernel)
    np.testing.assert_allclose(
        out.astype(np.float64), reference(q, k, v, causal)[0], rtol=4e-3, atol=4e-3
    )
    kernel = by_pointers[grid](*args, num_warps=8, num_stages=2)
    assert partitions(kernel) == [4]


def test_one_group_on_request():
    assert partitions(run("fp16", 256, 128, 128, 64, row_groups=1)) == [1]
    with pytest.raises(tile.TileError, match="row_groups is 1, 2 or None, not 3"):
        run("fp16", 256, 128, 64, 64, row_groups=3)
