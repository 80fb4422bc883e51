"""Printing from kernels, and assertions in them."""

from __future__ import annotations

import itertools
import pickle
import re

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
import tile.sim
from tile import knobs
from tile.experimental import gluon
from tile.experimental.gluon import language as gl


@tile.jit
def print_kernel(x_ptr, y_ptr, N: tl.constexpr, HEX: tl.constexpr):
    i = tl.arange(0, N)
    tl.device_print("x", tl.load(x_ptr + i), hex=HEX)
    if tl.program_id(0) == 1:
        tl.device_print("both: ", tl.load(y_ptr), tl.program_id(0) * 10)


def printed(capfd) -> list[str]:
    return capfd.readouterr().out.splitlines()


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("kind", "values", "texts"),
    [
        (np.int32, [-1, 0, 2**31 - 1, 5], ["-1", "0", "2147483647", "5"]),
        (np.uint32, [2**32 - 1, 0, 1, 2], ["4294967295", "0", "1", "2"]),
        (np.int64, [-(2**63), 2**40, 0, -1], ["-9223372036854775808", "1099511627776", "0", "-1"]),
        (np.uint64, [2**64 - 1, 0, 1, 2], ["18446744073709551615", "0", "1", "2"]),
        (np.int8, [-128, 127, 0, -1], ["-128", "127", "0", "-1"]),
        (np.uint8, [255, 128, 0, 1], ["255", "128", "0", "1"]),
        (np.int16, [-(2**15), 1, 2, 3], ["-32768", "1", "2", "3"]),
        (np.float32, [1.5, -0.25, np.inf, 0], ["1.500000", "-0.250000", "inf", "0.000000"]),
        (np.float16, [1.5, -2, 0.5, 0], ["1.500000", "-2.000000", "0.500000", "0.000000"]),
        (np.float64, [1e3, 0.125, -1, 2], ["1000.000000", "0.125000", "-1.000000", "2.000000"]),
    ],
    ids=lambda v: v.__name__ if isinstance(v, type) else "",
)
def test_values_and_their_places(kind, values, texts, capfd):
    x = np.array(values, kind)
    print_kernel[(2,)](x, np.array([7], np.int32), N=4, HEX=False, num_warps=2)
    lines = printed(capfd)
    for pid in range(2):
        expected = {f"pid ({pid}, 0, 0) idx ({i}) x: {t}" for i, t in enumerate(texts)}
        assert {line for line in lines if f"pid ({pid}," in line and " x: " in line} == expected
    assert [line for line in lines if "both" in line] == [
        "pid (1, 0, 0) idx () both: (operand 0) 7",
        "pid (1, 0, 0) idx () both: (operand 1) 10",
    ]
    assert len(lines) == 10, "each value once"


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (np.int32, ["0x00000001", "0xfffffffe"]), (np.int8, ["0x01", "0xfe"]),
        (np.int64, ["0x0000000000000001", "0xfffffffffffffffe"]),
        (np.float32, ["0x3f800000", "0xc0000000"]), (np.float16, ["0x3c00", "0xc000"]),
    ],
    ids=lambda v: v.__name__ if isinstance(v, type) else "",
)  # fmt: skip
def test_hexadecimal(kind, texts, capfd):
    x = np.array([1, -2], kind)
    print_kernel[(1,)](x, np.array([7], np.int32), N=2, HEX=True)
    assert [line.split("x: ")[1] for line in printed(capfd)] == texts


