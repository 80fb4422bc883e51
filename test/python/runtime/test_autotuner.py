"""Autotuning: how configurations are compared, and what is kept of it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl
from tile.runtime import tuning
from tile.runtime.driver import driver

pytestmark = sim_only


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


CONFIGS = [tile.Config({"BLOCK": block}, num_warps=warps) for block, warps in
           ((32, 1), (64, 1), (128, 2), (256, 4))]  # fmt: skip


def make(configs=CONFIGS, **options):
    @tile.autotune(configs=configs, key=["n"], **options)
    @tile.jit
    def fill(out_ptr, value, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, value, mask=offsets < n)

    return fill


def launch(kernel, n: int = 1000) -> np.ndarray:
    out = poisoned(n, "fp32")
    kernel[lambda meta: (tile.cdiv(n, meta["BLOCK"]),)](out, 2.5, n)
    np.testing.assert_array_equal(out, 2.5)
    return out


class Device:
    """Times by a table instead of a clock, as if kernels ran on a device."""

    def __init__(self, monkeypatch, times: dict[int, float]) -> None:
        self.calls: list[tuple[int, float]] = []
        self.times = times
        self.block = 0
        monkeypatch.setattr(tile.testing, "do_bench", self.do_bench)
        monkeypatch.setattr(tile.testing, "_bench_calls", self.do_bench)
        monkeypatch.setattr(type(driver.active), "name", "device")

    def do_bench(self, call, warmup=25, rep=100, quantiles=None, max_calls=None):
        call()
        self.calls.append((self.block, rep))
        return [self.times[self.block]] * 3

    def hook(self, arguments, reset_only=False):
        self.block = arguments["BLOCK"]


@pytest.fixture
def device(monkeypatch):
    return Device(monkeypatch, {32: 4.0, 64: 1.5, 128: 1.0, 256: 3.0})


def test_the_hopeless_are_looked_at_once(device):
    kernel = make(pre_hook=device.hook)
    launch(kernel)
    assert kernel.best_config.kwargs == {"BLOCK": 128}
    assert [(b, r) for b, r in device.calls if r < 100] == [(32, 5), (64, 5), (128, 5), (256, 5)]
    assert [(b, r) for b, r in device.calls if r == 100] == [(64, 100), (128, 100)]
    assert {c.kwargs["BLOCK"]: t[0] for c, t in kernel.configs_timings.items()} == device.times


def test_ties_are_decided_by_the_order(device):
    device.times.update({64: 1.002, 128: 1.0, 256: 1.0})
    for configs, best in ((CONFIGS, 64), (CONFIGS[::-1], 256)):
        kernel = make(configs, pre_hook=device.hook)
        launch(kernel)
        assert kernel.best_config.kwargs["BLOCK"] == best
    device.times.update({64: 1.2})
    kernel = make(pre_hook=device.hook)
    launch(kernel, 900)
    assert kernel.best_config.kwargs["BLOCK"] == 128


def test_choices_are_kept_on_disk(device, folder):
    first = make(pre_hook=device.hook)
    launch(first)
    count = len(device.calls)
    again = make(pre_hook=device.hook)
    launch(again)
    assert len(device.calls) == count, "it was measured again"
    assert again.best_config == first.best_config
    assert again.configs_timings == first.configs_timings
    launch(again, 999)
    assert len(device.calls) > count
    ((path, choice), _) = tuning.choices()
    assert choice.kernel == "fill" and choice.how == "measured" and "BLOCK: 128" in choice.best
    # Damage is noticed.
    path.write_text(path.read_text().replace("BLOCK: 128", "BLOCK: 256"))
    count = len(device.calls)
    launch(make(pre_hook=device.hook), 999 if "999" in choice.key else 1000)
    assert len(device.calls) > count


def test_choices_depend_on_configs_and_source(device):
    launch(make(pre_hook=device.hook))
    count = len(device.calls)
    launch(make(CONFIGS[:3], pre_hook=device.hook))
    assert len(device.calls) > count


def test_keeping_choices_can_be_refused(device, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_AUTOTUNING", "0")
    launch(make(pre_hook=device.hook))
    assert list(tuning.choices()) == []


def test_a_function_that_measures_is_called_each_time(folder):
    calls = []

    def bench(call, quantiles):
        call()
        calls.append(1)
        return [1.0, 1.0, 1.0]

    launch(make(do_bench=bench))
    launch(make(do_bench=bench))
    assert len(calls) == 8 and list(tuning.choices()) == []
    launch(make(do_bench=bench, cache_results=True))
    launch(make(do_bench=bench, cache_results=True))
    assert len(calls) == 12


def test_configs_are_compiled_ahead_in_threads(device, monkeypatch):
    from tile.compiler.stages import StagedCompile

    monkeypatch.setattr("os.cpu_count", lambda: 4)
    run, together, most, names = StagedCompile._run, 0, 0, []
    lock = threading.Lock()
    barrier = threading.Barrier(3)

    def counted(self):
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
            names.append(self.options.num_warps)
        try:
            barrier.wait(timeout=5)
        except threading.BrokenBarrierError:
            pass
        try:
            return run(self)
        finally:
            with lock:
                together -= 1

    monkeypatch.setattr(StagedCompile, "_run", counted)
    launch(make(pre_hook=device.hook))
    assert most >= 3 and len(names) == 4, "each is compiled once"


def test_the_same_code_is_measured_once(device):
    """The kernel has no loop: the number of stages makes no difference."""
    configs = [
        tile.Config({"BLOCK": block}, num_stages=stages, num_warps=warps)
        for block in (64, 128) for stages in (1, 2, 3) for warps in (1, 2)
    ]  # fmt: skip
    kernel = make(configs, pre_hook=device.hook)
    launch(kernel)
    assert len([rep for _, rep in device.calls if rep == 100]) == 4
    assert list(kernel.configs_timings) == configs
    assert {c.kwargs["BLOCK"]: t[0] for c, t in kernel.configs_timings.items()} == {
        64: 1.5,
        128: 1.0,
    }
    assert kernel.best_config == configs[6], "the first of those that are equal"


def test_configs_that_cannot_run(device):
    large = tile.Config({"BLOCK": 64}, num_warps=32, maxnreg=256)
    broken = tile.Config({"BLOCK": 64}, num_ctas=1)

    def hook(arguments, reset_only=False):
        device.hook(arguments)
        if arguments.get("maxnreg") == 256 and not reset_only:
            raise tile.OutOfResources(1, 0, "registers")

    kernel = make([large, broken, CONFIGS[0]], pre_hook=hook)
    launch(kernel)
    assert kernel.best_config == broken
    assert kernel.configs_timings[large] == [float("inf")] * 3
    with pytest.raises(tile.TileError) as caught:
        launch(make([large, tile.Config({"BLOCK": 32}, maxnreg=256)], pre_hook=hook))
    lines = str(caught.value).splitlines()
    assert lines[0] == "none of the 2 configurations of `fill` can run"
    reason = "out of resource: registers, Required: 1, Hardware limit: 0"
    assert [reason in line and config in line for line, config in
            zip(lines[1:], ("BLOCK: 64", "BLOCK: 32"), strict=True)] == [True, True]  # fmt: skip


def test_what_is_printed(device, monkeypatch, capsys):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    launch(make(pre_hook=device.hook))
    text = capsys.readouterr().out
    assert "Autotuning fill: BLOCK: 64, num_warps: 1" in text and "1.5 ms" in text
    assert "Autotuning fill with key (1000, 'float32') took" in text
    launch(make(pre_hook=device.hook))
    assert "known already; best: BLOCK: 128" in capsys.readouterr().out


def test_progress_on_a_terminal(device, monkeypatch):
    pytest.importorskip("rich")
    from rich.progress import Progress

    seen = []
    advance = Progress.advance

    def noted(self, task, amount=1):
        seen.append((self.tasks[0].description, self.tasks[0].total))
        advance(self, task, amount)

    monkeypatch.setattr(Progress, "advance", noted)
    launch(make(pre_hook=device.hook))
    assert not seen, "no bar where nobody looks"
    monkeypatch.setenv("TILE_CACHE_AUTOTUNING", "0")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    launch(make(pre_hook=device.hook))
    assert seen == [("tuning fill", len(CONFIGS))] * len(CONFIGS)


def test_without_a_gpu_the_simulators_counters_decide():
    """Programs of 32 elements on 4 warps do eight times the work that is needed."""
    configs = [
        tile.Config({"BLOCK": 32}, num_warps=4), tile.Config({"BLOCK": 1024}, num_warps=4),
    ]  # fmt: skip
    kernel = make(configs)
    launch(kernel, 1 << 18)
    assert kernel.best_config.kwargs == {"BLOCK": 1024}
    (_, choice), *_ = tuning.choices()
    assert choice.how == "estimated"
    first = dict(kernel.configs_timings)
    kernel = make(configs, cache_results=False)
    kernel.cache_results = False
    launch(kernel, 1 << 18)
    assert kernel.configs_timings == first, "the estimate does not repeat"


def test_interrupted_tuning_restores_the_arguments(device):
    def interrupt(call, quantiles):
        call()
        raise KeyboardInterrupt

    @tile.autotune(configs=CONFIGS[:2], key=["n"], restore_value=["p"], do_bench=interrupt)
    @tile.jit
    def increment(p, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(p + offsets, tl.load(p + offsets) + 1)

    p = np.zeros(64, np.float32)
    with pytest.raises(KeyboardInterrupt):
        increment[(1,)](p, 64)
    assert (p == 0).all()


def test_a_subclass_measures_by_itself(device):
    class Tuner(tile.runtime.Autotuner):
        def _bench(self, *args, config, **meta):
            return [float(config.kwargs["BLOCK"])] * 3

    base = make().fn
    tuner = Tuner(base, base.arg_names, CONFIGS[::-1], ["n"])
    launch(tuner)
    assert tuner.best_config.kwargs == {"BLOCK": 32} and device.calls == []


def test_importing_tile_loads_what_all_programs_need():
    """Executors are for those who tune or compile asynchronously, the others for what is rare;
    together they cost some milliseconds of each process."""
    rare = (
        "concurrent.futures", "difflib", "logging", "shutil", "subprocess", "sysconfig", "tempfile",
        "uuid",
    )  # fmt: skip
    code = f"import sys; before = set(sys.modules); import tile; \
print(sorted(set({rare}) & set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_configs_that_the_target_refuses(device, monkeypatch):
    """They are dropped, and where none is left each says why."""
    refused = [tile.Config({"BLOCK": 64}, num_warps=64), tile.Config({"BLOCK": 32}, num_warps=3)]
    kernel = make([*refused, CONFIGS[2]], pre_hook=device.hook)
    launch(kernel)
    assert kernel.best_config == CONFIGS[2]
    assert [kernel.configs_timings[c] for c in refused] == [[float("inf")] * 3] * 2
    assert len(kernel.warmup(np.float32(0) + np.zeros(4, np.float32), 2.5, 4, grid=(1,))) == 1
    with pytest.raises(tile.TileError) as caught:
        launch(make(refused, pre_hook=device.hook))
    text = str(caught.value)
    assert text.startswith("none of the 2 configurations of `fill` can run\n")
    assert "BLOCK: 64, num_warps: 64" in text and "power of 2 up to" in text
    assert "out of resource: threads, Required: 2048, Hardware limit: 1024" in text
    with pytest.raises(tile.TileError, match="none of the 2 configurations"):
        make(refused).warmup(np.zeros(4, np.float32), 2.5, 4, grid=(1,))
    # What is wrong with the launch is no matter of the configuration.
    with pytest.raises(tile.TileError, match="no parameter `what`"):
        kernel[(1,)](np.zeros(4, np.float32), 2.5, 4, what=1)


@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx1100", "cuda:80", "cuda:90"])
def test_configs_of_another_target(target, monkeypatch):
    """A list that is for several targets: each has some that others refuse."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    configs = [
        tile.Config({"BLOCK": 64}, num_warps=32),
        tile.Config({"BLOCK": 64}, num_warps=2, num_ctas=2),
        tile.Config({"BLOCK": 64, "matrix_instr_nonkdim": 16}, num_warps=1),
        tile.Config({"BLOCK": 64}, num_warps=1, maxnreg=64),
    ]
    kernel = make(configs)
    launch(kernel)
    runs = {c: t[0] != float("inf") for c, t in kernel.configs_timings.items()}
    assert list(runs.values()) == [
        target != "hip:gfx942", target == "cuda:90", "hip" in target, True,
    ]  # fmt: skip


