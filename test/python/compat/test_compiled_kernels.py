"""What libraries read of kernels, and how they keep and launch them."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from scaling import SIGNATURE, compiled, scale_kernel

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import ASTSource
from tile.runtime import specialization


def test_metadata_is_a_named_tuple():
    metadata = compiled().metadata
    assert metadata.name == "scale_kernel" and metadata.num_warps == 4 and metadata.num_ctas == 1
    assert metadata.cluster_dims == (1, 1, 1) and metadata.global_scratch_size == 0
    assert metadata._asdict()["target"] == GPUTarget("cuda", 90, 32)
    assert type(metadata)(**metadata._asdict()) == metadata


def test_compiled_kernel_survives_pickling_as_inductor_does_it():
    kernel = compiled()
    fn = kernel.src.fn
    saved = fn.fn, fn.__globals__, fn.used_global_vals, fn.repr
    state = {**kernel.__dict__, "module": None, "function": None, "run": None}
    try:
        fn.fn = fn.__globals__ = fn.used_global_vals = fn.repr = fn._hash_lock = None
        text = pickle.dumps(state)
    finally:
        fn.fn, fn.__globals__, fn.used_global_vals, fn.repr = saved
    again = type(kernel).__new__(type(kernel))
    again.__dict__.update(pickle.loads(text))
    assert again.asm["ptx"] == kernel.asm["ptx"] and again.metadata == kernel.metadata
    assert again.src.fn.arg_names == fn.arg_names and again.signature == SIGNATURE


def test_a_function_from_a_worker_is_copied_and_pickled_again():
    """Inductor's parent takes the parts away once more, to keep a copy in its cache."""

    def take_away(fn):
        saved = fn.fn, fn.__globals__, fn.used_global_vals, fn.repr, fn._hash_lock
        fn.fn = fn.__globals__ = fn.used_global_vals = fn.repr = fn._hash_lock = None
        return saved

    worker = tile.jit(scale_kernel.fn)
    source = ASTSource(worker, SIGNATURE, {"BLOCK": 64})
    tile.compile(source, target=GPUTarget("cuda", 90, 32), stop_at="ptx")
    take_away(worker)
    parent = pickle.loads(pickle.dumps(worker))
    parent._hash_lock = threading.RLock()
    assert "scale_kernel" in repr(parent)
    saved = take_away(parent)
    copied = pickle.loads(pickle.dumps(copy.deepcopy(parent)))
    parent.fn, parent.__globals__, parent.used_global_vals, parent.repr, parent._hash_lock = saved
    for fn in (parent, copied):
        assert fn.fn is None and fn.used_global_vals is None and fn.cache_key == worker.cache_key
        assert fn.arg_names == list(SIGNATURE) and [p.num for p in fn.params] == [0, 1, 2, 3, 4]


@sim_only
def test_run_takes_what_other_launchers_pass():
    x, out = random((100,), "fp32"), poisoned(100, "fp32")
    kernel = compiled()
    kernel.run(2, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None,
               x, out, 100, 2.5, 64)  # fmt: skip
    assert np.array_equal(out, x * np.float32(2.5))
    with pytest.raises(tile.TileError, match="`scale_kernel` has 5 parameters, not 4"):
        kernel.run(2, 1, 1, 0, None, None, None, None, None, x, out, 100, 2.5)


@sim_only
def test_hooks_see_launches():
    seen = []
    x, out = random((64,), "fp32"), poisoned(64, "fp32")
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.launch_enter_hook.add(lambda m: seen.append(("in", m.get()["name"])))
        tile.knobs.runtime.launch_exit_hook.add(lambda m: seen.append(("out", m.get()["name"])))
        scale_kernel[(1,)](x, out, 64, 3.0, BLOCK=64)
    assert seen == [("in", "scale_kernel"), ("out", "scale_kernel")]
    assert np.array_equal(out, x * np.float32(3))
    tile.knobs.runtime.launch_enter_hook.calls.clear()
    tile.knobs.runtime.launch_exit_hook.calls.clear()


@sim_only
def test_device_caches_hold_kernels():
    kernel = tile.jit(scale_kernel.fn)
    device = tile.runtime.driver.active.get_current_device()
    kernels, keys, target, _, binder = kernel.device_caches[device]
    assert not kernels and target == tile.runtime.driver.active.get_current_target()
    x, out = random((64,), "fp32"), poisoned(64, "fp32")
    launched = kernel[(1,)](x, out, 64, 3.0, BLOCK=64)
    bound, described, options = binder(x, out, 64, 3.0, BLOCK=64)
    assert list(bound) == kernel.arg_names and options == {}
    key = specialization.compute_cache_key(keys, described, options)
    assert kernels[key] is launched


def test_kernels_are_forgotten():
    """The next launch finds the kernel in the files, and listeners are told."""
    told = []
    x = np.zeros(8, np.float32)
    with tile.knobs.compilation.scope():
        tile.knobs.compilation.listener = lambda **facts: told.append(facts["cache_hit"])
        scale_kernel.device_caches.clear()
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert len(told) == 1
        told.clear()
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert told == []
        scale_kernel.device_caches.clear()
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert told == [True]
        scale_kernel[(1,)](x, x, 8, 3.0, 8)
        assert told == [True]


def test_options_that_are_dictionaries():
    x = random((64,), "fp32")
    with pytest.raises(tile.TileError, match="no such option exists"):
        scale_kernel[(1,)](x, x, 64, 1.0, 64, some_libraries={"name": "/path"})


@tile.jit
def between(x_ptr, N: tl.constexpr, out_ptr, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < N, other=0) * scale, mask=i < N)


@sim_only
@pytest.mark.parametrize("n", [5, 64])
def test_a_compiled_kernel_takes_its_arguments_without_the_constants(n):
    """As FlagGems launches what it has compiled, where Triton is newer than 3.6."""
    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    kernel = between[(1,)](x, n, out, 7, BLOCK=64)
    other = np.full(64, -1, np.int32)
    kernel[(1, 1, 1)](x, other, 7)
    np.testing.assert_array_equal(other[:n], x[:n] * 7)
    assert (other[n:] == -1).all()
    kernel[(1, 1, 1)](x, n, out, 7, 64)
    np.testing.assert_array_equal(out[:n], x[:n] * 7)
    for wrong in ((x, other), (x, n, other, 7)):
        with pytest.raises(tile.TileError, match="missing"):
            kernel[(1, 1, 1)](*wrong)
