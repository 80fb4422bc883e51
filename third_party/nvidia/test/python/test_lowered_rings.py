"""Programs in nvws and with questions of cluster launch control, lowered by passes and executed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile import _C
from tile.compiler import ASTSource

pytestmark = sim_only


def compile_lowered(tmp_path: Path, text: str, passes: str, target: int, stop_at: str = "ptx"):
    """Runs the passes on a module, and compiles what comes out."""
    module = _C.ir.Module.parse(text, _C.ir.Context())
    _C.passes.PassManager.parse(passes, module.context).run(module)
    path = tmp_path / "kernel.ttgir"
    path.write_text(str(module))
    return tile.compile(str(path), target=tile.GPUTarget("cuda", target, 32), stop_at=stop_at)


LAYOUT = (
    "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
)
SHARED = (
    "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory"
)


def module(target: int, body: str) -> str:
    return f"""
#L = {LAYOUT}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                    ttg.target = "cuda:{target}", "ttg.threads-per-warp" = 32 : i32}} {{
{body}
}}
"""


def tensor_of_pointers(pointer: str, offset: str, n: int | str = "") -> str:
    """`%at`, or `%at<n>`, is where 128 elements from `offset` on are."""
    return f"""
      %base{n} = tt.splat {pointer} : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #L>
      %lanes{n} = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32, #L>
      %first{n} = tt.splat {offset} : i32 -> tensor<128xi32, #L>
      %offsets{n} = arith.addi %first{n}, %lanes{n} : tensor<128xi32, #L>
      %at{n} = tt.addptr %base{n}, %offsets{n} : tensor<128x!tt.ptr<i32>, #L>, tensor<128xi32, #L>
