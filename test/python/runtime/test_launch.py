"""Launches, as the driver sees them: on a GPU that is not there."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import struct
import sys
import threading
import time
import types
import weakref

import numpy as np
import pytest
from reference import sim_only
from threads import run_threads

import tile
import tile.language as tl
from tile.errors import DriverError

pytestmark = sim_only


@tile.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@tile.jit
def nothing():
    pass


def test_what_the_driver_gets(gpu):
    launches, loads = gpu.record(3), gpu.counter("loads")
    x, y = gpu.tensor(0x1000, tl.float32), gpu.tensor(0x2004, tl.float32)
    for _ in range(2):  # Once by way of Python, once without.
        kernel = copy[(5, 2, 3)](x, y, 7, num_warps=8)
        assert kernel.num_warps == 8
    for config, attributes, parameters in launches:
        assert config == {"grid": (5, 2, 3), "block": (256, 1, 1), "shared": kernel.shared,
                          "stream": 0}  # fmt: skip
        assert attributes == {}
        assert struct.unpack("<QQi", b"".join(parameters[i] for i in range(3))[:20]) == (
            0x1000, 0x2004, 7,
        )  # fmt: skip
    assert len(launches) == 2 and gpu.counter("loads") - loads == 1


@pytest.mark.parametrize(
    ("option", "attribute", "value"),
    [
        ({"num_ctas": 2}, 4, (2, 1, 1)),
        ({"launch_cooperative_grid": True}, 2, (1, 0, 0)),
        ({"launch_pdl": True}, 6, (1, 0, 0)),
    ],
)
def test_attributes(gpu, option, attribute, value):
    launches = gpu.record(0)
    for _ in range(2):
        nothing[(3,)](**option)
    for config, attributes, _ in launches:
        assert attributes == {attribute: value}
        assert config["grid"] == (3 * option.get("num_ctas", 1), 1, 1)


def test_older_gpus_have_launches_follow_one_another(gpu, monkeypatch):
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "sm86")
    launches = gpu.record(0)
    nothing[(3,)](launch_pdl=True)
    assert [attributes for _, attributes, _ in launches] == [{}]


def test_grids(gpu):
    launches = gpu.record(3)
    seen = []

    def grid(meta):
        seen.append(meta)
        return tile.cdiv(meta["n"], meta["BLOCK"]), 2

    x = gpu.tensor(0x1000, tl.float32)
    for given in (grid, grid, 4, (4,), [4, 1], (np.int64(4),)):
        copy[given](x, x, 100)
    assert [c["grid"] for c, _, _ in launches] == [(2, 2, 1)] * 2 + [(4, 1, 1)] * 4
    assert seen == [{"x_ptr": x, "out_ptr": x, "n": 100, "BLOCK": 64}] * 2
    launches.clear()
    for given in ((0,), (3, 0), lambda meta: (0, 1)):
        copy[given](x, x, 100)
    assert launches == []


def test_no_python_on_the_way(gpu):
    x = gpu.tensor(0x1000, tl.float32)
    keywords = {"out_ptr": x, "n": 50}
    copy[(1,)](x, **keywords)
    copy[(1,)](x, x, 50, BLOCK=32, num_warps=8)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append((event, frame.f_code.co_name)))
    copy[(1,)](x, **keywords)
    copy[(2, 3)](x, x, 50, BLOCK=32, num_warps=8)
    sys.setprofile(None)
    assert [name for event, name in calls if event == "call"] == []
    assert gpu.counter("launches") >= 4


def test_the_gil_is_free_while_the_driver_works(gpu):
    copy_args = gpu.tensor(0x1000, tl.float32), gpu.tensor(0x2000, tl.float32), 5
    copy[(1,)](*copy_args)
    gpu.library.fake_set(1, None, 200_000)
    thread = threading.Thread(target=lambda: copy[(1,)](*copy_args))
    thread.start()
    start = time.perf_counter()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0)
    # With the GIL held there would be one or two, however busy the machine is.
    assert turns > 10 and time.perf_counter() - start > 0.1


def test_many_launches_from_many_threads(gpu):
    @tile.jit
    def kernel(a: u64, b: u64, out):  # noqa: F821
        tl.store(out, a + b)

    check = ctypes.cast(gpu.library.fake_check_pairs, ctypes.c_void_p)
    gpu.library.fake_set(1, check, 0)
    out = gpu.tensor(0x1000, tl.int64)
    kernel[(1,)](3, 10, out)
    before = gpu.counter("launches")

    def work(seed: int) -> None:
        for i in range(1250):
            value = seed * 10_000 + i + 2
            kernel[(seed + 1,)](value, value * 3 + seed + 1, out)

    run_threads(work, range(8))
    assert gpu.counter("launches") - before == 10_000
    assert gpu.counter("wrong_pairs") == 0


def test_the_first_launch_from_many_threads(gpu):
    @tile.jit
    def kernel(out, N: tl.constexpr):
        tl.store(out, N)

    kernels: dict[int, set] = {n: set() for n in range(5)}

    def work(n: int) -> None:
        for i in range(4):
            kernels[(n + i) % 5].add(kernel[(1,)](gpu.tensor(0x1000, tl.int32), (n + i) % 5))

    loads, unloads = gpu.counter("loads"), gpu.counter("unloads")
    run_threads(work, range(6))
    # Each is loaded once, and unloaded when whoever launched it says so.
    assert [len(made) for made in kernels.values()] == [1] * 5
    assert gpu.counter("loads") - loads == 5
    for (made,) in kernels.values():
        made.unload()
    assert gpu.counter("unloads") - unloads == 5


def test_devices(two_gpus, monkeypatch):
    torch = types.ModuleType("torch")
    device = [0]
    torch.cuda = types.SimpleNamespace(
        is_initialized=lambda: True, current_device=lambda: device[0]
    )
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda d: 0x70 + d)
    monkeypatch.setitem(sys.modules, "torch", torch)
    launches = two_gpus.record(3)
    loads = two_gpus.counter("loads")
    for turn in (0, 1, 0, 1):
        device[0] = turn
        two_gpus.library.fake_switch_device(turn)
        x = two_gpus.tensor(0x1000, tl.float32, turn)
        copy[(1,)](x, x, 5)
    assert [c["stream"] for c, _, _ in launches] == [0x70, 0x71] * 2
    assert two_gpus.counter("loads") - loads == 2, "loaded once for each device"
    elsewhere = two_gpus.tensor(0x8000, tl.float32, 0)
    with pytest.raises(tile.DriverError, match=r"is on cuda:0, but the kernel is launched on cud"):
        copy[(1,)](x, elsewhere, 5)
    two_gpus.library.fake_make_accessible(0x8000)
    copy[(1,)](x, elsewhere, 5)


def test_a_launch_that_the_driver_refuses(gpu):
    x = gpu.tensor(0x1000, tl.float32)
    for _ in range(2):
        gpu.library.fake_fail_next(719)
        with pytest.raises(
            tile.DriverError, match=r"cannot launch `copy`: unspecified launch fail"
        ):
            copy[(1,)](x, x, 5)
        copy[(1,)](x, x, 5)


def test_scratch_memory(gpu):
    sizes = []

    def allocate(size, alignment, stream):
        sizes.append((size, alignment, stream))
        return gpu.tensor(0xABC00, tl.int8)

    kernel = nothing[(1,)]()
    kernel._metadata["global_scratch_size"], kernel._metadata["global_scratch_align"] = 48, 64
    from tile.runtime.driver import driver

    launches = gpu.record(1)
    launch = driver.active.make_launcher(kernel, {})
    tile.set_allocator(allocate)
    try:
        launch(2, 3, 1, 0x55, ())
    finally:
        tile.set_allocator(None)
    assert sizes == [(48 * 6, 64, 0x55)]
    assert struct.unpack("<Q", launches[0][2][0]) == (0xABC00,)


def test_scratch_memory_of_the_driver(gpu, monkeypatch):
    """Without torch, and without an allocator of the program, memory is that of the stream."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    kernel = nothing[(1,)]()
    kernel._metadata["global_scratch_size"] = 256
    from tile.runtime.driver import driver

    held = gpu.counter("memories")
    during = []
    given = []

    def note(config, function, parameters):
        during.append(gpu.counter("memories"))
        given.append(struct.unpack("<Q", ctypes.string_at(parameters[0], 8))[0])

    gpu.on_launch(note)
    launch = driver.active.make_launcher(kernel, {})
    launch(2, 3, 1, 0x55, ())
    assert during == [held + 1] and given[0] % 128 == 0 and given[0]
    assert gpu.counter("memories") == held


