"""Hooks around compiles and launches."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
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


def test_hooks_of_described_launches(gpu):
    """They hear of each launch of a kernel that has a `launch_metadata` once."""
    seen = []

    @tile.jit(launch_metadata=lambda grid, kernel, args: {"bytes": args["n"] * 4, "grid": grid})
    def described(p, n, B: tl.constexpr = 4):
        tl.store(p, n)

    @tile.jit
    def silent(p, n):
        tl.store(p, n)

    def enter(metadata):
        seen.append(("enter", metadata.get()))

    def leave(metadata):
        seen.append(("exit", metadata.get()["name"]))

    def calls():
        found = [(what, told if what == "exit" else told["bytes"]) for what, told in seen]
        seen.clear()
        return found

    p = gpu.tensor(0x1000, tl.int32)
    compiled = described[(2,)](p, 5)
    runtime = knobs.runtime
    runtime.described_enter_hook.add(enter)
    runtime.described_exit_hook.add(leave)
    once = [("enter", 20), ("exit", "described")]
    try:
        silent[(2,)](p, 5)
        assert calls() == []
        described[(2,)](p, 5)
        assert seen[0][1]["grid"] == (2, 1, 1) and seen[0][1]["stream"] == 0
        assert calls() == once
        described[lambda meta: (meta["B"],)](p, n=5, num_warps=2)  # Compiled for this launch.
        assert seen[0][1]["grid"] == (4, 1, 1)
        assert calls() == once
        # As launchers of other programs do.
        compiled.run(2, 1, 1, 0, None, None, None, None, None, p, 5, 4)
        assert calls() == once
        runtime.launch_enter_hook.add(enter)
        described[(2,)](p, 5)
        assert calls() == [("enter", 20), *once]
    finally:
        runtime.launch_enter_hook.remove(enter)
        runtime.described_enter_hook.remove(enter)
        runtime.described_exit_hook.remove(leave)
    described[(2,)](p, 5)
    assert calls() == []
    with runtime.scope():
        runtime.described_enter_hook = enter
        described[(2,)](p, 5)
    assert calls() == once[:1]


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
    assert told["fn"].jit_function is kernel
    assert told["fn"].name == "test_hooks_of_compiles.<locals>.kernel"
    assert [t["compile"]["is_warmup"] for _, t in seen] == [False, False, True, True]
    device = tile.runtime.driver.active.get_current_device()
    found = kernel.device_caches[device][0]
    assert set(found) >= {t["compile"]["key"] for _, t in seen}
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


def check_hooks_once(launch, which: str, count: int = 3) -> list:
    """Launches a few times, with hooks `which`; returns the kernels."""
    calls: list = []
    kernels = []

    def grid(meta: dict) -> tuple:
        calls.append("grid")
        return (1,)

    hooks = {
        f"{which}_enter_hook": lambda told: calls.append(told.get()["bytes"]),
        f"{which}_exit_hook": lambda told: calls.append("exit"),
    }
    with ExitStack() as ends:
        for name, hook in hooks.items():
            chain = getattr(knobs.runtime, name)
            chain.add(hook)
            ends.callback(chain.remove, hook)
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


@pytest.mark.parametrize("which", ["launch", "described"])
def test_hooks_of_launches_without_tensor_maps(gpu, which):
    """Hooks and the grid's function run once, for the kernel that runs then: also where no tensor
    map describes an argument, which the driver finds out."""
    copy = make_copy()
    base = gpu.tensor(0x1000, tl.float16)
    target = TensorDescriptor(base, [64, 32], [48, 1], [16, 16])
    for columns, rows in ((32, 64), (31, 64)):
        source = TensorDescriptor(base, [rows, columns], [48, 1], [16, 16])
        launches = gpu.counter("launches")
        check_hooks_once(lambda grid, d=source: copy[grid](d, target, 64), which)
        assert gpu.counter("launches") - launches == 4


@pytest.mark.parametrize("which", ["launch", "described"])
def test_hooks_of_simulated_launches_without_tensor_maps(which):
    copy = make_copy()
    x = np.random.default_rng(1).standard_normal((64, 48)).astype(np.float16)
    for columns in (32, 31):
        out = np.zeros((64, 32), np.float16)
        source = TensorDescriptor(x, [64, columns], [48, 1], [16, 16])
        target = TensorDescriptor(out, [64, 32], [32, 1], [16, 16])
        check_hooks_once(lambda grid, d=source, t=target: copy[grid](d, t, 64), which)
        np.testing.assert_array_equal(out[:, :16], x[:, :16])


def test_listeners_to_compiles(tmp_path, monkeypatch):
    """They are told of each compile: what it took, and the files; of the cache's answers, too."""
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    told = []

    def make():
        @tile.jit
        def kernel(p, n):
            tl.store(p, n)

        return kernel

    p = np.zeros(1, np.int32)
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **facts: told.append(facts)
        first = make()[(1,)](p, 5)
        make()[(1,)](p, 5)
    make()[(1,)](p, 6)
    assert [facts["cache_hit"] for facts in told] == [False, True]
    for facts in told:
        assert set(facts) == {"src", "metadata", "metadata_group", "times", "cache_hit"}
        assert facts["src"].name == facts["metadata"]["name"] == "kernel"
        assert facts["metadata"]["hash"] == first.hash
        assert facts["metadata_group"] == first.metadata_group
        assert Path(facts["metadata_group"]["kernel.ttir"]).read_text() == first.asm["ttir"]
    times = told[0]["times"]
    stages = [stage for stage, _ in times.lowering_stages]
    assert stages == list(first.asm)[: len(stages)]
    assert times.lowering_stages[0][0] == "ttir" and times.total_lowering > 0
    assert times.total == times.ir_initialization + times.total_lowering + times.store_results
    assert told[1]["times"].lowering_stages == []


