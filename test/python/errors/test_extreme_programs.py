"""Programs that are unusually empty, deep or long."""

from __future__ import annotations

import linecache
import os
import signal
import sys
import threading

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def nothing():
    pass


@tile.jit
def only_a_block():
    a = tl.zeros((64,), tl.float32)
    tl.static_assert(a.shape[0] == 64)


@tile.jit
def only_a_number():
    n = 5
    while n > 0:
        n -= 1
    tl.device_assert(n == 0)


@tile.jit
def only_constants(N: tl.constexpr, FLAG: tl.constexpr = True):
    total = tl.sum(tl.full((N,), 2, tl.int32))
    if FLAG:
        tl.device_assert(total == 2 * N)


@tile.jit
def only_a_product():
    a = tl.full((16, 16), 1.0, tl.float16)
    c = tl.dot(a, a)
    tl.device_assert(tl.sum(tl.sum(c, 1), 0) == 4096)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(nothing, ()), (only_a_block, ()), (only_a_number, ()), (only_constants, (32,)),
     (only_a_product, ())],
)  # fmt: skip
def test_kernels_without_parameters_at_run_time(kernel, arguments):
    kernel[(2,)](*arguments, debug=True)


def compiled_from(text: str, name: str):
    """The function `kernel` of a text."""
    text = "import tile\nimport tile.language as tl\n" + text
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict = {"__name__": "extreme"}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)  # Python's own parser comes first.
    try:
        exec(compile(text, name, "exec"), namespace)
    finally:
        sys.setrecursionlimit(limit)
    return namespace["kernel"]


@pytest.mark.parametrize("terms", [100, 3000])
def test_an_expression_of_thousands_of_terms(terms):
    total = " + ".join(["x"] * terms)
    kernel = compiled_from(
        f"@tile.jit\ndef kernel(p):\n    x = tl.load(p)\n    tl.store(p, {total})\n",
        f"<{terms} terms>",
    )
    x = np.full(1, 3, np.int32)
    kernel[(1,)](x)
    assert x[0] == 3 * terms


def test_a_condition_of_hundreds_of_terms():
    parts = " or ".join(f"x == {i}" for i in range(400))
    kernel = compiled_from(
        f"@tile.jit\ndef kernel(p, out):\n    x = tl.load(p)\n    tl.store(out, {parts})\n",
        "<a long condition>",
    )
    for value in (0, 399, 400):
        out = np.full(1, 7, np.int32)
        kernel[(1,)](np.full(1, value, np.int32), out)
        assert out[0] == (value < 400)


def test_many_statements():
    body = "\n".join(f"    x = x * 3 + {i}" for i in range(2000))
    kernel = compiled_from(
        f"@tile.jit\ndef kernel(p):\n    x = tl.load(p)\n{body}\n    tl.store(p, x)\n",
        "<many statements>",
    )
    out = np.full(1, 1, np.uint32)
    expected = 1
    for i in range(2000):
        expected = (expected * 3 + i) % 2**32
    kernel[(1,)](out)
    assert int(out[0]) == expected


@tile.jit
def constants_that_meet(p, N: tl.constexpr):
    i = tl.arange(0, 64)
    positive = tl.load(p + i) > 0
    x = tl.zeros([64], tl.int32)
    for _ in tl.static_range(N):
        x = tl.where(positive, x + 1, 1 + x)
    tl.store(p + i, x)


def test_more_than_ten_rounds_of_simplification():
    """Each `where` is one value only when the one before it is."""
    x = np.zeros(64, np.int32)
    constants_that_meet[(1,)](x, 40)
    assert (x == 40).all()


@tile.jit
def down(x, n: tl.constexpr):
    if n == 0:
        return x
    return down(x + n, n - 1)


@tile.jit
def call_down(p, N: tl.constexpr):
    tl.store(p, down(tl.load(p), N))


def test_calls_that_nest_deeply():
    x = np.zeros(1, np.int32)
    call_down[(1,)](x, 100)
    assert x[0] == 5050


@tile.jit
def endless(x, n: tl.constexpr):
    return endless(x + n, n + 1)


