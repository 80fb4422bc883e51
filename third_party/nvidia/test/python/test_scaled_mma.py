"""tl.dot_scaled by mma.sync with block scales, which sm_120 and sm_121 have, executed."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, sim_only
from test_dot_scaled import operand, run

import tile
import tile.language as tl

#: An H100 or H200 has none of this.
pytestmark = sim_only

BYTES = ["e4m3", "e5m2", "e2m3", "e3m2"]
#: Elements that a scale of the type is for.
GROUPS = {"e8m0": 32, "e4m3": 16}


@pytest.fixture(autouse=True, params=["cuda:120"])
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", request.param)


def kinds(kernel) -> set[str]:
    """What comes behind `kind::` of dots, and all dots that have no kind."""
    found = re.findall(r"mma\.sync\.\S+", kernel.asm["ptx"])
    assert found
    return {(re.findall(r"kind::(\w+)", text) or ["none"])[0] for text in found}


@pytest.mark.parametrize("a_kind", [*BYTES, "e2m1"])
@pytest.mark.parametrize("b_kind", [*BYTES, "e2m1"])
def test_formats(a_kind, b_kind):
    kernel = run(a_kind, b_kind)
    assert kinds(kernel) == {"mxf4" if (a_kind, b_kind) == ("e2m1", "e2m1") else "mxf8f6f4"}


@pytest.mark.parametrize("target", ["cuda:121"], indirect=True)
def test_sm_121(target):
    assert kinds(run("e4m3", "e5m2")) == {"mxf8f6f4"}


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(16, 8, 32), (16, 16, 32), (16, 8, 256), (64, 32, 128), (128, 16, 64), (32, 128, 32)],
)
@pytest.mark.parametrize("warps", [1, 2, 4, 8])
@pytest.mark.parametrize("formats", [("e4m3", "e2m1"), ("e2m1", "e2m1"), ("e5m2", "e5m2")])
def test_sizes(m, n, k, warps, formats):
    kernel = run(*formats, m=m, n=n, k=k, num_warps=warps)
    packed = formats == ("e2m1", "e2m1") and k >= 64
    assert kinds(kernel) == {"mxf4" if packed else "mxf8f6f4"}


@pytest.mark.parametrize("formats", [("e4m3", "e5m2"), ("e2m1", "e4m3"), ("e2m1", "e2m1")])
@pytest.mark.parametrize(("a_scaled", "b_scaled"), [(True, False), (False, True), (False, False)])
def test_missing_scales_are_one(formats, a_scaled, b_scaled):
    kernel = run(*formats, a_scaled, b_scaled, m=32, n=32, k=128)
    assert kinds(kernel) <= {"mxf4", "mxf8f6f4"}


def test_what_no_instruction_scales_becomes_a_plain_product():
    for kernel in (run("e4m3", "bf16", b_scaled=False), run("fp16", "e4m3", a_scaled=False)):
        assert kinds(kernel) == {"none"}


def test_elements_that_are_packed_along_the_rows():
    assert kinds(run("e2m1", "e2m1", pack=False, m=32, n=32, k=128)) == {"mxf4"}


@tile.jit
def loop_kernel(
    a, a_scale, b, b_scale, c, M, N, K,
    A: tl.constexpr, B: tl.constexpr, A_BY_K: tl.constexpr, B_BY_K: tl.constexpr,
    GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """The inner dimension of an operand is its last in memory if it is BY_K."""
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B == "e2m1" else 1
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    groups = tl.arange(0, BK // GROUP)
    inner_a, inner_b = tl.arange(0, BK // PACK_A), tl.arange(0, BK // PACK_B)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        ka, kb = start // PACK_A + inner_a, start // PACK_B + inner_b
        ks = start // GROUP + groups
        if A_BY_K:
            at_a = rows[:, None] * (K // PACK_A) + ka[None, :]
        else:
            at_a = ka[None, :] * M + rows[:, None]
        if B_BY_K:
            at_b = columns[None, :] * (K // PACK_B) + kb[:, None]
        else:
            at_b = kb[:, None] * N + columns[None, :]
        x = tl.load(a + at_a, (rows < M)[:, None] & (ka < K // PACK_A)[None, :], 0)
        y = tl.load(b + at_b, (columns < N)[None, :] & (kb < K // PACK_B)[:, None], 0)
        in_k = (ks < K // GROUP)[None, :]
        xs = tl.load(a_scale + rows[:, None] * (K // GROUP) + ks[None, :],
                     (rows < M)[:, None] & in_k, 0)  # fmt: skip
        ys = tl.load(b_scale + columns[:, None] * (K // GROUP) + ks[None, :],
                     (columns < N)[:, None] & in_k, 0)  # fmt: skip
        acc = tl.dot_scaled(x, xs, A, y, ys, B, acc)
    where = rows[:, None] * N + columns[None, :]
    tl.store(c + where, acc, (rows < M)[:, None] & (columns < N)[None, :])


def scales(kind: str, rows: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random scales and what they are; those of e4m3 may have a sign, which does not count."""
    rng = np.random.default_rng(seed)
    shape = (rows, k // GROUPS[kind])
    if kind == "e8m0":
        codes = rng.integers(118, 136, shape).astype(np.uint8)
        values = 2.0 ** (codes.astype(float) - 127)
    else:
        bits = rng.integers(0, 256, shape).astype(np.uint8)
        bits[(bits & 127) == 127] = 1
        codes = bits.view(ml_dtypes.float8_e4m3fn)
        values = np.abs(codes.astype(np.float64))
    return codes, np.repeat(values, GROUPS[kind], 1)


def check_loop(a_kind, b_kind, scale="e8m0", m=50, n=70, k=160, a_by_k=True, b_by_k=True,
               block=(32, 64, 64), **options):  # fmt: skip
    a, a_values = operand(a_kind, m, k, 1, True, 1)
    b, b_values = operand(b_kind, k, n, 0, True, 2)
    a_scale, a_factors = scales(scale, m, k, 3)
    b_scale, b_factors = scales(scale, n, k, 4)
    a = a if a_by_k else np.ascontiguousarray(a.T)
    b = np.ascontiguousarray(b.T) if b_by_k else b
    out = poisoned((m, n), "fp32")
    kernel = loop_kernel[(tile.cdiv(m, block[0]), tile.cdiv(n, block[1]))](
        a, a_scale, b, b_scale, out, m, n, k, a_kind, b_kind, a_by_k, b_by_k, GROUPS[scale],
        *block, **options,
    )  # fmt: skip
    x, y = a_values * a_factors, b_values * b_factors.T
    size = np.abs(x) @ np.abs(y)
    assert (np.abs(out - x @ y) <= size * 1e-5 + 1e-30).all()
    return kernel


@pytest.mark.sweep
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize("formats", [("e4m3", "e4m3"), ("e2m1", "e5m2"), ("e2m1", "e2m1")])
def test_ragged_loops(formats, warps, stages):
    kernel = check_loop(*formats, num_warps=warps, num_stages=stages)
    assert len(kinds(kernel)) == 1 and "none" not in kinds(kernel)


@pytest.mark.parametrize(("a_by_k", "b_by_k"), [(False, True), (True, False), (False, False)])
@pytest.mark.parametrize("formats", [("e5m2", "e4m3"), ("e2m1", "e4m3"), ("e2m1", "e2m1")])
def test_operands_across_k(formats, a_by_k, b_by_k):
    kernel = check_loop(*formats, a_by_k=a_by_k, b_by_k=b_by_k, num_stages=3)
    assert "none" not in kinds(kernel)


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize(
    ("block", "k"), [((16, 16, 64), 64), ((64, 32, 128), 448), ((32, 128, 256), 96)]
)
def test_nvfp4(block, k, warps):
    """Scales of e4m3 for 16 elements each."""
    kernel = check_loop("e2m1", "e2m1", "e4m3", k=k, block=block, num_warps=warps)
    assert kinds(kernel) == {"mxf4nvf4"}


def test_short_products_of_nvfp4_become_plain():
    assert kinds(check_loop("e2m1", "e2m1", "e4m3", k=96, block=(16, 16, 32))) == {"none"}


def test_blocks_of_a_cluster():
    kernel = check_loop("e4m3", "e2m1", block=(64, 64, 64), num_ctas=2)
    assert kinds(kernel) == {"mxf8f6f4"}


def test_what_is_multiplied_again():
    """A result is an operand, and a scale is computed."""

    @tile.jit
    def twice(a, s, c, M: tl.constexpr):
        i = tl.arange(0, M)
        x = tl.load(a + i[:, None] * M + i[None, :])
        scale = tl.load(s + i[:, None] * (M // 32) + tl.arange(0, M // 32)[None, :])
        first = tl.dot_scaled(x, scale, "e4m3", x, scale + 1, "e4m3")
        again = first.to(tl.float8e5)
        out = tl.dot_scaled(again, scale, "e5m2", x, scale, "e4m3")
        tl.store(c + i[:, None] * M + i[None, :], out)

    m = 64
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (m, m)).astype(ml_dtypes.float8_e4m3fn)
    s = rng.integers(126, 129, (m, m // 32)).astype(np.uint8)
    out = poisoned((m, m), "fp32")
    kernel = twice[(1,)](a, s, out, m)
    x = a.astype(np.float64)
    factor = np.repeat(2.0 ** (s.astype(float) - 127), 32, 1)
    first = ((x * factor) @ (x * 2 * factor.T)).astype(ml_dtypes.float8_e5m2).astype(np.float64)
    want = (first * factor) @ (x * factor.T)
    assert (np.abs(out - want) <= 1e-5 * (np.abs(first * factor) @ np.abs(x * factor.T))).all()
    assert kinds(kernel) == {"mxf8f6f4"}
