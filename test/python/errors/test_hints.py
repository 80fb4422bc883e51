"""Messages about what people try: each says what to write instead."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest
from frontend import without_page
from reference import sim_only

import tile
import tile.language as tl
from tile import hints

X, OUT = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)


@tile.jit
def copy(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


@tile.jit
def by_name(x, out, CASE: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    if CASE == "astype":
        v = v.astype(tl.float16)
    elif CASE == "mean":
        v = v.mean()
    elif CASE == "relu":
        v = tl.relu(v)
    elif CASE == "text as a type":
        v = v.to("float16")
    elif CASE == "type of NumPy":
        v = v.to(np.float16)
    elif CASE == "misspelt method":
        v = v.summ()
    elif CASE == "size of a pointer":
        v = v + x.size
    elif CASE == "shape of a pointer":
        v = v + x.shape[0]
    elif CASE == "sum":
        v = sum(v)
    elif CASE == "max":
        v = max(v)
    elif CASE == "round":
        v = round(v)
    elif CASE == "divmod":
        v = divmod(v, 2.0)[0]
    elif CASE == "power":
        v = v**2
    elif CASE == "range of NumPy":
        v = v + np.arange(64)
    elif CASE == "function of NumPy":
        v = np.linspace(0, 1, 64) + v
    elif CASE == "item of a list":
        items = [1, 2]
        items[0] = 3
    elif CASE == "element":
        v[0] = 3
    elif CASE == "deleted element":
        items = [1, 2]
        del items[0]
    elif CASE == "run-time item":
        items = [1, 2]
        for j in range(2):
            items.append(j)
    elif CASE == "matmul":
        v = v @ v
    elif CASE == "membership":
        v = v + (v in (0, 1))
    elif CASE == "attribute":
        tl.anything = 3
    elif CASE == "text as a number":
        v = v + int("three")
    elif CASE == "largest of nothing":
        v = v + max()
    elif CASE == "loop over a number":
        for j in 5:
            v += j
    elif CASE == "misspelt variable":
        v = v + vaule(v) if BLOCK_OF_NOTHING else v  # noqa: F821
    elif CASE == "missing argument":
        v = v + tl.zeros([64])
    elif CASE == "missing key":
        sizes = {"a": 1}
        v = v + sizes["b"]
    elif CASE == "numbers":
        v = v + tl.cat(1, 2)
    elif CASE == "promise":
        v = tl.multiple_of(v.to(tl.int32), 0)
    elif CASE == "sum of floats":
        a = tl.zeros([16, 16], tl.float16)
        v = v + tl.sum(tl.dot(a, a, out_dtype=tl.int32))
    elif CASE == "returned value":
        if tl.program_id(0) >= 0:
            return v
    elif CASE == "scalar pointer":
        tl.store(out, v)
    elif CASE == "axis":
        v = tl.sum(v, axis=1)
    elif CASE == "enumerate":
        for j, k in enumerate(range(tl.program_id(0), 3)):
            v += j + k
    tl.store(out + i, v)


def words_of_python() -> str:
    """Of the largest of nothing; they are others from Python 3.12 on."""
    with pytest.raises(ValueError) as caught:
        max(())
    return str(caught.value)


EMPTY = words_of_python()


@pytest.mark.parametrize(
    ("case", "end"),
    [
        ("astype", "has no attribute `astype`; use `x.to(dtype)`"),
        ("mean", "has no attribute `mean`; use `tl.sum(x, axis) / n`"),
        ("relu", "has no attribute `relu`; use `tl.maximum(x, 0)`"),
        ("text as a type", "not 'float16'; use tl.float16"),
        ("type of NumPy", "not <class 'numpy.float16'>; use tl.float16"),
        ("misspelt method", "has no attribute `summ`; did you mean `sum`?"),
        (
            "size of a pointer",
            "; a pointer does not know the sizes of its array; pass them as arguments",
        ),
        ("shape of a pointer", f"index 0 is out of range for 0 items; {hints.NO_SIZES}"),
        ("sum", "use tl.sum, tl.max or tl.min for all elements, and tl.range in a loop"),
        ("max", "use tl.sum, tl.max or tl.min for all elements, and tl.range in a loop"),
        ("round", "only; use `libdevice.rint`, from tl.extra, for run-time values"),
        ("divmod", "only; use `//` and `%` for run-time values"),
        ("power", "only; use x * x for a square, and tl.math.pow for the rest"),
        ("range of NumPy", "`arange` of numpy is not for kernels; use tl.arange"),
        ("function of NumPy", "`linspace` of numpy is not for kernels"),
        ("item of a list", "of a list cannot be assigned; make a new one of the items"),
        (
            "element",
            "x = x.at[index].set(value) makes a block with others, and tl.store writes to memory",
        ),
        ("deleted element", "only variables can be deleted"),
        ("run-time item", "only; a tuple holds run-time values: items = items + (value,)"),
        ("matmul", "the operator @ is not for kernels; use tl.dot for matmuls"),
        (
            "membership",
            "`in` looks for a scalar, not for a block (<[64], fp32>); use (x == 1) | (x == 2)",
        ),
        ("attribute", "a module has no attributes that can be assigned"),
        ("text as a number", "invalid literal for int() with base 10: 'three'"),
        ("largest of nothing", EMPTY),
        ("loop over a number", "over an int; use range, tl.range or tl.static_range"),
        ("misspelt variable", "`BLOCK_OF_NOTHING` is not defined"),
        ("missing argument", "zeros() missing 1 required positional argument: 'dtype'"),
        ("missing key", "there is no key 'b'"),
        ("numbers", "cat takes blocks, not int"),
        ("promise", "multiple_of takes integers from 1, not 0"),
        ("sum of floats", "dot of floats adds up floats, not int32"),
        ("returned value", "a kernel returns nothing; store its results through pointers"),
        ("scalar pointer", "add offsets to the pointer, such as p + tl.arange(0, BLOCK)"),
        (
            "axis",
            "invalid axis 1: the block of reduce has 1 dimension, so the axis is from -1 to 0",
        ),
        ("enumerate", "for a counter beside it, write `i += 1` in the loop"),
    ],
)
def test_what_to_write_instead(case, end):
    """The compiler and the interpreter say it."""
    for run in (lambda *a: by_name[(1,)](*a), functools.partial(by_name.interpret, grid=(1,))):
        with pytest.raises(tile.CompilationError) as caught:
            run(X, OUT, case)
        # Python indexes the tuples of interpreted kernels.
        text = without_page(str(caught.value))
        by_python = text.endswith("error: tuple index out of range")
        assert text.endswith(end) or (by_python and case == "shape of a pointer")
        assert "test_hints.py" in str(caught.value)


def test_every_hint_is_about_a_missing_name_and_names_what_is_there():
    """No hint may hide a name of the language, or lead to one that it lacks."""
    for name in hints._OF_BLOCKS:
        assert not hasattr(tl.tensor, name), name
    for name in hints._OF_LANGUAGE:
        assert not hasattr(tl, name), name
    for hint in hints._OF_PYTHON.values():
        for name in re.findall(r"tl\.(\w+)(?=\()", hint):
            assert hasattr(tl, name), hint
    for name in hints._OF_POINTERS:
        assert not hasattr(tl.tensor, name), name
    owners = {"tl": tl, "libdevice": tl.extra.libdevice, "x": tl.tensor}
    for text in (*hints._OF_BLOCKS.values(), *hints._OF_LANGUAGE.values()):
        for owner, name in re.findall(r"\b(tl|libdevice|x)\.(\w+)", text):
            assert hasattr(owners[owner], name), text


@tile.jit
def compare(out, n, KIND: tl.constexpr):
    i = tl.arange(0, 64)
    if KIND == "and":
        m = i < n & i > 2
    elif KIND == "or":
        m = i == n | i == 2
    elif KIND == "chain":
        m = 2 < i < n
    else:
        m = (i < n) & (i > 2)
    tl.store(out + i, 1.0, mask=m)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize(("kind", "sign"), [("and", "&"), ("or", "|")])
def test_bits_between_comparisons_are_refused(kind, sign, interpreted):
    run = compare.interpret if interpreted else compare.simulate
    with pytest.raises(tile.CompilationError, match=rf"in parentheses, as in \(a < b\) \{sign} "):
        run(OUT.copy(), 9, kind, grid=(1,))


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("kind", ["chain", "parentheses"])
def test_chains_and_parentheses_are_not(kind, interpreted):
    out = np.zeros(64, np.float32)
    run = compare.interpret if interpreted else compare.simulate
    run(out, 9, kind, grid=(1,))
    assert np.flatnonzero(out).tolist() == list(range(3, 9))


def test_a_grid_that_asks_for_an_unknown_name():
    with pytest.raises(
        tile.LaunchError, match=r"asks for 'BLOK'.* are x, out, BLOCK; did you mean"
    ):
        copy[lambda meta: (64 // meta["BLOK"],)](X, OUT, BLOCK=64)


@sim_only
def test_misspelt_keys():
    kernel = copy[(1,)](X, OUT, BLOCK=64)
    with pytest.raises(KeyError, match=r"no stage 'ttgirr'; there are .*did you mean `ttgir`\?"):
        kernel.asm["ttgirr"]
    assert "ttgirr" not in kernel.asm and kernel.asm.get("ttgirr") is None
    with pytest.raises(tile.TileError, match=r"key names `ot`.*did you mean `out`\?"):
        tile.autotune([tile.Config({"BLOCK": 64})], key=["ot"])(copy)
    with pytest.raises(TypeError, match=r"no keyword `num_warp`; did you mean `num_warps`\?"):
        tile.Config({"BLOCK": 64}, num_warp=4)


def test_a_setting_that_is_none():
    with tile.knobs.runtime.scope():
        with pytest.warns(UserWarning, match=r"no setting `interpet`.* did you mean `interpret`"):
            tile.knobs.runtime.interpet = True


def test_a_group_of_settings_that_is_none():
    for wrong, right in (("compilaton", "compilation"), ("nvdia", "nvidia")):
        with pytest.raises(AttributeError, match=f"no attribute '{wrong}'; did you mean `{right}`"):
            getattr(tile.knobs, wrong)


def test_cdiv_on_the_host():
    with pytest.raises(tile.TileError, match=r"use tile\.cdiv outside"):
        tl.cdiv(8, 3)


@sim_only
def test_values_that_are_no_numbers():
    with pytest.raises(tile.CompilationError, match="test an argument that may be None"):
        copy[(1,)](None, OUT, BLOCK=64)

    @tile.jit
    def store(out, VALUE: tl.constexpr):
        tl.store(out, VALUE)

    array = "pass an array as an argument that is no constexpr"
    with pytest.raises(tile.CompilationError, match=array):
        store[(1,)](OUT, np.zeros(3))
    with pytest.raises(tile.CompilationError, match=f"arange needs integers, .*; {array}"):
        copy[(1,)](X, OUT, BLOCK=np.zeros(3))


def test_a_key_that_is_no_parameter():
    with pytest.raises(tile.TileError, match=r"key names `BLOK`.* parameters are x, out, BLOCK;"):
        tile.autotune([tile.Config({"BLOCK": 64})], key=["BLOK"])(copy)


def test_a_key_that_is_no_parameter_of_a_library_for_triton(monkeypatch):
    """Triton ignores it."""
    monkeypatch.setenv("TILE_COMPAT", "1")
    with pytest.warns(UserWarning, match=r"key names `BLOK`.*did you mean `BLOCK`") as warned:
        tuned = tile.autotune([tile.Config({"BLOCK": 64})], key=["BLOK"])(copy)
    assert warned[0].filename == __file__
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    tuned[(1,)](x, out)
    assert (out == x).all()


def test_autotuned_kernels_run_without_a_device():
    configs = [tile.Config({"BLOCK": 64}), tile.Config({"BLOCK": 32})]
    tuned = tile.autotune(configs, key=[])(copy)
    for run in (tuned.simulate, tuned.interpret):
        out = np.full(64, -1, np.float32)
        run(X, out, grid=lambda meta: (64 // meta["BLOCK"],))
        np.testing.assert_array_equal(out, X)


@pytest.mark.parametrize("count", [1, 2])
def test_a_keyword_that_a_configuration_overrides(count):
    configs = [tile.Config({"BLOCK": 64}), tile.Config({"BLOCK": 32})][:count]
    tuned = tile.autotune(configs, key=[])(copy)
    for run in (tuned[(1,)], lambda *args, **kw: tuned.simulate(*args, grid=(1,), **kw)):
        with pytest.raises(tile.TileError, match="`BLOCK` is chosen by autotuning; do not pass"):
            run(X, OUT, BLOCK=16)


def test_heuristics_run_without_a_device():
    kernel = tile.heuristics({"BLOCK": lambda arguments: arguments["x"].size})(copy)
    out = np.full(64, -1, np.float32)
    kernel.simulate(X, out, grid=(1,))
    np.testing.assert_array_equal(out, X)
