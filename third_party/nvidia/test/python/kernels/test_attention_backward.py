"""The gradients of examples/attention_backward.py: two sums that run on in one loop."""

from __future__ import annotations

import importlib.util
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


@pytest.mark.parametrize(
    ("target", "specialized"), [("cuda:80", False), ("cuda:90", False), ("cuda:90", True)]
)
@pytest.mark.parametrize(("bm", "bn", "warps"), [(64, 64, 4), (64, 128, 8), (128, 32, 4)])
@pytest.mark.parametrize(("causal", "stages"), [(False, 1), (False, 3), (True, 2)])
def test_gradients(
    example, target, specialized, bm, bn, warps, causal, stages, monkeypatch
):  # fmt: skip
    run_on(target, monkeypatch)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    q, k, v, dout = (random((1, 256, 64), "fp16", seed) for seed in range(4))
    out, *expected = example.reference(q, k, v, dout, causal)
    gradients = [poisoned(q.shape, "fp16") for _ in "qkv"]
    scratch = [poisoned((1, 256), "fp32") for _ in range(2)]
    options = {
        "bm": bm,
        "bn": bn,
        "num_warps": warps,
        "num_stages": stages,
        "specialized": specialized,
    }
    kernel = example.attention_backward(
        q, k, v, out.astype(np.float16), dout, *gradients, *scratch, causal, **options
    )
    for gradient, values in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient, values, rtol=1e-2, atol=1e-2)
    # Of each product 64 rows are there.
    assert ("wgmma" in kernel.asm["ptx"]) == (target == "cuda:90")
