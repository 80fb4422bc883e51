"""Inline assembly on elements: packed, of several results, with side effects."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tile
import tile.language as tl

# The interpreter has no PTX.
pytestmark = [pytest.mark.compiled, pytest.mark.nvidia("its assembly is PTX")]


@tile.jit
def packed_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    # Four bytes at a time: each is inverted.
    y = tl.inline_asm_elementwise(
        "not.b32 $0, $1;", "=r,r", [tl.load(x_ptr + i)], dtype=tl.uint8, is_pure=True, pack=4
    )
    tl.store(out_ptr + i, y)


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("n", [4, 64, 1024])
def test_packs_of_bytes(n, warps):
    x = np.random.default_rng(n).integers(0, 256, n).astype(np.uint8)
    out = np.zeros(n, np.uint8)
    packed_kernel[(1,)](x, out, N=n, num_warps=warps)
    np.testing.assert_array_equal(out, ~x)


@tile.jit
def halves_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    z = tl.inline_asm_elementwise(
        "add.rn.f16x2 $0, $1, $2;", "=r,r,r", [tl.load(x_ptr + i), tl.load(y_ptr + i)],
        dtype=tl.float16, is_pure=True, pack=2,
    )  # fmt: skip
    tl.store(out_ptr + i, z)


@pytest.mark.parametrize("n", [2, 256])
def test_pairs_of_halves(n):
    generator = np.random.default_rng(1)
    x, y = (generator.standard_normal(n).astype(np.float16) for _ in range(2))
    out = np.zeros(n, np.float16)
    halves_kernel[(1,)](x, y, out, N=n)
    np.testing.assert_array_equal(out, x + y)


@tile.jit
def results_kernel(x_ptr, y_ptr, a_ptr, b_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    low, high = tl.inline_asm_elementwise(
        "mul.lo.u32 $0, $2, $3;\nmul.hi.u32 $1, $2, $3;", "=&r,=&r,r,r", [x, y],
        dtype=(tl.uint32, tl.uint32), is_pure=True, pack=1,
    )  # fmt: skip
    tl.store(a_ptr + i, low)
    tl.store(b_ptr + i, high)


def test_two_results():
    generator = np.random.default_rng(2)
    x, y = (generator.integers(0, 2**32, 128, dtype=np.uint32) for _ in range(2))
    low, high = np.zeros(128, np.uint32), np.zeros(128, np.uint32)
    results_kernel[(1,)](x, y, low, high, N=128)
    product = x.astype(np.uint64) * y
    np.testing.assert_array_equal(low, product.astype(np.uint32))
    np.testing.assert_array_equal(high, (product >> 32).astype(np.uint32))


@tile.jit
def unpack_kernel(x_ptr, a_ptr, b_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    # Bytes become 16-bit integers and floats, four elements at a time.
    a, b = tl.inline_asm_elementwise(
        """
        {
        .reg .b32 t<4>;
        prmt.b32 $0, $6, 0, 0x4140;
        prmt.b32 $1, $6, 0, 0x4342;
        and.b32 t0, $6, 0xff;
        bfe.u32 t1, $6, 8, 8;
        bfe.u32 t2, $6, 16, 8;
        shr.u32 t3, $6, 24;
        cvt.rn.f32.u32 $2, t0;
        cvt.rn.f32.u32 $3, t1;
        cvt.rn.f32.u32 $4, t2;
        cvt.rn.f32.u32 $5, t3;
        }
        """,
        "=&r,=&r,=&r,=&r,=&r,=&r,r", [tl.load(x_ptr + i)], dtype=(tl.int16, tl.float32),
        is_pure=True, pack=4,
    )  # fmt: skip
    tl.store(a_ptr + i, a)
    tl.store(b_ptr + i, b)


@pytest.mark.parametrize("n", [4, 128, 512])
def test_results_of_several_widths(n):
    x = np.random.default_rng(3).integers(0, 256, n).astype(np.uint8)
    a, b = np.zeros(n, np.int16), np.zeros(n, np.float32)
    unpack_kernel[(1,)](x, a, b, N=n)
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(b, x)


@tile.jit
def wide_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.inline_asm_elementwise(
        "add.s64 $0, $1, $2;", "=l,l,l", [tl.load(x_ptr + i), i.to(tl.int64)], dtype=tl.int64,
        is_pure=True, pack=1,
    )  # fmt: skip
    z = tl.inline_asm_elementwise(
        "fma.rn.f64 $0, $1, $1, $1;", "=d,d", [tl.load(x_ptr + i).to(tl.float64)],
        dtype=tl.float64, is_pure=True, pack=1,
    )  # fmt: skip
    tl.store(out_ptr + i, y + z.to(tl.int64))


def test_wide_elements():
    x = np.random.default_rng(4).integers(-(2**20), 2**20, 64)
    out = np.zeros(64, np.int64)
    wide_kernel[(1,)](x, out, N=64)
    np.testing.assert_array_equal(out, x + np.arange(64) + x * x + x)


@tile.jit
def mixed_kernel(x_ptr, y, out_ptr, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    # Operands are broadcast to one shape; a scalar is one too.
    r = tl.inline_asm_elementwise(
        "mad.lo.s32 $0, $1, $2, $3;", "=r,r,r,r", [m[:, None], n[None, :], y],
        dtype=tl.int32, is_pure=False, pack=1,
    )  # fmt: skip
    tl.store(out_ptr + m[:, None] * N + n[None, :], r)


def test_operands_of_several_shapes():
    out = np.zeros((8, 16), np.int32)
    mixed_kernel[(1,)](None, 5, out, M=8, N=16)
    np.testing.assert_array_equal(out, np.arange(8)[:, None] * np.arange(16) + 5)


@tile.jit
def scalar_kernel(out_ptr):
    lane = tl.inline_asm_elementwise(
        "mov.u32 $0, 0x1234;", "=r", [], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr, lane)


def test_no_operands():
    out = np.zeros(1, np.int32)
    scalar_kernel[(1,)](out)
    assert out[0] == 0x1234


@tile.jit
def faulty_kernel(out_ptr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr):
    i = tl.arange(0, 4)
    x = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize(
    ("text", "constraints", "message"),
    [
        ("bogus.u32 $0, $1;", "=r,r", "unknown instruction 'bogus'|known instruction: 'bogus'"),
        ("mov.u64 $0, $1;", "=l,r", "has type .b32, expected .u64|Arguments mismatch"),
        ("mov.u32 $0, $1;", "=r", "the registers of the constraints do not fit"),
        ("mov.u32 $0, $1", "=r,r", "expected ';'|Parsing error near"),
        ("{ .reg .u32 t; mov.u32 $0, $1;", "=r,r", "in a function body|Parsing error near"),
        ("mov.u32 $0, $2;", "=r,r", r"names the operand \$2, but the constraints have 2"),
        ("mov.u32 $0, ${9:x};", "=r,r", r"names the operand \$9, but the constraints have 2"),
        ("mov.u32 $0, $x;", "=r,r", "expects the number of an operand"),
        ("mov.u32 $0, $", "=r,r", "expects the number of an operand"),
        ("mov.u32 $0, ${1;", "=r,r", "expects the number of an operand"),
    ],
)
def test_mistakes_have_the_place_of_the_call(text, constraints, message):
    """What the compiler says, what the simulator says, and on a GPU what ptxas says."""
    with pytest.raises(tile.TileError, match=message) as caught:
        faulty_kernel[(1,)](np.zeros(4, np.int32), text, constraints)
    assert "x = tl.inline_asm_elementwise(" in str(caught.value)


@tile.jit
def dollar_kernel(out_ptr):
    # An escaped dollar is no operand.
    x = tl.inline_asm_elementwise(
        "{ .reg .u32 $$t; mov.u32 $$t, 5; mov.u32 $0, $$t; }", "=r", [], dtype=tl.int32,
        is_pure=True, pack=1,
    )  # fmt: skip
    tl.store(out_ptr, x)


def test_dollars_in_names():
    out = np.zeros(1, np.int32)
    dollar_kernel[(1,)](out)
    assert out[0] == 5


@tile.jit
def released(x_ptr, flag_ptr, out_ptr, wanted, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.inline_asm_elementwise(
        "st.release.gpu.global.b32 [$1], 1; mov.u32 $0, 0;", "=r,l", [flag_ptr], tl.int32, False, 1
    )
    if wanted > 3:
        tl.store(out_ptr + i, x)


def test_loads_stay_before_assembly_that_is_not_pure():
    """Others may write what was read once they see the flag."""
    x, flag, out = np.arange(64, dtype=np.float32), np.zeros(1, np.int32), np.zeros(64, np.float32)
    ptx = released[(1,)](x, flag, out, 4, 64).asm["ptx"]
    assert ptx.index("ld.global") < ptx.index("st.release") < ptx.index("bra")


@tile.jit
def weights_first(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    weights = tl.load(w_ptr + i)
    tl.extra.cuda.gdc_wait()
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        total += tl.load(x_ptr + k * BLOCK + i) * weights
    tl.extra.cuda.gdc_launch_dependents()
    tl.store(out_ptr + i, total)


def test_what_is_loaded_before_other_kernels_have_ended(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    x, w, out = np.ones((3, 64), np.float32), np.arange(64, dtype=np.float32), np.zeros(64)
    out = out.astype(np.float32)
    ptx = weights_first[(1,)](x, w, out, 3, 64, launch_pdl=True).asm["ptx"]
    np.testing.assert_array_equal(out, 3 * w)
    first, *others = (m.start() for m in re.finditer("ld.global", ptx))
    wait, launch = ptx.index("griddepcontrol.wait"), ptx.index("griddepcontrol.launch_dependents")
    assert first < wait < min(others) and max(others) < launch < ptx.index("st.global")


@tile.jit
def mistaken(a_ptr, out_ptr, steps):
    n = tl.arange(0, 64)
    at = n[:, None] * 64 + n[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    for k in tl.range(0, steps, warp_specialize=True):
        a = tl.load(a_ptr + k * 4096 + at)
        acc = tl.dot(a, a, acc)
    acc = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r,r", [acc], tl.float32, True, 1)
    tl.store(out_ptr + at, acc)


def test_mistakes_behind_specialised_loops(monkeypatch):
    """The process ended when what the loop had become was taken back."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    a, out = np.ones((3, 64, 64), np.float16), np.zeros((64, 64), np.float32)
    with pytest.raises(tile.CompilationError, match="do not fit the operands and results"):
        mistaken[(1,)](a, out, 3)
