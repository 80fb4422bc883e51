"""Copies and pickles of decorated functions: they launch, and are apart from what they are of."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.runtime import copies

SCALE = tl.constexpr(3)


@tile.constexpr_function
def twice(x):
    return 2 * x


@tile.jit
def scaled(x, n):
    """Scales."""
    return x * SCALE + n


@tile.jit(do_not_specialize=["n"])
def plain(out, n, BLOCK: tl.constexpr = 32):
    """A kernel."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i, scaled(i, n), mask=i < 32)


@tile.heuristics({"BLOCK": lambda values: 16 * twice(1)})
@tile.jit
def by_heuristics(out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, scaled(i, n), mask=i < 32)


@tile.autotune([tile.Config({"BLOCK": 32}), tile.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@tile.jit
def tuned(out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, scaled(i, n), mask=i < 32)


@tile.autotune(
    [tile.Config({"BLOCK": 32}), tile.Config({"BLOCK": 64})], key=["n"], restore_value=["out"]
)
@tile.heuristics({"ODD": lambda values: values["n"] % 2 == 1})
@tile.jit
def both(out, n, ODD: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.static_assert(ODD)
    tl.store(out + i, scaled(i, n) + tl.load(out + i, mask=i < 32) - 99, mask=i < 32)


@gluon.jit
def explicit(out, n):
    i = gl.arange(0, 32, gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(out + i, scaled(i, n))


class Holder:
    @tile.jit
    def method(out, n):
        i = tl.arange(0, 32)
        tl.store(out + i, scaled(i, n))


KERNELS = {
    "plain": plain, "by_heuristics": by_heuristics, "tuned": tuned, "both": both,
    "explicit": explicit, "method": Holder.method,
}  # fmt: skip
HOW = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy twice": lambda x: copy.deepcopy(copy.deepcopy(x)),
    "in a list": lambda x: copy.deepcopy([x, {"key": x}])[1]["key"],
    **{
        f"pickle {protocol}": lambda x, p=protocol: pickle.loads(pickle.dumps(x, p))
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy of a pickle": lambda x: copy.copy(pickle.loads(pickle.dumps(x))),
}


def check(kernel) -> None:
    out = np.full(33, 99, np.int32)
    kernel[(1,)](out, 7)
    np.testing.assert_array_equal(out[:32], np.arange(32) * 3 + 7)
    assert out[32] == 99


@sim_only
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("launched", [False, True], ids=["new", "launched"])
@pytest.mark.parametrize("name", KERNELS)
def test_copies_launch(name, launched, how):
    kernel = KERNELS[name]
    if launched:
        check(kernel)
    again = HOW[how](kernel)
    assert type(again) is type(kernel) and again.__name__ == kernel.__name__
    assert (again is kernel) is how.startswith("pickle")
    check(again)
    check(kernel)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    "function", [scaled, twice, tl.cdiv, tl.sum, tl.zeros], ids=lambda f: f.__name__
)
def test_copies_of_what_kernels_call(function, how):
    again = HOW[how](function)
    assert again.cache_key == function.cache_key if hasattr(function, "cache_key") else True
    assert again.__name__ == function.__name__ and again.__doc__ == function.__doc__


@pytest.mark.parametrize("how", ["copy", "deepcopy"])
def test_a_copy_has_its_own_hooks_and_state(how):
    """A tuner's own hooks work on the arguments of the copy."""
    again = HOW[how](both)
    for hook in (again.pre_hook, again.post_hook):
        assert hook.__self__ is again
    assert both.pre_hook.__self__ is both


def test_a_deep_copy_shares_no_lists():
    again = copy.deepcopy(plain)
    again.add_pre_run_hook(lambda *args, **kwargs: None)
    again.do_not_specialize.append("out")
    assert plain.pre_run_hooks == [] and plain.do_not_specialize == ["n"]
    tuner = copy.deepcopy(tuned)
    tuner.configs[0].kwargs["BLOCK"] = 128
    assert tuned.configs[0].kwargs["BLOCK"] == 32
    assert tuner.fn is not tuned.fn and tuner.fn is tuner.kernel
    inner = copy.deepcopy(both)
    assert inner.fn.fn is inner.kernel and inner.kernel is not both.kernel


def test_another_text_is_no_name():
    """A kernel with another text than its module is not found there."""
    again = copy.deepcopy(scaled)
    again._unsafe_update_src("def scaled(x, n):\n    return x\n")
    assert "return x\n" in again.src and "SCALE" in scaled.src
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(again)


@pytest.mark.parametrize("function", [*KERNELS.values(), scaled, twice], ids=lambda f: f.__name__)
def test_wrappers_look_like_functions(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function

    assert wrapper.__wrapped__ is function and wrapper.__name__ == function.__name__
    assert wrapper(1, 2) is function


@pytest.mark.parametrize(
    "function", [plain, Holder.method, scaled, twice], ids=lambda f: f.__name__
)
def test_inspect_sees_the_function(function):
    assert inspect.signature(function) == inspect.signature(function.fn)
    assert inspect.getdoc(function) == inspect.getdoc(function.fn)


PROGRAM = """
    import multiprocessing, sys
    import tile, tile.language as tl
    import numpy as np

    @tile.jit
    def kernel(out, n):
        tl.store(out, n + 1)

    def launch(task):
        function, n = task
        out = np.zeros(1, np.int32)
        function[(1,)](out, n)
        return int(out[0])

    if __name__ == "__main__":
        with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
            print(pool.map(launch, [(kernel, 3), (kernel, 8)]))
"""


@sim_only
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_kernels_of_the_main_program_go_to_workers(tmp_path, method):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run(
        [sys.executable, program, method], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "[4, 9]\n", done.stderr


def test_who_pickles_by_value():
    """Workers of these libraries run another program, in which `__main__` has no kernel."""
    for module, by_value in {
        "cloudpickle.cloudpickle": True,
        "dill": True,
        "pickle": False,
    }.items():
        names = {"__name__": module, "call": copies._pickled_by_value}
        exec("def dump(call=call): return call()", names)
        assert names["dump"]() is by_value


def test_what_they_print():
    module = __name__
    assert repr(twice) == f"ConstexprFunction({module}:twice)"
    assert repr(both) == (
        f"Autotuner(Heuristics(JITFunction({module}:both), ODD), 2 configurations)"
    )
