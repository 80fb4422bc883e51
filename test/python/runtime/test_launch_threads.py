"""Every public way to launch a kernel, from many threads at once."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from reference import poisoned, sim_only
from threads import run_threads

import tile
import tile.language as tl
from tile import knobs

pytestmark = sim_only

THREADS = 8


@pytest.fixture(autouse=True)
def many_switches(tmp_path, monkeypatch):
    """Threads take turns as often as they can, and compile what no test compiled before."""
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def make_add():
    @tile.jit
    def add(x_ptr, value, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask) + value, mask)

    return add


def grid(meta: dict) -> tuple:
    return (tile.cdiv(meta["n"], meta["BLOCK"]),)


def bench(call, quantiles):
    """Measures nothing, and lets other threads run in between."""
    for _ in range(3):
        call()
        time.sleep(0)
    return [1.0] * 3


CONFIGS = [tile.Config({"BLOCK": block}, num_warps=1) for block in (32, 64)]


def check_added(launch, seed: int, times: int = 6) -> None:
    """A launch adds its value once, whatever else it does to the array."""
    for i in range(times):
        # Some of the keys are new, and some are known.
        n = 40 + (seed + i) % 3
        x = np.arange(n, dtype=np.float32) * (seed + 1)
        before = x.copy()
        launch(x, float(seed + 1), n)
        np.testing.assert_array_equal(x, before + (seed + 1))


def test_values_are_restored_to_their_own():
    add = tile.autotune(CONFIGS, key=["n"], restore_value=["x_ptr"], do_bench=bench)(make_add())
    run_threads(lambda seed: check_added(add[grid], seed), range(THREADS))


def test_hooks_get_their_own_arguments():
    seen: list[tuple] = []

    def note(arguments: dict, **_) -> None:
        seen.append((float(arguments["x_ptr"][0]), arguments["value"]))
        assert arguments["x_ptr"][0] == arguments["value"]

    def restore(arguments: dict, exception) -> None:
        arguments["x_ptr"][:] = arguments["value"]

    configs = [tile.Config(dict(c.kwargs), num_warps=1, pre_hook=note) for c in CONFIGS]
    add = tile.autotune(configs, key=["n"], pre_hook=note, post_hook=restore, do_bench=bench)(
        make_add()
    )

    def work(seed: int) -> None:
        for i in range(20):
            n = 40 + (seed + i) % 3
            x = np.full(n, float(seed), np.float32)
            add[grid](x, float(seed), n)
            np.testing.assert_array_equal(x, 2.0 * seed)

    run_threads(work, range(THREADS))
    assert len(seen) > THREADS * 20


def test_results_of_a_run_are_those_of_its_thread():
    """Another thread that chooses otherwise does not change what this one reads."""
    add = tile.autotune(
        CONFIGS, key=["n"], restore_value=["x_ptr"], do_bench=bench,
        prune_configs_by={"early_config_prune": lambda configs, named, **_: [
            c for c in configs if c.kwargs["BLOCK"] == (32 if named["n"] % 2 else 64)
        ]},
    )(make_add())  # fmt: skip

    def work(seed: int) -> None:
        for _ in range(10):
            x = np.zeros(40 + seed, np.float32)
            add[grid](x, 1.0, 40 + seed)
            time.sleep(0)
            block = 32 if seed % 2 else 64
            assert add.best_config.kwargs == {"BLOCK": block}
            assert list(add.configs_timings) == [add.best_config]

    run_threads(work, range(THREADS))
    assert add.best_config in CONFIGS, "a thread that launched nothing sees the last one"


def test_a_hook_launches_the_same_kernel():
    """A run inside of a run leaves the outer one its arguments."""
    inner = np.zeros(64, np.float32)
    running = []

    def hook(arguments: dict) -> None:
        if not running:
            running.append(1)
            add[grid](inner, 1.0, 64)
            running.pop()

    configs = [tile.Config(dict(c.kwargs), num_warps=1, pre_hook=hook) for c in CONFIGS]
    add = tile.autotune(configs, key=["n"], restore_value=["x_ptr"], do_bench=bench)(make_add())
    check_added(add[grid], 3)
    assert add.nargs is None and add.restore_copies == {}


def test_all_ways_at_once():
    add = make_add()
    tuned = tile.autotune(CONFIGS, key=["n"], restore_value=["x_ptr"], do_bench=bench)(make_add())
    guessed = tile.heuristics({"BLOCK": lambda args: 32 if args["n"] % 2 else 64})(make_add())

    def simulated(x, value, n) -> None:
        assert add.simulate(x, value, n, BLOCK=32, grid=(2,)).ok

    def compiled(x, value, n) -> None:
        add.warmup(x, value, n, BLOCK=32, grid=(2,))[(2,)](x, value, n, BLOCK=32)

    def by_run(x, value, n) -> None:
        kernel = add.warmup(x, value, n, BLOCK=64, grid=(1,))
        kernel.run(1, 1, 1, 0, None, None, None, None, None, x, value, n, 64)

    def unloaded(x, value, n) -> None:
        kernel = add[grid](np.zeros(n, np.float32), value, n, BLOCK=64, num_warps=2)

        def unload(meta: dict) -> tuple:
            kernel.unload()
            return grid(meta)

        add[unload](x, value, n, BLOCK=64, num_warps=2)

    ways = [
        lambda x, value, n: add[grid](x, value, n, BLOCK=32),
        tuned[grid], guessed[grid], simulated, compiled, by_run, unloaded,
        lambda x, value, n: add[(2,)](x, value, n, BLOCK=32, num_warps=1),
    ]  # fmt: skip
    entered, left = [], []
    with knobs.runtime.scope():
        for hooked in (False, True):
            if hooked:
                knobs.runtime.launch_enter_hook = lambda told: entered.append(told.get()["name"])
                knobs.runtime.launch_exit_hook = lambda told: left.append(told.get()["name"])

            def work(seed: int) -> None:
                for i in range(len(ways)):
                    check_added(ways[(seed + i) % len(ways)], seed, 2)

            run_threads(work, range(THREADS))
    assert entered and set(entered) == {"add"} and len(entered) == len(left)


def test_the_first_launch_of_a_process(tmp_path):
    """With nothing imported lazily yet, and a cold cache."""
    import subprocess

    script = tmp_path / "first.py"
    script.write_text(
        "import sys, threading\n"
        "import numpy as np\n"
        "import tile, tile.language as tl\n"
        "@tile.jit\n"
        "def fill(p, value, N: tl.constexpr):\n"
        "    tl.store(p + tl.arange(0, N), value)\n"
        "sys.setswitchinterval(1e-5)\n"
        "bad, start = [], threading.Barrier(8)\n"
        "def work(seed):\n"
        "    start.wait()\n"
        "    for i in range(4):\n"
        "        out = np.zeros(32, np.int32)\n"
        "        fill[(1,)](out, seed + i, N=32)\n"
        "        bad.extend(out[out != seed + i])\n"
        "threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "assert not bad, bad\n"
        "print('done')\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("done\n", ""), done.stderr


def test_poison_is_seen():
    """The checks above find a launch that did nothing."""
    with pytest.raises(AssertionError):
        check_added(lambda x, value, n: poisoned(n, "fp32"), 1)
