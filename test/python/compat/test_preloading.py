"""Kernels that are compiled for what a hook was told, before a launch asks for them."""

from __future__ import annotations

import numpy as np
import pytest
from reference import on_nvidia, poisoned, random, sim_only
from scaling import scale_kernel

import tile
import tile.language as tl


@sim_only
def test_preload(monkeypatch, tmp_path):
    """What a hook was told is enough to compile a kernel before it is launched."""
    told = []
    monkeypatch.setattr(
        tile.knobs.runtime, "jit_cache_hook", lambda **told_now: told.append(told_now["compile"])
    )
    x, out = random((64,), "fp32"), poisoned(64, "fp32")

    def make():
        return tile.jit(scale_kernel.fn)

    make()[(1,)](x, out, 64, -0.0, BLOCK=64, num_warps=2)
    (data,) = [compile["specialization_data"] for compile in told]
    again = make()
    kernel = again.preload(data)
    assert kernel.num_warps == 2 and ("ptx" if on_nvidia() else "amdgcn") in kernel.asm

    def refuse(*args, **kwargs):
        raise AssertionError("it is compiled again")

    monkeypatch.setattr("tile.compiler.compile", refuse)
    assert again[(1,)](x, out, 64, -0.0, BLOCK=64, num_warps=2) is kernel
    assert np.array_equal(out, x * np.float32(-0.0))
    with pytest.raises(AssertionError, match="compiled again"):
        again[(1,)](x, out, 64, -0.0, BLOCK=64, num_warps=4)
    with pytest.raises(RuntimeError, match="is for `scale_kernel`, and cannot preload `other`"):
        other_kernel().preload(data)
    again._unsafe_update_src(scale_kernel.src.replace("mask=", "mask = "))
    with pytest.raises(tile.TileError, match="`scale_kernel` is not what it was"):
        again.preload(data)
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    with pytest.raises(
        RuntimeError, match=r"is for {'backend': .*}; kernels are compiled for cuda:80 now"
    ):
        make().preload(data)


@sim_only
def test_preload_of_constants_that_are_no_numbers(monkeypatch):
    """Types, tuples and functions. Hooks are not told about what was preloaded."""
    told = []
    monkeypatch.setattr(
        tile.knobs.runtime, "jit_cache_hook", lambda **told_now: told.append(told_now["compile"])
    )

    @tile.jit
    def get(value):
        return value + 3

    @tile.jit
    def kernel(out, TYPE: tl.constexpr, N: tl.constexpr, GET: tl.constexpr):
        tl.store(out, GET(N[0][0]).to(TYPE))

    constants = (tl.float32, ((2,), None), get)
    kernel.warmup(tl.float32, *constants, grid=(1,))
    (data,) = [compile["specialization_data"] for compile in told]
    again = tile.jit(kernel.fn)
    preloaded = again.preload(data)
    (kernels, *_) = again.device_caches[tile.runtime.driver.active.get_current_device()]
    assert list(kernels.values()) == [preloaded] and list(kernels) == [told[0]["key"]]
    out = np.zeros(1, np.float32)
    assert again[(1,)](out, *constants) is preloaded
    assert out[0] == 5 and len(told) == 1


def other_kernel():
    @tile.jit
    def other(x_ptr):
        pass

    return other


def test_preload_keeps_constants_apart():
    from tile.runtime.preload import _decode, _encode

    for value in (1, True, 1.0, -0.0, float("inf"), None, "1", (1, (2.5, None)), [1], tl.float8e5):
        again = _decode(_encode(value))
        assert repr(again) == repr(value) and type(again) is type(value)
    with pytest.raises(TypeError):
        _encode(object())
