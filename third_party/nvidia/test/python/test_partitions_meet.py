# ruff: noqa: E501  (IR reads better unbroken)
"""Warps of a partition that wait for those of the same partition in the other blocks of a cluster."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.sim

pytestmark = sim_only

ROWS, COLUMNS = 16, 64


def layouts(group: str, warps: int, blocks: int) -> str:
    """Blocks that divide columns, and such that divide rows."""
    bits = range(blocks.bit_length() - 1)
    columns = [[0, 1 << bit] for bit in bits]
    rows = [[1 << bit, 0] for bit in bits]
    text = ""
    for name, divided in ((f"C{group}", columns), (f"R{group}", rows)):
        text += (
            f"#{name} = #ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = [2, 16], "
            f"warpsPerCTA = [{warps}, 1], order = [1, 0], CGALayout = {divided}}}>\n"
        )
    return text


def addresses(layout: str, pointer: str) -> str:
    """`%at<layout>`: of the elements of a matrix, row by row."""
    matrix = f"{ROWS}x{COLUMNS}"
    down = f"#ttg.slice<{{dim = 1, parent = #{layout}}}>"
    across = f"#ttg.slice<{{dim = 0, parent = #{layout}}}>"
    return f"""
      %r{layout} = tt.make_range {{end = {ROWS} : i32, start = 0 : i32}} : tensor<{ROWS}xi32, {down}>
      %c{layout} = tt.make_range {{end = {COLUMNS} : i32, start = 0 : i32}} : tensor<{COLUMNS}xi32, {across}>
      %r1{layout} = tt.expand_dims %r{layout} {{axis = 1 : i32}} : tensor<{ROWS}xi32, {down}> -> tensor<{ROWS}x1xi32, #{layout}>
      %c1{layout} = tt.expand_dims %c{layout} {{axis = 0 : i32}} : tensor<{COLUMNS}xi32, {across}> -> tensor<1x{COLUMNS}xi32, #{layout}>
      %w{layout} = arith.constant dense<{COLUMNS}> : tensor<{ROWS}x1xi32, #{layout}>
      %r2{layout} = arith.muli %r1{layout}, %w{layout} : tensor<{ROWS}x1xi32, #{layout}>
      %r3{layout} = tt.broadcast %r2{layout} : tensor<{ROWS}x1xi32, #{layout}> -> tensor<{matrix}xi32, #{layout}>
      %c3{layout} = tt.broadcast %c1{layout} : tensor<1x{COLUMNS}xi32, #{layout}> -> tensor<{matrix}xi32, #{layout}>
      %o{layout} = arith.addi %r3{layout}, %c3{layout} : tensor<{matrix}xi32, #{layout}>
      %p{layout} = tt.splat {pointer} : !tt.ptr<i32> -> tensor<{matrix}x!tt.ptr<i32>, #{layout}>
      %at{layout} = tt.addptr %p{layout}, %o{layout} : tensor<{matrix}x!tt.ptr<i32>, #{layout}>, tensor<{matrix}xi32, #{layout}>
"""


def exchange(group: str, source: str, out: str, buffer: str, count: str) -> str:
    """Each block writes its columns of matrices to the blocks that have their rows, and reads its
    own rows."""
    matrix = f"{ROWS}x{COLUMNS}"
    c, r = f"C{group}", f"R{group}"
    memory = f"!ttg.memdesc<{matrix}xi32, #shared, #smem, mutable>"
    return f"""
      %zero{group} = arith.constant 0 : i32
      %one{group} = arith.constant 1 : i32
      %size{group} = arith.constant {ROWS * COLUMNS} : i32
      scf.for %i{group} = %zero{group} to {count} step %one{group} : i32 {{
      %skip{group} = arith.muli %i{group}, %size{group} : i32
      %in{group} = tt.addptr {source}, %skip{group} : !tt.ptr<i32>, i32
      %to{group} = tt.addptr {out}, %skip{group} : !tt.ptr<i32>, i32
{addresses(c, f"%in{group}")}{addresses(r, f"%to{group}")}
      %x{group} = tt.load %at{c} : tensor<{matrix}x!tt.ptr<i32>, #{c}>
      ttg.local_store %x{group}, {buffer} : tensor<{matrix}xi32, #{c}> -> {memory}
      ttnvgpu.cluster_barrier
      %y{group} = ttg.local_load {buffer} : {memory} -> tensor<{matrix}xi32, #{r}>
      tt.store %at{r}, %y{group} : tensor<{matrix}x!tt.ptr<i32>, #{r}>
      ttnvgpu.cluster_barrier
      }}
