"""Errors about the user's code show the user's frames, and none of the package."""

from __future__ import annotations

import gc
import traceback
import weakref

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile import _C
from tile.tracebacks import entry_point

X = np.zeros(64, np.float32)


@tile.jit
def wrong(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), tl.arange(3, 3))


@tile.jit
def right(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), n.to(tl.float32))


@tile.jit
def several(x, *rest):
    tl.store(x, rest[0])


@tile.jit
def outside(x, n, BLOCK: tl.constexpr):
    tl.store(x + n + tl.arange(0, BLOCK), 1.0)


def tuned(kernel):
    return tile.autotune([tile.Config({"BLOCK": 32})], key=["n"])(kernel)


def computed(kernel):
    return tile.heuristics({"BLOCK": lambda arguments: 32})(kernel)


MISTAKES = {
    "call": lambda: right(X, 5, BLOCK=32),
    "signature": lambda: several[(1,)](X, 5),
    "launch": lambda: wrong[(1,)](X, 5, BLOCK=32),
    "argument": lambda: right[(1,)](X, BLOCK=32),
    "grid": lambda: right[lambda meta: (meta["BLOK"],)](X, 5, BLOCK=32),
    "run": lambda: wrong.run(X, 5, BLOCK=32, grid=(1,)),
    "warmup": lambda: wrong.warmup(X, 5, BLOCK=32, grid=(1,)),
    "interpret": lambda: wrong.interpret(X, 5, BLOCK=32, grid=(1,)),
    "simulate": lambda: wrong.simulate(X, 5, BLOCK=32, grid=(1,)),
    "autotuned launch": lambda: tuned(wrong)[(1,)](X, 5),
    "autotuned keyword": lambda: tuned(right)[(1,)](X, 5, BLOCK=64),
    "autotuned warmup": lambda: tuned(wrong).warmup(X, 5, grid=(1,)),
    "autotuned interpret": lambda: tuned(wrong).interpret(X, 5, grid=(1,)),
    "autotuned simulate": lambda: tuned(wrong).simulate(X, 5, grid=(1,)),
    "heuristics": lambda: computed(wrong)[(1,)](X, 5),
    "heuristics interpret": lambda: computed(wrong).interpret(X, 5, grid=(1,)),
    "heuristics simulate": lambda: computed(wrong).simulate(X, 5, grid=(1,)),
    "key": lambda: tile.autotune([tile.Config({"BLOCK": 32})], key=["m"])(right),
    "what is decorated": lambda: tile.autotune([], key=[])(len),
    "what is decorated by heuristics": lambda: tile.heuristics({})(len),
    "decoration": lambda: tile.jit(3),
    "backend": lambda: right.warmup(X, 5, BLOCK=32, num_warps=3, grid=(1,)),
    "compile": lambda: tile.compile("nothing.ttir", target=tile.GPUTarget("cuda", 90, 32)),
    "simulated text": lambda: tile.sim.launch(".version 8.0", "k", 1, 32, []),
    "finding": lambda: outside[(1,)](X, 64, BLOCK=32),
}


def names_in(error: BaseException) -> set[str]:
    return {f.f_globals["__name__"] for f, _ in traceback.walk_tb(error.__traceback__)}


def package_in(error: BaseException) -> set[str]:
    return {name for name in names_in(error) if name.split(".")[0] == "tile"}


@pytest.mark.parametrize(
    "mistake", [pytest.param(m, marks=sim_only if m == "finding" else ()) for m in MISTAKES]
)
def test_no_frame_of_the_package(mistake):
    with pytest.raises(tile.TileError) as caught:
        MISTAKES[mistake]()
    assert not package_in(caught.value)
    assert __name__ in names_in(caught.value)
    assert caught.value.__cause__ is not None or caught.value.__suppress_context__


def test_all_frames_where_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(tile.knobs.compilation, "front_end_debugging", True)
    with pytest.raises(tile.TileError) as caught:
        wrong[(1,)](X, 6, BLOCK=32)
    assert "tile.compiler.code_generator" in names_in(caught.value)


def test_faults_of_other_code_keep_their_frames():
    """They are not about the kernel: whoever mends them wants to see all."""

    def grid(meta):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        right[grid](X, 5, BLOCK=32)
    assert package_in(caught.value)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.name == "grid"


@sim_only
def test_frames_of_the_user_between_those_of_the_package():
    def grid(meta):
        return wrong[(1,)](X, 5, BLOCK=32)

    with pytest.raises(tile.TileError) as caught:
        right[grid](X, 5, BLOCK=32)
    names = [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ["test_frames_of_the_user_between_those_of_the_package", "grid"]


def test_a_guarded_call_is_a_function():
    def double(x, *, by=2):
        """Says more."""
        return x * by

    seen = []
    call = _C.launch.GuardedCall(double, seen.append)
    assert call(3) == 6 and call(3, by=5) == 15 and not seen
    with pytest.raises(TypeError):
        call()
    assert [type(error) for error in seen] == [TypeError]
    assert entry_point(double).__doc__ == "Says more."


def test_a_guarded_call_is_a_method_and_is_collected():
    class Owner:
        def me(self):
            return self

    Owner.me = _C.launch.GuardedCall(Owner.me, print)
    owner = Owner()
    assert owner.me() is owner
    gone = weakref.ref(Owner)
    owner.call = _C.launch.GuardedCall(owner.me, print)
    del owner, Owner
    gc.collect()
    assert gone() is None


def test_a_handler_that_fails_is_seen():
    def fail(error):
        raise KeyError("handler")

    with pytest.raises(KeyError, match="handler"):
        _C.launch.GuardedCall(len, fail)(3)
