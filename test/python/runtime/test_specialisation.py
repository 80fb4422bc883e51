"""What kernels are compiled for: the kinds, types and values of their arguments."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl
from tile.runtime.specialize import specialize


@tile.jit
def fill_kernel(out_ptr, value, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, value, mask=offsets < n)


@sim_only
def test_keys_of_arguments():
    aligned = np.zeros(64, np.float32)
    while aligned.ctypes.data % 16:
        aligned = np.zeros(64, np.float32)
    assert specialize(aligned) == "*fp32D"
    assert specialize(aligned[1:]) == "*fp32"
    assert [specialize(v) for v in (1, 2, 16, 2**31, 2**40, 2**63, True, 1.5, None)] == [
        "1", "i32", "i32D", "i64D", "i64D", "u64D", "i1", "fp32", "None",
    ]  # fmt: skip
    assert specialize((aligned, (1, 3))) == ("*fp32D", ("1", "i32"))
    assert specialize(np.int64(5)) == "i32"
    assert [specialize(v) for v in (8, -24, 2**40 + 8, 4)] == ["i32E", "i32SE", "i64E", "i32"]
    assert [specialize(v) for v in (-1, -16, -(2**31), -(2**31) - 1, 0)] == [
        "i32S", "i32SD", "i32SD", "i64S", "i32D",
    ]  # fmt: skip
    assert [specialize(2**30 + v) for v in (-1, 0, 1, 2**30 - 1, 2**30)] == [
        "i32", "i32LD", "i32L", "i32L", "i64D",
    ]  # fmt: skip


@sim_only
def test_unsupported_arguments():
    with pytest.raises(tile.TileError, match="a dict cannot be an argument of a kernel"):
        fill_kernel[(1,)]({}, 1.0, 5)
    with pytest.raises(tile.TileError, match="elements of type complex64 are not supported"):
        fill_kernel[(1,)](np.zeros(4, np.complex64), 1.0, 5)
    with pytest.raises(tile.TileError, match="does not fit in 64 bits"):
        fill_kernel[(1,)](np.zeros(4, np.int32), 2**70, 5)


class Memory:
    """What torch's tensors are for the simulator."""

    dtype = tl.float32

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def untyped_storage(self) -> Memory:
        return self

    def nbytes(self) -> int:
        return self.array.nbytes


class StandsForMemory:
    """A class of a program's that is launched as a tensor."""

    dtype = tl.float32

    def __init__(self, data: object, address: int) -> None:
        self.data, self.address = data, address

    def data_ptr(self) -> int:
        return self.address


@sim_only
def test_what_stands_for_a_tensor():
    out = np.zeros(8, np.float32)
    fill_kernel[(1,)](StandsForMemory(Memory(out), out.ctypes.data), 2.0, 8)
    assert (out == 2).all()
    with pytest.raises(tile.TileError, match="out-of-bounds"):
        fill_kernel[(1,)](StandsForMemory(Memory(out), out.ctypes.data), 2.0, 9)
    with pytest.raises(tile.TileError, match="cannot tell how much memory this StandsForMemory"):
        fill_kernel[(1,)](StandsForMemory(None, out.ctypes.data), 2.0, 8)
    lost = StandsForMemory(Memory(out[:0]), 0)
    lost.numel = lambda: 8
    with pytest.raises(tile.DriverError, match="the memory of a tensor's 8 elements was given bac"):
        fill_kernel[(1,)](lost, 2.0, 8)


def test_specialisation_reaches_the_ir():
    out = poisoned(64, "fp32")
    kernel = fill_kernel[(1,)](out, 1.0, 32)
    hints = "{tt.divisibility = 16 : i32, tt.max = 1073741823 : i32, tt.non_negative = 1 : i32}"
    assert f"%n: i32 {hints}" in kernel.asm["ttir"]
    kernel = fill_kernel[(1,)](out, 1.0, 2**30)
    assert "tt.non_negative" in kernel.asm["ttir"] and "tt.max" not in kernel.asm["ttir"]
    kernel = fill_kernel[(1,)](out, 1.0, 1)
    assert "%n" not in kernel.asm["ttir"].split("{", 2)[1]
    assert out[0] == 1.0


def test_do_not_specialize():
    @tile.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["m"])
    def kernel(out_ptr, n, m):
        tl.store(out_ptr, n + m)

    out = poisoned(1, "i32")
    compiled = kernel[(1,)](out, 1, 16)
    assert out[0] == 17
    arguments = compiled.asm["ttir"].split("@kernel(")[1].split("attributes")[0]
    assert "%n: i32 loc" in arguments
    assert "%m: i32 {tt.max = 1073741823 : i32, tt.non_negative = 1 : i32} loc" in arguments
    assert kernel[(1,)](out, 16, 32) is compiled
    # Nothing is known of the sign of `n`, so it is no reason to compile again.
    assert kernel[(1,)](out, -16, 32) is compiled
    assert out[0] == 16


