"""The whole text of errors that need more than the front end: launches, passes,
and the settings that show more."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from frontend import without_page

import tile
import tile.language as tl
from tile.compiler import ASTSource, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

X = np.zeros(16, np.float32)


def first_line(fn) -> int:
    """The line of the `def`."""
    return fn.parse().node.lineno


def text_of(error: BaseException) -> str:
    return without_page(str(error)).replace(__file__, "FILE")


@tile.jit
def fill(
    out,
    n,
    value,
    BLOCK: tl.constexpr,
):
    tl.store(out + tl.arange(0, BLOCK), value)


def at_parameter(fn, name: str, offset: int, line: str, text: str) -> str:
    carets = " " * line.index(name) + "^" * len(line[line.index(name) :].rstrip(","))
    return (
        f'\n  File "FILE", line {first_line(fn) + offset}, in {fn.__name__}\n    {line}\n'
        f"    {carets}\nerror: {text}"
    )


def at_definition(fn, text: str) -> str:
    line = "def fill("
    return (
        f'\n  File "FILE", line {first_line(fn)}, in fill\n    {line}\n        ^^^^\nerror: {text}'
    )


def test_missing_argument():
    with pytest.raises(tile.LaunchError) as caught:
        fill[(1,)](X, 3, BLOCK=16)
    assert text_of(caught.value) == at_parameter(
        fill, "value", 3, "value,", "`fill` missing 1 required positional argument: 'value'"
    )


def test_argument_given_twice():
    with pytest.raises(tile.LaunchError) as caught:
        fill[(1,)](X, 3, 1.0, n=4, BLOCK=16)
    assert text_of(caught.value) == at_parameter(
        fill, "n", 2, "n,", "`fill` got multiple values for argument 'n'"
    )


@pytest.mark.parametrize(
    ("grid", "text"),
    [
        ("x", "the grid of `fill` must be a tuple of 1 to 3 integers, or a function that returns "
         "one, not 'x'"),
        ((), "the grid of `fill` must have 1 to 3 dimensions, not 0"),
        ((1, 1, 1, 1), "the grid of `fill` must have 1 to 3 dimensions, not 4"),
        ((1, -2), "the grid of `fill` has the extent -2; extents are integers from 0"),
        ((1.5,), "the grid of `fill` has the extent 1.5; extents are integers from 0"),
        ((1, 70000), "the grid of `fill` is (1, 70000, 1), but a GPU allows at most (2147483647, "
         "65535, 65535)"),
        (lambda meta: None, "the grid of `fill` must be a tuple of 1 to 3 integers, or a function "
         "that returns one, not None"),
    ],
)  # fmt: skip
def test_wrong_grid(grid, text):
    with pytest.raises(tile.LaunchError) as caught:
        fill[grid](X, 3, 1.0, BLOCK=16)
    assert text_of(caught.value) == at_definition(fill, text)


def test_unknown_option():
    with pytest.raises(tile.LaunchError) as caught:
        fill[(1,)](X, 3, 1.0, BLOCK=16, num_warp=8)
    assert text_of(caught.value) == at_definition(
        fill,
        "`fill` has no parameter `num_warp`, and no such option exists; its parameters are "
        "out, n, value, BLOCK; did you mean `num_warps`?",
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"BLOK": 16}, "`fill` has no parameter `BLOK`, and no such option exists; its parameters "
         "are out, n, value, BLOCK; did you mean `BLOCK`?"),
        pytest.param({"BLOCK": 16, "num_warps": 3},
                     "num_warps must be a power of 2 up to 32, not 3",
                     marks=pytest.mark.nvidia("how many warps there are")),
        ({"BLOCK": 16, "num_stages": 2.5}, "num_stages must be a non-negative integer, not 2.5"),
        pytest.param({"BLOCK": 16, "arch": "volta"},
                     "the option `arch` is an architecture such as sm90 or 90, not 'volta'",
                     marks=pytest.mark.nvidia("names of architectures")),
    ],
)  # fmt: skip
def test_wrong_keywords(arguments, text):
    with pytest.raises(tile.LaunchError) as caught:
        fill[(1,)](X, 3, 1.0, **arguments)
    assert text_of(caught.value) == at_definition(fill, text)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: tile.autotune(configs=[{"BLOCK": 16}], key=[])(fill),
         "autotune chooses among tile.Config objects, not {'BLOCK': 16}"),
        (lambda: tile.autotune(configs=[tile.Config({})], key="n")(fill),
         "autotune's key is a list of names of parameters, not 'n'"),
        (lambda: tile.Config(["BLOCK"]), "a Config has the values of constants by their names"),
        (lambda: tile.heuristics({"BLOCK": 16})(fill),
         "heuristics compute `BLOCK` by a function of all arguments, not 16"),
        (lambda: tl.sum(X), "tl.sum works only inside a function decorated with @tile.jit"),
        (lambda: tl.load(X), "tl.load works only inside a function decorated with @tile.jit"),
        (lambda: fill(X, 3, 1.0, 16), "`fill` is a kernel: launch it as fill[grid](...)"),
        (lambda: tile.compile(ASTSource(fill, {}), target="cuda:90"),
         "a target is a GPUTarget such as GPUTarget('cuda', 90, 32), not 'cuda:90'"),
    ],
)  # fmt: skip
def test_mistakes_around_kernels(wrong, text):
    with pytest.raises(tile.TileError) as caught:
        wrong()
    assert str(caught.value).startswith(text)


@tile.jit
def _column(p, rows: tl.constexpr):
    return p + tl.arange(0, rows) * 65536


@tile.jit
def overflowing(p):
    values = tl.load(_column(p, 65536))
    tl.store(p, tl.sum(values))


def test_offset_that_overflows():
    with pytest.raises(tile.CompilationError) as caught:
        overflowing[(1,)](X)
    assert text_of(caught.value) == (
        f'\n  File "FILE", line {first_line(overflowing) + 1}, in overflowing\n'
        "    values = tl.load(_column(p, 65536))\n"
        "                     ^^^^^^^^^^^^^^^^^\n"
        f'  File "FILE", line {first_line(_column) + 1}, in _column\n'
        "    return p + tl.arange(0, rows) * 65536\n"
        "               ^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "error: this int32 offset overflows: it reaches 4294901760, and int32 ends at "
        "2147483647; convert an operand to int64 before this operation\n"
        "note: while making the ttir of `overflowing`\n"
        "note: the address is used here\n"
        f'  File "FILE", line {first_line(overflowing) + 1}, in overflowing\n'
        "    values = tl.load(_column(p, 65536))\n"
        "             ^^^^^^^^^^^^^^^^^^^^^^^^^^"
    )


@tile.jit
def wide_offsets(p, n):
    offsets = tl.arange(0, 65536)
    tl.store(p + offsets * 65536, 1.0, mask=offsets < n)
    tl.store(p + offsets.to(tl.int64) * 65536, 1.0, mask=offsets < n)


def test_offsets_that_may_be_fine():
    wide_offsets.warmup(tl.float32, 3, grid=(1,))


class Unknown:
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Unknown(), "a Unknown cannot be an argument of a kernel"),
        ("text", "a str cannot be an argument of a kernel"),
        ([1, 2], "a list cannot be an argument of a kernel"),
        (1j, "a complex cannot be an argument of a kernel"),
        (2**64, "does not fit in 64 bits"),
        (np.zeros(3, np.complex64), "elements of type complex64 are not supported"),
        (np.zeros(3, ">f4"), "in the order of another machine"),
        ((1, Unknown()), "a Unknown cannot be an argument of a kernel"),
    ],
)
def test_arguments_that_no_kernel_takes(value, text):
    with pytest.raises(tile.LaunchError) as caught:
        fill[(1,)](value, 3, 1.0, 16)
    error = caught.value
    assert error.error_message.startswith("the argument `out`: ") and text in str(error)
    assert error.place.line == first_line(fill) + 1
    assert not isinstance(error, tile.CompilationError)


def test_kinds_of_errors():
    @tile.jit
    def asserts(p, N: tl.constexpr):
        tl.static_assert(N > 3, f"{N} is too small")

    @tile.jit
    def tries(p, N: tl.constexpr):
        with p:
            pass

    with pytest.raises(
        CompileTimeAssertionFailure, match="static assertion failed: 2 is too small"
    ):
        asserts[(1,)](X, N=2)
    with pytest.raises(UnsupportedLanguageConstruct, match="`with` cannot be used in kernels"):
        tries[(1,)](X, N=2)


PROGRAM = """
import numpy as np
import tile
import tile.language as tl

