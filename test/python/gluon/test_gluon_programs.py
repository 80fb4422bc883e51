"""The larger examples with explicit layouts: ragged sizes, poisoned outputs, all checks of the
simulator, and several schedules of the warps."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_gluon_examples import EXAMPLES, close, load

import tile
from tile.experimental.gluon import language as gl

sys.path.append(str(EXAMPLES))  # Examples share references.

hopper = pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
ampere = pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)
rdna = pytest.mark.parametrize("target", ["hip:gfx1100", "hip:gfx1200"], indirect=True)


def factors(m, n, k):
    a, b = random((m, k), "fp16", 4), random((k, n), "fp16", 5)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    return a, b, expected, np.linalg.norm(expected)


@hopper
@pytest.mark.parametrize("programs", [1, 2, 5])
@pytest.mark.parametrize("m,n,k", [(128, 128, 64), (200, 136, 72), (64, 264, 200)])
def test_persistent_matmul(m, n, k, programs, target):
    a, b, expected, size = factors(m, n, k)
    c = poisoned((m, n), "fp16")
    load("persistent_matmul").matmul(a, b, c, programs, block=(64, 64, 32))
    close(c, expected, size)


@hopper
@pytest.mark.parametrize("parts,group,programs", [(2, 1, 1), (4, 2, 2), (1, 16, 3)])
def test_persistent_matmul_in_parts(parts, group, programs, target):
    """Parts of a tile share buffers; tiles of several groups, the last of them cut."""
    a, b, expected, size = factors(330, 264, 104)
    c = poisoned((330, 264), "fp16")
    how = {"block": (64, 128, 32), "parts": parts, "group": group}
    load("persistent_matmul").matmul(a, b, c, programs, **how)
    close(c, expected, size)


@hopper
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    "m,n,k,parts,group,programs",
    [(256, 256, 64, 1, 8, 2), (330, 264, 104, 2, 2, 3), (64, 128, 200, 4, 1, 2)],
)
def test_group_matmul(m, n, k, parts, group, programs, shared, target):
    """One tile or several for each program, also an odd number for two groups."""
    a, b, expected, size = factors(m, n, k)
    c = poisoned((m, n), "fp16")
    block = (128 if shared else 64, 128, 32)
    how = {"block": block, "shared": shared, "parts": parts, "group": group}
    load("group_matmul").matmul(a, b, c, programs, **how)
    close(c, expected, size)


@hopper
@pytest.mark.parametrize(
    "program,more", [("persistent_matmul", {}), ("group_matmul", {"shared": False})]
)
@pytest.mark.parametrize("m,n,k", [(128, 256, 256), (200, 136, 144)])
def test_matmul_of_8_bits(m, n, k, program, more, target):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    e4m3 = ml_dtypes.float8_e4m3fn
    a, b = (random(shape, "fp32", seed).astype(e4m3) for seed, shape in ((6, (m, k)), (7, (n, k))))
    c = poisoned((m, n), "fp16")
    given = (tile.reinterpret(x.view(np.uint8), gl.float8e4nv) for x in (a, b))
    how = {"block": (64, 128, 128), "parts": 2, "dtype": gl.float8e4nv, "along_k": True}
    load(program).matmul(*given, c, 2, **how, **more)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    # Sums of 8-bit dots keep fewer bits than float32 has.
    close(c, expected, 4 * np.linalg.norm(expected))


@sim_only
@hopper
@pytest.mark.parametrize("m,n,k", [(128, 64, 64), (200, 136, 72), (64, 72, 200)])
@pytest.mark.parametrize("stages", [2, 3])
def test_cluster_matmul(m, n, k, stages, target):
    a, b, expected, size = factors(m, n, k)
    c = poisoned((m, n), "fp16")
    load("cluster_matmul").matmul(a, b, c, (128, 64, 32), stages)
    close(c, expected, size)


@sim_only
@hopper
@pytest.mark.parametrize("m,n,k", [(64, 64, 128), (50, 70, 200), (1, 9, 31)])
def test_split_k_matmul(m, n, k, target):
    a, b, expected, size = factors(m, n, k)
    c = poisoned((m, n), "fp32")
    kernel = load("split_k_matmul").matmul(a, b, c)
    close(c, expected, size)
    assert "st.async" in kernel.asm["ptx"]


@hopper
@pytest.mark.parametrize(
    "shape,filters,pad",
    [
        ((2, 7, 5, 64), (3, 3, 64, 32), 1),
        ((1, 9, 10, 40), (3, 3, 40, 24), 0),
        ((3, 4, 3, 72), (2, 4, 72, 8), 2),
        ((1, 5, 5, 64), (1, 1, 64, 64), 0),
    ],
)
@pytest.mark.parametrize("stages", [2, 3])
def test_convolution(shape, filters, pad, stages, target):
    """Blocks of the result end within images, and channels within blocks."""
    x, w = random(shape, "fp16", 8), random(filters, "fp16", 9)
    module = load("convolution")
    expected = module.reference(x, w, pad)
    y = poisoned(expected.shape, "fp16")
    kernel = module.convolve(x, w, y, pad, (64, 32, 32), stages)
    close(y, expected, np.linalg.norm(expected))
    if target == "cuda:90":
        assert ".im2col" in kernel.asm["ptx"]


@ampere
@pytest.mark.parametrize("tokens,count,n,k", [(150, 4, 128, 64), (37, 8, 72, 104), (1, 1, 8, 8)])
def test_experts_matmul(tokens, count, n, k, target):
    module = load("experts_matmul")
    experts = np.random.default_rng(3).integers(0, count, tokens)
    x, w = random((tokens, k), "fp16", 6), random((count, k, n), "fp16", 7)
    y = poisoned((tokens, n), "fp32")
    module.matmul(x, w, y, module.tables(experts, 64))
    expected = module.reference(x, w, experts)
    close(y, expected, np.linalg.norm(expected))


def heads_of(heads, n, d):
    return [random((heads, n, d), "fp16", seed) for seed in (8, 9, 10, 11)]


@hopper
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads,n,d", [(2, 128, 64), (1, 200, 64), (1, 70, 128), (3, 5, 64)])
def test_pingpong_attention(heads, n, d, causal, target):
    module = load("pingpong_attention")
    q, k, v, _ = heads_of(heads, n, d)
    o = poisoned((heads, n, d), "fp16")
    module.attention(q, k, v, o, causal, bn=64)
    expected = module.reference(q, k, v, causal)
    close(o, expected, np.linalg.norm(expected))


@hopper
@pytest.mark.parametrize("programs,bn,turns", [(1, 64, True), (2, 128, False), (3, 32, True)])
def test_pingpong_attention_goes_from_block_to_block(programs, bn, turns, target):
    module = load("pingpong_attention")
    q, k, v, _ = heads_of(2, 300, 64)
    for causal in (False, True):
        o = poisoned((2, 300, 64), "fp16")
        module.attention(q, k, v, o, causal, bn=bn, turns=turns, programs=programs)
        expected = module.reference(q, k, v, causal)
        close(o, expected, np.linalg.norm(expected))


@hopper
@pytest.mark.parametrize("heads,n,d", [(1, 128, 64), (2, 72, 64), (1, 136, 32)])
def test_pingpong_backward(heads, n, d, target):
    module = load("pingpong_backward")
    tensors = heads_of(heads, n, d)
    gradients, lse, delta = module.reference(*tensors)
    dq = np.zeros((heads, n, d), np.float32)
    dk, dv = (poisoned((heads, n, d), "fp32") for _ in range(2))
    module.backward(*tensors, dq, dk, dv, lse, delta)
    for found, expected in zip((dq, dk, dv), gradients, strict=True):
        close(found, expected, np.linalg.norm(expected))


@pytest.mark.sweep
@rdna
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads,n,d", [(2, 64, 64), (1, 100, 32), (2, 7, 64)])
def test_wmma_attention(heads, n, d, causal, target):
    module = load("wmma_attention")
    q, k, v, _ = heads_of(heads, n, d)
    o = poisoned((heads, n, d), "fp16")
    version = 1 if target == "hip:gfx1100" else 2
    kernel = module.attention(q, k, v, o, version, causal)
    expected = module.reference(q, k, v, causal)
    close(o, expected, np.linalg.norm(expected))
    assert "v_wmma_f32_16x16x16_f16" in kernel.asm["amdgcn"]


# Races and wrong phases show in some schedules only.


def persistent(schedule):
    module = load("persistent_matmul")
    a, b, expected, _ = factors(128, 128, 96)
    c = poisoned((128, 128), "fp16")
    given = module.arguments(a, b, c, (64, 64, 32), 2)
    report = module.persistent_kernel.simulate(*given, grid=(2,), schedule_seed=schedule)
    return report, [(c, expected)]


def groups(schedule):
    module = load("group_matmul")
    a, b, expected, _ = factors(128, 192, 96)
    c = poisoned((128, 192), "fp16")
    given = module.arguments(a, b, c, (128, 64, 32), 2)
    report = module.group_kernel.simulate(*given, grid=(2,), num_warps=4, schedule_seed=schedule)
    return report, [(c, expected)]


def clusters(schedule):
    module = load("cluster_matmul")
    a, b, expected, _ = factors(128, 64, 96)
    c = poisoned((128, 64), "fp16")
    given = module.arguments(a, b, c, (128, 64, 32), 2)
    report = module.cluster_kernel.simulate(*given, grid=(1, 1), num_ctas=2, schedule_seed=schedule)
    return report, [(c, expected)]


def split(schedule):
    module = load("split_k_matmul")
    a, b, expected, _ = factors(64, 64, 96)
    c = poisoned((64, 64), "fp32")
    report = module.split_kernel.simulate(
        a, b, c, 64, 64, 96, 64, 64, 32, grid=(1, 1), num_ctas=2, schedule_seed=schedule
    )
    return report, [(c, expected)]


def attention(schedule):
    module = load("pingpong_attention")
    q, k, v, _ = heads_of(1, 192, 64)
    o = poisoned((1, 192, 64), "fp16")
    given = module.arguments(q, k, v, o, False, 64, 2)
    report = module.attention_kernel.simulate(
        *given, grid=(2, 1), num_warps=4, schedule_seed=schedule
    )
    return report, [(o, module.reference(q, k, v, False))]


def backward(schedule):
    module = load("pingpong_backward")
    tensors = heads_of(1, 136, 32)
    gradients, lse, delta = module.reference(*tensors)
    dq = np.zeros((1, 136, 32), np.float32)
    dk, dv = (poisoned((1, 136, 32), "fp32") for _ in range(2))
    given = module.arguments(*tensors, dq, dk, dv, lse, delta, 64, 2)
    report = module.backward_kernel.simulate(
        *given, grid=(2, 1), num_warps=4, schedule_seed=schedule
    )
    return report, list(zip((dq, dk, dv), gradients, strict=True))


@sim_only
@hopper
@pytest.mark.parametrize("program", [persistent, groups, clusters, split, attention, backward])
def test_no_schedule_changes_the_result(program, target):
    for schedule in range(4):
        report, results = program(schedule)
        assert report.ok, report.messages
        for found, expected in results:
            close(found, expected, np.linalg.norm(expected))