def test_hooks_of_loads(gpu):
    @tile.jit
    def kernel(p, N: tl.constexpr):
        tl.store(p, N)

    seen = []
    p = gpu.tensor(0x1000, tl.int32)
    with knobs.runtime.scope():
        for name in ("kernel_load_start_hook", "kernel_load_end_hook", "kernel_unload_hook"):
            setattr(knobs.runtime, name, lambda *told, name=name: seen.append((name, told)))
        compiled = kernel[(1,)](p, 5)
        kernel[(1,)](p, 5)
        assert [name for name, _ in seen] == ["kernel_load_start_hook", "kernel_load_end_hook"]
        compiled.unload()
        compiled.unload()
    (_, before), (_, after), (_, gone) = seen
    group = compiled.metadata_group
    assert before == (None, None, "kernel", group, compiled.hash)
    assert after == gone and after[2:] == before[2:]
    # Tools call the driver with its handles.
    assert [type(handle) for handle in after[:2]] == [int, int]
    kernel[(1,)](p, 5)
    assert len(seen) == 3


def test_kernels_have_the_handles_of_the_driver(gpu):
    """Tools call the driver with them, and know them by the hooks of loads."""

    @tile.jit
    def kernel(p, N: tl.constexpr):
        tl.store(p, N)

    seen = []
    p = gpu.tensor(0x1000, tl.int32)
    with knobs.runtime.scope():
        knobs.runtime.kernel_load_end_hook = lambda *told: seen.append(told[:2])
        compiled = kernel[(1,)](p, 5)
        assert compiled.module is None and compiled.function is None
        compiled._init_handles()
        assert seen == [(compiled.module, compiled.function)]
        compiled.unload()
        assert compiled.module is None and compiled.function is None
        compiled._init_handles()
        assert seen[1:] == [(compiled.module, compiled.function)]


def test_chains_of_hooks_of_loads():
    """Several tools may listen; the last that began is the first to end."""
    seen = []
    runtime = knobs.runtime

    @tile.jit
    def kernel(p):
        tl.store(p, 5)

    def start(i):
        return lambda *told: seen.append(("start", i))

    def end(i):
        return lambda *told: seen.append(("end", i))

    hooks = [(start(i), end(i)) for i in range(2)]
    for first, last in hooks:
        runtime.kernel_load_start_hook.add(first)
        runtime.kernel_load_end_hook.add(last)
    try:
        kernel[(1,)](np.zeros(1, np.int32))
    finally:
        for first, last in hooks:
            runtime.kernel_load_start_hook.remove(first)
            runtime.kernel_load_end_hook.remove(last)
    assert seen == [("start", 0), ("start", 1), ("end", 1), ("end", 0)]


def test_the_mode_of_instrumentation_changes_later_launches(gpu, monkeypatch):
    """Also of a kernel whose launches go by without Python, however the mode is set."""

    @tile.jit
    def kernel(p):
        tl.store(p, 1.0)

    p = gpu.tensor(0x1000, tl.float32)
    for _ in range(3):
        kernel[(1,)](p)

    def is_checked() -> bool:
        return "tt.assert" in kernel[(1,)](p).asm["ttir"]

    assert not is_checked()
    knobs.compilation.instrumentation_mode = "memcheck"
    try:
        assert is_checked()
    finally:
        del knobs.compilation.instrumentation_mode
    assert not is_checked()
    for variable in ("TRITON_INSTRUMENTATION_MODE", "TILE_INSTRUMENTATION_MODE"):
        monkeypatch.setenv(variable, "memcheck")
        assert is_checked()
        monkeypatch.delenv(variable)
        assert not is_checked()
    with knobs.compilation.scope():
        knobs.compilation.instrumentation_mode = "memcheck"
        assert is_checked()
    assert not is_checked()


def test_a_session_leaves_the_mode_as_it_was(gpu, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", "memcheck")
    import tile.profiler as proton

    session = proton.start(str(tmp_path / "p"), backend="instrumentation")
    assert knobs.compilation.instrumentation_mode.startswith("default")
    proton.deactivate(session)
    assert knobs.compilation.instrumentation_mode == "memcheck"
    proton.activate(session)
    assert knobs.compilation.instrumentation_mode.startswith("default")
    proton.finalize(session)
    assert knobs.compilation.instrumentation_mode == "memcheck"
    assert "instrumentation_mode" not in vars(knobs.compilation)


@pytest.mark.parametrize("name", ["launch_enter_hook", "described_enter_hook"])
def test_a_hook_that_is_replaced_before_the_first_launch(name, tmp_path):
    """Programs set one function in place of all, such as profilers that start early."""
    program = f"""
import numpy as np, tile, tile.language as tl
from tile import knobs
seen = []
class Hook:
    def __call__(self, metadata):
        seen.append(metadata.get()["name"])
knobs.runtime.{name} = Hook()
@tile.jit(launch_metadata=lambda grid, kernel, args: {{}})
def kernel(p):
    tl.store(p, 5)
out = np.zeros(1, np.int32)
kernel[(1,)](out)
kernel[(1,)](out)
knobs.runtime.{name} = None
kernel[(1,)](out)
del knobs.runtime.{name}
knobs.runtime.{name}.add(lambda metadata: seen.append("added"))
kernel[(1,)](out)
print(out[0], *seen)
"""
    file = tmp_path / "program.py"
    file.write_text(program)
    environment = {**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, file], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["5", "kernel", "kernel", "added"]
