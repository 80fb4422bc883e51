"""Arguments of launches on a GPU. A stand-in takes the place of torch, and of the launch."""

from __future__ import annotations

import sys
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import on_device
import pytest

from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor as ExplicitDescriptor
from tile.runtime.jit import JITFunction, TensorWrapper
from tile.tools.tensor_descriptor import TensorDescriptor


class Memory:
    """What torch's tensors of bytes do here."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    def cuda(self) -> Memory:
        # Memory of a GPU is aligned.
        room = np.empty(self.data.size + 512, np.uint8)
        begin = -room.ctypes.data % 512
        there = room[begin : begin + self.data.size]
        there[...] = self.data
        return Memory(there)

    def data_ptr(self) -> int:
        return self.data.ctypes.data

    def clone(self) -> Memory:
        return Memory(self.data.copy())

    def copy_(self, other: Memory) -> None:
        self.data[...] = other.data

    def cpu(self) -> Memory:
        return self

    def numpy(self) -> np.ndarray:
        return self.data

    def __ne__(self, other: Memory) -> np.ndarray:  # type: ignore[override]
        return self.data != other.data


@pytest.fixture
def launches(monkeypatch):
    """The arguments of launches; each adds 1 to all int32 that its first argument describes."""
    torch = SimpleNamespace(
        from_numpy=Memory, cuda=SimpleNamespace(synchronize=lambda: None), is_stand_in=True
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delenv("TILE_INTERPRET", raising=False)
    seen: list[tuple] = []
    ir = {"text": ""}

    def run(self, *args, grid, warmup=False, **kwargs):
        seen.append((args, kwargs))
        array = args[0]
        while not isinstance(array, on_device.DeviceArray):
            array = array[0] if isinstance(array, tuple) else array.base
        there = array.memory.data[array.offset :].view(np.int32)
        there[: int(np.prod(array.shape))] += 1
        return SimpleNamespace(asm={"glir": ir["text"]})

    monkeypatch.setattr(JITFunction, "run", run)
    monkeypatch.setattr(JITFunction, "__getitem__", JITFunction.__getitem__)
    on_device.install()
    return SimpleNamespace(seen=seen, ir=ir)


@gluon.jit
def kernel(x):
    pass


LAYOUT = gl.NVMMASharedLayout(32, 32)
Pair = namedtuple("Pair", "first second")


def explicit(x):
    return ExplicitDescriptor.from_tensor(x, [8, 8], LAYOUT)


def plain(x):
    return TensorDescriptor.from_tensor(x, [8, 8])


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: x, plain, explicit, lambda x: (explicit(x), 3), lambda x: Pair(explicit(x), x),
        lambda x: TensorWrapper(x, gl.int32),
    ],
)  # fmt: skip
def test_results_come_back(launches, wrap):
    room = np.zeros((3, 16, 16), np.int32)
    argument = wrap(room[1])
    kernel[(1,)](argument)
    (moved,), _ = launches.seen[0]
    assert type(moved) is type(argument) or isinstance(moved, on_device.DeviceArray)
    np.testing.assert_array_equal(room, np.array([0, 1, 0])[:, None, None] + 0 * room)


def test_a_descriptor_keeps_all_that_it_says(launches):
    x = np.zeros((16, 32), np.float32)
    desc = ExplicitDescriptor(x, [16, 20], [32, 1], [8, 8], LAYOUT, padding="nan")
    kernel[(1,)](desc)
    (moved,), _ = launches.seen[0]
    assert isinstance(moved.base, on_device.DeviceArray) and desc.base is x
    for name in ("shape", "strides", "block_shape", "layout", "padding", "round_f32_to_tf32"):
        assert getattr(moved, name) == getattr(desc, name)


def test_a_descriptor_and_an_array_share_their_memory(launches):
    x = np.zeros((16, 16), np.int32)
    kernel[(1,)](explicit(x), x)
    (desc, array), _ = launches.seen[0]
    assert desc.base.data_ptr() == array.data_ptr()


def test_explicit_kernels_are_repeated(launches, monkeypatch):
    monkeypatch.setattr(on_device, "REPEATS", 4)
    kernel[(1,)](np.zeros((16, 16), np.int32))
    assert len(launches.seen) == 4
    launches.ir["text"] = "ttnvgpu.async_tma_reduce"
    kernel[(1,)](np.zeros((16, 16), np.int32))
    assert len(launches.seen) == 5
