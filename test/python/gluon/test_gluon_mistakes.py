"""Mistakes planted in the examples are found, and nothing is found in the examples themselves. The
table is `planted.py`."""

from __future__ import annotations

import importlib.util
import re
import sys

import numpy as np
import pytest
from planted_mistakes import PLANTED
from reference import poisoned, random, sim_only
from test_gluon_examples import EXAMPLES

import tile
from tile.experimental.gluon import language as gl

sys.path.append(str(EXAMPLES))
pytestmark = sim_only


def pair(m, n, k, dtype="fp16"):
    return random((m, k), "fp16", 1), random((k, n), "fp16", 2), poisoned((m, n), dtype)


def async_matmul(module, **how):
    a, b, c = pair(50, 40, 96)
    arguments = (a, b, c, 50, 40, 96, 64, 64, 32, 3)
    module.matmul_kernel.simulate(*arguments, grid=(1, 1), **how)


def experts_matmul(module, **how):
    experts = np.array([0, 2, 1, 0, 2, 2, 0])
    x, w = random((7, 96), "fp16", 3), random((3, 96, 40), "fp16", 4)
    found = module.tables(experts, 16)
    arguments = (x, w, poisoned((7, 40), "fp32"), *found, 40, 96, 16, 32, 32, 3)
    module.grouped_kernel.simulate(*arguments, grid=(3, 2), **how)


def vector_add(module, **how):
    x, out = random(200, "fp32", 5), poisoned(200, "fp32")
    layout = gl.BlockedLayout([2], [32], [4], [0])
    module.add_kernel.simulate(x, x, out, 200, 256, layout, grid=(1,), **how)


def transpose(module, **how):
    x, out = random((40, 30), "fp32", 6), poisoned((30, 40), "fp32")
    layouts = module.layouts(64, 4, 32)
    module.transpose_kernel.simulate(x, out, 40, 30, 64, *layouts, grid=(1, 1), **how)


def tma_copy(module, **how):
    layout = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float16)
    x, out = random((32, 64), "fp16", 7), poisoned((32, 64), "fp16")
    descs = [module.TensorDescriptor.from_tensor(t, [32, 64], layout) for t in (x, out)]
    registers = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    module.scale_kernel.simulate(*descs, 2.0, registers, grid=(1, 1), **how)


def wgmma_matmul(module, **how):
    tensors, blocks = pair(64, 64, 160), ([64, 32], [32, 64], [64, 64])
    descs = [
        module.TensorDescriptor.from_tensor(
            t, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16)
        )
        for t, block in zip(tensors, blocks, strict=True)
    ]
    mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    module.pipelined_kernel.simulate(*descs, 160, 2, mma, grid=(1, 1), **how)


def persistent_matmul(module, **how):
    arguments = module.arguments(*pair(128, 64, 96), (64, 64, 32), 2)
    module.persistent_kernel.simulate(*arguments, grid=(1,), **how)


def group_matmul(module, **how):
    arguments = module.arguments(*pair(192, 64, 96), (64, 64, 32), 2, shared=False)
    module.group_kernel.simulate(*arguments, grid=(1,), num_warps=4, **how)


def pingpong_attention(module, **how):
    q, k, v = (random((1, 200, 64), "fp16", seed) for seed in (8, 9, 10))
    arguments = module.arguments(q, k, v, poisoned((1, 200, 64), "fp16"), False, 64, 2)
    module.attention_kernel.simulate(*arguments, grid=(1,), num_warps=4, **how)


def pingpong_backward(module, **how):
    tensors = [random((1, 200, 32), "fp16", seed) for seed in (8, 9, 10, 11)]
    _, lse, delta = module.reference(*tensors)
    dq = np.zeros((1, 200, 32), np.float32)
    dk, dv = (poisoned((1, 200, 32), "fp32") for _ in range(2))
    arguments = module.arguments(*tensors, dq, dk, dv, lse, delta, 64, 2)
    module.backward_kernel.simulate(*arguments, grid=(2, 1), num_warps=4, **how)


def cluster_matmul(module, **how):
    arguments = module.arguments(*pair(128, 64, 160), (128, 64, 32), 2)
    module.cluster_kernel.simulate(*arguments, grid=(1, 1), num_ctas=2, **how)


def split_k_matmul(module, **how):
    a, b, c = pair(50, 64, 96, "fp32")
    arguments = (a, b, c, 50, 64, 96, 64, 64, 32)
    module.split_kernel.simulate(*arguments, grid=(1, 1), num_ctas=2, **how)


