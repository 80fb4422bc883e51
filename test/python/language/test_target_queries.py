"""Questions of kernels, and of programs, about the GPU."""

from __future__ import annotations

import pytest
from reference import poisoned

import tile
import tile.language as tl


@tile.jit
def target_kernel(out_ptr):
    tl.store(out_ptr, 1 if tl.target_info.cuda_capability_geq(9, 0) else 2)
    tl.store(out_ptr + 1, 3 if tl.target_info.is_cuda() else 4)


@tile.constexpr_function
def architecture():
    return tl.target_info.current_target().arch


@tile.jit
def architecture_kernel(out_ptr):
    tl.store(out_ptr, architecture())
    tl.store(out_ptr + 1, tl.target_info.is_hip_cdna3() + 0)


@pytest.mark.nvidia("asks for compute capabilities")
def test_target_queries(monkeypatch):
    out = poisoned(2, "i32")
    target_kernel[(1,)](out)
    assert out.tolist() == [1 if architecture() >= 90 else 2, 3]
    # Outside of kernels they are about the device.
    architecture_kernel[(1,)](out)
    assert out.tolist() == [architecture(), 0]
    assert tl.target_info.is_cuda() and not tl.target_info.is_hip()
    assert tl.target_info.cuda_capability_geq(7) and not tl.target_info.cuda_capability_geq(14)
    source = tile.compiler.ASTSource(architecture_kernel, {"out_ptr": "*i32"})
    for arch in (75, 90):
        text = tile.compile(source, tile.GPUTarget("cuda", arch, 32), stop_at="ttir").asm["ttir"]
        assert f"arith.constant {arch} : i32" in text
    # Without any device they are about none.
    from tile.runtime.driver import DriverConfig

    def none(self):
        raise tile.DriverError("no driver")

    monkeypatch.setattr(DriverConfig, "active", property(none))
    assert tl.target_info.current_target() is None
    assert not tl.target_info.is_cuda() and not tl.target_info.cuda_capability_geq(8)


@tile.jit
def wait_for_earlier_launches(out_ptr):
    tl.extra.cuda.gdc_wait()
    tl.store(out_ptr, 1)


@pytest.mark.simulator
@pytest.mark.parametrize("target", ["cuda:86", "hip:gfx942", "cuda:90"])
def test_dependent_launches_are_of_newer_gpus(target, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    out = poisoned((1,), "i32")
    if target == "cuda:90":
        wait_for_earlier_launches[(1,)](out, launch_pdl=True)
        assert out[0] == 1
        return
    with pytest.raises(tile.CompilationError, match=f"gdc_wait is for .* not for {target}"):
        wait_for_earlier_launches[(1,)](out, launch_pdl=True)