def test_the_only_config_that_is_left_is_not_measured():
    """Pruning left one, to which nothing is compared: it runs once."""
    runs = []
    kernel = make(
        pre_hook=lambda arguments, reset_only=False: runs.append(arguments),
        prune_configs_by={"early_config_prune": lambda configs, named, **_: configs[1:2]},
    )
    launch(kernel)
    launch(kernel)
    assert kernel.best_config == CONFIGS[1] and not runs and not list(tuning.choices())


def test_a_listener_hears_of_choices(device, monkeypatch):
    heard = []
    monkeypatch.setattr(tile.knobs.autotuning, "listener", lambda **told: heard.append(told))
    first, second = (make(pre_hook=device.hook) for _ in range(2))
    launch(first)
    launch(first)  # In memory: nothing is chosen.
    launch(second)  # On disk.
    assert [told["cache_hit"] for told in heard] == [False, True]
    for told, kernel in zip(heard, (first, second), strict=True):
        assert told["fn"] is kernel.fn
        assert told["best_config"] is kernel.best_config
        assert set(told["configs_timings"]) == set(CONFIGS)
        assert told["key"] in kernel.cache
    assert heard[0]["duration"] > 0 and heard[1]["duration"] is None
    launch(make(CONFIGS[:1], pre_hook=device.hook))
    assert len(heard) == 2


def test_pruning_that_leaves_nothing():
    kernel = make(prune_configs_by={"early_config_prune": lambda configs, named, **_: []})
    with pytest.raises(tile.errors.AutotunerError, match="Autotuner error: No valid autotuner con"):
        launch(kernel)