@tile.jit
def kernel(p):
    tl.store(p, tl.arange(3, 3))

kernel[(1,)](np.zeros(4, np.float32))
"""


@pytest.fixture(scope="module")
def tracebacks(tmp_path_factory):
    """What a program with a wrong kernel prints: as it is, and with debugging."""
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    result = []
    for setting in ("0", "1"):
        run = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True,
            env={**os.environ, "TRITON_FRONT_END_DEBUGGING": setting},
        )  # fmt: skip
        assert run.returncode == 1
        result.append(run.stderr.replace(str(path), "FILE"))
    return result


def test_our_own_stack_is_hidden(tracebacks):
    plain = tracebacks[0]
    ours = [line for line in plain.splitlines() if re.search(r'File ".*/tile/\w+/', line)]
    assert not ours, plain
    assert plain.endswith(
        "tile.compiler.errors.CompilationError: \n"
        '  File "FILE", line 8, in kernel\n'
        "    tl.store(p, tl.arange(3, 3))\n"
        "                ^^^^^^^^^^^^^^^\n"
        "error: arange needs end > start, but got start = 3 and end = 3\n"
    )


def test_a_setting_shows_the_whole_stack(tracebacks):
    full = tracebacks[1]
    for place in ("compiler/code_generator.py", "compiler/functions.py", "language/creation.py"):
        assert place in full
    assert "The above exception was the direct cause of the following exception" in full
