"""Accesses that leave their array, and other mistakes: the whole message."""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
import pytest
from frontend import without_page

import tile
import tile.language as tl


def message(kernel, *arguments, grid=(1,), error=tile.InterpreterError, **constants) -> str:
    """The error of a launch, with the file's name short, without the remedy."""
    return with_remedy(kernel, *arguments, grid=grid, error=error, **constants).split("\nhelp: ")[0]


def with_remedy(kernel, *arguments, grid=(1,), error=tile.InterpreterError, **constants) -> str:
    """The error of a launch, with the file's name short."""
    with pytest.raises(error) as caught:
        kernel.interpret(*arguments, grid=grid, **constants)
    return exact(str(caught.value).replace(__file__, "FILE"))


def exact(text: str) -> str:
    """The text; without carets where Python does not tell them columns."""
    if sys.version_info >= (3, 11):
        return text
    return "\n".join(line for line in text.splitlines() if set(line) - set(" ^") or not line)


def line(kernel, offset: int) -> int:
    return kernel.fn.__code__.co_firstlineno + offset


@tile.jit
def ragged(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x)


def test_a_load_without_a_mask():
    x, out = np.zeros((4, 5), np.float32), np.zeros(32, np.float32)
    assert message(ragged, x, out, BLOCK=8, grid=(4,)) == exact(
        f'\n  File "FILE", line {line(ragged, 3)}, in ragged\n'
        "    x = tl.load(x_ptr + i)\n"
        "        ^^^^^^^^^^^^^^^^^^\n"
        "error: load out of bounds: element 20 of `x_ptr`, which has the shape (4, 5) and elements "
        "of type fp32 (at [4] of the block; 4 of 8 elements are out of bounds), in program "
        "(2, 0, 0)"
    )


def test_a_store_without_a_mask():
    x, out = np.zeros(32, np.uint8), np.zeros(9, ml_dtypes.bfloat16)
    assert message(ragged, x, out, BLOCK=8, grid=(4,)) == exact(
        f'\n  File "FILE", line {line(ragged, 4)}, in ragged\n'
        "    tl.store(out_ptr + i, x)\n"
        "    ^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "error: store out of bounds: element 9 of `out_ptr`, which has the shape (9,) and elements "
        "of type bf16 (at [1] of the block; 7 of 8 elements are out of bounds), in program "
        "(1, 0, 0)"
    )
    assert (out[:8] == 0).all()


@tile.jit
def indirect(index_ptr, x_ptr, out_ptr):
    i = tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]
    at = tl.load(index_ptr + i)
    tl.store(out_ptr + i, take(x_ptr, at))


@tile.jit
def take(p, at):
    return tl.load(p + at, mask=at != 100, other=0)


def test_an_indirect_load_in_a_function():
    x, out = np.arange(5, dtype=np.int64), np.full(4, 7, np.int64)
    indices = np.array([4, 100, 0, 3], np.int32)
    indirect.interpret(indices, x, out, grid=(1,))
    assert out.tolist() == [4, 0, 0, 3]
    indices[3] = -1
    assert message(indirect, indices, x, out) == exact(
        f'\n  File "FILE", line {line(indirect, 4)}, in indirect\n'
        "    tl.store(out_ptr + i, take(x_ptr, at))\n"
        "                          ^^^^^^^^^^^^^^^\n"
        f'  File "FILE", line {line(take, 2)}, in take\n'
        "    return tl.load(p + at, mask=at != 100, other=0)\n"
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "error: load out of bounds: element -1 of `x_ptr`, which has the shape (5,) and elements "
        "of type int64 (at [1, 1] of the block), in program (0, 0, 0)"
    )


@tile.jit
def scalar(x_ptr, n):
    tl.store(x_ptr + n, 1)


def test_scalars_far_away_and_next_to_other_arrays():
    base = np.zeros(300, np.int16)
    x = base[100:200]
    scalar.interpret(x, 99, grid=(1,))
    assert base[199] == 1
    for n in (-1, 100, 2**31 - 1, -(2**31)):
        assert message(scalar, x, n).splitlines()[-1] == (
            f"error: store out of bounds: element {n} of `x_ptr`, which has the shape (100,) and "
            "elements of type int16, in program (0, 0, 0)"
        )


def test_arrays_that_only_read():
    x = np.zeros(4, np.int16)
    x.flags.writeable = False
    assert message(scalar, x, 2).splitlines()[-1] == (
        "error: store writes to `x_ptr`, which is read-only, in program (0, 0, 0)"
    )


