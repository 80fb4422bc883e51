"""Operations of the `amdg` dialect that no pass makes, executed: registers, slices, barriers."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.sim

TEXT = """
#tall = #ttg.blocked<{{sizePerThread = [2, 4], threadsPerWarp = [{wave}, 1], warpsPerCTA = [2, 1], order = [1, 0]}}>
#turned = #ttg.blocked<{{sizePerThread = [2, 4], threadsPerWarp = [{wave}, 1], warpsPerCTA = [2, 1], order = [0, 1]}}>
#rows = #ttg.slice<{{dim = 1, parent = #tall}}>
#columns = #ttg.slice<{{dim = 0, parent = #tall}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "{target}", "ttg.threads-per-warp" = {wave} : i32}} {{
  tt.func public @kernel(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %some: i1) {{
    %r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, #rows>
    %r1 = tt.expand_dims %r {{axis = 1 : i32}} : tensor<{rows}xi32, #rows> -> tensor<{rows}x1xi32, #tall>
    %c = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32, #columns>
    %c1 = tt.expand_dims %c {{axis = 0 : i32}} : tensor<16xi32, #columns> -> tensor<1x16xi32, #tall>
    %w = arith.constant dense<16> : tensor<{rows}x1xi32, #tall>
    %r2 = arith.muli %r1, %w : tensor<{rows}x1xi32, #tall>
    %r3 = tt.broadcast %r2 : tensor<{rows}x1xi32, #tall> -> tensor<{rows}x16xi32, #tall>
    %c3 = tt.broadcast %c1 : tensor<1x16xi32, #tall> -> tensor<{rows}x16xi32, #tall>
    %at = arith.addi %r3, %c3 : tensor<{rows}x16xi32, #tall>
    %v = amdg.buffer_load %x[%at] : tensor<{rows}x16xi32, #tall>
    %a = amdg.extract_slice %v [0, 12] : tensor<{rows}x16xi32, #tall> to tensor<{rows}x4xi32, #tall>
    %b = amdg.extract_slice %v [0, 4] : tensor<{rows}x16xi32, #tall> to tensor<{rows}x4xi32, #tall>
    amdg.instruction_sched_hint {{variant = #amdg.SchedHintVariant<attention>}}
    amdg.cond_barrier %some
    %t = amdg.in_thread_transpose %b : tensor<{rows}x4xi32, #tall> -> tensor<{rows}x4xi32, #turned>
    %d = arith.addi %t, %t : tensor<{rows}x4xi32, #turned>
    %e = ttg.convert_layout %d : tensor<{rows}x4xi32, #turned> -> tensor<{rows}x4xi32, #tall>
    %all = amdg.concat %a, %e, %b, %a : tensor<{rows}x4xi32, #tall>, tensor<{rows}x4xi32, #tall>, tensor<{rows}x4xi32, #tall>, tensor<{rows}x4xi32, #tall> -> tensor<{rows}x16xi32, #tall>
    amdg.buffer_store %all, %out[%at] : tensor<{rows}x16xi32, #tall>
    tt.return
  }}
}}
"""  # noqa: E501


@pytest.mark.parametrize(("processor", "wave"), [("gfx942", 64), ("gfx1100", 32), ("gfx1201", 32)])
@pytest.mark.parametrize("some", [0, 1])
def test_registers_and_barriers(processor, wave, some, tmp_path):
    rows = 4 * wave
    path = tmp_path / "kernel.ttgir"
    path.write_text(TEXT.format(wave=wave, rows=rows, target=f"hip:{processor}"))
    target = tile.GPUTarget("hip", processor, wave)
    kernel = tile.compile(str(path), target=target, stop_at="amdgcn")
    x = np.arange(rows * 16, dtype=np.int32).reshape(rows, 16)
    out = np.zeros_like(x)
    report = tile.sim.launch(kernel.asm["amdgcn"], "kernel", 1, 2 * wave, [x, out, some])
    a, b = x[:, 12:], x[:, 4:8]
    assert (out == np.concatenate([a, 2 * b, b, a], 1)).all()
    counters = report.to_dict()["counters"]
    assert counters["barriers"] == 2 * some
