"""Parameters of every kind, and launches that give them in every way: as Python binds them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from frontend import kernel_of_text

import tile

pytestmark = pytest.mark.both_ways

SIGNATURES = [
    "a, b, C: tl.constexpr",
    "a, b=5, C: tl.constexpr = 3",
    "a, *, b, C: tl.constexpr",
    "a, *, b=5, C: tl.constexpr",
    "a, b=5, *, C: tl.constexpr",
    "a, b=5, *, C: tl.constexpr = 3",
    "a=4, *, b, C: tl.constexpr = 3",
    "*, a, b=5, C: tl.constexpr",
    "a, /, b, *, C: tl.constexpr",
    "a, /, b=5, C: tl.constexpr = 3",
]
#: What a call may give for each parameter: nothing, a value in its place, or one by its name.
WAYS = list(itertools.product(("", "in place", "by name"), repeat=3))


def calls():
    for ways in WAYS:
        given = [(name, i + 7) for i, name in enumerate("abC")]
        pairs = [*zip(given, ways, strict=True)]
        args = [value for (_, value), way in pairs if way == "in place"]
        kwargs = {name: value for (name, value), way in pairs if way == "by name"}
        yield args, kwargs
    yield [7, 8, 9, 10], {}
    yield [7, 8, 9], {"zz": 3}


def make(parameters: str, value: str, folder):
    """A kernel with these parameters that stores a value."""
    head = "import tile\nimport tile.language as tl\n\n\n@tile.jit\n"
    return kernel_of_text(f"{head}def kernel({parameters}):\n    tl.store(out, {value})\n", folder)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_as_python_binds(signature, machine, tmp_path):
    kernel = make(f"out, {signature}", "a * 100 + b * 10 + C", tmp_path)
    scope: dict = {}
    # The names of parameters in front of a slash may be used, as in Triton.
    plain = signature.replace("/, ", "").replace(": tl.constexpr", "")
    exec(f"def plain({plain}):\n    return a * 100 + b * 10 + C", scope)
    launched = 0
    # Twice: launches of what is compiled do not run Python.
    for args, kwargs in [*calls(), *calls()]:
        out = np.full(1, -1, np.int32)
        try:
            expected = scope["plain"](*args, **kwargs)
        except TypeError:
            with pytest.raises(tile.TileError) as caught:
                kernel[(1,)](out, *args, **kwargs)
            assert caught.value.places and out[0] == -1, (args, kwargs)
        else:
            kernel[(1,)](out, *args, **kwargs)
            assert out[0] == expected, (args, kwargs)
            launched += 1
    assert launched


@pytest.mark.parametrize("kind", ["fp16", "bf16", "fp32", "fp64", "i1", "i32", "u64"])
def test_none_is_no_number(kind, machine, tmp_path):
    """It was NaN for floats."""
    kernel = make(f"out, x: '{kind}'", "x", tmp_path)
    with pytest.raises(tile.TileError, match=f"`x`: a parameter of type {kind} takes .*, not None"):
        kernel[(1,)](np.zeros(1, np.float32), None)


@pytest.mark.parametrize("value", [int, np.float32, np.ndarray, str, tile.Config], ids=str)
def test_classes_are_no_arguments(value, machine, tmp_path):
    kernel = make("out, x", "1", tmp_path)
    with pytest.raises(tile.TileError, match=f"the class {value.__name__} cannot be an argument"):
        kernel[(1,)](np.zeros(1, np.float32), value)


def test_a_grid_that_takes_nothing(machine, tmp_path):
    kernel = make("out, n", "n", tmp_path)
    with pytest.raises(
        tile.TileError, match="is a function without a parameter; it is called with"
    ):
        kernel[lambda: (1,)](np.zeros(1, np.float32), 3)
    out = np.zeros(1, np.float32)
    for grid in (lambda *a: (1,), lambda meta, n=3: (1,), lambda meta: (meta["n"] // 3,)):
        kernel[grid](out, 3)
        assert out[0] == 3


@pytest.mark.parametrize(
    "option", [{"num_warps": 3}, {"num_warps": "4"}, {"num_stages": -1}, {"num_ctas": 0},
               {"maxnreg": 1}, {"debug": "x"}, {"enable_fp_fusion": "no"}, {"arch": "zz"}], ids=str,
)  # fmt: skip
def test_options_are_refused_with_their_kernel(option, machine, tmp_path):
    kernel = make("out, n", "n", tmp_path)
    with pytest.raises(tile.TileError) as caught:
        kernel[(1,)](np.zeros(1, np.float32), 3, **option)
    assert caught.value.place.function == "kernel" and next(iter(option)) in str(caught.value)