@tile.jit
def chained(q_ptr, k_ptr, out_ptr, steps):
    i = tl.arange(0, 128)
    at = i[:, None] * 128 + i[None, :]
    q = tl.load(q_ptr + at)
    acc = tl.zeros((128, 128), tl.float32)
    for t in range(0, steps):
        k = tl.load(k_ptr + t * 16384 + at)
        acc = tl.dot((tl.dot(q, k.T) > 0).to(tl.float16), k, acc)
    tl.store(out_ptr + tl.program_id(0) * 16384 + at, acc)


def test_large_grids_take_no_memory_for_descriptors(gpu, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    launches = gpu.record(1)
    q, k = (gpu.tensor(at, tl.float16) for at in (0x10000, 0x20000))
    out = gpu.tensor(0x30000, tl.float32)
    # Launches make no maps of kernels that others launch, too: programs do.
    options = {"num_warps": 8, "num_stages": 2, "overlapping_arguments": True}
    sizes = []
    for programs in (4, 600_000, 4):
        kernel = chained[(programs,)](q, k, out, 64, **options)
        sizes.append(kernel._metadata["global_scratch_size"])
        assert launches[-1][0]["grid"] == (programs, 1, 1)
    assert sizes[0] == sizes[2] > 0 == sizes[1] and len(launches) == 3
    # Who asks for descriptors gets them, and who launches this one kernel.
    kernel = chained[(4,)](q, k, out, 64, **options)
    assert kernel[(600_000,)](q, k, out, 64)._metadata["global_scratch_size"]
    assert launches[-1][0]["grid"] == (600_000, 1, 1)
    assert chained[(600_000,)](q, k, out, 64, raise_pointers=True, **options)._metadata[
        "global_scratch_size"
    ]


def test_launches_make_maps_of_arguments(gpu):
    """Of each launch's own: anew where a value is another one, and no memory is taken."""
    maps = []

    def keep(config, function, parameters):
        words = (ctypes.c_uint32 * 32).from_address(parameters[4])
        maps.append((words[2], list(words[8:11]), list(words[24:26]), gpu.counter("maps")))

    gpu.on_launch(keep)
    out = gpu.tensor(0x30000, tl.float32)
    options = {"num_warps": 8, "num_stages": 2}
    before = gpu.counter("maps"), gpu.counter("memories")
    launches = [(0x20000, 64), (0x20000, 64), (0x50000, 64), (0x50000, 32), (0x20000, 64)]
    for address, steps in launches:
        q, k = gpu.tensor(0x10000, tl.float16), gpu.tensor(address, tl.float16)
        kernel = chained[(600_000,)](q, k, out, steps, **options)
    assert not kernel._metadata["global_scratch_size"] and len(maps) == len(launches)
    assert [base for base, *_ in maps] == [address for address, _ in launches]
    assert [shape for _, shape, *_ in maps] == [[128, 128 * n + 128, 0] for _, n in launches]
    assert {tuple(strides) for *_, strides, _ in maps} == {(256, 0)}
    assert [made - before[0] for *_, made in maps] == [1, 1, 2, 3, 4]
    assert gpu.counter("memories") == before[1]


def test_kernels_that_nobody_needs_are_freed(gpu):
    @tile.jit
    def kernel(p):
        tl.store(p, 1)

    compiled = weakref.ref(kernel[(1,)](gpu.tensor(0x1000, tl.int32)))
    kernel[(1,)](gpu.tensor(0x1000, tl.int32))
    function = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert function() is None and compiled() is None


def test_run_and_subclasses(gpu):
    launches = gpu.record(3)
    x = gpu.tensor(0x1000, tl.float32)
    copy.run(x, x, 5, grid=(7,), warmup=False)
    assert launches[-1][0]["grid"] == (7, 1, 1)
    count = len(launches)
    assert ".entry copy" in copy.run(x, x, 5, grid=(7,), warmup=True).asm["ptx"]
    assert len(launches) == count

    class Counting(tile.JITFunction):
        runs = 0

        def run(self, *args, grid, warmup=False, **kwargs):
            self.runs += 1
            return super().run(*args, grid=grid, warmup=warmup, **kwargs)

    counting = Counting(copy.fn)
    counting[(9,)](x, x, 5)
    assert counting.runs == 1 and launches[-1][0]["grid"] == (9, 1, 1)


def test_a_compiled_kernel_is_launched_itself(gpu):
    launches = gpu.record(3)
    x = gpu.tensor(0x1000, tl.float32)
    kernel = copy.warmup(x, x, 5, grid=(1,))
    kernel[(3,)](x, x, 5)
    assert launches[-1][0]["grid"] == (3, 1, 1)


def test_interpreting_starts_and_ends(gpu, monkeypatch):
    out = np.zeros(64, np.float32)
    x = gpu.tensor(0x1000, tl.float32)
    copy[(1,)](x, x, 64)
    before = gpu.counter("launches")
    monkeypatch.setenv("TILE_INTERPRET", "1")
    copy[(1,)](np.ones(64, np.float32), out, 64)
    assert out.sum() == 64 and gpu.counter("launches") == before
    monkeypatch.delenv("TILE_INTERPRET")
    copy[(1,)](x, x, 64)
    assert gpu.counter("launches") == before + 1


def test_a_forked_process_compiles_and_says_why_it_does_not_launch(gpu):
    driver = importlib.import_module("tile.backends.nvidia.cuda_driver")
    assert driver.CudaDriver.is_active()
    child = os.fork()
    if child == 0:
        # As in a compile worker, where nobody asked for the driver before the fork.
        driver._load.cache_clear()
        driver.libcuda.cache_clear()
        held = driver.CudaDriver.is_active()
        try:
            assert driver.CudaDriver().library
        except DriverError as error:
            held = held and "forked" in str(error)
        else:
            held = False
        os._exit(0 if held else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
