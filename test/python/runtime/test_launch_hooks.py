"""Hooks around compiles and launches."""

from __future__ import annotations

import numpy as np
from reference import sim_only

import tile
import tile.language as tl
from tile import knobs

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
