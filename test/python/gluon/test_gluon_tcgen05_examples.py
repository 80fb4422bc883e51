"""The examples for tensor memory: ragged sizes, poisoned outputs, all checks of the simulator, and
several schedules of the warps."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_gluon_examples import close, load

from tile.backends import backends

tools = sys.modules[backends()["nvidia"].__module__].tools
pytestmark = sim_only
blackwells = pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
sm100 = pytest.mark.parametrize("target", ["cuda:100"], indirect=True)


def matrices(m, n, k):
    a, b = random((m, k), "fp16", 7), random((k, n), "fp16", 8)
    return a, b, poisoned((m, n), "fp16"), a.astype(np.float64) @ b.astype(np.float64)


def assemble(kernel, target):
    """What the simulator ran is what ptxas takes."""
    if tools.ptxas_path() is not None:
        tools.run_ptxas(kernel.asm["ptx"], int(target.removeprefix("cuda:")), None)


def near(c, expected):
    close(c, expected, np.linalg.norm(expected))


@pytest.mark.sweep
@blackwells
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("m,n,k", [(128, 128, 64), (200, 136, 72)])
def test_matmul(m, n, k, specialize, target):
    a, b, c, expected = matrices(m, n, k)
    kernel = load("tcgen05_matmul").matmul(a, b, c, specialize)
    near(c, expected)
    assert "tcgen05.mma.cta_group::1.kind::f16" in kernel.asm["ptx"]
    assemble(kernel, target)


@pytest.mark.sweep
@sm100
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("block", [(64, 64, 32), (128, 32, 128), (256, 64, 32), (128, 256, 32)])
@pytest.mark.parametrize("stages", [2, 4])
def test_blocks_of_the_matmul(block, stages, specialize, target):
    a, b, c, expected = matrices(150, 130 + 6, 264)
    load("tcgen05_matmul").matmul(a, b, c, specialize, block, stages)
    near(c, expected)


@pytest.mark.sweep
@blackwells
@pytest.mark.parametrize("take_over", [False, True])
@pytest.mark.parametrize("m,n,k", [(256, 384, 128), (200, 136, 72)])
def test_persistent(m, n, k, take_over, target):
    a, b, c, expected = matrices(m, n, k)
    kernel = load("tcgen05_persistent").matmul(a, b, c, programs=2, take_over=take_over)
    near(c, expected)
    assemble(kernel, target)


@blackwells
@pytest.mark.parametrize("m,n,k", [(256, 256, 192), (400, 136, 72)])
def test_pairs(m, n, k, target):
    a, b, c, expected = matrices(m, n, k)
    kernel = load("tcgen05_pair_matmul").matmul(a, b, c)
    near(c, expected)
    assert "tcgen05.mma.cta_group::2" in kernel.asm["ptx"]
    assert "cta_group::1" not in kernel.asm["ptx"]
    assemble(kernel, target)


@pytest.mark.sweep
@blackwells
@pytest.mark.parametrize(
    "kinds",
    [
        *((kind, kind) for kind in ("mxfp8", "mxfp8-e5m2", "mxfp4", "nvfp4")),
        ("mxfp8", "mxfp4"),
        ("mxfp4", "mxfp8-e5m2"),
    ],
    ids=" by ".join,
)
@pytest.mark.parametrize("m,n,k", [(128, 128, 256), (200, 136, 384)])
def test_scaled(kinds, m, n, k, target):
    module = load("tcgen05_scaled")
    rng = np.random.default_rng(10)
    a, a_scale, left = module.random_operand(rng, m, k, kinds[0])
    b, b_scale, right = module.random_operand(rng, n, k, kinds[1])
    c = poisoned((m, n), "fp32")
    kernel = module.matmul(a, b, a_scale, b_scale, c, kinds)
    near(c, left @ right.T)
    assemble(kernel, target)


@sm100
def test_padded_panels(target):
    """Rows of 256 elements are two boxes, whose rows lie in panels of 128 bytes."""
    module = load("tcgen05_scaled")
    rng = np.random.default_rng(18)
    for kinds in (("mxfp8", "mxfp4"), ("mxfp4", "mxfp8")):
        a, a_scale, left = module.random_operand(rng, 130, 384, kinds[0])
        b, b_scale, right = module.random_operand(rng, 72, 384, kinds[1])
        c = poisoned((130, 72), "fp32")
        module.matmul(a, b, a_scale, b_scale, c, kinds, (128, 64, 256))
        near(c, left @ right.T)


@blackwells
@pytest.mark.parametrize("tokens,count,n,k", [(300, 3, 128, 128), (70, 8, 136, 200)])
def test_experts(tokens, count, n, k, target):
    module = load("tcgen05_experts")
    x, w, y, experts = experts_of(tokens, count, n, k)
    kernel = module.matmul(x, w, y, module.tables(experts, 128))
    near(y, module.reference(x, w, experts))
    assert "tile::gather4" in kernel.asm["ptx"] and "tile::scatter4" in kernel.asm["ptx"]
    assemble(kernel, target)


def experts_of(tokens, count, n, k):
    experts = np.random.default_rng(12).integers(0, count, tokens)
    x, w = random((tokens, k), "fp16", 13), random((count, k, n), "fp16", 14)
    return x, w, poisoned((tokens, n), "fp16"), experts


def heads_of(heads, n, d, growth=1.0):
    """Later keys have scores that are larger, so that sums have to be corrected."""
    q, k, v = (random((heads, n, d), "fp16", seed) for seed in (15, 16, 17))
    k = (k * np.linspace(1, growth, n)[None, :, None]).astype(np.float16)
    return q, k, v, poisoned((heads, n, d), "fp16")


@pytest.mark.sweep
@blackwells
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads,n,d", [(2, 256, 64), (1, 300, 128)])
def test_attention(heads, n, d, causal, target):
    module = load("tcgen05_attention")
    q, k, v, o = heads_of(heads, n, d)
    kernel = module.attention(q, k, v, o, causal)
    near(o, module.reference(q, k, v, causal))
    assemble(kernel, target)


@sm100
@pytest.mark.parametrize("growth", [1, 12])
@pytest.mark.parametrize(
    "n,d,bn,stages", [(520, 64, 64, 2), (200, 128, 64, 3), (300, 32, 32, 1), (40, 64, 128, 2)]
)
def test_blocks_of_attention(n, d, bn, stages, growth, target):
    module = load("tcgen05_attention")
    for causal in (False, True):
        q, k, v, o = heads_of(1, n, d, growth)
        module.attention(q, k, v, o, causal, bn, stages)
        near(o, module.reference(q, k, v, causal))


def arguments_of(name, module):
    """A small launch, its output, what is expected, and its options."""
    if name == "tcgen05_experts":
        x, w, y, experts = experts_of(40, 2, 64, 160)
        found = module.tables(experts, 128)
        given = module.arguments(x, w, y, found, (128, 64, 32), 2)
        options = {"grid": (found[1].size, 1)}
        return module.grouped_kernel, given, y, module.reference(x, w, experts), options
    if name == "tcgen05_attention":
        q, k, v, o = heads_of(1, 200, 32, 12)
        given = module.arguments(q, k, v, o, True, 32, 2)
        expected = module.reference(q, k, v, True)
        return module.attention_kernel, given, o, expected, {"grid": (1, 1)}
    if name == "tcgen05_scaled":
        rng = np.random.default_rng(11)
        a, a_scale, left = module.random_operand(rng, 128, 256, "mxfp8")
        b, b_scale, right = module.random_operand(rng, 64, 256, "mxfp8")
        c = poisoned((128, 64), "fp32")
        kinds = "mxfp8", "mxfp8"
        given = module.arguments(a, b, a_scale, b_scale, c, kinds, (128, 64, 128))
        return module.scaled_kernel, given, c, left @ right.T, {"grid": (1, 1)}
    a, b, c, expected = matrices(256, 128, 160)
    if name.startswith("tcgen05_matmul"):
        kernel = module.specialized_kernel if "specialized" in name else module.pipelined_kernel
        given = module.arguments(a, b, c, (128, 64, 32), 2)
        return kernel, given, c, expected, {"grid": (2, 2)}
    if name == "tcgen05_pair_matmul":
        given = module.arguments(a, b, c, (256, 64, 32), 2)
        return module.pair_kernel, given, c, expected, {"grid": (1, 2), "num_ctas": 2}
    take_over = name.endswith("take over")
    given = module.arguments(a, b, c, (128, 64, 32), 2, take_over)
    return module.persistent_kernel, given, c, expected, {"grid": (4 if take_over else 2,)}


@sm100
@pytest.mark.parametrize("assumption", [None, "tensor-fences"])
@pytest.mark.parametrize(
    "name",
    [
        "tcgen05_matmul",
        "tcgen05_matmul, specialized",
        "tcgen05_scaled",
        "tcgen05_pair_matmul",
        "tcgen05_persistent",
        "tcgen05_persistent, take over",
        "tcgen05_experts",
        "tcgen05_attention",
    ],
)
def test_no_schedule_of_the_warps_changes_the_product(name, assumption, target):
    """Races and wrong phases show in some schedules only."""
    module = load(name.split(",")[0])
    for schedule in range(4 if assumption else 6):
        kernel, given, c, expected, options = arguments_of(name, module)
        if assumption:
            options["assumptions"] = [assumption]
        report = kernel.simulate(*given, schedule_seed=schedule, **options)
        assert report.ok, report.messages
        near(c, expected)