@tile.jit
def ping(x, n: tl.constexpr):
    return pong(x, n + 1)


@tile.jit
def pong(x, n: tl.constexpr):
    return ping(x, n + 1)


@tile.jit
def call_endless(p):
    tl.store(p, endless(tl.load(p), 0))


@tile.jit
def call_ping(p):
    tl.store(p, ping(tl.load(p), 0))


@tile.constexpr_function
def count(n):
    return count(n + 1)


@tile.jit
def call_count(p):
    tl.store(p, count(0))


@pytest.mark.parametrize("kernel", [call_endless, call_ping, call_count])
def test_endless_recursion_is_one_short_message(kernel):
    with pytest.raises(tile.CompilationError, match="recursion") as caught:
        kernel[(1,)](np.zeros(1, np.int32))
    text = str(caught.value)
    assert len(text.splitlines()) < 20
    assert "tl.store(p, " in text
    if kernel is not call_count:
        assert "repeat" in text


@tile.jit
def counts_for_ever(out, step):
    n = 0
    while step > 0:
        n += step * n + 1
        tl.store(out, n)


@tile.jit
def waits_for_ever(out, step):
    while tl.load(out, volatile=True) != step:
        pass


@pytest.fixture
def interrupts():
    """Ctrl-C as Python starts with: a debugger keeps it for itself once it has continued."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.settrace(None)
    yield
    signal.signal(signal.SIGINT, handler)


@sim_only
@pytest.mark.parametrize("kernel", [counts_for_ever, waits_for_ever])
def test_kernels_without_an_end_can_be_interrupted(kernel, machine, interrupts):
    """Ctrl-C ends a launch; what is launched afterwards runs."""
    if machine == "interpreter" and kernel is waits_for_ever:
        pytest.skip("the interpreter says that nobody will write there")
    kernel.warmup(np.zeros(1, np.int32), 1, grid=(1,))  # Not the compile is to be interrupted.
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt) as error:
            kernel[(1,)](np.zeros(1, np.int32), 1)
        if machine != "interpreter":  # There, the traceback says where it was.
            assert f", in {kernel.fn.__name__}\n" in str(error.value)
            assert "the kernel was here when it was interrupted" in str(error.value)
    finally:
        timer.cancel()
    out = np.zeros(1, np.int32)
    kernels_after_that[(1,)](out)
    assert out[0] == 5


@tile.jit
def kernels_after_that(out):
    tl.store(out, 5)


@tile.jit
def counts_in_a_range(out, n):
    for i in range(n):
        tl.store(out, i)


@pytest.mark.parametrize(
    ("kernel", "argument"), [(counts_for_ever, 1), (counts_in_a_range, 2**31 - 1)]
)
def test_interpreted_kernels_have_a_budget(kernel, argument, monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET_MAX_ITERATIONS", "300")
    with pytest.raises(tile.InterpreterError, match="300 iterations of its loops") as caught:
        kernel.interpret(np.zeros(1, np.int32), argument, grid=(1,))
    assert f"in {kernel.__name__}\n" in str(caught.value)
    # Each program has it, and 0 stands for no end to it.
    for budget, programs in ((300, 5), (0, 1)):
        monkeypatch.setenv("TILE_INTERPRET_MAX_ITERATIONS", str(budget))
        out = np.zeros(1, np.int32)
        counts_in_a_range.interpret(out, budget or 400, grid=(programs,))
        assert out[0] == (budget or 400) - 1


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("kernel", [counts_for_ever, waits_for_ever])
def test_kernels_without_an_end_have_a_budget(kernel, monkeypatch):
    with pytest.raises(tile.TileError, match="10000 warp instructions"):
        kernel.simulate(np.zeros(1, np.int32), 1, grid=(1,), max_instructions=10000)
    monkeypatch.setenv("TILE_SIM_MAX_INSTRUCTIONS", "20000")
    with pytest.raises(tile.TileError, match="20000 warp instructions"):
        kernel[(1,)](np.zeros(1, np.int32), 1)
