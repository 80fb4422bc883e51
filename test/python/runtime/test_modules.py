"""What is loaded on devices, and unloaded again: on GPUs that are not there."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl

pytestmark = sim_only


def store_kernel():
    @tile.jit
    def store(out, N: tl.constexpr):
        tl.store(out, N)

    return store


def test_unloaded_and_loaded_again(gpu):
    store, out = store_kernel(), gpu.tensor(0x1000, tl.int32)
    launch = store[(1,)]
    compiled, other = launch(out, 3), launch(out, 4)
    loads, unloads = gpu.counter("loads"), gpu.counter("unloads")
    compiled.unload()
    assert gpu.counter("unloads") - unloads == 1
    compiled.unload()
    assert gpu.counter("unloads") - unloads == 1, "there is nothing more"
    launch(out, 4)
    assert gpu.counter("loads") == loads, "the others stay"
    # However it is launched, through what was there before, too.
    launch(out, 3)
    assert gpu.counter("loads") - loads == 1
    again = store[(1,)](out, 3)
    again.unload()
    again[(2,)](out, 3)
    assert gpu.counter("loads") - loads == 2
    run = other.run
    other.unload()
    run(1, 1, 1, 0, None, None, None, None, None, out, 4)
    assert gpu.counter("loads") - loads == 3


def test_unloaded_on_every_device(two_gpus, monkeypatch):
    from tile.runtime.driver import driver

    store, unloads = store_kernel(), two_gpus.counter("unloads")
    compiled = store.warmup(tl.int32, 3, grid=(1,))
    for device in (0, 1):
        monkeypatch.setattr(driver.active, "get_current_device", lambda d=device: d)
        two_gpus.library.fake_switch_device(device)
        compiled[(1,)](two_gpus.tensor(0x1000, tl.int32, device), 3)
    compiled.unload()
    assert two_gpus.counter("unloads") - unloads == 2
    # The device that was current is so again.
    store[(1,)](two_gpus.tensor(0x1000, tl.int32, 1), 3)


def test_unloaded_with_its_variants(gpu):
    @tile.jit
    def kernel(x, out, n):
        total = tl.zeros((64, 64), tl.float32)
        offsets = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
        for i in range(n):
            total = tl.dot(tl.load(x + i * 4096 + offsets), total.to(tl.float16), total)
            tl.store(out + i * 4096 + offsets, total.to(tl.float16))

    x, near, far = (gpu.tensor(a, tl.float16) for a in (0x1000, 0x1100, 0x8000))
    loads, unloads = gpu.counter("loads"), gpu.counter("unloads")
    compiled = kernel[(1,)](x, far, 5)
    kernel[(1,)](x, near, 5)
    loaded = gpu.counter("loads") - loads
    compiled.unload()
    assert gpu.counter("unloads") - unloads == loaded
    kernel[(1,)](x, far, 5)


def test_unloading_while_others_launch(gpu):
    store, out = store_kernel(), gpu.tensor(0x1000, tl.int32)
    compiled = store[(1,)](out, 3)
    gpu.library.fake_set(1, None, 500)
    errors = []

    def work() -> None:
        for _ in range(50):
            try:
                store[(1,)](out, 3)
            except tile.DriverError:
                pass  # It was unloaded on the way.
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        compiled.unload()
    assert not errors
    store[(1,)](out, 3)


def test_unloaded_by_its_own_launch(gpu):
    """By the grid's function, by an argument, by a hook: what runs is loaded again."""
    import tile.knobs as knobs

    @tile.jit
    def store(out, n, N: tl.constexpr):
        tl.store(out, n + N)

    class Unloading(gpu.tensor):
        def data_ptr(self) -> int:
            unload()
            return super().data_ptr()

    out = gpu.tensor(0x1000, tl.int32)
    kernels: list = [store[(1,)](out, 5, 3)]
    launches = gpu.record(2)

    def unload(*_) -> tuple:
        kernels[-1].unload()
        return (2,)

    kernels.append(store[unload](out, 5, 3))
    assert len(launches) == 1 and launches[0][0]["grid"] == (2, 1, 1)
    assert kernels[1] is not kernels[0]
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = unload
        store[(1,)](out, 5, 3)
    assert len(launches) == 2
    store[(1,)](out, 5, 3)

    class Number:
        """An integer that is asked in Python."""

        def __index__(self) -> int:
            unload()
            return 7

    try:
        store[(1,)](out, Number(), 3)
    except tile.TileError:
        pass  # It is unloaded whenever it is asked.
    store[unload](out, 5, 3)
    del kernels[:]


def test_entries_are_kept_while_python_runs(gpu):
    """Constants whose comparison forgets the kernels that they are compared with."""

    class Constant:
        def __init__(self, value: int) -> None:
            self.value = value

        def __hash__(self) -> int:
            return 5

        def __eq__(self, other: object) -> bool:
            for kernel in kernels:
                kernel.unload()
            return isinstance(other, Constant) and other.value == self.value

    @tile.jit
    def store(out, C: tl.constexpr):
        tl.store(out, 5)

    out, kernels = gpu.tensor(0x1000, tl.int32), []
    launch = store[(1,)]
    for _ in range(3):
        for value in range(4):
            kernels.append(launch(out, Constant(value)))


def test_no_memory_for_a_kernel(gpu):
    store, out = store_kernel(), gpu.tensor(0x1000, tl.int32)
    gpu.library.fake_fail_next_load(2)
    with pytest.raises(tile.DriverError, match=r"cannot load `store`: out of memory"):
        store[(1,)](out, 3)
    store[(1,)](out, 3)


def test_a_kernel_that_does_not_fit_is_not_left_loaded(gpu, monkeypatch):
    from tile.runtime.driver import driver

    monkeypatch.setattr(
        driver.active, "_function", lambda *_: (_ for _ in ()).throw(tile.OutOfResources(2, 1, "x"))
    )
    loads, unloads = gpu.counter("loads"), gpu.counter("unloads")
    with pytest.raises(tile.OutOfResources):
        store_kernel()[(1,)](gpu.tensor(0x1000, tl.int32), 3)
    assert gpu.counter("loads") - loads == gpu.counter("unloads") - unloads == 1


def test_launches_keep_no_argument():
    """What was passed is freed when its owner lets go, also where the launch is remembered."""
    import weakref

    class Array(np.ndarray):
        pass

    store = store_kernel()
    for _ in range(2):
        out = np.zeros(4, np.int32).view(Array)
        store[(1,)](out, 3)
        assert out[0] == 3
        gone = weakref.ref(out)
        del out
        assert gone() is None
