"""The gradients of examples/attention_backward.py: several sums that run on in one loop."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, random

EXAMPLE = Path(__file__).resolve().parents[5] / "examples" / "attention_backward.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("example_attention_backward", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(example, one_pass: bool, length: int, size: int, causal: bool, **options):
    """Runs one of the two programs against the reference; returns its last kernel."""
    q, k, v, dout = (random((1, length, size), "fp16", seed) for seed in range(4))
    out, *expected = example.reference(q, k, v, dout, causal)
    gradients = [poisoned(q.shape, "fp16") for _ in "qkv"]
    sums, *scratch = (poisoned((1, length), "fp32") for _ in range(2))
    example.statistics(q, k, sums, causal)
    if one_pass:
        scratch.append(poisoned(q.shape, "fp32"))
    backward = example.attention_backward if one_pass else example.attention_backward_in_two
    kernel = backward(
        q, k, v, out.astype(np.float16), dout, *gradients, sums, *scratch, causal, **options
    )
    for gradient, values in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient, values, rtol=1e-2, atol=1e-2)
    return kernel


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("target", "specialized"), [("cuda:80", False), ("cuda:90", False), ("cuda:90", True)]
)
@pytest.mark.parametrize(("bm", "bn", "warps"), [(64, 64, 4), (64, 128, 8), (128, 32, 4)])
@pytest.mark.parametrize(("causal", "stages"), [(False, 1), (False, 3), (True, 2)])
def test_two_passes(
    example, target, specialized, bm, bn, warps, causal, stages, monkeypatch
):  # fmt: skip
    run_on(target, monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    options = {"num_warps": warps, "num_stages": stages, "specialized": specialized}
    kernel = check(example, False, 256, 64, causal, bm=bm, bn=bn, **options)
    # Of each dot 64 rows are there.
    assert ("wgmma" in kernel.asm["ptx"]) == (target == "cuda:90")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("target", "specialized"), [("cuda:80", False), ("cuda:90", False), ("cuda:90", True)]
)
@pytest.mark.parametrize(("bm", "bn", "warps"), [(64, 64, 4), (64, 128, 8), (128, 64, 8)])
@pytest.mark.parametrize(("causal", "stages"), [(False, 1), (True, 2)])
def test_one_pass(
    example, target, specialized, bm, bn, warps, causal, stages, monkeypatch
):  # fmt: skip
    run_on(target, monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    options = {"num_warps": warps, "num_stages": stages, "specialized": specialized}
    # Two blocks of keys: the sum of two is the same in any order.
    kernel = check(example, True, 2 * bn, 64, causal, bm=bm, bn=bn, **options)
    assert ("wgmma" in kernel.asm["ptx"]) == (target == "cuda:90")
    assert ("cp.reduce.async.bulk" in kernel.asm["ptx"]) == (target == "cuda:90")


@pytest.mark.parametrize(("bm", "bn"), [(64, 64), (128, 128), (64, 128), (128, 64)])
@pytest.mark.parametrize("specialized", [False, True])
def test_one_loop_for_masked_and_whole_blocks(example, bm, bn, specialized, monkeypatch):
    run_on("cuda:90", monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    options = {"num_warps": bn // 16, "num_stages": 2, "specialized": specialized}
    # Two blocks of keys, as above.
    check(example, True, 2 * bn, 64, True, bm=bm, bn=bn, one_loop=True, **options)


@pytest.mark.parametrize("size", [16, 32, 128, 256])
@pytest.mark.parametrize("one_pass", [False, True])
def test_head_sizes(example, size, one_pass, monkeypatch):
    run_on("cuda:90", monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    options = {"bm": 64, "bn": 64}
    options |= {"num_warps": 8, "num_stages": 1} if size == 256 else {"num_stages": 2}
    check(example, one_pass, 128, size, True, **options)


@pytest.mark.parametrize("specialized", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_weights_in_the_columns_of_scores(example, causal, specialized, monkeypatch):
    """On sm_100 the columns of tensor memory are short, and weights lie where their scores were."""
    run_on("cuda:100", monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    options = {"num_warps": 8, "num_stages": 2, "specialized": specialized}
    kernel = check(example, True, 256, 128, causal, bm=64, bn=128, **options)
    view = r"memdesc_reinterpret %\S+ : !ttg\.memdesc<128x64xf32, #tmem\d*, [^>]*> -> [^>]*xf16"
    assert re.search(view, kernel.asm["ttgir"])
    assert kernel.metadata.tmem_size == 512 and kernel.n_spills == 0


def test_barriers_and_waits_of_a_step(example, monkeypatch):
    """In a step of the one pass warps meet three times: when copies are there, when the gradients
    of scores are in shared memory, and when those of queries are."""
    run_on("cuda:90", monkeypatch)
    kernel = check(example, True, 256, 128, False, bm=64, bn=128, num_warps=8, num_stages=2)
    found = re.findall(
        r"Inner Loop|wgmma\.mma_async|wgmma\.wait_group\S* \d|bar\.sync|cp\.async\.bulk\.tensor"
        r"|cp\.reduce|\tbra",
        kernel.asm["ptx"],
    )
    step = found[found.index("Inner Loop") :]
    step = [x for i, x in enumerate(step) if i == 0 or x != step[i - 1]]
    product, wait = "wgmma.mma_async", "wgmma.wait_group.sync.aligned"
    # The first dots of two chains; copies for the next step; the weights' dot with dout. Then two
    # more, of which the second one is under way while the first one's result is added.
    assert step[1 : step.index("cp.reduce") + 2] == [
        "bar.sync", product, "cp.async.bulk.tensor", f"{wait} 1", product, f"{wait} 1", "bar.sync",
        product, f"{wait} 1", "bar.sync", "cp.reduce", f"{wait} 0",
    ]  # fmt: skip


@pytest.mark.parametrize(("registers", "from_registers"), [(None, 4), (168, 2)])
def test_keys_and_values_stay_in_registers(example, registers, from_registers, monkeypatch):
    """Where they leave room for as many blocks; weights and their gradients are there anyway."""
    run_on("cuda:90", monkeypatch)
    options = {} if registers is None else {"maxnreg": registers}
    kernel = check(
        example, True, 128, 64, False, bm=64, bn=64, num_warps=4, num_stages=2, **options
    )
    step = kernel.asm["ptx"].partition("Inner Loop")[2].partition("cp.reduce")[0]
    lefts = re.findall(r"wgmma\.mma_async\S+ \{[^}]*\}, (\{|%|d)", step)
    assert lefts.count("{") == from_registers * 64 // 16
    assert len(lefts) == 5 * 64 // 16
