"""Values of variables at stops, against NumPy."""

from __future__ import annotations

import kernels
import ml_dtypes
import numpy as np
import pytest
from reference import sim_only
from sessions import TARGETS, debug

from tile.debugger import Request
from tile.debugger.stop import masked
from tile.errors import TileError

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]


def stop_at(stop, comment, **options):
    stop.session.debugger.add_breakpoint(kernels.FILE, kernels.line_of(comment), **options)


def values(stop, frame=0):
    it = stop.frames[frame]
    return {name: stop.variable(name, it) for name in stop.names(it)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "block", "warps"), [(100, 128, 4), (37, 64, 1), (500, 512, 8)])
def test_variables_of_a_loop(target, n, block, warps):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((3, n), dtype=np.float32)
    out = np.full_like(x, np.nan)
    padded = np.zeros((3, block), np.float32)
    padded[:, :n] = x

    def script(stop):
        stop_at(stop, "sum", program=(1, 0, 0))
        total = np.zeros(block, np.float32)
        for i in range(3):
            stop = yield Request()
            assert stop.program == (1, 0, 0)
            assert stop.frames[0].line == kernels.line_of("sum")
            seen = values(stop)
            assert seen["row"].value == 1 and seen["i"].value == i and seen["n"].value == n
            assert seen["BLOCK"].value == block
            np.testing.assert_array_equal(seen["columns"].value, np.arange(block))
            np.testing.assert_array_equal(seen["mask"].value, np.arange(block) < n)
            np.testing.assert_array_equal(seen["x"].value, padded[1])
            np.testing.assert_array_equal(seen["x"].mask, np.arange(block) < n)
            np.testing.assert_array_equal(seen["y"].value, padded[1] * i + 1)
            np.testing.assert_array_equal(seen["total"].value, total)
            assert not any(v.missing is not None and v.missing.any() for v in seen.values())
            assert not any(v.differs is not None and v.differs.any() for v in seen.values())
            assert "highest" not in seen and "result" not in seen
            total = total + (padded[1] * np.float32(i) + np.float32(1))
        stop.session.debugger.breakpoints.clear()
        stop_at(stop, "store", program=(1, 0, 0))
        stop = yield Request()
        seen = values(stop)
        np.testing.assert_array_equal(seen["total"].value, total)
        assert seen["highest"].value == total.max()
        narrow = (total - total.max()).astype(np.float16)
        np.testing.assert_array_equal(seen["narrow"].value, narrow)
        # Rounded to the nearest, ties to even, as bf16 has the upper bits of fp32.
        bits = narrow.astype(np.float32).view(np.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        np.testing.assert_array_equal(seen["half"].value, rounded.view(np.float32))
        np.testing.assert_array_equal(seen["count"].value, (total > 0).astype(np.int8))
        assert seen["pair[0]"].value == total.max() and seen["pair[1]"].value == 2
        assert np.isnan(out[1]).all()

    launch = lambda: kernels.rows[(3,)](x, out, n, n, BLOCK=block, num_warps=warps)  # noqa: E731
    debug(launch, script, target)


@pytest.mark.parametrize("target", TARGETS)
def test_functions_have_variables_of_their_own(target):
    x = np.arange(20, dtype=np.float32).reshape(2, 10)
    out = np.zeros_like(x)

    def script(stop):
        stop_at(stop, "end of scaled", program=(1, 0, 0))
        for i in range(3):
            stop = yield Request()
            inner, outer = stop.frames[:2]
            assert (inner.function, outer.function) == ("scaled", "rows")
            assert outer.line == kernels.line_of("call")
            seen = values(stop)
            assert set(seen) == {"value", "factor", "result"} and seen["factor"].value == i
            np.testing.assert_array_equal(seen["result"].value[:10], x[1] * i)
            around = values(stop, 1)
            assert around["i"].value == i
            # The result of the call before, if there was one.
            assert ("y" in around) == (i > 0)

    debug(lambda: kernels.rows[(2,)](x, out, 10, 10, BLOCK=16, num_warps=1), script, target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_function_begins_without_variables(target):
    """The variables of a call before are none of this one."""
    x, out = np.ones((1, 16), np.float32), np.zeros((1, 16), np.float32)

    def script(stop):
        stop_at(stop, "in scaled")
        for _ in range(3):
            stop = yield Request()
            assert set(values(stop)) == {"value", "factor"}
            assert stop.variable("result", stop.frames[0]) is None

    debug(lambda: kernels.rows[(1,)](x, out, 16, 16, BLOCK=16, num_warps=1), script, target)


@pytest.mark.parametrize("target", TARGETS)
def test_holders_hold_what_is_shown(target):
    """Each element that is shown is in the register of the thread that is named."""
    x = np.random.default_rng(1).standard_normal((1, 200), dtype=np.float32)
    out = np.zeros_like(x)

    def script(stop):
        stop_at(stop, "call")
        stop = yield Request()
        variable = values(stop)["x"]
        found = 0
        for i in (0, 1, 2, 77, 130, 199, 255):
            expected = np.float32(x[0, i] if i < 200 else 0).view(np.uint32)
            for holder in stop.captures.holders(variable, (i,)):
                found += 1
                bits = stop.native.read_register(holder.block, holder.warp, holder.register)
                # Nothing ran since the assignment but the marks of this statement.
                assert bits[holder.lane] & 0xFFFFFFFF == expected
        assert found >= 7

    debug(lambda: kernels.rows[(1,)](x, out, 200, 200, BLOCK=256), script, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(32, 32, 32), (64, 64, 32)])
def test_products(target, shape):
    m, n, bk = shape
    rng = np.random.default_rng(m)
    k = 3 * bk
    a = rng.integers(-4, 5, (m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (k, n)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float16)

    def script(stop):
        stop_at(stop, "after the dot")
        for i in range(3):
            stop = yield Request()
            seen = values(stop)
            part = slice(i * bk, (i + 1) * bk)
            assert seen["k"].value == i * bk
            np.testing.assert_array_equal(seen["a"].value, a[:, part])
            np.testing.assert_array_equal(seen["b"].value, b[part])
            end = (i + 1) * bk
            expected = a[:, :end].astype(np.float32) @ b[:end].astype(np.float32)
            np.testing.assert_array_equal(seen["acc"].value, expected)
            assert not seen["acc"].missing.any() and not seen["acc"].differs.any()

    debug(lambda: kernels.product[(1,)](a, b, c, k, m, n, bk), script, target)
    np.testing.assert_array_equal(c, (a.astype(np.float32) @ b.astype(np.float32)).astype("f2"))


@pytest.mark.parametrize("target", ["cuda:90", "cuda:100"])
def test_partitions(target):
    """A loop whose copies have warps of their own: dots by warp groups, rings, mbarriers."""
    m, n, k, bk = 64, 64, 256, 64
    rng = np.random.default_rng(5)
    a = rng.integers(-4, 5, (m, k)).astype(np.float16)
    b = rng.integers(-4, 5, (k, n)).astype(np.float16)
    c = np.full((m, n), np.nan, np.float32)

    def script(stop):
        stop_at(stop, "after the specialized dot")
        for i in range(4):
            stop = yield Request()
            seen = {n: masked(v) for n, v in values(stop).items() if n in ("a", "b", "acc", "k")}
            part, end = slice(i * bk, (i + 1) * bk), (i + 1) * bk
            assert seen["k"] == i
            np.testing.assert_array_equal(seen["a"], a[:, part])
            np.testing.assert_array_equal(seen["b"], b[part])
            expected = a[:, :end].astype(np.float32) @ b[:end].astype(np.float32)
            np.testing.assert_array_equal(seen["acc"], expected)
        if target == "cuda:90":
            assert stop.native.mbarriers()

    launch = lambda: kernels.specialized[(1,)](a, b, c, m, n, k, m, n, bk)  # noqa: E731
    debug(launch, script, target)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def mixed(block):
    """What the kernel `mixed` computes."""
    x = np.arange(block, dtype=np.float32)
    for i in range(3):
        x = x + 100 if i == 1 else x * 2 + 1
    for s in range(3):
        z = x + s
        x = np.where(np.arange(block) > s, z, x)
    turned = x.reshape(16, -1).T
    sums = np.cumsum(turned, 0, dtype=np.float32)
    return {"x": x, "z": z, "turned": turned, "sums": sums}


@pytest.mark.parametrize("target", TARGETS)
def test_shapes_types_and_paths(target):
    block = 256
    x, out = np.arange(block, dtype=np.float32), np.zeros(block, np.float32)

    def script(stop):
        stop_at(stop, "store of mixed")
        stop = yield Request()
        seen, expected = values(stop), mixed(block)
        for name, value in expected.items():
            np.testing.assert_array_equal(seen[name].value, value)
            assert not seen[name].missing.any() and not seen[name].differs.any()
        sums = expected["sums"]
        np.testing.assert_array_equal(seen["highest"].value, sums.max(1))
        np.testing.assert_array_equal(seen["pair[1][0]"].value, sums.argmax(1))
        assert seen["pair[1][1]"].value == 3 and seen["i"].value == 3 and seen["s"].value == 2
        assert seen["wide"].value.dtype == np.int64
        np.testing.assert_array_equal(seen["wide"].value, expected["x"].astype(np.int64))
        small = expected["x"].astype(ml_dtypes.float8_e5m2).astype(np.float32)
        np.testing.assert_array_equal(seen["small"].value, small)
        # A pointer to a block is in no register.
        with pytest.raises(TileError, match="optimised away, or is no tensor"):
            stop.evaluate("block")

    debug(lambda: kernels.mixed[(1,)](x, out, BLOCK=block), script, target)
    np.testing.assert_array_equal(out, mixed(block)["x"])


@pytest.mark.parametrize("target", TARGETS)
def test_functions_that_are_called(target):
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)

    def script(stop):
        stop_at(stop, "in outlined")
        for i in (0, 2):
            stop = yield Request()
            assert [f.function for f in stop.frames] == ["outlined", "mixed"]
            assert stop.frames[1].line == kernels.line_of("call of outlined")
            assert set(values(stop)) == {"value", "factor"} and values(stop, 1)["i"].value == i
        stop.session.debugger.breakpoints.clear()
        stop = yield Request("out")
        assert [f.function for f in stop.frames] == ["mixed"]
        stop = yield Request("next", backwards=True)
        assert stop.frames[0].line == kernels.line_of("call of outlined")

    debug(lambda: kernels.mixed[(1,)](x, out, BLOCK=256), script, target)


def test_a_kernel_without_marks_says_so():
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)

    def script(stop):
        stop_at(stop, "store of mixed")
        stop = yield Request()
        with pytest.raises(TileError, match="was not compiled for the debugger"):
            stop.evaluate("wide")
        np.testing.assert_array_equal(stop.evaluate("x_ptr"), x)

    debug(lambda: kernels.mixed[(1,)](x, out, BLOCK=256), script, "cuda:90", variables=False)
