"""PTX that nvcc made from CUDA programs (test/unit/Simulator/ptx), against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tile.sim
from tile.errors import TileError

FOLDER = Path(__file__).resolve().parents[2] / "unit" / "Simulator" / "ptx"


def ptx(name):
    return (FOLDER / f"{name}.ptx").read_text()


def run(module, entry, grid, block, *args, **options):
    options.setdefault("max_instructions", 50_000_000)
    return tile.sim.launch(ptx(module), entry, grid, block, list(args), **options)


rng = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 127, 128, 1000])
def test_vector_add(n):
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    out = np.zeros(n, np.float32)
    run("basics", "vector_add", (n + 127) // 128, 128, x, y, out, n)
    assert (out == x + y).all()


@pytest.mark.parametrize("columns", [1, 31, 128, 777, 2048])
def test_softmax(columns):
    x = rng.standard_normal((5, columns), dtype=np.float32)
    out = np.zeros_like(x)
    run("basics", "softmax", 5, 128, x, out, columns)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=2e-6)


def test_transpose_counts_no_conflicts():
    a = rng.standard_normal((96, 64)).astype(np.float16)
    out = np.zeros((64, 96), np.float16)
    report = run("basics", "transpose", (2, 3), (32, 8), a, out, 96, 64)
    assert (out == a.T).all()
    assert report.counters["barriers"] == 6 * 8
    assert report.counters["global_load_bytes"] == a.nbytes
    assert report.counters["global_load_sectors"] == a.nbytes // 32


def test_argmax_and_divergence():
    x = rng.standard_normal((9, 1000), dtype=np.float32)
    out = np.zeros(9, np.int32)
    run("basics", "argmax", 9, 32, x, out, 1000)
    assert (out == x.argmax(1)).all()
    v = np.arange(1, 301, dtype=np.uint32)
    out = np.zeros_like(v)
    report = run("basics", "collatz", 10, 32, v, out, 300)

    def steps(n):
        count = 0
        while n != 1:
            n, count = (3 * n + 1 if n & 1 else n // 2), count + 1
        return count

    want = [steps(int(i)) for i in v]
    assert list(out) == want
    # Lanes meet again: a warp runs as long as its longest lane, not as the sum of all.
    longest = sum(max(want[i : i + 32]) for i in range(0, 300, 32))
    assert report.counters["by_class"]["compare"]["warp"] < 3 * longest


def test_reduce_last_block():
    x = rng.standard_normal(5000).astype(np.float32)
    partial, out = np.zeros(7, np.float32), np.zeros(1, np.float32)
    first = run("programs", "reduce_last_block", 7, 256, x, partial, out, 5000)
    assert abs(out[0] - x.sum(dtype=np.float64)) < 1e-3
    before = out.copy()
    second = run("programs", "reduce_last_block", 7, 256, x, partial, out, 5000)
    assert (out == before).all()
    assert first.counters == second.counters


def test_scan_and_histogram():
    x = rng.integers(-50, 50, 1000).astype(np.int32)
    out = np.zeros_like(x)
    run("programs", "scan", 1, 1024, x, out, 1000)
    assert (out == np.cumsum(x)).all()
    b = rng.integers(0, 256, 10000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    run("programs", "histogram", 6, 128, b, bins, 10000)
    assert (bins == np.bincount(b, minlength=256)).all()


def test_atomics():
    ints = np.zeros(16 + 200, np.int32)
    ints[5] = 3
    floats, longs, doubles = np.zeros(1, np.float32), np.zeros(1, np.uint64), np.zeros(1)
    halves = np.zeros(2, np.float16)
    run("programs", "atomics", 2, 100, ints, floats, longs, doubles, halves)
    i = np.arange(200)
    assert (
        ints[0] == -99
        and ints[1] == 199
        and ints[2] == np.bitwise_xor.reduce(i)
        and ints[3] == 0x7FFFFFFF
    )
    assert ints[4] == 0 and ints[5] == (3 - 200) % 10
    assert sorted([*ints[16:], ints[6]]) == sorted([0, *i])
    assert (
        floats[0] == 100
        and longs[0] == 200 << 33
        and doubles[0] == 50
        and list(halves) == [200, 100]
    )


@pytest.mark.parametrize("entry", ["spin_lock", "spin_lock_naive"])
def test_spin_locks_between_lanes_and_ctas(entry):
    counter, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run("programs", entry, 5, 96, *([lock, counter] if entry.endswith("naive") else [counter]))
    assert counter[0] == 5 * 96


def test_cta_waits_for_a_later_one():
    flags = np.zeros(300, np.int32)
    run("programs", "chain", 300, 32, flags, 300)
    assert list(flags) == list(range(300, 0, -1))


def test_warp_votes():
    x = rng.integers(-10, 10, 64).astype(np.int32)
    out = np.zeros((64, 8), np.uint32)
    run("programs", "warp_votes", 1, 64, x, out)
    for t in range(64):
        warp = x[t // 32 * 32 :][:32]
        bits = lambda mask: sum(1 << i for i in range(32) if mask[i])  # noqa: E731
        lane = t % 32
        want = [
            bits(warp > 0),
            int((warp > 5).any()),
            1,
            bits(warp == x[t]),
            int(warp.sum()) & 0xFFFFFFFF,
            int(warp.max()) & 0xFFFFFFFF,
        ]
        want.append(int(warp[lane // 16 * 16 + lane // 2 % 16]) & 0xFFFFFFFF)
        assert list(out[t][:7]) == want


def test_calls_recursion_and_function_pointers():
    out, which = np.zeros(128, np.int32), rng.integers(0, 2, 64).astype(np.int32)
    vectors = rng.standard_normal((64, 4)).astype(np.float32)
    before = vectors.copy()
    run("programs", "calls", 1, 64, out, vectors, which)
    fib = [0, 1]
    while len(fib) < 12:
        fib.append(fib[-1] + fib[-2])
    i = np.arange(64)
    assert (out[:64] == np.array(fib)[i % 12]).all()
    assert (out[64:] == np.where(which == 0, 2 * i, i * i)).all()
    assert (vectors == before * np.array([1, 2, 3, 4], np.float32)[i % 4][:, None]).all()


def test_local_memory():
    x = rng.integers(-1000, 1000, (32, 16)).astype(np.int32)
    out = np.zeros((32, 8), np.int32)
    report = run("programs", "local_array", 1, 32, x, out, 8)
    assert (out == np.sort(x, 1)[:, [(k * 5) % 16 for k in range(8)]]).all()
    assert report.counters["local_load_bytes"] > 0


def test_printf_and_assert():
    report = run("programs", "say", 1, 32, None, 2)
    assert (
        report.output
        == "thread 0 of 32: 0.00 text x 10000000000%\nthread 1 of 32: 0.50 text x 10000000000%\n"
    )
    run("programs", "check", 1, 8, 8)
    with pytest.raises(
        tile.sim.SimulationError,
        match=r"assert: .*programs.cu:\d+: .*too many.*\n.*thread \(8, 0, 0\)",
    ):
        run("programs", "check", 1, 16, 8)


def test_switch_and_doubles():
    x = np.arange(-4, 28).astype(np.int32)
    out = np.zeros(32, np.int32)
    run("programs", "switches", 1, 32, x, out)
    known = {0: 10, 1: 10, 2: -2, 3: 96, 4: (4 * 77).bit_count(), 5: 125, 6: 0x55}
    assert list(out) == [known.get(int(v), 1000 + int(v)) for v in x]
    v = np.linspace(0.1, 7, 32)
    got = np.zeros((32, 4))
    run("programs", "doubles", 1, 32, v, got)
    want = np.stack([np.sqrt(v) / (1 + v), v * v - v, np.exp(-v), np.sin(v) + np.trunc(v * 1e6)], 1)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("shape", [(64, 64, 32), (128, 64, 96), (64, 192, 64)])
def test_matmul(shape):
    m, n, k = shape
    a, b = (
        rng.standard_normal((m, k)).astype(np.float16),
        rng.standard_normal((k, n)).astype(np.float16),
    )
    c = np.zeros((m, n), np.float32)
    report = run("matmul", "matmul_f16", (n // 64, m // 64), 128, a, b, c, m, n, k)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-3, atol=1e-4)
    assert report.counters["tensor_flops"] == 2 * m * n * k
    af, bf = a.astype(np.float32), b.astype(np.float32)
    run("matmul", "matmul_plain", (n // 16, m // 16), 256, af, bf, c, m, n, k)
    np.testing.assert_allclose(c, af @ bf, rtol=1e-4, atol=1e-4)


def test_bad_launches():
    x = np.zeros(8, np.float32)
    cases = [
        (("nothing", 1, 32, []), "no kernel 'nothing'"),
        (("vector_add", 1, 32, [x, x, x]), "takes 4 arguments, 3"),
        (("vector_add", 0, 32, [x, x, x, 8]), "must be positive"),
        (("vector_add", (1, 70000), 32, [x, x, x, 8]), "65535"),
        (("vector_add", 1, 2048, [x, x, x, 8]), "more than 1024 threads"),
        (
            ("vector_add", 1, 32, [x, x, 3.5, 8]),
            r"'vector_add_param_2' \(.u64\) does not take a float",
        ),
        (("vector_add", 1, 32, [x, x, x, 8.0]), r"\(.u32\) does not take a float"),
        (("vector_add", 1.5, 32, [x, x, x, 8]), "grid must be an integer"),
        (("vector_add", (1, 1, 1, 1), 32, [x, x, x, 8]), "one to three dimensions, not 4"),
        (("vector_add", 1, (32, -1), [x, x, x, 8]), "block .* must be positive"),
        (("vector_add", "8", 32, [x, x, x, 8]), "grid must be an integer"),
        (("vector_add", 1, 32, [x, x, x, x]), "not a pointer"),
        (("vector_add", 1, 32, [x, x, x, 1 << 40]), "does not fit"),
        (("vector_add", 1, 32, [x, x, x, None]), "not a pointer"),
        (("vector_add", 1, 32, [x, x, x, "text"]), "does not take a str"),
    ]
    for args, message in cases:
        with pytest.raises(TileError, match=message):
            tile.sim.launch(ptx("basics"), *args)
    numbers = np.ones(3, np.int64)
    assert tile.sim.launch(ptx("basics"), "vector_add", numbers, np.int32(32), [x, x, x, 8]).ok
    with pytest.raises(TileError, match="unknown check"):
        tile.sim.launch(ptx("basics"), "vector_add", 1, 32, [x, x, x, 8], check="everything")
    with pytest.raises(tile.sim.SimulationError, match="null pointer"):
        tile.sim.launch(ptx("basics"), "vector_add", 1, 32, [None, x, x, 8])
    with pytest.raises(TileError, match="bytes of shared memory"):
        tile.sim.launch(ptx("basics"), "vector_add", 1, 32, [x, x, x, 8], dynamic_shared=1 << 20)