def convolution(module, **how):
    x, w = random((2, 6, 5, 64), "fp16", 8), random((3, 3, 64, 32), "fp16", 9)
    arguments = module.arguments(x, w, poisoned((2, 6, 5, 32), "fp16"), 1, (64, 32, 32), 2)
    module.convolution_kernel.simulate(*arguments, grid=(1, 1), **how)


def tcgen05_matmul(module, **how):
    arguments = module.arguments(*pair(128, 64, 160), (128, 64, 32), 2)
    module.pipelined_kernel.simulate(*arguments, grid=(1, 1), **how)


def tcgen05_persistent(module, **how):
    arguments = module.arguments(*pair(256, 256, 64), (128, 64, 32), 2, True)
    module.persistent_kernel.simulate(*arguments, grid=(8,), **how)


def tcgen05_pair_matmul(module, **how):
    arguments = module.arguments(*pair(256, 64, 160), (256, 64, 32), 2)
    module.pair_kernel.simulate(*arguments, grid=(1, 1), num_ctas=2, **how)


def tcgen05_scaled(module, **how):
    rng = np.random.default_rng(11)
    (a, a_scale, _), (b, b_scale, _) = (
        module.random_operand(rng, rows, 256, "mxfp8") for rows in (128, 64)
    )
    c = poisoned((128, 64), "fp32")
    kinds = "mxfp8", "mxfp8"
    arguments = module.arguments(a, b, a_scale, b_scale, c, kinds, (128, 64, 128))
    module.scaled_kernel.simulate(*arguments, grid=(1, 1), **how)


def tcgen05_experts(module, **how):
    experts = np.array([0, 1] * 15)
    x, w = random((30, 96), "fp16", 12), random((2, 96, 64), "fp16", 13)
    found = module.tables(experts, 128)
    arguments = module.arguments(x, w, poisoned((30, 64), "fp16"), found, (128, 64, 32), 2)
    module.grouped_kernel.simulate(*arguments, grid=(2, 1), **how)


def tcgen05_attention(module, **how):
    q, k, v = (random((1, 130, 32), "fp16", seed) for seed in (14, 15, 16))
    # Later keys have larger scores: the sums have to be corrected.
    k = (k * np.linspace(1, 16, 130)[None, :, None]).astype(np.float16)
    arguments = module.arguments(q, k, v, poisoned((1, 130, 32), "fp16"), False, 32, 2)
    module.attention_kernel.simulate(*arguments, grid=(1, 1), **how)


RUNS = {
    run.__name__: run
    for run in (async_matmul, experts_matmul, vector_add, transpose, tma_copy, wgmma_matmul,
                persistent_matmul, group_matmul, pingpong_attention, pingpong_backward,
                cluster_matmul, split_k_matmul, convolution, tcgen05_matmul, tcgen05_persistent,
                tcgen05_pair_matmul, tcgen05_scaled, tcgen05_experts, tcgen05_attention)
}  # fmt: skip


def named(row) -> str:
    return row if isinstance(row, str) else f"{PLANTED.index(row)}-{row[0]}"


def with_target(rows, example_of):
    """Each row with the GPU that its example is for."""
    return pytest.mark.parametrize(
        "row,target",
        [
            pytest.param(
                row,
                "cuda:100" if example_of(row).startswith("tcgen05") else "cuda:90",
                id=named(row),
            )
            for row in rows
        ],
        indirect=["target"],
    )


def load(path):
    name = f"planted_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@with_target(PLANTED, lambda row: row[0])
def test_a_mistake_is_found(row, target, tmp_path):
    example, kinds, text, mistake = row
    source = (EXAMPLES / f"{example}.py").read_text()
    assert source.count(text) >= 1, "the table is of another state of the example"
    path = tmp_path / f"{example}.py"
    path.write_text(source.replace(text, mistake, 1))
    module, found = load(path), {}
    for seed in range(8):
        try:
            RUNS[example](module, schedule_seed=seed)
        except tile.sim.SimulationError as error:
            findings = error.report.findings
            found.setdefault(findings[0]["kind"] if findings else "?", str(error))
            if any(kind in found for kind in kinds.split()):
                break
    wanted = [kind for kind in kinds.split() if kind in found]
    assert wanted, found
    # It names a line of the program.
    assert re.search(rf"{example}\.py", found[wanted[0]]), found[wanted[0]]


@with_target(RUNS, lambda name: name)
def test_its_twin_is_clean(row, target):
    module = load(EXAMPLES / f"{row}.py")
    for seed in range(8):
        RUNS[row](module, schedule_seed=seed)


def test_there_are_sixty():
    from test_gluon_planted import PLANTED as KERNELS

    assert len(PLANTED) + len(KERNELS) >= 60