"""


def ring_kernel(target: int, depth: int, readers: int) -> str:
    """The first partition copies rows to a ring, others add a number to what they read there."""
    ring = f"!ttg.memdesc<{depth}x128xi32, {SHARED}, mutable>"
    slot = f"!ttg.memdesc<128xi32, {SHARED}, mutable>"
    consumers = "".join(
        f"""
    partition{n} num_warps(4) {{
      %n = arith.muli %steps, %c{n - 1} : i32
      %bias = arith.constant dense<{10 * n}> : tensor<128xi32, #L>
      scf.for %i = %c0 to %steps step %c1 : i32 {{
        %buf, %t = nvws.aref.get.enter %ring : <[{ring}]> -> {slot}, !ttg.async.token
        %x = ttg.local_load %buf : {slot} -> tensor<128xi32, #L>
        nvws.aref.get.exit %ring, %t [#nvws.async_op<none>] : <[{ring}]>, !ttg.async.token
        %y = arith.addi %x, %bias : tensor<128xi32, #L>
        %row = arith.addi %n, %i : i32
        %offset = arith.muli %row, %c128 : i32
{tensor_of_pointers("%out", "%offset")}
        tt.store %at, %y : tensor<128x!tt.ptr<i32>, #L>
      }}
      nvws.warp_group.return
    }}
"""
        for n in range(1, readers + 1)
    )
    return module(
        target,
        f"""
  tt.func public @k(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>, %steps: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %memory = ttg.local_alloc : () -> {ring}
    %ring = nvws.aref.create %memory : <[{ring}]>
    nvws.warp_group
    partition0 num_warps(4) {{
      scf.for %i = %c0 to %steps step %c1 : i32 {{
        %offset = arith.muli %i, %c128 : i32
{tensor_of_pointers("%in", "%offset")}
        %x = tt.load %at : tensor<128x!tt.ptr<i32>, #L>
        %buf, %t = nvws.aref.put.enter %ring : <[{ring}]> -> {slot}, !ttg.async.token
        ttg.local_store %x, %buf : tensor<128xi32, #L> -> {slot}
        nvws.aref.put.exit %ring, %t [#nvws.async_op<none>] : <[{ring}]>, !ttg.async.token
      }}
      nvws.warp_group.return
    }}{consumers}
    nvws.aref.destroy %ring : <[{ring}]>
    tt.return
  }}
""",
    )


@pytest.mark.parametrize("target", [90, 100])
@pytest.mark.parametrize("readers", [1, 2])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_ring(depth, readers, target, tmp_path):
    """Each reader sees each row once, in order, whoever is ahead."""
    text = ring_kernel(target, depth, readers)
    kernel = compile_lowered(tmp_path, text, "nvws-lower-aref,nvws-lower-warp-group", target)
    for steps in (0, 1, 2, 5):
        x, out = random((steps, 128), "i32", 1), poisoned((readers, steps, 128), "i32")
        tile.sim.launch(
            kernel.asm["ptx"], "k", 1, 128 * (1 + readers), [x, out, steps],
            dynamic_shared=kernel.metadata.shared, schedules=4,
        )  # fmt: skip
        expected = np.stack([x + 10 * n for n in range(1, readers + 1)])
        np.testing.assert_array_equal(out, expected)


def tasks_kernel(target: int) -> str:
    """Adds one to a row for each program, and goes on with programs that have not started."""
    answer = f"!ttg.memdesc<2xi64, {SHARED}, mutable>"
    lanes = "lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []"
    regs = f"#ttg.linear<{{register = [[1]], {lanes}}}>"
    values = "tensor<128xi32, #L>"
    operands = f"tensor<128x!tt.ptr<i32>, #L>, {values}, tensor<128xi1, #L>"
    return module(
        target,
        f"""
  tt.func public @k(%out: !tt.ptr<i32>) {{
    %c128 = arith.constant 128 : i32
    %true = arith.constant true
    %one = arith.constant dense<1> : tensor<128xi32, #L>
    %always = arith.constant dense<true> : tensor<128xi1, #L>
    %first_pid = tt.get_program_id x : i32
    %last = scf.while (%pid = %first_pid, %work = %true) : (i32, i1) -> i32 {{
      scf.condition(%work) %pid : i32
    }} do {{
    ^bb0(%pid: i32):
      %sync = ttnvgpu.clc_try_cancel_sync : tensor<2xi64, {regs}>
      %buf = ttg.local_alloc %sync {{alignment = 16 : i32}} : (tensor<2xi64, {regs}>) -> {answer}
      %offset = arith.muli %pid, %c128 : i32
{tensor_of_pointers("%out", "%offset")}
      %old = tt.atomic_rmw add, relaxed, gpu, %at, %one, %always : ({operands}) -> {values}
      %answer = ttnvgpu.clc_load_result %buf : {answer} -> i128
      %more = ttnvgpu.clc_is_canceled %answer : i128 -> i1
      %next = ttnvgpu.clc_get_program_id %answer, x : i128 -> i32
      scf.yield %next, %more : i32, i1
    }}
    tt.return
  }}
""",
    )


@pytest.mark.parametrize("target", [100, 120])
def test_each_task_is_done_once(target, tmp_path):
    kernel = compile_lowered(tmp_path, tasks_kernel(target), "triton-nvidia-gpu-lower-clc", target)
    assert "clusterlaunchcontrol.try_cancel" in kernel.asm["ptx"]
    for seed in range(6):
        out = np.zeros((9, 128), np.int32)
        tile.sim.launch(
            kernel.asm["ptx"], "k", 9, 128, [out], dynamic_shared=kernel.metadata.shared,
            schedule_seed=seed,
        )  # fmt: skip
        np.testing.assert_array_equal(out, 1)


@tile.jit
def tiles_kernel(x, out, counts, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Transposes a tile, and counts that."""
    i, j = tl.program_id(0), tl.program_id(1)
    rows, cols = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tile_ = tl.load(x + rows[:, None] * N + cols[None, :], inside)
    at = out + cols[:, None] * M + rows[None, :]
    tl.store(at, tile_.T, (cols[:, None] < N) & (rows[None, :] < M))
    tl.atomic_add(counts + i * tl.num_programs(1) + j, 1)


@pytest.mark.parametrize("num_ctas", [1, 2])
@pytest.mark.parametrize("target", [100, 120])
def test_kernel_that_takes_over(target, num_ctas, tmp_path):
    """Programs of two axes, whose tiles go through shared memory: each is done once."""
    if (target, num_ctas) == (120, 2):
        pytest.skip("its clusters have one block")
    types = {"x": "*i32", "out": "*i32", "counts": "*i32", "M": "i32", "N": "i32"}
    source = ASTSource(tiles_kernel, types, {"BM": 16, "BN": 32})
    options = {"num_ctas": num_ctas}
    gpu = tile.GPUTarget("cuda", target, 32)
    ttgir = tile.compile(source, target=gpu, options=options, stop_at="ttgir").asm["ttgir"]
    passes = "triton-nvidia-gpu-to-clc,triton-nvidia-gpu-lower-clc"
    kernel = compile_lowered(tmp_path, ttgir, passes, target)
    m, n = 50, 70
    x = random((m, n), "i32", 1)
    for seed in range(4):
        out, counts = poisoned((n, m), "i32"), np.zeros((4, 3), np.int32)
        tile.sim.launch(
            kernel.asm["ptx"], "tiles_kernel", (4 * num_ctas, 3), 128,
            [x, out, counts, m, n], cluster=num_ctas,
            dynamic_shared=kernel.metadata.shared, schedule_seed=seed,
        )  # fmt: skip
        np.testing.assert_array_equal(out, x.T)
        np.testing.assert_array_equal(counts, 1)


def divided_kernel(target: int, readers: int) -> str:
    """One partition loads rows, others add a number to them; no ring is there yet."""
    consumers = "".join(
        f"""
      %n{n} = arith.muli %steps, %c{n - 1} {{ttg.partition = array<i32: {n}>}} : i32
      %row{n} = arith.addi %n{n}, %i {{ttg.partition = array<i32: {n}>}} : i32
      %offset{n} = arith.muli %row{n}, %c128 {{ttg.partition = array<i32: {n}>}} : i32
      %bias{n} = arith.constant dense<{10 * n}> : tensor<128xi32, #L>
      %y{n} = arith.addi %x, %bias{n} {{ttg.partition = array<i32: {n}>}} : tensor<128xi32, #L>
      %z{n} = arith.addi %y{n}, %x {{ttg.partition = array<i32: {n}>}} : tensor<128xi32, #L>
{tensor_of_pointers("%out", f"%offset{n}", n)}
      tt.store %at{n}, %z{n} {{ttg.partition = array<i32: {n}>}} : tensor<128x!tt.ptr<i32>, #L>
"""
        for n in range(1, readers + 1)
    )
    return module(
        target,
        f"""
  tt.func public @k(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>, %steps: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    scf.for %i = %c0 to %steps step %c1 : i32 {{
      %offset = arith.muli %i, %c128 : i32
{tensor_of_pointers("%in", "%offset")}
      %x = tt.load %at {{ttg.partition = array<i32: 0>}} : tensor<128x!tt.ptr<i32>, #L>
{consumers}
    }} {{ttg.partition = array<i32: {", ".join(map(str, range(readers + 1)))}>,
         ttg.warp_specialize.tag = 0 : i32}}
    tt.return
  }}
""",
    )


@pytest.mark.parametrize("target", [90, 100])
@pytest.mark.parametrize("readers", [1, 2])
def test_rings_that_a_pass_made(readers, target, tmp_path):
    """All partitions run in one group of warps here, one after the other."""
    text = divided_kernel(target, readers)
    kernel = compile_lowered(tmp_path, text, "nvws-insert-aref,nvws-lower-aref", target)
    assert kernel.asm["ttgir"].count("ttnvgpu.wait_barrier") == 1 + readers
    for steps in (0, 1, 2, 5):
        x, out = random((steps, 128), "i32", 1), poisoned((readers, steps, 128), "i32")
        tile.sim.launch(
            kernel.asm["ptx"], "k", 1, 128, [x, out, steps],
            dynamic_shared=kernel.metadata.shared, schedules=4,
        )  # fmt: skip
        expected = np.stack([2 * x + 10 * n for n in range(1, readers + 1)])
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("target", [90, 100])
@pytest.mark.parametrize("readers", [1, 2])
def test_partitions_with_warps_of_their_own(readers, target, tmp_path):
    """The same program, with a group of warps for each partition."""
    passes = (
        "nvws-insert-aref,nvws-lower-aref,nvws-partition-loops,canonicalize,nvws-lower-warp-group"
    )
    kernel = compile_lowered(tmp_path, divided_kernel(target, readers), passes, target)
    assert kernel.asm["ttgir"].count("num_warps(4)") == readers
    for steps in (0, 1, 2, 5):
        x, out = random((steps, 128), "i32", 1), poisoned((readers, steps, 128), "i32")
        tile.sim.launch(
            kernel.asm["ptx"], "k", 1, 128 * (1 + readers), [x, out, steps],
            dynamic_shared=kernel.metadata.shared, schedules=4,
        )  # fmt: skip
        expected = np.stack([2 * x + 10 * n for n in range(1, readers + 1)])
        np.testing.assert_array_equal(out, expected)


def sums_kernel(target: int) -> str:
    """One partition loads rows and counts them, another one adds up those with an even number."""
    values = "tensor<128xi32, #L>"
    return module(
        target,
        f"""
  tt.func public @k(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>, %steps: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0> : {values}
    %loop:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%count = %c0, %sum = %zero)
        -> (i32, {values}) : i32 {{
      %offset = arith.muli %i, %c128 {{ttg.partition = array<i32: 0>}} : i32
{tensor_of_pointers("%in", "%offset")}
      %x = tt.load %at {{ttg.partition = array<i32: 0>}} : tensor<128x!tt.ptr<i32>, #L>
      %more = arith.addi %count, %c1 {{ttg.partition = array<i32: 0>}} : i32
      %bit = arith.andi %i, %c1 {{ttg.partition = array<i32: 1>}} : i32
      %even = arith.cmpi eq, %bit, %c0 {{ttg.partition = array<i32: 1>}} : i32
      %y = arith.addi %x, %zero {{ttg.partition = array<i32: 1>}} : {values}
      %next = scf.if %even -> ({values}) {{
        %z = arith.addi %sum, %y {{ttg.partition = array<i32: 1>}} : {values}
        scf.yield {{ttg.partition = array<i32: 1>}} %z : {values}
      }} else {{
        scf.yield {{ttg.partition = array<i32: 1>}} %sum : {values}
      }} {{ttg.partition = array<i32: 1>, ttg.partition.outputs = [array<i32: 1>]}}
      scf.yield {{ttg.partition = array<i32: 0, 1>}} %more, %next : i32, {values}
    }} {{ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32,
         ttg.partition.outputs = [array<i32: 0>, array<i32: 1>]}}
    %counts = tt.splat %loop#0 : i32 -> {values}
    %both = arith.addi %loop#1, %counts : {values}
{tensor_of_pointers("%out", "%c0", 1)}
    tt.store %at1, %both : tensor<128x!tt.ptr<i32>, #L>
    tt.return
  }}
""",
    )


@pytest.mark.parametrize("target", [90, 100])
def test_results_of_partitions(target, tmp_path):
    """Behind the loop, all that partitions hand on comes together."""
    passes = (
        "nvws-insert-aref,nvws-lower-aref,nvws-partition-loops,canonicalize,nvws-lower-warp-group"
    )
    kernel = compile_lowered(tmp_path, sums_kernel(target), passes, target)
    for steps in (0, 1, 2, 5):
        x, out = random((steps, 128), "i32", 1), poisoned(128, "i32")
        tile.sim.launch(
            kernel.asm["ptx"], "k", 1, 256, [x, out, steps],
            dynamic_shared=kernel.metadata.shared, schedules=4,
        )  # fmt: skip
        np.testing.assert_array_equal(out, x[::2].sum(0, dtype=np.int32) + steps)


def handed_on_kernel(target: int) -> str:
    """Values that a loop hands on, used by the other partition, or by both.

    The first partition keeps a state and a count. The second one stores what they were, and the row
    that the first one loaded an iteration before.
    """
    values = "tensor<128xi32, #L>"
    first, second, both = (
        f"{{ttg.partition = array<i32: {partitions}>}}" for partitions in ("0", "1", "0, 1")
    )
    return module(
        target,
        f"""
  tt.func public @k(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>, %steps: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c128 = arith.constant 128 : i32
    %five = arith.constant dense<5> : {values}
    %loop:3 = scf.for %i = %c0 to %steps step %c1
        iter_args(%state = %five, %count = %c3, %row = %five) -> ({values}, i32, {values}) : i32 {{
      %offset = arith.muli %i, %c128 : i32
{tensor_of_pointers("%in", "%offset")}
      %x = tt.load %at {first} : tensor<128x!tt.ptr<i32>, #L>
      %twice = arith.addi %state, %state {both} : {values}
      %sum = arith.addi %twice, %x {first} : {values}
      %more = arith.muli %count, %c3 {first} : i32
      %counts = tt.splat %count {second} : i32 -> {values}
      %y = arith.addi %twice, %counts {second} : {values}
      %z = arith.addi %y, %row {second} : {values}
{tensor_of_pointers("%out", "%offset", 1)}
      tt.store %at1, %z {second} : tensor<128x!tt.ptr<i32>, #L>
      scf.yield {both} %sum, %more, %x : {values}, i32, {values}
    }} {{ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32,
         ttg.partition.outputs = [array<i32: 0>, array<i32: 0>, array<i32: 1>]}}
    tt.return
  }}
""",
    )


@pytest.mark.parametrize("target", [90, 100])
def test_values_that_a_loop_hands_on(target, tmp_path):
    passes = (
        "nvws-insert-aref,nvws-lower-aref,nvws-partition-loops,canonicalize,nvws-lower-warp-group"
    )
    kernel = compile_lowered(tmp_path, handed_on_kernel(target), passes, target)
    assert kernel.asm["ttgir"].count("num_warps(4)") == 1
    for steps in (0, 1, 2, 5):
        x, out = random((steps, 128), "i32", 1), poisoned((steps, 128), "i32")
        tile.sim.launch(
            kernel.asm["ptx"], "k", 1, 256, [x, out, steps],
            dynamic_shared=kernel.metadata.shared, schedules=4,
        )  # fmt: skip
        expected, state, row = np.empty_like(out), np.full(128, 5), np.full(128, 5)
        for i in range(steps):
            expected[i] = 2 * state + 3 ** (i + 1) + row
            state, row = 2 * state + x[i], x[i]
        np.testing.assert_array_equal(out, expected)


def divided_tasks_kernel(target: int) -> str:
    """The tasks of `tasks_kernel`, for two partitions that both read the answers."""
    answer = f"!ttg.memdesc<2xi64, {SHARED}, mutable>"
    lanes = "lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = []"
    regs = f"#ttg.linear<{{register = [[1]], {lanes}}}>"
    values = "tensor<128xi32, #L>"
    operands = f"tensor<128x!tt.ptr<i32>, #L>, {values}, tensor<128xi1, #L>"
    first, second, both = (
        f"{{ttg.partition = array<i32: {partitions}>}}" for partitions in ("0", "1", "0, 1")
    )
    return module(
        target,
        f"""
  tt.func public @k(%out: !tt.ptr<i32>) {{
    %c128 = arith.constant 128 : i32
    %true = arith.constant true
    %one = arith.constant dense<1> : {values}
    %always = arith.constant dense<true> : tensor<128xi1, #L>
    %first_pid = tt.get_program_id x : i32
    %last:2 = scf.while (%pid = %first_pid, %work = %true) : (i32, i1) -> (i32, i1) {{
      scf.condition(%work) {both} %pid, %work : i32, i1
    }} do {{
    ^bb0(%pid: i32, %working: i1):
      %sync = ttnvgpu.clc_try_cancel_sync {first} : tensor<2xi64, {regs}>
      %buf = ttg.local_alloc %sync {{alignment = 16 : i32, ttg.partition = array<i32: 0>}}
        : (tensor<2xi64, {regs}>) -> {answer}
      %offset = arith.muli %pid, %c128 {both} : i32
{tensor_of_pointers("%out", "%offset")}
      %old = tt.atomic_rmw add, relaxed, gpu, %at, %one, %always {second} : ({operands}) -> {values}
      %answer = ttnvgpu.clc_load_result %buf {both} : {answer} -> i128
      %more = ttnvgpu.clc_is_canceled %answer {both} : i128 -> i1
      %next = ttnvgpu.clc_get_program_id %answer, x {both} : i128 -> i32
      scf.yield {both} %next, %more : i32, i1
    }} attributes {{ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32,
         ttg.partition.outputs = [array<i32: 0, 1>, array<i32: 0, 1>]}}
    tt.return
  }}
""",
    )


@pytest.mark.parametrize("target", [100, 120])
def test_each_task_is_done_once_by_partitions(target, tmp_path):
    passes = (
        "nvws-insert-aref,nvws-lower-aref,nvws-partition-loops,canonicalize,nvws-lower-warp-group"
    )
    kernel = compile_lowered(tmp_path, divided_tasks_kernel(target), passes, target)
    assert "clusterlaunchcontrol.try_cancel" in kernel.asm["ptx"]
    for seed in range(6):
        out = np.zeros((9, 128), np.int32)
        tile.sim.launch(
            kernel.asm["ptx"], "k", 9, 256, [out], dynamic_shared=kernel.metadata.shared,
            schedule_seed=seed,
        )  # fmt: skip
        np.testing.assert_array_equal(out, 1)