def test_each_error_says_what_to_do():
    x, out = np.zeros(4, np.float32), np.zeros(8, np.float32)
    assert with_remedy(ragged, x, out, BLOCK=8).endswith(
        "\nhelp: mask the load: switch off the elements that are outside of the array"
    )
    assert with_remedy(block_pointer, np.zeros((3, 4), np.float32), out, 3).endswith(
        "\nhelp: name each dimension that may leave the array in `boundary_check`"
    )
    x.flags.writeable = False
    assert with_remedy(scalar, x, 2).endswith(
        "\nhelp: pass an array that may be written, such as a copy"
    )


@tile.jit
def misaligned(x_ptr):
    p = (x_ptr.to(tl.int64) + 2).to(tl.pointer_type(tl.int32))
    tl.store(p, 1)


def test_misaligned_addresses():
    assert message(misaligned, np.zeros(4, np.int32)).splitlines()[-1] == (
        "error: store of elements of 4 bytes of `x_ptr` at an address that is not a multiple of 4, "
        "in program (0, 0, 0)"
    )


@tile.jit
def invented(x_ptr):
    p = tl.full((), 4096, tl.int64).to(tl.pointer_type(tl.int32))
    tl.store(x_ptr, tl.load(p))


def test_addresses_of_nothing():
    assert message(invented, np.zeros(4, np.int32)).splitlines()[-1] == (
        "error: load at the address 0x1000, where no argument is, in program (0, 0, 0)"
    )
    assert with_remedy(invented, np.zeros(4, np.int32)).endswith(
        "\nhelp: an array whose address the kernel has loaded is named by "
        "`with tile.sim.reachable(array):`"
    )


@tile.jit
def block_pointer(x_ptr, out_ptr, n):
    p = tl.make_block_ptr(x_ptr, (n, 4), (4, 1), (2, 0), (2, 4), (1, 0))
    x = tl.load(p, boundary_check=(1,))
    tl.store(out_ptr + tl.arange(0, 8), tl.reshape(x, (8,)))


def test_block_pointers():
    x, out = np.arange(12, dtype=np.float16).reshape(3, 4), np.zeros(8, np.float16)
    assert message(block_pointer, x, out, 3).splitlines()[-1] == (
        "error: load of a block pointer out of bounds: element 12 of `x_ptr`, which has the shape "
        "(3, 4) and elements of type fp16 (at [1, 0] of the block; 4 of 8 elements are out of "
        "bounds), in program (0, 0, 0)"
    )


@tile.jit
def atomics(x_ptr, n):
    i = tl.arange(0, 4)
    tl.atomic_add(x_ptr + i, 1, mask=(i < n) & (i != 1))


def test_atomics():
    x = np.zeros(3, np.float32)
    atomics.interpret(x, 3, grid=(5,))
    assert x.tolist() == [5, 0, 5]
    assert message(atomics, x, 4).splitlines()[-1] == (
        "error: atomic operation out of bounds: element 3 of `x_ptr`, which has the shape (3,) and "
        "elements of type fp32 (at [3] of the block), in program (0, 0, 0)"
    )


@tile.jit
def gathering(x_ptr, n):
    i = tl.arange(0, 4)
    tl.store(x_ptr + i, tl.gather(tl.load(x_ptr + i), i * n, 0))


def test_gather():
    assert message(gathering, np.arange(4), 3).splitlines()[-1] == (
        "error: gather takes element 6 along dimension 0, which has 4 elements (at [2] of the "
        "index), in program (0, 0, 0)"
    )


@tile.jit
def promises(x_ptr, n, KIND: tl.constexpr):
    i = tl.arange(0, 4) + n
    if KIND == "assume":
        tl.assume(n < 3)
    elif KIND == "device_assert":
        tl.device_assert(i < 5, "too far")
    elif KIND == "assert":
        assert n == 2, "n is wrong"
    elif KIND == "multiple_of":
        i = tl.multiple_of(i, 4)
    elif KIND == "max_contiguous":
        i = tl.max_contiguous(i * 2, 4)
    elif KIND == "max_constancy":
        i = tl.max_constancy(i // 4, 4)
    tl.store(x_ptr, tl.sum(i, 0))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("assume", "tl.assume promises something that does not hold here"),
        ("device_assert", "assertion failed: too far (at [2] of the block; 2 of 4 elements)"),
        ("assert", "assertion failed: n is wrong"),
        ("multiple_of", "tl.multiple_of promises 4, which does not hold for [3, 4, 5, 6]"),
        ("max_contiguous", "tl.max_contiguous promises 4, which does not hold for [6, 8, 10, 12]"),
        ("max_constancy", "tl.max_constancy promises 4, which does not hold for [0, 1, 1, 1]"),
    ],
)
def test_promises_are_checked(kind, expected):
    text = message(promises, np.zeros(1, np.int32), 3, KIND=kind)
    assert text.splitlines()[-1] == f"error: {expected}, in program (0, 0, 0)"
    if kind in ("assume", "device_assert"):
        promises.interpret(np.zeros(1, np.int32), 0, KIND=kind, grid=(1,))


