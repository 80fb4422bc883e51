"""Arrays that tell their place by DLPack alone."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.errors import DriverError, TileError
from tile.runtime import dlpack, overlap, specialize

pytestmark = sim_only

CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
SPECIAL = {
    ml_dtypes.bfloat16: 4, ml_dtypes.float8_e4m3fn: 10, ml_dtypes.float8_e5m2: 12,
    ml_dtypes.float8_e4m3b11fnuz: 9, ml_dtypes.float8_e4m3fnuz: 11, ml_dtypes.float8_e5m2fnuz: 13,
}  # fmt: skip
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Exported:
    """An array of a library that has nothing but DLPack."""

    def __init__(self, array: np.ndarray, device: int = dlpack.CPU, compact: bool = False) -> None:
        self.array = array
        code = SPECIAL.get(array.dtype.type, CODES.get(array.dtype.kind))
        size, rank = array.itemsize, array.ndim
        self.shape_of = (ctypes.c_int64 * rank)(*array.shape)
        self.strides_of = (ctypes.c_int64 * rank)(*(s // size for s in array.strides))
        tensor = self.tensor = dlpack._Tensor()
        # Half of the place in one field, half in the other.
        tensor.data, tensor.byte_offset = array.ctypes.data - 32, 32
        tensor.device_type, tensor.ndim = device, rank
        tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = code, size * 8, 1
        tensor.shape = self.shape_of
        if not compact:
            tensor.strides = self.strides_of

    def __dlpack__(self, **options: object) -> object:
        return _new(ctypes.addressof(self.tensor), b"dltensor", None)


@tile.jit
def double(x_ptr, out_ptr, n, x_stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * x_stride, mask=i < n)
    tl.store(out_ptr + i, x + x, mask=i < n)


KINDS = [
    np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32, np.float64,
    ml_dtypes.bfloat16,
]  # fmt: skip


@pytest.mark.parametrize("way", ["launch", "interpret"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_elements_of_any_type(kind, way):
    x, out = np.arange(40).astype(kind), np.zeros(20, kind)
    arguments = Exported(x[39::-2]), Exported(out, compact=True), 20, -2
    if way == "launch":
        double[(3,)](*arguments, BLOCK=8)
    else:
        double.interpret(*arguments, BLOCK=8, grid=(3,))
    np.testing.assert_array_equal(out, x[39::-2] + x[39::-2])


@pytest.mark.parametrize("kind", [*KINDS, *SPECIAL, np.bool_], ids=lambda k: k.__name__)
def test_they_are_specialised_as_numpys_are(kind):
    memory = np.zeros(32, kind)
    for shift in (0, 1, 16):
        array = memory[shift:]
        key = specialize.specialize(Exported(array))
        assert key == specialize.specialize(array), kind
        assert specialize.address_of(Exported(array)) == array.ctypes.data


def test_extents_and_overlap():
    memory = np.zeros((6, 8), np.float32)
    for array in (memory, memory[::2, 1:3], memory[::-1], memory.T, memory[:0]):
        assert overlap.extent(Exported(array)) == overlap.extent(array)
    assert overlap.extent(Exported(memory, compact=True)) == overlap.extent(memory)
    assert overlap.may_meet(Exported(memory[0]), memory[0, 3:], lambda address: None)


def test_what_is_refused():
    out = np.zeros(4, np.float32)
    with pytest.raises(TileError, match="DLPack's type 5 of 64 bits"):
        double[(1,)](Exported(np.zeros(4, np.complex64)), out, 4, 1, BLOCK=4)
    with pytest.raises(DriverError, match="this Exported is on a device"):
        double[(1,)](Exported(out, device=2), out, 4, 1, BLOCK=4)
    with pytest.raises(TileError, match="does not reach the memory of this Exported"):
        double.interpret(Exported(out, device=2), out, 4, 1, BLOCK=4, grid=(1,))

    class Closed:
        def __dlpack__(self) -> object:
            raise BufferError("it is being used")

    with pytest.raises(TileError, match="a Closed does not give its memory: it is being used"):
        double[(1,)](Closed(), out, 4, 1, BLOCK=4)
