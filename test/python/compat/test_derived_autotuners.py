"""Autotuners that libraries derive from ours."""

from __future__ import annotations

import numpy as np
from reference import poisoned, random, sim_only
from scaling import scale_kernel

import tile
import tile.language as tl
from tile.runtime.autotuner import Autotuner


class Remembering(Autotuner):
    """What libraries do: hooks, keys and measuring of their own."""

    def __init__(self, fn, arg_names, configs, key, reset_to_zero, restore_value, **kwargs):
        super().__init__(fn, arg_names, configs, key, reset_to_zero, restore_value, **kwargs)
        self.measured = []

    def _bench(self, *args, config, **meta):
        self.measured.append(config.kwargs["BLOCK"])
        return [1.0 / config.kwargs["BLOCK"]] * 3


@sim_only
def test_autotuner_can_be_derived_from():
    configs = [tile.Config({"BLOCK": b}) for b in (32, 64)]
    tuned = Remembering(scale_kernel, scale_kernel.arg_names, configs, ["n"], None, None)
    assert not tuned.user_defined_pre_hook and not tuned.user_defined_post_hook
    assert (tuned.num_warmups, tuned.num_reps, tuned.nargs) == (None, None, None)
    x, out = random((64,), "fp32"), poisoned(64, "fp32")
    tuned[(2,)](x, out, 64, 2.0)
    assert tuned.measured == [32, 64] and tuned.best_config is configs[1]
    assert set(tuned.configs_timings) == set(configs)
    assert tuned.cache == {(64, "float32", "float32"): configs[1]}
    tuned.cache[(64, "float32", "float32")] = configs[0]
    tuned[(2,)](x, out, 64, 2.0)
    assert tuned.best_config is configs[0] and tuned.measured == [32, 64]
    assert np.array_equal(out, x * np.float32(2))


def test_a_kernel_of_a_class_that_is_not_ours():
    """It has a function and `run`, and the share of the best configurations is of those that are
    left."""

    class Kernel:
        def __init__(self):
            self.fn = lambda: None
            self.ran = []

        def run(self, **options):
            self.ran.append(options["BLOCK"])

    def bench(call, quantiles):
        call()
        measured.append(kernel.ran[-1])
        return [float(kernel.ran[-1])] * 3

    kernel, measured, estimated = Kernel(), [], []

    def model(**options):
        estimated.append(options["BLOCK"])
        return options["BLOCK"]

    tuned = Autotuner(
        kernel, [], [tile.Config({"BLOCK": b}) for b in range(1, 11)], [], None, None,
        do_bench=bench,
        prune_configs_by={
            "early_config_prune": lambda configs, named, **options: configs[:6],
            "perf_model": model, "top_k": 0.5,
        },
    )  # fmt: skip
    tuned.run()
    assert estimated == [1, 2, 3, 4, 5, 6] and measured == [1, 2, 3]


@sim_only
def test_measuring_restores_and_resets():
    @tile.jit
    def accumulate(total_ptr, count_ptr, n, BLOCK: tl.constexpr):
        tl.store(total_ptr, tl.load(total_ptr) + BLOCK)
        tl.store(count_ptr, tl.load(count_ptr) + 1)

    def bench(call, quantiles):
        call()
        call()
        return (1.0, 1.0, 1.0)

    tuned = tile.autotune(
        [tile.Config({"BLOCK": 32}), tile.Config({"BLOCK": 64})],
        key=["n"], restore_value=["total_ptr"], reset_to_zero=["count_ptr"], do_bench=bench,
    )(accumulate)  # fmt: skip
    total, count = np.array([5], np.int32), np.array([9], np.int32)
    tuned[(1,)](total, count, 1)
    assert (total[0], count[0]) == (5 + 32, 1)