def test_signs_of_integers_are_specialised():
    @tile.jit
    def kernel(x_ptr, out_ptr, start, size, BLOCK: tl.constexpr):
        offsets = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + 512 + offsets % size))

    x = np.arange(1024, dtype=np.int32)
    out = poisoned(512, "i32")
    compiled = {}
    for start, size in [(16, 256), (48, 128), (-32, 256), (-512, 256), (16, -256), (0, 512)]:
        compiled[start, size] = kernel[(1,)](x, out, start, size, BLOCK=512)
        expected = np.fmod(start + np.arange(512), size) + 512
        np.testing.assert_array_equal(out, expected)
    assert compiled[16, 256] is compiled[48, 128] is compiled[0, 512]
    assert compiled[-32, 256] is compiled[-512, 256]
    assert len({id(k) for k in compiled.values()}) == 3
    hints = [k.asm["ttir"].split("@kernel(")[1].split("attributes")[0] for k in compiled.values()]
    assert [h.count("tt.non_negative") for h in hints] == [2, 2, 1, 1, 1, 2]
    # Only runs that are known to go up are loaded four at a time. A small dividend that is not
    # negative cannot wrap around, and then the divisor's sign says nothing.
    wide = [
        bool(re.search(r"ld\.global\.(v4\.b32|v2\.b64)", k.asm["ptx"]))
        for k in compiled.values()
        if "ptx" in k.asm
    ]
    assert wide in ([True, True, False, False, True, True], [])


def test_annotated_types():
    @tile.jit
    def kernel(out_ptr, n: tl.int64):
        tl.store(out_ptr, n)

    out = poisoned(1, "i64")
    compiled = kernel[(1,)](out, 3)
    assert "%n: i64" in compiled.asm["ttir"]
    assert out[0] == 3


@tile.jit
def count(out_ptr, start, stop, STEP: tl.constexpr):
    n = 0
    for _ in range(start, stop, STEP):
        n += 1
    tl.store(out_ptr, n)


def test_sizes_of_integers_are_specialised():
    """A loop up to an argument counts past its type where that is large, and only there."""
    out = poisoned(1, "i32")
    compiled = {}
    for start, stop in [(5, 300), (0, 2**30 - 1), (2**31 - 333, 2**31 - 1), (2**30 - 99, 2**30)]:
        compiled[stop] = count[(1,)](out, start, stop, STEP=2**28 if start < 5 else 64)
        assert out[0] == len(range(start, stop, 2**28 if start < 5 else 64))
    small, _, large, edge = compiled.values()
    assert "tt.max = 1073741823" in small.asm["ttir"].split("%stop")[1].split("loc")[0]
    for kernel in (large, edge):
        assert "tt.max" not in kernel.asm["ttir"].split("%stop")[1].split("loc")[0]


@tile.jit
def typed(out, a: tl.int8, b: tl.uint8, c: tl.int16, d: tl.uint32, e: tl.int64, f: tl.uint64):
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 3, d)
    tl.store(out + 4, e)
    tl.store(out + 5, f)


@pytest.mark.both_ways
def test_integers_fit_their_parameters():
    out = np.zeros(6, np.int64)
    least = (-128, 0, -(2**15), 0, -(2**63), 0)
    most = (127, 255, 2**15 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1)
    for values in (least, most, (-1, 200, -1, 2**31, 7, 2**63)):
        typed[(1,)](out, *values)
        assert out.astype(object).tolist() == [*values[:5], np.uint64(values[5]).astype(np.int64)]
    for i, name in enumerate("abcdef"):
        for wrong in (least[i] - 1, most[i] + 1, 2.5):
            values = [*least[:i], wrong, *least[i + 1 :]]
            # The second launch finds a kernel that was compiled before.
            for _ in range(2):
                with pytest.raises(tile.LaunchError, match=f"the argument `{name}`: "):
                    typed[(1,)](out, *values)


def test_the_bits_of_unsigned_numbers_are_not_taken_for_those_of_others():
    compiled = typed[(1,)](np.zeros(6, np.int64), 1, 200, 3, 2**31, 5, 6)
    hints = compiled.asm["ttir"].split("@typed(")[1].split("attributes")[0]
    for name, known in zip("abcdef", (0, 0, 1, 0, 1, 0), strict=True):
        assert hints.split(f"%{name}: ")[1].split("loc")[0].count("tt.non_negative") == known, name


@tile.jit
def rounded(out, h: tl.float16, b: tl.bfloat16, f: tl.float32):
    tl.store(out, h)
    tl.store(out + 1, b)
    tl.store(out + 2, f)


@pytest.mark.both_ways
def test_floats_are_rounded_once_and_have_no_end():
    out = np.zeros(3, np.float32)
    middle = 1 + 2.0**-8 + 2.0**-30  # To fp32 first, and then to even: 1.
    rounded[(1,)](out, 1 + 2.0**-11 + 2.0**-30, middle, 1 + 2.0**-24 + 2.0**-50)
    assert out.tolist() == [1 + 2.0**-10, 1 + 2.0**-7, 1 + 2.0**-23]
    rounded[(1,)](out, 1e9, -1e39, 1e39)
    assert out.tolist() == [np.inf, -np.inf, np.inf]


def test_descriptions_of_arguments():
    """As programs with launchers of their own ask for them."""
    from tile.runtime.specialization import mangle_type, native_specialize_impl

    assert [mangle_type(v) for v in (5, -5, 2**30, 2**40, -(2**40), 2**63)] == [
        "i32", "i32", "i32", "i64", "i64", "u64",
    ]  # fmt: skip
    pairs = [native_specialize_impl(None, v, False, True, True) for v in (5, 16, -5, -16, 2**30)]
    assert pairs == [("i32", ""), ("i32", "D"), ("i32", "S"), ("i32", "DS"), ("i32", "DL")]
    assert native_specialize_impl(None, np.zeros(4, np.float32), True, False, False)[0] == "*kfp32"