@tile.jit
def waiting(flag_ptr, out_ptr, n, SPIN: tl.constexpr):
    pid = tl.program_id(0)
    polls = 0
    if SPIN == "cas":
        while tl.atomic_cas(flag_ptr, n - 1 - pid, n - pid) != n - 1 - pid:
            pass
    elif SPIN == "load":
        x = tl.load(flag_ptr)
        while x != n - pid:
            x = tl.load(flag_ptr, volatile=True)
    else:
        while tl.load(flag_ptr) != n - pid and polls < 2000:
            polls += 1
    tl.store(out_ptr + pid, polls)


@pytest.mark.parametrize("spin", ["cas", "load", "count"])
def test_waiting_for_a_later_program(spin):
    out = np.full(4, -1, np.int32)
    if spin == "count":
        waiting.interpret(np.zeros(1, np.int32), out, 4, SPIN=spin, grid=(2,))
        assert out.tolist() == [2000, 2000, -1, -1]
        return
    text = message(waiting, np.zeros(1, np.int32), out, 4, SPIN=spin, grid=(2,))
    assert text.splitlines()[-1] == (
        "error: this loop does not end: an iteration changes nothing that the next one sees "
        "(programs run one after another, so that none can wait for a later one), in program "
        "(0, 0, 0)"
    )
    waiting.interpret(np.array([3], np.int32), out, 4, SPIN="cas", grid=(1,))
    assert out.tolist() == [0, -1, -1, -1]


@tile.jit
def assembly(x_ptr):
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x_ptr)], tl.int32, True, 1)
    tl.store(x_ptr, x)


def test_inline_assembly_is_refused():
    assert message(assembly, np.zeros(1, np.int32)).splitlines()[-1] == (
        "error: the interpreter cannot run inline assembly; choose another way of computing this "
        "when tile.knobs.runtime.interpret is set, or run the kernel in the simulator, in program "
        "(0, 0, 0)"
    )


@tile.jit
def block_condition(x_ptr):
    if tl.load(x_ptr + tl.arange(0, 4)) > 0:
        tl.store(x_ptr, 1)


@tile.jit
def wrong_shapes(x_ptr):
    tl.store(x_ptr, tl.sum(tl.arange(0, 4) + tl.arange(0, 8), 0))


def test_rules_of_the_language_give_the_compilers_errors():
    text = message(block_condition, np.zeros(4, np.int32), error=tile.CompilationError)
    assert without_page(text) == exact(
        f'\n  File "FILE", line {line(block_condition, 2)}, in block_condition\n'
        "    if tl.load(x_ptr + tl.arange(0, 4)) > 0:\n"
        "       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "error: the condition of `if` must be a scalar, but it is a block (<[4], int1>); reduce it "
        "first, or use tl.where to choose element by element"
    )
    x = np.zeros(4, np.int32)
    for kernel in (block_condition, wrong_shapes):
        text = message(kernel, x, error=tile.CompilationError)
        with pytest.raises(tile.CompilationError) as caught:
            kernel.simulate(x, grid=(1,))
        assert text == exact(str(caught.value).replace(__file__, "FILE"))


def test_arguments_that_it_cannot_take():
    with pytest.raises(tile.TileError, match="missing 1 required positional argument: 'n'"):
        scalar.interpret(np.zeros(4, np.int32), grid=(1,))
    with pytest.raises(tile.TileError, match="`scalar` has no parameter `warps`"):
        scalar.interpret(np.zeros(4, np.int32), 3, warps=4, grid=(1,))
    with pytest.raises(tile.TileError, match="the grid of `scalar` must"):
        scalar.interpret(np.zeros(4, np.int32), 3, grid="x")