"""


def kernel(blocks: int, default: int, partitions: list[int]) -> str:
    rows = [[1 << bit, 0] for bit in range(blocks.bit_length() - 1)]
    warps = [default, *partitions]
    memory = f"!ttg.memdesc<{ROWS}x{COLUMNS}xi32, #shared, #smem, mutable>"
    count = len(warps)
    buffers = "".join(f"    %buf{g} = ttg.local_alloc : () -> {memory}\n" for g in range(count))
    pointers = "".join(
        f"    %g{g} = arith.constant {g} : i32\n"
        f"    %s{g} = arith.muli %n, %g{g} : i32\n"
        f"    %e{g} = arith.muli %s{g}, %size : i32\n"
        f"    %src{g} = tt.addptr %in, %e{g} : !tt.ptr<i32>, i32\n"
        f"    %dst{g} = tt.addptr %out, %e{g} : !tt.ptr<i32>, i32\n"
        for g in range(count)
    )
    captures, types, regions = [], [], ""
    for g in range(1, count):
        captures += [f"%src{g}", f"%dst{g}", f"%buf{g}"]
        types += ["!tt.ptr<i32>", "!tt.ptr<i32>", memory]
    for g in range(1, count):
        arguments = "%n0: i32" + "".join(
            f", %a{h}: !tt.ptr<i32>, %b{h}: !tt.ptr<i32>, %m{h}: {memory}" for h in range(1, count)
        )
        regions += f"""
    partition{g - 1}({arguments}) num_warps({warps[g]}) {{
{exchange(str(g), f"%a{g}", f"%b{g}", f"%m{g}", "%n0")}
      ttg.warp_return
    }}"""
    return f"""
{"".join(layouts(str(g), w, blocks) for g, w in enumerate(warps))}
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = {rows}}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = {blocks} : i32, "ttg.num-warps" = {default} : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @k(%in: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %out: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
    %size = arith.constant {ROWS * COLUMNS} : i32
{buffers}{pointers}
    ttnvgpu.cluster_barrier
    ttg.warp_specialize(%n, {", ".join(captures)})
    default {{
{exchange("0", "%src0", "%dst0", "%buf0", "%n")}
      ttg.warp_yield
    }}{regions} : (i32, {", ".join(types)}) -> ()
    ttnvgpu.cluster_barrier
    tt.return
  }}
}}
"""


@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize(("default", "partitions"), [(4, [1]), (1, [2, 4]), (2, [1, 1])])
def test_each_group_meets_its_own(tmp_path, blocks, default, partitions):
    path = tmp_path / "kernel.ttgir"
    path.write_text(kernel(blocks, default, partitions))
    compiled = tile.compile(str(path), target=tile.GPUTarget("cuda", 90, 32), stop_at="ptx")
    ptx, info = compiled.asm["ptx"], compiled.metadata
    for count, seed in ((3, 0), (1, 1), (4, 2)):
        size = (1 + len(partitions), count, ROWS, COLUMNS)
        x, out = random(size, "i32"), poisoned(size, "i32")
        tile.sim.launch(
            ptx, "k", blocks, 32 * info.num_warps, [x, out, count],
            dynamic_shared=info.shared, cluster=blocks, schedule_seed=seed,
        )  # fmt: skip
        np.testing.assert_array_equal(out, x)
