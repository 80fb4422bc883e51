"""Loads whose author forgot `other`, on every machine and in the interpreter.

Each program reads lanes that its mask switches off. It is found, with the line of the load; its
twin, in which the load has an `other` or the value is chosen before it is used, is clean.
"""

from __future__ import annotations

import inspect
import os

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl

TARGETS = ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"]


@pytest.fixture(params=[*TARGETS, "interpreted"])
def way(request, monkeypatch) -> str:
    if request.param == "interpreted":
        monkeypatch.setenv("TILE_INTERPRET", "1")
    else:
        if os.environ.get("TILE_DRIVER") == "cuda":
            pytest.skip("needs the simulator")
        monkeypatch.setenv("TILE_SIM_TARGET", request.param)
    return request.param


@tile.jit
def largest(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    o = tl.arange(0, B)
    if GOOD:
        v = tl.load(x + o, mask=o < n, other=float("-inf"))
    else:
        v = tl.load(x + o, mask=o < n)  # forgotten
    tl.store(out, tl.max(v, 0))


@tile.jit
def smallest(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)  # forgotten
    if GOOD:
        v = tl.where(o < n, v, float("inf"))
    tl.store(out, tl.min(v, 0))


@tile.jit
def total(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    """Zero is right in practice, and nowhere written."""
    o = tl.arange(0, B)
    if GOOD:
        v = tl.load(x + o, mask=o < n, other=0.0)
    else:
        v = tl.load(x + o, mask=o < n)  # forgotten
    tl.store(out, tl.sum(v * 2, 0))


@tile.jit
def branch(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)  # forgotten
    if GOOD:
        v = tl.where(o < n, v, 0.0)
    if tl.sum(v, 0) < -1:
        tl.store(out, 1.0)
    else:
        tl.store(out, 2.0)


@tile.jit
def stored(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)  # forgotten
    if GOOD:
        tl.store(out + o, v, mask=o < n)
    else:
        tl.store(out + o, v)


@tile.jit
def exchanged(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    """Through other lanes and shared memory, and back under the mask of the columns."""
    o = tl.arange(0, B)
    p = tl.arange(0, 16)
    mask = (o[:, None] < n) & (p[None, :] < 16)
    v = tl.load(x + o[:, None] + p[None, :] * 0, mask=mask)  # forgotten
    v = tl.trans(v)
    if GOOD:
        tl.store(out + o[None, :] + p[:, None] * 0, v, mask=o[None, :] < n)
    else:
        tl.store(out + o[None, :] + p[:, None] * 0, v, mask=o[None, :] <= n)


@tile.jit
def scanned(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    """What is in front of the masked lanes does not see them."""
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)  # forgotten
    tl.store(out + o, tl.cumsum(v, 0, reverse=not GOOD), mask=o < n)


@tile.jit
def product(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    """Rows that are not stored may be undefined; what is summed over may not."""
    o = tl.arange(0, B)
    k = tl.arange(0, 32)
    mask = (o[:, None] < n) & (k[None, :] < 32 - 2 * (not GOOD))
    a = tl.load(x + o[:, None] * GOOD + k[None, :] * (not GOOD), mask=mask)  # forgotten
    b = tl.full([32, 16], 1.0, tl.float16)
    acc = tl.dot(a.to(tl.float16), b)
    tl.store(out + o[:, None] + tl.arange(0, 16)[None, :] * 0, acc, mask=o[:, None] < n)


@tile.jit
def index(x, out, n, B: tl.constexpr, GOOD: tl.constexpr):
    """The element next to it, whose place was loaded."""
    o = tl.arange(0, B)
    i = tl.load(x + o, mask=o < n).to(tl.int32)  # forgotten
    if GOOD:
        tl.store(out + o, tl.load(x - i, mask=o < n), mask=o < n)
    else:
        tl.store(out - i, tl.load(x + 1) + 0.0 * o)


PROGRAMS = [largest, smallest, total, branch, stored, exchanged, scanned, product, index]
N, B = 100, 128


def run(program, good: bool, **options) -> np.ndarray:
    x = -np.linspace(1.5, 3, N, dtype=np.float32)
    out = np.zeros(B, np.float32)
    program[(1,)](x, out, N, B, good, **options)
    return out


def line_of(program) -> int:
    lines, first = inspect.getsourcelines(program.fn)
    return first + next(i for i, text in enumerate(lines) if "# forgotten" in text)


@sim_only
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.fn.__name__)
def test_a_forgotten_other_is_found(program, way):
    run(program, True)
    with pytest.raises(tile.TileError, match="undefined") as error:
        run(program, False)
    assert f"{os.path.basename(__file__)}:{line_of(program)}" in str(error.value)


def test_it_can_be_left_out(way, monkeypatch):
    monkeypatch.setenv("TILE_UNDEFINED_LANES", "0")
    assert run(largest, False)[0] == 0


@pytest.mark.parametrize("target", TARGETS)
def test_debug_fills_them(target, monkeypatch):
    """A variant of its own, in which they show: on a GPU, too."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    assert np.isnan(run(total, False, debug=True)[0])
    assert run(total, True, debug=True)[0] == run(total, True)[0]


@sim_only
@pytest.mark.parametrize("target", TARGETS)
def test_without_debug_they_are_found(target, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    with pytest.raises(tile.TileError, match="undefined"):
        run(total, False)


def test_a_finding_can_be_suppressed(monkeypatch):
    from tile.sim import Suppression

    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    x, out = np.ones(N, np.float32), np.zeros(B, np.float32)
    kernel = total.warmup(x, out, N, B, False, grid=(1,))

    def launch(**options):
        arguments = ("total", (1,), (128,), [x, out, N])
        shared = kernel.metadata.shared
        return tile.sim.launch(kernel.asm["ptx"], *arguments, dynamic_shared=shared, **options)

    report = launch(raise_on_finding=False)
    assert [f["kind"] for f in report.findings] == ["undefined-lanes"]
    known = Suppression("undefined-lanes", f"*:{line_of(total)}", "zero is right on this machine")
    report = launch(suppressions=[known])
    assert report.ok and report.suppressed and not report.messages
    assert "suppressed (zero is right" in report.summary()
    assert launch(check="races,uninitialized").ok


def test_it_leaves_memory_as_the_launch_did(monkeypatch):
    """Launches with other values are tried on a copy of what was there before."""

    @tile.jit
    def twice(x, n, B: tl.constexpr):
        o = tl.arange(0, B)
        v = tl.load(x + o, mask=o < n)
        tl.store(x + o, v + tl.sum(tl.where(o < n, v, 0.0), 0) * 0 + v, mask=o < n)

    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    x = np.arange(N, dtype=np.float32)
    twice[(1,)](x, N, B)
    np.testing.assert_array_equal(x, 2 * np.arange(N))


@tile.jit
def talking(x, out, n, B: tl.constexpr):
    o = tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    tl.device_print("program", tl.program_id(0))
    tl.store(out + o, tl.cumsum(v, 0), mask=o < n)


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_what_is_printed_is_printed_once(target, monkeypatch, capfd):
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    said = []
    for looks in ("0", "1"):
        monkeypatch.setenv("TILE_UNDEFINED_LANES", looks)
        x, out = np.ones(N, np.float32), np.zeros(B, np.float32)
        talking[(1,)](x, out, N, B)
        said.append(capfd.readouterr().out)
    assert said[0] and said[0] == said[1]
