"""Random kernels: what the debugger shows at each statement is what the interpreter has there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import sim_only
from sessions import debug

from tile.debugger import Request
from tile.debugger.stop import masked
from tile.interpreter.undefined import is_undefined
from tile.language.values import tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fuzz import runner
from fuzz.generator import generate

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]

#: Stops of a program that are looked at.
MOST = 120
Seen = dict[int, list[dict[str, Any]]]


def value_of(value: Any) -> Any:
    """A value of the interpreter's, or None for what is none, or is undefined in part."""
    if isinstance(value, (int, float, bool)):
        return np.asarray(value)
    if not isinstance(value, tensor) or is_undefined(value.handle) or value.type.is_ptr():
        return None
    if value.type.is_block() and value.dtype.is_ptr():
        return None
    return np.array(np.asarray(value))


def is_loop(text: str) -> bool:
    return text.lstrip().startswith(("for ", "while "))


def indentation(text: str) -> int:
    return len(text) - len(text.lstrip())


def has_ambiguous_events(source: list[str], line: int) -> bool:
    """Python names the last line of an outer loop at the end of the inner one. If that line is all
    that the inner loop has, its events and those of the inner loop look alike."""
    header, text, after = (
        source[line - 2],
        source[line - 1],
        source[line] if line < len(source) else "",
    )
    return (
        is_loop(header)
        and indentation(text) > indentation(header)
        and indentation(after) < indentation(header)
    )


def interpreted(program: Any) -> Seen:
    """By line of the kernel: the variables at each time that the line begins, in program 0."""
    seen: Seen = {}
    file = f"<kernel {program.seed}>"
    calls = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal calls
        if frame.f_code.co_filename != file or frame.f_code.co_name != "kernel":
            return None
        if event == "call":
            calls += 1
            return trace if calls == 1 else None
        if event == "line" and not is_echo(frame.f_lineno):
            found = {n: value_of(v) for n, v in frame.f_locals.items()}
            seen.setdefault(frame.f_lineno, []).append(found)
        return trace

    source = program.source.splitlines()
    before = 0

    def is_echo(line: int) -> bool:
        """At the end of an inner loop, Python names the last line of the outer one once more."""
        nonlocal before
        last, before = before, line
        inner, outer = source[line - 1], source[last - 1]
        inside = indentation(inner) > indentation(outer)
        return last > 0 and is_loop(outer) and line > last + 1 and inside

    kernel, values = program.kernel(), program.inputs()
    sys.settrace(trace)
    try:
        with np.errstate(all="ignore"):
            kernel.interpret(**values, grid=program.grid, num_warps=program.config.num_warps)
    finally:
        sys.settrace(None)
    return seen


def agree(shown: Any, expected: np.ndarray) -> bool:
    shown = np.asarray(shown)
    if expected.dtype.kind in "biu":
        # Types that NumPy lacks are shown by wider ones.
        return shown.shape == expected.shape and bool((shown == expected).all())
    a, b = shown.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        finite = np.abs(b)[np.isfinite(b)]
        tolerance = 2e-2 * (1 + (finite.max() if finite.size else 0))
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= tolerance)
    return a.shape == b.shape and bool(same.all())


def compared(seed: int, target: str) -> int:
    """How many values were compared."""
    program = generate(seed)
    # Python's events of `while` are others; bits of floats differ where floats do.
    if re.search(r"^ *while |bitcast", program.source, re.MULTILINE):
        pytest.skip("the interpreter is no oracle for it")
    expected = interpreted(program)
    source = program.source.splitlines()
    count = 0

    def script(stop: Any) -> Any:
        nonlocal count
        times: dict[int, int] = {}
        for _ in range(MOST):
            request = Request("step")
            request.block, request.warp = 0, 0
            stop = yield request
            if stop is None:
                return
            if len(stop.frames) != 1 or stop.block_number != 0:
                continue
            line = stop.frames[0].line
            now = times[line] = times.get(line, 0) + 1
            # The header of a loop is one statement here, and an event for each iteration there.
            if is_loop(source[line - 1]) or has_ambiguous_events(source, line):
                continue
            there = expected[line][now - 1]
            for name in stop.names(stop.frames[0]):
                value = there.get(name)
                variable = stop.variable(name, stop.frames[0])
                if value is None or variable.is_pointer or variable.value is None:
                    continue
                where = f"seed {seed}, {target}, line {line} ({now}): {name}"
                assert variable.differs is None or not variable.differs.any(), where
                assert not np.ma.getmaskarray(masked(variable)).any(), where
                assert agree(variable.value, value), f"{where}\n{variable.value}\n{value}"
                count += 1

    def launch() -> None:
        kernel, values = program.kernel(), program.inputs()
        kernel[program.grid](**values, num_warps=program.config.num_warps, num_stages=3)

    debug(launch, script, target)
    return count


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "hip:gfx1100"])
@pytest.mark.parametrize("seed", range(500, 506))
def test_variables_of_random_kernels(seed, target):
    try:
        assert compared(seed, target) > 0
    except runner.Inconclusive:
        pytest.skip("the target refuses it")
