"""What the interpreter takes as arguments."""

from __future__ import annotations

import threading

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl
from tile.language.extra import cuda


@tile.jit
def double(x_ptr, out_ptr, n, x_stride, out_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * x_stride, mask=i < n)
    tl.store(out_ptr + i * out_stride, x + x, mask=i < n)


KINDS = [
    np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32, np.float64,
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_views_of_arrays_of_any_type(kind):
    x, out = np.arange(20).astype(kind), np.zeros(30, kind)
    expected = x + x
    double.interpret(x[18::-2], out[1::3], 10, -2, 3, BLOCK=4, grid=(3,))
    np.testing.assert_array_equal(out[1::3], expected[18::-2])
    assert not out[0::3].any()
    assert not out[2::3].any()


def test_booleans_are_bytes():
    x = np.array([True, False, True, True])
    out = np.zeros(4, np.int32)
    flags.interpret(x, out, grid=(1,))
    assert out.tolist() == [1, 10, 1, 1]
    assert x.tolist() == [False, True, False, False]


@tile.jit
def flags(x_ptr, out_ptr):
    i = tl.arange(0, 4)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.where(x, 1, 10))
    tl.store(x_ptr + i, not x)


class Wrapped:
    """Something with NumPy's interface."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self.__array_interface__ = array.__array_interface__


def test_wrappers_and_reinterpretation():
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    double.interpret(Wrapped(x), Wrapped(out), 4, 1, 1, BLOCK=4, grid=(1,))
    assert out.tolist() == [0, 2, 4, 6]
    bits = np.array([1.0, 2.0, -3.0, 0.5], np.float16).view(np.int16)
    doubled = np.zeros(4, np.int16)
    double.interpret(
        tile.reinterpret(bits, tl.float16), tile.reinterpret(doubled, tl.float16), 4, 1, 1,
        BLOCK=4, grid=(1,),
    )  # fmt: skip
    assert doubled.view(np.float16).tolist() == [2, 4, -6, 1]


@tile.jit
def overlapping(x_ptr, y_ptr, n):
    i = tl.arange(0, 4)
    tl.store(x_ptr + i, tl.load(y_ptr + i) + 1)
    tl.store(y_ptr + 3, tl.load(x_ptr + 3) + n)


def test_arguments_that_share_memory():
    base = np.arange(8)
    overlapping.interpret(base[:4], base[2:6], 100, grid=(1,))
    assert base.tolist() == [3, 4, 5, 6, 4, 106, 6, 7]


@tile.jit
def tuples(pair, out_ptr):
    pointers, (n, nothing) = pair
    if nothing is None:
        for p in pointers:
            tl.atomic_add(out_ptr, tl.load(p) * n)


def test_tuples():
    out = np.zeros(1, np.int32)
    arrays = tuple(np.array([k], np.int32) for k in (1, 10, 100))
    tuples.interpret((arrays, (7, None)), out, grid=(2,))
    assert out.tolist() == [2 * 777]


@tile.jit
def slow(x_ptr, n):
    total = tl.load(x_ptr)
    for i in range(n):
        total += i if i > 3 and n > 2 else -i
    tl.store(x_ptr, total)


def test_threads_do_not_meet():
    arrays = [np.array([k], np.int64) for k in range(4)]
    threads = [
        threading.Thread(target=slow.interpret, args=(a, 60), kwargs={"grid": (1,)}) for a in arrays
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(range(4, 60)) - sum(range(4))
    assert [int(a[0]) for a in arrays] == [k + total for k in range(4)]


def test_nothing_to_do():
    x = np.zeros(0, np.float32)
    double.interpret(x, x, 0, 1, 1, BLOCK=4, grid=(2,))
    double.interpret(x, x, 5, 1, 1, BLOCK=4, grid=(0, 4))
    with pytest.raises(tile.InterpreterError, match=r"element 0 of `(x|out)_ptr`, .* shape \(0,\)"):
        double.interpret(x, x, 1, 1, 1, BLOCK=4, grid=(2,))


@tile.jit
def returning(x_ptr):
    return tl.load(x_ptr)


def test_kernels_return_nothing():
    with pytest.raises(tile.CompilationError, match="a kernel returns nothing; store its results"):
        returning.interpret(np.zeros(1), grid=(1,))


def test_a_launch_tells_its_options():
    x = np.zeros(4, np.float32)
    kernel = double.interpret(x, x, 4, 1, 1, BLOCK=4, grid=(2, 1), num_warps=8)
    assert (kernel.name, kernel.grid, kernel.num_warps) == ("double", (2, 1, 1), 8)
    with pytest.raises(AttributeError, match="an interpreted kernel has no `asm`: nothing was"):
        _ = kernel.asm


@tile.jit
def device_facts(out_ptr):
    before = cuda.globaltimer()
    tl.store(out_ptr, cuda.num_warps() * 1000 + cuda.num_threads() + cuda.smid())
    later = (cuda.globaltimer() >= before).to(tl.int32)
    tl.store(out_ptr + 1, later + tl.target_info.is_cuda())


@pytest.mark.nvidia("asks for its special registers")
def test_what_a_device_would_tell():
    out = np.zeros(2, np.int32)
    device_facts.interpret(out, grid=(1,), num_warps=2)
    assert out.tolist() == [2064, 2]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_torch_tensors(device):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    for kind in (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.float8_e5m2):
        base = torch.arange(20, device=device).to(kind)
        out = torch.zeros(10, device=device).to(kind)
        double.interpret(base[1::2], out, 10, 2, 1, BLOCK=16, grid=(1,))
        expected = (2 * torch.arange(20, device=device)[1::2]).to(kind)
        assert torch.equal(out.float(), expected.float())
        # Views of one tensor, in and out.
        double.interpret(base, base[1:], 1, 1, 1, BLOCK=1, grid=(1,))
        assert base.float()[:3].tolist() == [0, 0, 2]
