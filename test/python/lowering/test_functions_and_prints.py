"""Prints, assertions, calls that stay calls, the user's assembly, and line information."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import on_nvidia, poisoned, random, sim_only

import tile
import tile.language as tl

pytestmark = sim_only


@tile.jit
def print_kernel(i8, i64, u32, f16, f8, n):
    i = tl.arange(0, 2)
    tl.device_print("none")
    tl.device_print("scalar", n)
    tl.device_print("i8", tl.load(i8 + i))
    tl.device_print("i64", tl.load(i64 + i))
    tl.device_print("u32", tl.load(u32 + i))
    tl.device_print("f16", tl.load(f16 + i))
    tl.device_print("f8", tl.load(f8 + i).to(tl.float8e5, bitcast=True))
    tl.device_print("bool", i > 0)
    tl.device_print("hex", tl.load(i8 + i), hex=True)
    tl.device_print("two", i, i + 5)
    tl.device_print("pointer", i8)


def test_print(capsys):
    print_kernel[(1,)](
        np.array([-1, 7], np.int8), np.array([-(2**40), 3], np.int64),
        np.array([2**32 - 1, 4], np.uint32), np.array([1.5, -2], np.float16),
        np.array([0x3C, 0xC0], np.uint8), 42,
    )  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    expected = {
        "scalar": ["42"],
        "i8": ["-1", "7"],
        "i64": [str(-(2**40)), "3"],
        "u32": [str(2**32 - 1), "4"],
        "f16": ["1.500000", "-2.000000"],
        "f8": ["1.000000", "-2.000000"],
        "bool": ["0", "1"],
        "hex": ["0xff", "0x07"],
    }
    for name, values in expected.items():
        mark = f" {name}: "
        found = [line.split(mark, 1)[1].strip() for line in lines if mark in line]
        assert sorted(found) == sorted(values), (name, lines)
    assert sum(line.endswith(") none") for line in lines) == 1
    assert sum("(operand 0)" in line for line in lines) == 2
    assert sum("(operand 1)" in line for line in lines) == 2
    assert len([line for line in lines if re.search(r" pointer: 0x[0-9a-f]{6}", line)]) == 1


@tile.jit(debug=True)
def assert_kernel(x, n):
    i = tl.arange(0, 64)
    tl.device_assert(tl.load(x + i) < n, "out of range")


def test_assert_names_the_place_and_spares_other_launches():
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(Exception) as caught:
        assert_kernel[(1,)](x, 60)
    line = assert_kernel.fn.__code__.co_firstlineno + 3
    assert "out of range" in str(caught.value)
    assert f"test_functions_and_prints.py:{line}" in str(caught.value).replace('", line ', ":")
    assert_kernel[(1,)](x, 64)


@tile.jit(noinline=True)
def row_sums(x, ROWS: tl.constexpr, COLS: tl.constexpr):
    # Needs shared memory of its own: the axis is split over warps.
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    tile_ = tl.load(x + rows[:, None] * COLS + cols[None, :])
    return tl.sum(tile_, 0)


@tile.jit(noinline=True)
def twice(x, ROWS: tl.constexpr, COLS: tl.constexpr):
    return row_sums(x, ROWS, COLS) + row_sums(x + COLS, ROWS, COLS)


@tile.jit
def call_kernel(x, out, ROWS: tl.constexpr, COLS: tl.constexpr):
    cols = tl.arange(0, COLS)
    # The caller keeps values across the calls, in shared memory as well.
    before = tl.sum(tl.load(x + cols), 0)
    sums = twice(x, ROWS, COLS) + row_sums(x, ROWS, COLS)
    tl.store(out + cols, tl.flip(sums, 0) + before)


@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_calls_with_shared_memory(num_warps):
    x, out = random((33, 64), "i32", 1), poisoned(64, "i32")
    kernel = call_kernel[(1,)](x, out, 32, 64, num_warps=num_warps)
    expected = 2 * x[:32].sum(0) + x[1:].sum(0)
    np.testing.assert_array_equal(out, expected[::-1] + x[0].sum())
    if on_nvidia():
        assert kernel.asm["ptx"].count("call.uni") >= 3 or kernel.asm["ptx"].count("call ") >= 3
    else:
        # gfx1250 has another name for it.
        assert len(re.findall("s_swappc_b64|s_swap_pc_i64", kernel.asm["amdgcn"])) >= 3


@tile.jit
def packed_add_kernel(x, y, out, product, N: tl.constexpr):
    i = tl.arange(0, N)
    total, times = tl.inline_asm_elementwise(
        "add.f16x2 $0, $2, $3; mul.f16x2 $1, $2, $3;",
        "=r,=r,r,r",
        [tl.load(x + i), tl.load(y + i)],
        dtype=(tl.float16, tl.float16),
        is_pure=True,
        pack=2,
    )
    tl.store(out + i, total)
    tl.store(product + i, times)


@pytest.mark.nvidia("its assembly is PTX")
# A thread holds fewer elements than a copy of the assembly takes, as many, or more.
@pytest.mark.parametrize("n", [32, 128, 256, 1024])
def test_assembly_on_packs(n):
    x, y = random(n, "fp16", 1), random(n, "fp16", 2)
    total, product = poisoned(n, "fp16"), poisoned(n, "fp16")
    packed_add_kernel[(1,)](x, y, total, product, n)
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(product, x * y)


@tile.jit
def helper(x):
    return x * 3 + 1


@tile.jit
def located_kernel(x, out):
    i = tl.arange(0, 128)
    tl.store(out + i, helper(tl.load(x + i)))


def test_lines_of_inlined_functions():
    x, out = random(128, "i32", 1), poisoned(128, "i32")
    text = located_kernel[(1,)](x, out).asm["ptx" if on_nvidia() else "amdgcn"]
    np.testing.assert_array_equal(out, x * 3 + 1)
    outer = located_kernel.fn.__code__.co_firstlineno
    inner = helper.fn.__code__.co_firstlineno
    lines = {int(m) for m in re.findall(r"\.loc\s+\d+ (\d+) ", text)}
    assert outer + 3 in lines
    # The line of the function, and where it was called.
    assert re.search(rf"\.loc\s+\d+ {inner + 2} .*@\[ .*:{outer + 3}:", text)
