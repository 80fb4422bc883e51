"""Aggregates, target queries, compatibility, asynchronous compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from frontend import refusal
from reference import on_nvidia, poisoned, sim_only

import tile
import tile.language as tl


@tile.aggregate
class Range:
    low: tl.tensor
    high: tl.tensor

    @tile.jit
    def __init__(self, low, high):
        self.low = low
        self.high = high

    @tile.jit
    def widened(self, x):
        return Range(tl.minimum(self.low, x), tl.maximum(self.high, x))

    @tile.jit
    def __add__(self, offset):
        return Range(self.low + offset, self.high + offset)


@tile.jit
def range_kernel(x_ptr, out_ptr, n):
    first = tl.load(x_ptr)
    found = Range(first, first)
    for i in range(1, n):
        found = found.widened(tl.load(x_ptr + i))
    if n > 5:
        found = found + 100
    tl.store(out_ptr, found.low)
    tl.store(out_ptr + 1, found.high)


@pytest.mark.parametrize("n", [5, 9])
def test_aggregates_go_through_loops_and_branches(n):
    x = np.array([5, 3, 9, -2, 7, 11, 0, -8, 4], np.int32)
    out = poisoned(2, "i32")
    range_kernel[(1,)](x, out, n)
    shift = 100 if n > 5 else 0
    assert out.tolist() == [x[:n].min() + shift, x[:n].max() + shift]


def test_fields_of_aggregates_do_not_change():
    @tile.jit
    def kernel(p, n):
        r = Range(n, n)
        r.low = 5

    error = refusal(kernel, {"p": "*fp32", "n": "i32"})
    assert error.error_message == (
        "the fields of `Range` do not change after __init__; make a new one"
    )


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
    assert out.tolist() == [1, 3]
    # Outside of kernels they are about the device.
    architecture_kernel[(1,)](out)
    assert out.tolist() == [architecture(), 0]
    assert tl.target_info.is_cuda() and not tl.target_info.is_hip()
    assert tl.target_info.cuda_capability_geq(8) and not tl.target_info.cuda_capability_geq(14)
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


PROGRAM = """
import sys
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
import tile

@triton.jit
def kernel(out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), triton.cdiv(N, 3))

out = np.zeros(16, np.float32)
kernel[(1,)](out, N=16)
print(out[0], triton.jit is tile.jit, tl is tile.language, triton.__name__, sys.argv[1])
"""


def test_programs_that_import_triton(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "TILE_DRIVER": "sim"}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    result = subprocess.run(
        [sys.executable, "-m", "tile.compat", str(program), "argument"],
        env=environment,
        capture_output=True,
        text=True,
    )
    expected = ["6.0", "True", "True", "tile.compat.triton", "argument"]
    assert result.stdout.split() == expected, result.stderr


def test_asynchronous_compiles():
    kernels = []
    with ThreadPoolExecutor(4) as executor, tile.AsyncCompileMode(executor):
        for n in (4, 8, 16, 32):

            @tile.jit
            def kernel(out_ptr, N: tl.constexpr):
                tl.store(out_ptr + tl.arange(0, N), N)

            kernels.append(kernel.warmup(poisoned(n, "i32"), N=n, grid=(1,)))
    stage, begin = ("ptx", ".entry kernel") if on_nvidia() else ("amdgcn", "\nkernel:")
    assert all(begin in k.asm[stage] for k in kernels)


def test_cdiv_and_next_power_of_2():
    assert [tile.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [tile.next_power_of_2(n) for n in (0, 1, 2, 3, 5, 1024, 1025)] == [
        1, 1, 2, 4, 8, 1024, 2048,
    ]  # fmt: skip


@sim_only
def test_do_bench_in_the_simulator():
    from tile.testing import do_bench

    calls = []
    assert do_bench(lambda: calls.append(1)) > 0
    assert calls
    assert len(do_bench(lambda: None, quantiles=(0.5, 0.2, 0.8))) == 3


def test_assert_close():
    from tile.testing import assert_close

    assert_close(np.array([1.0, 2.0]), np.array([1.0, 2.005]))
    with pytest.raises(AssertionError):
        assert_close(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
