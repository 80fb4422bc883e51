"""Attention on RDNA: each of four waves has 16 rows of queries; WMMA multiplies them with keys and
values, which all waves read from LDS."""

from __future__ import annotations

import numpy as np
from pingpong_attention import reference

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import AMDWMMALayout, rdna3, rdna4


@gluon.jit
def multiply(a, b, acc, VERSION: gl.constexpr):
    if VERSION == 1:
        return rdna3.wmma(a, b, acc)
    else:
        return rdna4.wmma(a, b, acc)


@gluon.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, N, scale, BM: gl.constexpr, BN: gl.constexpr, D: gl.constexpr,
    ACC: gl.constexpr, VERSION: gl.constexpr, CAUSAL: gl.constexpr,
):  # fmt: skip
    WIDTH: gl.constexpr = 16 // VERSION
    LEFT: gl.constexpr = gl.DotOperandLayout(0, ACC, WIDTH)
    RIGHT: gl.constexpr = gl.DotOperandLayout(1, ACC, WIDTH)
    LOAD: gl.constexpr = gl.BlockedLayout([1, 8], [256 // D, D // 8], [gl.num_warps(), 1], [1, 0])
    SHARED: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    element: gl.constexpr = q_ptr.dtype.element_ty
    block, head = gl.program_id(0), gl.program_id(1)
    base = head * N * D
    rows = block * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, LOAD))
    columns = gl.arange(0, D, layout=gl.SliceLayout(0, LOAD))
    q = gl.load(
        q_ptr + base + rows[:, None] * D + columns[None, :], mask=rows[:, None] < N, other=0.0
    )
    q = gl.convert_layout(q, LEFT)
    sk = gl.allocate_shared_memory(element, [BN, D], SHARED)
    sv = gl.allocate_shared_memory(element, [BN, D], SHARED)
    rows = block * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, ACC))
    largest = gl.full([BM], -float("inf"), gl.float32, gl.SliceLayout(1, ACC))
    total = gl.zeros([BM], gl.float32, gl.SliceLayout(1, ACC))
    acc = gl.zeros([BM, D], gl.float32, ACC)
    steps = gl.cdiv(N, BN)
    if CAUSAL:
        steps = gl.minimum(steps, gl.cdiv((block + 1) * BM, BN))
    for n in range(steps):
        keys = n * BN + gl.arange(0, BN, layout=gl.SliceLayout(1, LOAD))
        places = base + keys[:, None] * D + columns[None, :]
        mask = keys[:, None] < N
        sk.store(gl.load(k_ptr + places, mask=mask, other=0.0))
        sv.store(gl.load(v_ptr + places, mask=mask, other=0.0))
        s = gl.zeros([BM, BN], gl.float32, ACC)
        s = multiply(q, sk.permute([1, 0]).load(RIGHT), s, VERSION)
        keys = n * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, ACC))
        seen = keys[None, :] < N
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None])
        s = gl.where(seen, s * scale, -float("inf"))
        above = gl.maximum(largest, gl.max(s, 1))
        weights = gl.exp2(s - above[:, None])
        shrink = gl.exp2(largest - above)
        total = total * shrink + gl.sum(weights, 1)
        largest = above
        p = gl.convert_layout(weights.to(element), LEFT)
        acc = multiply(p, sv.load(RIGHT), acc * shrink[:, None], VERSION)
    columns = gl.arange(0, D, layout=gl.SliceLayout(0, ACC))
    gl.store(
        o_ptr + base + rows[:, None] * D + columns[None, :],
        (acc / total[:, None]).to(element), mask=rows[:, None] < N,
    )  # fmt: skip


def attention(q, k, v, o, version: int = 1, causal: bool = False, bn: int = 32):
    """``o = softmax(q @ k.T / sqrt(d)) @ v`` of fp16, for each head. `version` is 1 on gfx11 and 2
    on gfx12."""
    heads, n, d = q.shape
    # The four waves lie below each other: a row is in one wave.
    acc = AMDWMMALayout(version, True, [[1, 0], [2, 0]])
    scale = d**-0.5 * 1.4426950408889634
    grid = (tile.cdiv(n, 64), heads)
    return attention_kernel[grid](q, k, v, o, n, scale, 64, bn, d, acc, version, causal)


def main(device) -> None:
    version = 2 if str(device.driver.get_current_target().arch).startswith("gfx12") else 1
    rng = np.random.default_rng(11)
    for heads, n, d, causal in ((2, 128, 64, False), (1, 100, 32, True)):
        q, k, v = (rng.standard_normal((heads, n, d)).astype(np.float16) for _ in range(3))
        expected = reference(q, k, v, causal).astype(np.float16)
        o = device.empty_like(expected)
        kernel = attention(device.put(q), device.put(k), device.put(v), o, version, causal)
        device.check("wmma attention", kernel, device.get(o), expected)


if __name__ == "__main__":
    import os

    # The instructions are those of AMD's GPUs.
    os.environ.setdefault("TILE_SIM_TARGET", "hip:gfx1100")
    from demo import run_examples

    run_examples(main)
