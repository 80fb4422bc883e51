"""Run-time values for what is declared tl.constexpr: the error is where the value came from."""

from __future__ import annotations

import numpy as np
import pytest
from frontend import kernel_of_text, refusal

import tile
import tile.language as tl

HEAD = "import tile\nimport tile.language as tl\n"
#: What needs a constant, and is given `B`.
USES = {
    "range": "y = tl.arange(0, B)",
    "start": "y = tl.arange(B, 64)",
    "shape": "y = tl.zeros([B], tl.int32)",
    "full": "y = tl.full((4, B), 1, tl.int32)",
    "shape_of_reshape": "y = tl.reshape(tl.arange(0, 16), [B, 4])",
    "broadcast": "y = tl.broadcast_to(n, [B])",
    "unrolled": "for i in tl.static_range(B):\n        n += i",
    "assertion": "tl.static_assert(B > 3)",
    "axis": "y = tl.expand_dims(tl.arange(0, 16), B)",
    "slice": "y = tl.arange(0, 16)[0:B]",
    "int": "y = int(B)",
    "derived": "half = B // 2\n    y = tl.arange(0, half)",
    "derived_again": "C: tl.constexpr = B * 2\n    D = C + 1\n    y = tl.zeros([D], tl.int32)",
    "lambda": "f = lambda x: tl.arange(0, B) + x\n    y = f(1)",
    "in_call": "y = inner(n, B)",
    "in_loop": "for i in range(n):\n        y = tl.arange(0, B)",
    "in_branch": "if n > 3:\n        y = tl.arange(0, B)",
    "axis_of_sum": "y = tl.sum(tl.arange(0, 16), axis=B)",
}
INNER = "@tile.jit\ndef inner(x, C: tl.constexpr):\n    return tl.arange(0, C) + x\n"
#: How a run-time value gets there: the function with the use, the call, and what is underlined.
CALLS = {
    "positional": ("", "n, B: tl.constexpr", "called(n, n * 2)", "n * 2"),
    "keyword": ("", "n, B: tl.constexpr", "called(n, B=n + 1)", "n + 1"),
    "keyword_only": ("", "n, *, B: tl.constexpr", "called(n, B=n + 1)", "n + 1"),
    "text": ("", 'n, B: "tl.constexpr"', "called(n, n - 1)", "n - 1"),
    "unpacked": ("", "n, B: tl.constexpr", "called(*(n, n))", "called(*(n, n))"),
    "noinline": ("(noinline=True)", "n, B: tl.constexpr", "called(n, n * 2)", "n * 2"),
    "loaded": ("", "n, B: tl.constexpr", "called(n, tl.load(p))", "tl.load(p)"),
    "program": ("", "n, B: tl.constexpr", "called(n, tl.program_id(0))", "tl.program_id(0)"),
}


def body(use: str) -> str:
    return f"    {USES[use]}\n"


def place_of(error: tile.CompilationError) -> tuple[str, str]:
    """The function of an error's last place, and what is underlined there."""
    place = error.places[-1]
    return place.function, place.text[place.column : place.end_column]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("call", CALLS)
def test_parameters(tmp_path, use, call):
    options, parameters, text, value = CALLS[call]
    kernel = kernel_of_text(
        f"{HEAD}{INNER}@tile.jit{options}\ndef called({parameters}):\n{body(use)}"
        f"@tile.jit\ndef kernel(p, n):\n    {text}\n",
        tmp_path,
    )
    error = refusal(kernel, {"p": "*i32", "n": "i32"})
    found = str(error)
    assert place_of(error) == ("kernel", value), found
    assert error.message == (
        "`B` of `called` is declared tl.constexpr, but this call passes int32, a run-time value"
    )
    needed = "inner" if use == "in_call" else "called"
    assert "a constant is needed here: " in found and f"in {needed}" in found.split("note:")[1]


@pytest.mark.parametrize("use", USES)
def test_variables(tmp_path, use):
    kernel = kernel_of_text(
        f"{HEAD}{INNER}@tile.jit\ndef kernel(p, n):\n    B: tl.constexpr = n\n{body(use)}", tmp_path
    )
    error = refusal(kernel, {"p": "*i32", "n": "i32"})
    assert place_of(error) == ("kernel", "B: tl.constexpr = n"), str(error)
    assert error.message == "`B` is declared tl.constexpr, but it is int32, a run-time value"


def test_through_several_calls(tmp_path):
    """The outermost declaration counts: the value came from there."""
    kernel = kernel_of_text(
        f"{HEAD}{INNER}"
        "@tile.jit\ndef middle(x, M: tl.constexpr):\n    return inner(x, M)\n"
        "@tile.jit\ndef kernel(p, n):\n    middle(n, n)\n",
        tmp_path,
    )
    error = refusal(kernel, {"p": "*i32", "n": "i32"})
    assert [place.function for place in error.places] == ["kernel"]
    assert error.message.startswith("`M` of `middle` is declared")
    assert "in inner" in str(error)


@pytest.mark.parametrize("use", ["x.to(B)", "tl.program_id(B)", "tl.load(x, eviction_policy=B)"])
def test_other_errors_get_a_note(tmp_path, use):
    """An error that speaks of no constant stays where it is."""
    kernel = kernel_of_text(
        f"{HEAD}@tile.jit\ndef called(x, B: tl.constexpr):\n    return {use}\n"
        "@tile.jit\ndef kernel(p, n):\n    called(n, n)\n",
        tmp_path,
    )
    error = refusal(kernel, {"p": "*i32", "n": "i32"})
    assert place_of(error) == ("called", use)
    assert "note: `B` of `called` is declared tl.constexpr, but this call passes int32" in str(
        error
    )


@pytest.mark.parametrize("again", ["B = 16", "B: tl.constexpr = 16"])
def test_what_was_assigned_again(tmp_path, again):
    """A name that is a constant by then is not blamed."""
    kernel = kernel_of_text(
        f"{HEAD}@tile.jit\ndef kernel(p, n):\n    B: tl.constexpr = n\n    {again}\n"
        "    tl.store(p + tl.arange(0, B), tl.arange(0, B // n))\n",
        tmp_path,
    )
    error = refusal(kernel, {"p": "*i32", "n": "i32"})
    assert error.message.startswith("arange needs constants")
    assert "declared" not in str(error)


@tile.jit
def computed(x, B: tl.constexpr, offsets: tl.constexpr):
    c: tl.constexpr = B + 1
    for _ in range(B):
        x += c
    if B > 3:
        x += offsets
    return x


@tile.jit
def kernel_of_computed(p, n):
    i = tl.arange(0, 16)
    tl.store(p + i, computed(i, n, i * 2))


@pytest.mark.both_ways
@pytest.mark.parametrize("n", [2, 5])
def test_what_only_computes_is_right(machine, n):
    """No constant is needed: run-time numbers, blocks, bounds of loops and conditions."""
    out = np.full(17, -1, np.int32)
    kernel_of_computed[(1,)](out, n)
    i = np.arange(16)
    np.testing.assert_array_equal(out[:16], i + n * (n + 1) + (i * 2 if n > 3 else 0))
    assert out[16] == -1
