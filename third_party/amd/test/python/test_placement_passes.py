"""Passes that move operations and are no part of the pipeline: what they change still computes
the same."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl
import tile.sim
from tile import _C

SIZE = 64
#: Whether they find something to do. The pipeline leaves nothing to hoist.
PASSES = {
    "tritonamdgpu-move-up-prologue-loads": True,
    "tritonamdgpu-hoist-layout-conversions": False,
    "tritonamdgpu-sink-layout-conversions": True,
    "tritonamdgpu-prepare-if-combining,canonicalize": True,
}


@tile.jit
def chained(q_ptr, k_ptr, out_ptr, flags_ptr, blocks, flag, SIZE: tl.constexpr):
    """Sums of (q k) k over blocks of k, and two branches on one condition."""
    m, n = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    q = tl.load(q_ptr + m * SIZE + n)
    sums = tl.zeros((SIZE, SIZE), tl.float32)
    for block in range(blocks):
        k = tl.load(k_ptr + block * SIZE * SIZE + m * SIZE + n)
        sums = tl.dot(tl.dot(q, k).to(tl.float16), k, sums)
    tl.store(out_ptr + m * SIZE + n, sums)
    if flag > 3:
        tl.store(flags_ptr, flag)
    product = flag * blocks
    if flag > 3:
        tl.store(flags_ptr + 1, product)
    tl.store(flags_ptr + 2, product)


@pytest.mark.parametrize(("processor", "wave"), [("gfx942", 64), ("gfx1100", 32)])
@pytest.mark.parametrize("passes", PASSES)
def test_results_stay(passes, processor, wave, monkeypatch, tmp_path):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", f"hip:{processor}")
    rng = np.random.default_rng(7)
    q, k = rng.integers(-2, 3, (SIZE, SIZE)), rng.integers(-2, 3, (3, SIZE, SIZE))
    want = sum(q @ block @ block for block in k).astype(np.float32)
    q, k = q.astype(np.float16), k.astype(np.float16)
    out, flags = np.zeros((SIZE, SIZE), np.float32), np.zeros(3, np.int32)
    # Loads through buffers are not moved.
    kernel = chained.warmup(
        q, k, out, flags, 3, 5, SIZE=SIZE, grid=(1,),
        disable_passes="tritonamdgpu-convert-buffer-ops",
    )  # fmt: skip
    module = _C.ir.Module.parse(kernel.asm["ttgir"], _C.ir.Context())
    before = str(module)
    _C.passes.PassManager.parse(passes, module.context).run(module)
    assert (str(module) != before) == PASSES[passes]
    path = tmp_path / "kernel.ttgir"
    path.write_text(str(module))
    target = tile.GPUTarget("hip", processor, wave)
    moved = tile.compile(str(path), target=target, stop_at="amdgcn")
    tile.sim.launch(
        moved.asm["amdgcn"], kernel.metadata.name, 1, 4 * wave, [q, k, out, flags, 3, 5],
        dynamic_shared=moved.metadata.shared, schedules=3,
    )  # fmt: skip
    assert (out == want).all() and flags.tolist() == [5, 15, 15]