@tile.jit
def print_block_kernel(x_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.device_print("m", x)
    tl.device_print("100% done")
    tl.device_print("flag", x > 3)


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize(("m", "n"), [(16, 8), (2, 128), (1, 1024)])
def test_indices_have_one_width(m, n, capfd):
    """As many digits as the largest index of a dimension has: lines can be sorted."""
    x = np.arange(m * n, dtype=np.int32).reshape(m, n)
    print_block_kernel[(1,)](x, M=m, N=n)
    wide, long = len(str(m - 1)), len(str(n - 1))
    expected = [
        f"pid (0, 0, 0) idx ({i:{wide}}, {j:{long}}) m: {x[i, j]}"
        for i in range(m)
        for j in range(n)
    ]
    assert sorted(line for line in printed(capfd) if "m:" in line) == sorted(expected)


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("warps", [1, 4])
def test_blocks_of_two_dimensions(warps, capfd):
    x = np.arange(8, dtype=np.int32).reshape(2, 4)
    print_block_kernel[(1,)](x, M=2, N=4, num_warps=warps)
    lines = printed(capfd)
    values = [f"pid (0, 0, 0) idx ({i}, {j}) m: {x[i, j]}" for i in range(2) for j in range(4)]
    assert sorted(line for line in lines if "m:" in line) == values
    assert [line for line in lines if "done" in line] == ["pid (0, 0, 0) 100% done"]
    flags = [f"idx ({i}, {j}) flag: {int(x[i, j] > 3)}" for i in range(2) for j in range(4)]
    assert sorted(line[14:] for line in lines if "flag" in line) == flags


@tile.jit
def assert_kernel(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.device_assert(x < n, "x is too large")
    tl.store(x_ptr + i, x + 1)


ASSERTION = assert_kernel.fn.__code__.co_firstlineno + 4


@sim_only
@pytest.mark.compiled
def test_assertions_name_their_place():
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(tile.sim.SimulationError) as caught:
        assert_kernel[(1,)](x, 63, N=64, debug=True)
    text = str(caught.value)
    assert "x is too large" in text and "assert_kernel" in text
    assert re.search(rf"test_print_and_assert\.py:{ASSERTION}\b", text), text
    # The next launch is none the worse.
    x = np.arange(64, dtype=np.int32)
    assert_kernel[(1,)](x, 64, N=64, debug=True)
    np.testing.assert_array_equal(x, np.arange(1, 65))


@pytest.mark.compiled
def test_assertions_are_for_debugging():
    x = np.arange(64, dtype=np.int32)
    kernel = assert_kernel[(1,)](x, 3, N=64)
    np.testing.assert_array_equal(x, np.arange(1, 65))
    assert (
        "tt.assert" not in kernel.asm["ttir"]
        and "assertfail" not in kernel.asm[list(kernel.asm)[3]]
    )


@tile.jit
def masked_assert_kernel(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.device_assert(x >= 0, "negative", mask=i < n)
    tl.device_assert(n > 1)
    tl.store(x_ptr + i, x * 2)


@sim_only
@pytest.mark.compiled
def test_assertions_of_some_elements_and_of_scalars():
    x = np.array([1, 2, -3, 4], np.int32)
    masked_assert_kernel[(1,)](x, 2, N=4, debug=True)
    np.testing.assert_array_equal(x, [2, 4, -6, 8])
    with pytest.raises(tile.sim.SimulationError, match="negative"):
        masked_assert_kernel[(1,)](x, 3, N=4, debug=True)
    with pytest.raises(tile.sim.SimulationError):
        masked_assert_kernel[(1,)](x, 1, N=4, debug=True)


def environment_kernel(x_ptr):
    tl.device_assert(tl.load(x_ptr) == 1, "not one")
    tl.store(x_ptr + 1, tl.load(x_ptr + 1) + tl.load(x_ptr + 2))


def explicit_kernel(x_ptr):
    gl.device_assert(gl.load(x_ptr) == 1, "not one")
    gl.store(x_ptr + 1, gl.load(x_ptr + 1) + gl.load(x_ptr + 2))


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("jit,function", [(tile.jit, environment_kernel),
                                          (gluon.jit, explicit_kernel)])  # fmt: skip
@pytest.mark.parametrize("variable", [None, "TRITON_DEBUG", "TILE_DEBUG", "the knob"])
def test_who_turns_assertions_on(variable, jit, function, monkeypatch):
    """Variables and the knob win; then what the launch says; then what the decorator says. Sums
    that overflow are an error with assertions, if the launch does not say otherwise."""
    for name in ("TRITON_DEBUG", "TILE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    with knobs.runtime.scope():
        if variable == "the knob":
            knobs.runtime.debug = True
        elif variable:
            monkeypatch.setenv(variable, "1")
        for decorator, launch, checks_sums in itertools.product(
            (None, False, True), ({}, {"debug": None}, {"debug": False}, {"debug": True}),
            ({}, {"sanitize_overflow": False}, {"sanitize_overflow": True}),
        ):  # fmt: skip
            kernel = jit(function) if decorator is None else jit(debug=decorator)(function)
            expected = variable is not None or bool(launch.get("debug", decorator))
            sums = checks_sums.get("sanitize_overflow", expected)
            case = f"{variable}, {decorator}, {launch}, {checks_sums}"
            for values, fails in (([0, 1, 1], expected), ([1, 2**31 - 1, 1], sums)):
                found = ""
                try:
                    kernel[(1,)](np.array(values, np.int32), **launch, **checks_sums)
                except tile.sim.SimulationError as error:
                    found = str(error)
                assert bool(found) == fails, f"{case}: {values}: {found}"
            text = kernel.warmup(tl.int32, grid=(1,), **launch, **checks_sums).asm["ttir"] if (
                jit is tile.jit) else ""  # fmt: skip
            assert not text or ("not one" in text) == expected, case


@sim_only
def test_a_variable_that_is_off_turns_nothing_off(monkeypatch):
    monkeypatch.setenv("TRITON_DEBUG", "0")
    kernel = tile.jit(debug=True)(environment_kernel)
    with pytest.raises(tile.TileError, match="not one"):
        kernel[(1,)](np.zeros(3, np.int32))


@tile.jit(debug=True)
def assert_index(i_ptr, x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.load(i_ptr)
    tl.device_assert(i < n, "too far")
    tl.store(out_ptr + tl.arange(0, N), tl.load(x_ptr + i * n + tl.arange(0, N)))


@tile.jit(debug=True)
def assert_few_indices(i_ptr, x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.load(i_ptr + tl.arange(0, N))
    tl.device_assert(i < n, "too far")
    tl.store(out_ptr + tl.arange(0, N), tl.load(x_ptr + i * n))


@tile.jit
def checked(i):
    tl.device_assert(i < 1000, "too far")
    return i


@tile.jit(debug=True)
def assert_mapped_index(i_ptr, x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.map_elementwise(checked, tl.load(i_ptr + tl.arange(0, N)))
    tl.store(out_ptr + tl.arange(0, N), tl.load(x_ptr + i * n))


@sim_only
@pytest.mark.compiled
@pytest.mark.parametrize("target", ["cuda:80", "hip:gfx942", "hip:gfx1100"])
@pytest.mark.parametrize(
    ("kernel", "n"), [(assert_index, 64), (assert_few_indices, 16), (assert_mapped_index, 128)]
)
def test_no_warp_passes_an_assertion_that_fails(target, kernel, n, monkeypatch):
    """Whichever comes first: all of them would read out of bounds."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    i = np.zeros(n, np.int32)
    i[0 if kernel is assert_index else -1] = 1000
    for seed in range(4):
        monkeypatch.setenv("TILE_SIM_SCHEDULE_SEED", str(seed))
        with pytest.raises(tile.sim.SimulationError) as caught:
            kernel[(1,)](i, np.zeros(64, np.float32), np.zeros(n, np.float32), 999, N=n)
        text = str(caught.value)
        # AMD GPUs print the message and trap.
        stop = "assertion 'too far' failed" if target == "cuda:80" else "s_trap"
        assert stop in text and "bounds" not in text, text


@sim_only
@pytest.mark.compiled
def test_a_failed_assertion_is_a_runtime_error():
    """As on a GPU, where torch raises one; also behind a process."""
    with pytest.raises(RuntimeError, match="not one") as info:
        tile.jit(debug=True)(environment_kernel)[(1,)](np.zeros(3, np.int32))
    again = pickle.loads(pickle.dumps(info.value))
    assert type(again) is type(info.value) and str(again) == str(info.value)
    assert info.value.report is not None and again.report is None
