"""Kernels under a debugger: prints, breakpoints, stepping, traces."""

from __future__ import annotations

import io
import os
import pdb
import signal
import subprocess
import sys
import traceback

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl


@tile.jit
def helper(x):
    doubled = x * 2
    return doubled


@tile.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    total = 0
    for k in range(2):
        total += k
    if pid == 1:
        x = helper(x)
    else:
        x = x + 1
    tl.store(out_ptr + i, x + total, mask=i < n)


FIRST = kernel.fn.__code__.co_firstlineno


def launch(grid=(2,)) -> np.ndarray:
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    kernel.interpret(x, out, 6, BLOCK=4, grid=grid)
    return out


@tile.jit
def printing(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    print("x =", x)
    print(f"first: {tl.sum(x, 0)}, size {BLOCK}, {x.shape} {tl.sum(x, 0):.2f}")
    print(x_ptr + 1, x.dtype)
    tl.device_print("sum", tl.sum(x, 0), tl.program_id(0))
    tl.device_print("bits", x, hex=True)


def test_print_shows_values(capsys):
    printing.interpret(np.array([1, -2, 3, 4], np.float16), BLOCK=4, grid=(1,))
    assert capsys.readouterr().out.splitlines() == [
        "x = fp16[4] [ 1., -2.,  3.,  4.]",
        "first: fp16 6.0, size 4, (4,) 6.00",
        "pointer<fp16> x_ptr[1] fp16",
        "pid (0, 0, 0) sum: 6.0 0",
        "pid (0, 0, 0) bits: [0x3c00 0xc000 0x4200 0x4400]",
    ]


def test_a_trace_sees_lines_and_numpy_values():
    lines, seen = [], {}

    def trace(frame, event, argument):
        if frame.f_code.co_filename != __file__ or frame.f_code.co_name != "kernel":
            return trace
        if event == "line":
            lines.append(frame.f_lineno - FIRST)
        if event == "return":
            seen[int(frame.f_locals["pid"])] = np.asarray(frame.f_locals["x"])
        return trace

    sys.settrace(trace)
    try:
        launch()
    finally:
        sys.settrace(None)
    # Every line in the order that it runs: nothing that is not there.
    assert lines[: len(lines) // 2] == [2, 3, 4, 5, 6, 7, 6, 7, 6, 8, 11, 12]
    assert lines[len(lines) // 2 :] == [2, 3, 4, 5, 6, 7, 6, 7, 6, 8, 9, 12]
    np.testing.assert_array_equal(seen[0], np.arange(4) + 1)
    np.testing.assert_array_equal(seen[1], [8, 10, 0, 0])


@tile.jit
def stopping(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    y = x + x
    breakpoint()
    tl.store(x_ptr + tl.arange(0, BLOCK), y)


@pytest.mark.parametrize(
    "kind", [np.float32, np.uint8, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn]
)
def test_breakpoints_see_numpy_values(kind, monkeypatch):
    seen = {}

    def hook():
        frame = sys._getframe(1)
        seen.update(frame.f_locals)
        seen["line"] = frame.f_lineno - stopping.fn.__code__.co_firstlineno

    monkeypatch.setattr(sys, "breakpointhook", hook)
    x = np.array([1, 2, 100, 200], kind)
    expected = x + x
    stopping.interpret(x, BLOCK=4, grid=(1,))
    array = np.asarray(seen["y"])
    assert array.dtype == kind
    np.testing.assert_array_equal(array, expected)
    np.testing.assert_array_equal(x, expected)
    assert seen["BLOCK"] == 4
    assert seen["line"] == 4


@pytest.fixture(autouse=True)
def interrupts():
    """pdb keeps Ctrl-C for itself once it has continued."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


def debug(commands: str) -> str:
    """What pdb prints."""
    out = io.StringIO()
    debugger = pdb.Pdb(
        stdin=io.StringIO(commands), stdout=out, skip=["tile.*", "importlib.*"], readrc=False
    )
    debugger.use_rawinput = False
    debugger.prompt = "> "
    debugger.set_break(__file__, FIRST + 8)
    debugger.runcall(launch)
    sys.settrace(None)
    assert not debugger.stdin.read(), "all commands were used"
    return out.getvalue()


def test_pdb_stops_at_a_line_and_shows_values():
    # Through launch itself, to the breakpoint, into the helper, and out.
    text = debug("continue\np x\np BLOCK\ncontinue\nnext\nstep\nstep\nnext\nnext\np doubled\n")
    assert "-> if pid == 1:" in text
    assert "fp32[4] [0., 1., 2., 3.]" in text
    assert "-> x = helper(x)" in text
    assert "fp32[4] [ 8., 10.,  0.,  0.]" in text


def test_breakpoints_open_pdb_in_the_kernel(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("p y\nnext\nstep\ncontinue\n"))
    monkeypatch.setattr(sys, "stdout", out)
    stopping.interpret(np.array([1, 2, 100, 200], np.int32), BLOCK=4, grid=(1,))
    sys.settrace(None)
    text = out.getvalue()
    assert "-> tl.store(x_ptr + tl.arange(0, BLOCK), y)" in text
    assert "int32[4] [  2,   4, 200, 400]" in text
    assert "tile/" not in text.replace(__file__, "")


@tile.jit
def failing(x_ptr, n):
    y = helper(n)
    scale = 1 // y
    tl.store(x_ptr + y, scale)


def test_a_traceback_has_the_frames_of_kernels():
    with pytest.raises(tile.InterpreterError) as caught:
        failing.interpret(np.zeros(4, np.int32), 3, grid=(1,))
    frames = [f for f, _ in traceback.walk_tb(caught.value.__traceback__)]
    names = [f.f_code.co_name for f in frames]
    assert names[-1] == "failing"
    assert int(frames[-1].f_locals["y"]) == 6
    assert caught.value.__cause__ is None


def test_errors_of_the_users_own_python_pass_through():
    @tile.constexpr_function
    def raising(n):
        raise KeyError(n)

    @tile.jit
    def kernel(x_ptr):
        raising(3)

    with pytest.raises(KeyError):
        kernel.interpret(np.zeros(4, np.int32), grid=(1,))


PROGRAM = """
import numpy as np
import tile
import tile.language as tl

@tile.jit
def kernel(x_ptr, n):
    print("at", tl.program_id(0))
    tl.store(x_ptr + tl.program_id(0), n)

x = np.zeros(2, np.int32)
kernel[(2,)](x, 7)
print(x.tolist(), type(kernel[(2,)](x, 7)).__name__)
"""


@pytest.mark.parametrize("variable", ["TILE_INTERPRET", "TRITON_INTERPRET"])
def test_environment_variables(variable, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_INTERPRET")}
    folder = os.path.dirname(os.path.dirname(tile.__file__))
    environment["PYTHONPATH"] = folder
    environment[variable] = "1"
    command = [sys.executable, str(path)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "at int32 0", "at int32 1", "at int32 0", "at int32 1", "[7, 7] InterpretedKernel"
    ]  # fmt: skip


def test_the_knob_is_looked_at_by_each_launch(monkeypatch):
    monkeypatch.delenv("TILE_INTERPRET", raising=False)
    x = np.zeros(6, np.float32)

    def kind() -> str:
        return type(kernel[(1,)](x, x, 6, BLOCK=4)).__name__

    assert kind() == "CompiledKernel"
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.interpret = True
        assert kind() == "InterpretedKernel"
    assert kind() == "CompiledKernel"
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert kind() == "InterpretedKernel"
    monkeypatch.setenv("TILE_INTERPRET", "0")
    assert kind() == "CompiledKernel"


def test_a_setting_allows_functions_of_the_program():
    seen = []

    @tile.jit
    def keeps(x):
        seen.append(np.asarray(tl.load(x + tl.arange(0, 4))))

    x = np.arange(4, dtype=np.float32)
    with tile.knobs.compilation.scope():
        tile.knobs.compilation.allow_non_constexpr_globals = True
        keeps.interpret(x, grid=(1,))
    np.testing.assert_array_equal(seen[-1], x)


def test_autotuned_kernels_and_heuristics_run_without_measuring(monkeypatch):
    launches = []

    @tile.autotune([tile.Config({"B": 4}), tile.Config({"B": 8})], key=["n"])
    @tile.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
    @tile.jit
    def tuned(x_ptr, n, B: tl.constexpr, EVEN: tl.constexpr):
        launches.append((int(tl.program_id(0)), B, EVEN))
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x_ptr + i, i, mask=i < n)

    monkeypatch.setenv("TILE_INTERPRET", "1")
    x = np.full(10, -1, np.int32)
    with tile.knobs.compilation.scope():
        tile.knobs.compilation.allow_non_constexpr_globals = True
        tuned[lambda meta: (tile.cdiv(meta["n"], meta["B"]),)](x, 10)
    assert launches == [(0, 4, False), (1, 4, False), (2, 4, False)]
    assert x.tolist() == list(range(10))
