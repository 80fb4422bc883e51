"""The operations on tiles of tensors that no pass makes, executed on gfx1250."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.sim

TEXT = """
#rows = #ttg.slice<{{dim = 1, parent = #ttg.blocked<{{sizePerThread = {per_thread}, threadsPerWarp = {per_warp}, warpsPerCTA = [1, 4], order = [1, 0]}}>}}>
#shared = {shared}
#plain = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#blocked = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @kernel(%x: !tt.ptr<i32>, %from: !tt.ptr<{index}>, %y: !tt.ptr<i32>, %to: !tt.ptr<{index}>, %m: i32, %n: i32, %some: i1) {{
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %stride = arith.constant 40 : i64
    %r = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32, #rows>
    %fs = tt.splat %from : !tt.ptr<{index}> -> tensor<{count}x!tt.ptr<{index}>, #rows>
    %fp = tt.addptr %fs, %r : tensor<{count}x!tt.ptr<{index}>, #rows>, tensor<{count}xi32, #rows>
    %f = tt.load %fp : tensor<{count}x!tt.ptr<{index}>, #rows>
    %ts = tt.splat %to : !tt.ptr<{index}> -> tensor<{count}x!tt.ptr<{index}>, #rows>
    %tp = tt.addptr %ts, %r : tensor<{count}x!tt.ptr<{index}>, #rows>, tensor<{count}xi32, #rows>
    %t = tt.load %tp : tensor<{count}x!tt.ptr<{index}>, #rows>
    %d = tt.make_tensor_descriptor %x, [%m, %n], [%stride, %one] : <i32>, <tensor<{count}x32xi32, #shared>>
    %e = tt.make_tensor_descriptor %y, [%m, %n], [%stride, %one] : <i32>, <tensor<{count}x32xi32, #plain>>
    amdg.tdm_prefetch %d[%c0, %c0], %some, speculative = false : !tt.tensordesc<tensor<{count}x32xi32, #shared>>
    %b = ttg.local_alloc : () -> !ttg.memdesc<{count}x32xi32, #shared, #smem, mutable>
    %t0 = amdg.async_tdm_gather %d[%f] to %b : tensor<{count}x{index}, #rows>, !ttg.memdesc<{count}x32xi32, #shared, #smem, mutable> -> !tt.tensordesc<tensor<{count}x32xi32, #shared>>
    %w0 = amdg.async_tdm_wait %t0 {{num = 0 : i32}}
    ttg.barrier local
    %v = ttg.local_load %b : !ttg.memdesc<{count}x32xi32, #shared, #smem, mutable> -> tensor<{count}x32xi32, #blocked>
    %b2 = ttg.local_alloc %v : (tensor<{count}x32xi32, #blocked>) -> !ttg.memdesc<{count}x32xi32, #plain, #smem>
    %t1 = amdg.async_tdm_scatter %e[%t] from %b2 : tensor<{count}x{index}, #rows>, !ttg.memdesc<{count}x32xi32, #plain, #smem> -> !tt.tensordesc<tensor<{count}x32xi32, #plain>>
    %w1 = amdg.async_tdm_wait %t1 {{num = 0 : i32}}
    tt.return
  }}
}}
"""  # noqa: E501

PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
PADDED = "#ttg.padded_shared<[64:+4] {{order = [1, 0], shape = [{count}, 32]}}>"


@pytest.mark.parametrize("index", ["i16", "i32"])
@pytest.mark.parametrize(
    ("count", "per_thread", "per_warp", "shared"),
    [(16, [16, 1], [1, 32], PADDED), (32, [1, 1], [32, 1], PLAIN), (4, [2, 1], [16, 2], PLAIN)],
)
def test_rows_by_their_numbers(index, count, per_thread, per_warp, shared, tmp_path):
    path = tmp_path / "kernel.ttgir"
    shared = shared.format(count=count) if shared is PADDED else shared
    path.write_text(
        TEXT.format(
            index=index, count=count, per_thread=per_thread, per_warp=per_warp, shared=shared
        )
    )
    kernel = tile.compile(str(path), target=tile.GPUTarget("hip", "gfx1250", 32), stop_at="amdgcn")
    assert "global_prefetch_b8" in kernel.asm["amdgcn"]
    rng = np.random.default_rng(count)
    x = rng.integers(0, 999, (50, 40)).astype(np.int32)
    source = rng.integers(0, 60, count).astype(np.int16 if index == "i16" else np.int32)
    target = rng.permutation(60)[:count].astype(source.dtype)
    out, want = np.zeros_like(x), np.zeros_like(x)
    tile.sim.launch(
        kernel.asm["amdgcn"], "kernel", 1, 128, [x, source, out, target, 48, 30, 1],
        dynamic_shared=kernel.metadata.shared,
    )  # fmt: skip
    for f, t in zip(source, target, strict=True):
        if t < 48:
            want[t, :30] = x[f, :30] if f < 48 else 0
    assert (out == want).all()


UPDATES = """
#shared = #ttg.padded_shared<[{interval}:+8] {{order = [1, 0], shape = [16, 32]}}>
#stored = #ttg.padded_shared<[32:+{gap}] {{order = [1, 0], shape = [16, 32]}}>
#blocked = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [{warps}, 1], order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @kernel(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %m: i32, %n: i32, %i: i32, %j: i32, %some: i32) {{
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i32
    %never = arith.constant 0 : i32
    %stride = arith.constant 40 : i64
    %v = arith.constant dense<5.0> : tensor<16x32xf16, #blocked>
    %d = tt.make_tensor_descriptor %x, [%m, %n], [%stride, %one] : <f16>, <16x32xf16, #shared>
    %e = tt.make_tensor_descriptor %y, [%m, %n], [%stride, %one] : <f16>, <16x32xf16, #stored>
    %b = ttg.local_alloc %v : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
    %d0 = amdg.update_tensor_descriptor %d add_offsets = [%i, %zero] pred = %never {{clamp_bounds}} : !tt.tensordesc<16x32xf16, #shared>
    %d1 = amdg.update_tensor_descriptor %d0 add_offsets = [%zero, %j] pred = %some {{clamp_bounds}} : !tt.tensordesc<16x32xf16, #shared>
    %t0 = amdg.async_tdm_copy_global_to_local %d1 into %b : !tt.tensordesc<16x32xf16, #shared> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>
    %w0 = amdg.async_tdm_wait %t0 {{num = 0 : i32}}
    %r = ttg.local_load %b token %w0 : !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #blocked>
    %c = ttg.local_alloc %r : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #stored, #smem>
    %e0 = amdg.update_tensor_descriptor %e add_offsets = [%i, %j] {{clamp_bounds}} : !tt.tensordesc<16x32xf16, #stored>
    %t1 = amdg.async_tdm_copy_local_to_global %e0 from %c : !ttg.memdesc<16x32xf16, #stored, #smem> -> !tt.tensordesc<16x32xf16, #stored>
    %w1 = amdg.async_tdm_wait %t1 {{num = 0 : i32}}
    tt.return
  }}
}}
"""  # noqa: E501


@pytest.mark.parametrize("warps", [1, 4, 32])
@pytest.mark.parametrize(("interval", "gap"), [(32, 8), (64, 2)])
def test_blocks_where_descriptors_were_moved_to(interval, gap, warps, tmp_path):
    """The form of the copies that has places and predicates in descriptors; rows are stored from
    buffers with gaps."""
    path = tmp_path / "kernel.ttgir"
    path.write_text(UPDATES.format(interval=interval, gap=gap, warps=warps))
    kernel = tile.compile(str(path), target=tile.GPUTarget("hip", "gfx1250", 32), stop_at="amdgcn")
    x = np.random.default_rng(warps).integers(0, 99, (24, 40)).astype(np.float16)
    for (i, j), some in (((0, 0), 1), ((10, 16), 8), ((10, 16), 0), ((20, 8), 1), ((0, 36), 1)):
        out, want = np.zeros_like(x), np.zeros_like(x)
        part = slice(i, min(i + 16, 22)), slice(j, min(j + 32, 37))
        want[part] = x[part] if some else 5
        tile.sim.launch(
            kernel.asm["amdgcn"], "kernel", 1, 32 * warps, [x, out, 22, 37, i, j, some],
            dynamic_shared=kernel.metadata.shared,
        )  # fmt: skip
        assert (out == want).all(), (i, j, some)
