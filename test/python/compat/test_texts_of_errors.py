"""What programs written for Triton look for in errors: places, causes and phrases."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from frontend import kernel_of_text, make_module, raw_ttir

import tile
import tile.language as tl
from tile.compiler.errors import CompilationError


def refusal(kernel, signature) -> CompilationError:
    with pytest.raises(CompilationError) as caught:
        make_module(kernel, signature)
    return caught.value


@pytest.fixture
def switch(monkeypatch):
    monkeypatch.setenv("TILE_COMPAT", "1")


@tile.jit
def inner(x):
    return x + unknown_name  # noqa: F821


@tile.jit
def outer(p):

    inner(tl.load(p))


@tile.jit
def sum_of_a_text(p):
    0 + "a"  # noqa: B018


@tile.jit
def negative_tuple(p):
    -(0, 0)  # noqa: B018


@tile.jit
def assertion(p):
    tl.static_assert(False, "no")


@tile.jit
def expands_nothing(p):
    tl.expand_dims(None, -1)


@pytest.mark.parametrize(
    ("kernel", "place"),
    [
        (sum_of_a_text, "at 2:4:"), (negative_tuple, "at 2:4:"), (assertion, "at 2:4:"),
        (expands_nothing, "at 2:4:"), (outer, "at 3:4:"),
    ],
)  # fmt: skip
def test_places_are_counted_from_the_def(switch, kernel, place):
    error = refusal(kernel, {"p": "*i32"})
    assert str(error).startswith(f"\n{place}\n")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_places_are_those_of_the_file_without_the_switch(monkeypatch):
    monkeypatch.delenv("TILE_COMPAT", raising=False)
    error = refusal(outer, {"p": "*i32"})
    assert "at 3:4" not in str(error) and error.__cause__ is None


def test_causes(switch):
    cause = refusal(outer, {"p": "*i32"}).__cause__
    assert isinstance(cause, CompilationError)
    assert "at 2:15:" in str(cause) and "unknown_name" in str(cause) and len(cause.places) == 1
    assert "expand_dims" not in str(refusal(expands_nothing, {"p": "*i32"}).__cause__)
    for kernel in (sum_of_a_text, negative_tuple, assertion):
        assert refusal(kernel, {"p": "*i32"}).__cause__ is None


def test_operators_of_constants_that_are_none():
    error = refusal(negative_tuple, {"p": "*i32"})
    assert error.error_message == "bad operand type for unary -: 'tuple'"


@tile.must_use_result("It takes long.")
@tile.jit
def cube(x):
    return x * x * x


@tile.aggregate
class Square:
    x: tl.tensor

    @tile.must_use_result
    @tile.jit
    def compute(self):
        return self.x * self.x

    @tile.must_use_result
    @tile.constexpr_function
    def power(self):
        return 2

    @tile.jit
    def other(self):
        return self.x


@tile.jit
def ignores_a_function(p):
    cube(tl.load(p))


@tile.jit
def ignores_a_method(p):
    a = Square(tl.load(p))
    a.compute()


@tile.jit
def ignores_a_constant(p):
    a = Square(tl.load(p))
    a.power()


@tile.jit
def ignores_nothing(p):
    a = Square(cube(tl.load(p)))
    a.other()
    x = a.compute() + a.power()
    tl.store(p, cube(x))


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (ignores_a_function, "The result of cube is not being used. It takes long."),
        (ignores_a_method, "The result of a.compute is not being used."),
        (ignores_a_constant, "The result of a.power is not being used."),
    ],
)
def test_results_that_must_be_used(kernel, text):
    assert refusal(kernel, {"p": "*i32"}).error_message == text
    assert "arith.muli" in raw_ttir(ignores_nothing, {"p": "*i32"})


def test_constants_are_always_specialised():
    @tile.jit(do_not_specialize=["N"])
    def kernel(p, N: tl.constexpr):
        pass

    text = "N marked as constexpr and listed in do_not_specialize"
    with pytest.raises(CompilationError, match=text):
        tile.compiler.ASTSource(kernel, {"p": "*i32", "N": "constexpr"}, {"N": 5})
    with pytest.raises(CompilationError, match=text):
        kernel[(1,)](1, 5)


def test_conditions_that_are_no_booleans():
    @tile.jit
    def kernel(p):
        x = tl.load(p)
        tl.store(p, tl.where(x, 1, 2))

    with pytest.warns(UserWarning, match=r"tl\.where takes a condition of int1, and this one is"):
        raw_ttir(kernel, {"p": "*i32"})


def test_products_that_are_added_up():
    @tile.jit
    def kernel():
        a = tl.full((64, 64), 0.0, tl.float8e5)
        tl.dot(a, a, max_num_imprecise_acc=128)

    assert refusal(kernel, {}).error_message == "max_num_imprecise_acc (128) must be <= K (64)"


#: What public suites match on, and what says it.
PHRASES = [
    ("tl.program_id(20)", "program_id axis must be 0, 1, or 2 but got 20"),
    ("tl.expand_dims(tl.zeros([4, 4], tl.int32), -4)", "invalid axis -4"),
    ("tl.exp(n.to(tl.float16))", "Expected dtype"),
    ("p[10:]", "unsupported tensor index"),
    (
        "tl.expand_dims(tl.zeros([4], tl.int32), (0, -3))",
        "duplicate axes, normalized axes = [0, 0]",
    ),
    ("1\n    if n > 0:\n        x = tl.zeros([4], tl.int32)", "Mismatched type for x"),
    (
        "p if n > 0 else n",
        "Ternary expression with dynamic condition has inconsistent type",
    ),
    (
        "tl.make_tensor_descriptor(p, [n, n], [n, 1], [4, 2])",
        "Descriptor block shape must have at least 16 bytes",
    ),
]


@pytest.mark.parametrize(("expression", "phrase"), PHRASES)
def test_phrases(expression, phrase, tmp_path):
    head = "import tile\nimport tile.language as tl\n\n\n@tile.jit\ndef kernel(p, n):\n"
    kernel = kernel_of_text(f"{head}    x = {expression}\n", tmp_path)
    error = refusal(kernel, {"p": "*i32", "n": "i32"})
    assert phrase in error.error_message


@tile.jit
def empty(x, n):
    pass


def test_options_that_are_refused():
    """Programs written for Triton expect these errors of Python."""
    x = np.zeros(1, np.float32)
    with pytest.raises(AssertionError, match="must be a power of 2"):
        empty.warmup(x, 1, grid=(1,), num_warps=3)
    with pytest.raises(ValueError, match=r"num_ctas > 1 requires NVIDIA SM90\+ \(Hopper\)"):
        empty.warmup(x, 1, grid=(1,), num_ctas=2, arch=80)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_integers_that_nothing_holds(value):
    with pytest.raises(OverflowError, match="does not fit in 64 bits") as caught:
        empty[(1,)](np.zeros(1, np.float32), value)
    assert isinstance(caught.value, tile.TileError)


@pytest.mark.parametrize("name", ["int1", "uint16", "bfloat16", "float32", "float8e4nv"])
def test_types_say_by_which_name_they_are_found(name):
    program = (
        f"import tile, tile.language as tl\nprint(repr(tl.{name}))\nimport tile.compat\n"
        f"import triton.language as triton_tl\nprint(repr(triton_tl.{name}))\n"
        f"tile.compat.uninstall()\nprint(repr(tl.{name}))\n"
    )
    environment = {n: v for n, v in os.environ.items() if n != "TILE_COMPAT"}
    environment["PYTHONPATH"] = ":".join(p for p in sys.path if p)
    said = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    ours, theirs = f"tile.language.{name}", f"triton.language.{name}"
    assert said.stdout.split() == [ours, theirs, ours]


@tile.jit
def one_of(p, q, n):
    if n > 0:
        return p
    return q


@tile.jit
def returns_two_types(p, q: tl.const, n):
    one_of(p, q, n)


@tile.jit
def stores_to_a_constant(p, q: tl.const, n):
    tl.store(q, n)


@pytest.mark.parametrize(("kernel", "phrase"), [
    (returns_two_types, "Return type mismatch: "),
    (stores_to_a_constant, "Cannot store to a constant pointer"),
])  # fmt: skip
def test_phrases_about_constant_pointers(kernel, phrase):
    error = refusal(kernel, {"p": "*i32", "q": "*ki32", "n": "i32"})
    assert phrase in str(error)
