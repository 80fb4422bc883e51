"""Hooks around compiles and launches."""

from __future__ import annotations

import numpy as np
from reference import sim_only

import tile
import tile.language as tl
from tile import knobs
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = sim_only


def test_hooks_of_launches(gpu):
    seen = []

    @tile.jit(launch_metadata=lambda grid, kernel, args: {"bytes": args["n"] * 4, "grid": grid})
    def kernel(p, n):
        tl.store(p, n)

    def enter(metadata):
        seen.append(("enter", metadata.get()))

    def leave(metadata):
        seen.append(("exit", metadata.get()["name"]))

    p = gpu.tensor(0x1000, tl.int32)
    kernel[(2,)](p, 5)
    assert seen == []
    runtime = knobs.runtime
    runtime.launch_enter_hook.add(enter)
    runtime.launch_enter_hook.add(enter)
    runtime.launch_exit_hook.add(leave)
    try:
        kernel[(2,)](p, 5)
    finally:
        runtime.launch_enter_hook.remove(enter)
        runtime.launch_exit_hook.remove(leave)
    assert [what for what, _ in seen] == ["enter", "exit"]
    assert seen[0][1]["bytes"] == 20 and seen[0][1]["grid"] == (2, 1, 1)
    assert seen[0][1]["name"] == "kernel" and seen[0][1]["stream"] == 0
    with runtime.scope():
        runtime.launch_enter_hook = enter
        kernel[(2,)](p, 5)
    kernel[(2,)](p, 5)
    assert len(seen) == 3


def test_hooks_of_compiles():
    seen = []

    @tile.jit
    def kernel(p, n, N: tl.constexpr):
        tl.store(p, n + N)

    p = np.zeros(1, np.int32)
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **told: seen.append(("before", told))
        knobs.runtime.jit_post_compile_hook = lambda **told: seen.append(("after", told))
        kernel[(1,)](p, 5, N=2, num_warps=2)
        kernel[(1,)](p, 7, N=2, num_warps=2)
        kernel.warmup(p, 16, N=3, grid=(1,))
    kernel[(1,)](p, 5, N=4)
    assert [when for when, _ in seen] == ["before", "after"] * 2
    told = seen[1][1]
    assert told["fn"].jit_function is kernel and told["fn"].name == "kernel"
    assert told["compile"]["num_warps"] == 2 and told["compile"]["signature"]["n"] == "i32"
    assert told["repr"].startswith("kernel[") and told["key"] != seen[3][1]["key"]
    assert [t["is_manual_warmup"] for _, t in seen] == [False, False, True, True]


def test_the_order_of_hooks():
    calls = []
    chain, back = knobs.HookChain(), knobs.HookChain(reversed=True)
    for hooks in (chain, back):
        assert not hooks
        for i in range(3):
            hooks.add(lambda value, i=i: calls.append((i, value)))
        assert hooks
        hooks("x")
    assert [i for i, _ in calls] == [0, 1, 2, 2, 1, 0]


def test_hooks_of_a_kernel(gpu):
    seen = []
    p = gpu.tensor(0x1000, tl.int32)

    @tile.jit
    def kernel(p, n):
        tl.store(p, n)

    kernel[(1,)](p, 5)
    kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append((args, kwargs)))
    kernel[(1,)](p, n=5)
    assert seen == [((p,), {"n": 5})]


def check_hooks_once(launch, count: int = 3) -> list:
    """Launches a few times; returns the kernels, and what the hooks around each were told."""
    calls: list = []
    kernels = []

    def grid(meta: dict) -> tuple:
        calls.append("grid")
        return (1,)

    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = lambda told: calls.append(told.get()["bytes"])
        knobs.runtime.launch_exit_hook = lambda told: calls.append("exit")
        for _ in range(count):
            calls.clear()
            kernel = launch(grid)
            kernels.append(kernel)
            uses_maps = "bulk.tensor" in kernel.asm["ptx"]
            assert calls == ["grid", uses_maps, "exit"]
    calls.clear()
    assert launch(grid) is kernels[-1] and calls == ["grid"]
    return kernels


def make_copy():
    def describe(grid, metadata, args):
        return {"bytes": metadata.tma and args["d"].shape[1] % 8 == 0}

    @tile.jit(launch_metadata=describe)
    def copy(d, out, n):
        for i in range(0, n, 16):
            out.store([i, 0], d.load([i, 0]))

    return copy


def test_hooks_of_launches_without_tensor_maps(gpu):
    """Hooks and the grid's function run once, for the kernel that runs then: also where no tensor
    map describes an argument, which the driver finds out."""
    copy = make_copy()
    base = gpu.tensor(0x1000, tl.float16)
    target = TensorDescriptor(base, [64, 32], [48, 1], [16, 16])
    for columns, rows in ((32, 64), (31, 64)):
        source = TensorDescriptor(base, [rows, columns], [48, 1], [16, 16])
        launches = gpu.counter("launches")
        check_hooks_once(lambda grid, d=source: copy[grid](d, target, 64))
        assert gpu.counter("launches") - launches == 4


def test_hooks_of_simulated_launches_without_tensor_maps():
    copy = make_copy()
    x = np.random.default_rng(1).standard_normal((64, 48)).astype(np.float16)
    for columns in (32, 31):
        out = np.zeros((64, 32), np.float16)
        source = TensorDescriptor(x, [64, columns], [48, 1], [16, 16])
        target = TensorDescriptor(out, [64, 32], [32, 1], [16, 16])
        check_hooks_once(lambda grid, d=source, t=target: copy[grid](d, t, 64))
        np.testing.assert_array_equal(out[:, :16], x[:, :16])
