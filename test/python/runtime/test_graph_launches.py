"""Launches by way of CUDA graphs (`TILE_GRAPH_LAUNCHES`), on a GPU that is not there."""

from __future__ import annotations

import ctypes
import gc
import sys
import types

import pytest
from reference import sim_only
from threads import run_threads

import tile
import tile.language as tl
from tile import knobs

pytestmark = sim_only


def sum_kernel():
    @tile.jit
    def kernel(a: tl.uint64, b: tl.uint64, out):
        tl.store(out, a + b)

    return kernel


@pytest.fixture
def streams(gpu, monkeypatch):
    """Sets the current stream."""
    monkeypatch.setattr(knobs.runtime, "graph_launches", True)
    current = [0]
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 0)
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: current[0])
    monkeypatch.setitem(sys.modules, "torch", torch)
    yield lambda stream: current.__setitem__(0, stream)
    gpu.library.fake_set_streams(0, 0)


@pytest.fixture
def out(gpu):
    return gpu.tensor(0x1000, tl.int64)


def test_they_are_launches(gpu, streams, out):
    kernel, launches = sum_kernel(), gpu.record(2)
    before = gpu.counter("graph_launches")
    for i in range(3, 40):
        streams(16 * (i % 3))
        kernel[(i, 2)](i, 3 * i, out, num_warps=1 << i % 2)
    assert gpu.counter("graph_launches") - before == len(launches) == 37
    for i, (config, attributes, given) in zip(range(3, 40), launches, strict=True):
        assert config["grid"] == (i, 2, 1) and config["block"] == (32 << i % 2, 1, 1)
        assert config["stream"] == 16 * (i % 3) and attributes == {}
        assert [int.from_bytes(word, "little") for word in given] == [i, 3 * i]


def test_many_threads_on_one_stream(gpu, streams, out):
    """Nothing comes between setting a graph's parameters and its launch."""
    kernel = sum_kernel()
    check = ctypes.cast(gpu.library.fake_check_pairs, ctypes.c_void_p)
    gpu.library.fake_set(1, check, 10)
    kernel[(1,)](3, 10, out)
    total = ctypes.c_longlong.in_dll(gpu.library, "fake_sum")
    before, wrong = total.value, gpu.counter("wrong_pairs")

    def work(seed: int) -> None:
        for i in range(100):
            value = seed * 10_000 + i + 2
            kernel[(seed + 1,)](value, value * 3 + seed + 1, out)

    run_threads(work, range(8))
    assert gpu.counter("wrong_pairs") == wrong
    assert total.value - before == sum(s * 10_000 + i + 2 for s in range(8) for i in range(100))


@pytest.mark.parametrize(("priority", "capturing"), [(-1, 0), (0, 1)])
def test_streams_that_need_ordinary_launches(gpu, streams, out, priority, capturing):
    kernel, before = sum_kernel(), gpu.counter("graph_launches")
    gpu.library.fake_set_streams(priority, capturing)
    launches = gpu.record(0)
    for _ in range(3):
        kernel[(1,)](3, 10, out)
    assert gpu.counter("graph_launches") == before and len(launches) == 3
    # A capture ends; a priority does not.
    gpu.library.fake_set_streams(priority, 0)
    kernel[(1,)](3, 10, out)
    assert gpu.counter("graph_launches") - before == capturing


@pytest.mark.parametrize(
    "option", [{"num_ctas": 2}, {"launch_pdl": True}, {"launch_cooperative_grid": True}]
)
def test_attributes_need_ordinary_launches(gpu, streams, out, option):
    before = gpu.counter("graph_launches")
    sum_kernel()[(1,)](3, 10, out, **option)
    assert gpu.counter("graph_launches") == before


def test_many_streams(gpu, streams, out):
    kernel, before = sum_kernel(), gpu.counter("graph_launches")
    launches = gpu.record(0)
    for _ in range(2):
        for stream in range(100):
            streams(stream)
            kernel[(1,)](3, 10, out)
    assert len(launches) == 200
    assert gpu.counter("graph_launches") - before == 128


def test_errors(gpu, streams, out):
    kernel = sum_kernel()
    kernel[(1,)](3, 10, out)
    gpu.library.fake_fail_next(719)
    with pytest.raises(tile.DriverError, match="unspecified launch failure"):
        kernel[(1,)](3, 10, out)


def test_graphs_go_with_their_kernel(gpu, streams, out):
    gc.collect()
    before, kernel = gpu.counter("graphs"), sum_kernel()
    for stream in (0, 16):
        streams(stream)
        compiled = kernel[(1,)](3, 10, out)
    assert gpu.counter("graphs") - before == 4
    compiled.unload()
    gc.collect()
    assert gpu.counter("graphs") == before
    kernel[(1,)](3, 10, out)
    assert gpu.counter("graphs") - before == 2
