"""What kernels for AMD GPUs print, and how assertions stop them."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.backends import find_backend


@pytest.fixture(params=["hip:gfx942", "hip:gfx1100"], autouse=True)
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", request.param)
    return request.param


@tile.jit(noinline=True)
def tell(v):
    tl.device_print("100% told: ", v)


@tile.jit
def printing(x, N: tl.constexpr, HEX: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.device_print("x", v, hex=HEX)
    if tl.program_id(0) == 1:
        tell(tl.program_id(0) * 10)


@pytest.mark.parametrize(
    ("values", "hexadecimal", "texts"),
    [
        (np.array([-1, 2**31 - 1], np.int32), False, ["-1", "2147483647"]),
        (np.array([-(2**63), 2**40], np.int64), False, ["-9223372036854775808", "1099511627776"]),
        (np.array([1.5, -np.inf], np.float32), False, ["1.500000", "-inf"]),
        (np.array([1, -2], np.int64), True, ["0x0000000000000001", "0xfffffffffffffffe"]),
        (np.array([1, -2], np.float16), True, ["0x3c00", "0xc000"]),
    ],
    ids=lambda v: str(v.dtype) if isinstance(v, np.ndarray) else "",
)
def test_each_value_once(values, hexadecimal, texts, capfd):
    report = printing.simulate(values, N=2, HEX=hexadecimal, grid=(2,))
    output = capfd.readouterr().out
    assert report.output == report.to_dict()["output"] == output
    lines = output.splitlines()
    told = [f"pid ({p}, 0, 0) idx ({i}) x: {t}" for p in (0, 1) for i, t in enumerate(texts)]
    assert sorted(lines) == sorted([*told, "pid (1, 0, 0) idx () 100% told: 10"])


@tile.jit
def much(N: tl.constexpr):
    tl.device_print("i", tl.arange(0, N))


def test_what_does_not_fit_is_left_out(monkeypatch, capfd):
    find_backend(tile.GPUTarget("hip", "gfx942", 64))
    printing = importlib.import_module("tile.backends.amd.printing")
    monkeypatch.setattr(printing, "_CAPACITY", 1000)
    much[(4,)](N=64)
    lines = capfd.readouterr().out.splitlines()
    # A record has a number, the program's three, an index and a value.
    assert len(lines) == 1000 // 24 == len(set(lines))
    assert all(line.startswith("pid (") for line in lines)


@tile.jit
def asserting(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_assert(v < 100, "100% is the most")
    tl.store(out + i, v)


@pytest.mark.simulator
def test_assertions_stop_the_launch_and_tell_why():
    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    asserting[(1,)](x, out, N=64, debug=True)
    assert (out == x).all()
    x[40] = 100
    with pytest.raises(tile.sim.SimulationError) as caught:
        asserting[(1,)](x, out, N=64, debug=True)
    line = asserting.fn.__code__.co_firstlineno + 4
    text = str(caught.value)
    assert f"test_printing.py:{line}: asserting: assertion '100% is the most' failed" in text
