"""Values that threads of a warp exchange, against NumPy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from blocks import KINDS, offsets, put
from frontend import refusal

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "warps.md"


def lanes_of() -> int:
    """How many threads a warp has."""
    from tile.runtime import driver

    return driver.active.get_current_target().warp_size


def shapes_for(size: int, warps: int) -> list[tuple[int, ...]]:
    """Blocks with an element for each thread, with more, with less, and of several dimensions."""
    threads = size * warps
    return [(threads,), (4 * threads,), (size,), (4, threads), (2, 2, 2 * size)]


@tile.jit
def shuffle_kernel(x_ptr, out_ptr, n, HOW: tl.constexpr, AMOUNT: tl.constexpr, SHAPE: tl.constexpr):
    x = tl.load(x_ptr + offsets(SHAPE))
    amount = n if AMOUNT is None else AMOUNT
    if HOW == "up":
        y = tl.warp.shuffle(x, up=amount)
    elif HOW == "down":
        y = tl.warp.shuffle(x, down=amount)
    elif HOW == "xor":
        y = tl.warp.shuffle(x, xor=amount)
    elif HOW == "index":
        y = tl.warp.shuffle(x, index=amount)
    else:
        y = tl.warp.shuffle(x, index=offsets(SHAPE) * 7 + amount)
    put(out_ptr, y)


def shuffled(x: np.ndarray, how: str, n: int, size: int) -> np.ndarray:
    rows = x.reshape(-1, size)
    lanes = np.broadcast_to(np.arange(size), rows.shape)
    if how in ("up", "down"):
        source = lanes - n if how == "up" else lanes + n
        source = np.where((source < 0) | (source >= size), lanes, source)
    elif how == "xor":
        source = lanes ^ n
    elif how == "index":
        source = np.full_like(lanes, n) % size
    else:
        source = (np.arange(x.size).reshape(rows.shape) * 7 + n) % size
    return np.take_along_axis(rows, source, 1).reshape(x.shape)


@pytest.mark.sweep
@pytest.mark.parametrize("how", ["up", "down", "xor", "index", "indices"])
@pytest.mark.parametrize("warps", [1, 4])
def test_shuffles(how, warps):
    size = lanes_of()
    chance = np.random.default_rng(warps)
    for k, shape in enumerate(shapes_for(size, warps)):
        kind = KINDS[("fp32", "i8", "i64", "fp16", "i32")[k]]
        x = chance.integers(-100, 100, shape).astype(kind)
        n = int(chance.integers(0, size))
        out = np.zeros_like(x)
        constant = None if k % 2 else n
        shuffle_kernel[(1,)](x, out, n, HOW=how, AMOUNT=constant, SHAPE=shape, num_warps=warps)
        np.testing.assert_array_equal(out, shuffled(x, how, n, size), f"{shape}, {n}")


@tile.jit
def collective_kernel(
    x_ptr, sum_ptr, last_ptr, ballot_ptr, match_ptr, SHAPE: tl.constexpr
):  # fmt: skip
    x = tl.load(x_ptr + offsets(SHAPE))
    put(sum_ptr, tl.warp.reduce(x, tl.add))
    put(last_ptr, tl.warp.reduce(x, lambda a, b: b))
    put(ballot_ptr, tl.warp.ballot(x > 1).to(tl.uint64))
    put(match_ptr, tl.warp.match(x).to(tl.uint64))


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["i32", "fp32", "u8", "fp64"])
@pytest.mark.parametrize("warps", [1, 2, 8])
def test_reduce_ballot_and_match(dtype, warps):
    size = lanes_of()
    for seed, shape in enumerate(shapes_for(size, warps)):
        x = np.random.default_rng(seed).integers(0, 4, shape).astype(KINDS[dtype])
        if dtype[0] == "f":
            x[x == 3] = np.nan
            x[..., ::5] = -0.0
        total, last = np.zeros_like(x), np.zeros_like(x)
        ballot, match = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        collective_kernel[(1,)](x, total, last, ballot, match, SHAPE=shape, num_warps=warps)
        rows = x.reshape(-1, size)
        bits = np.ones(1, np.uint64) << np.arange(size, dtype=np.uint64)
        want = np.broadcast_to(rows.sum(1, dtype=x.dtype)[:, None], rows.shape)
        np.testing.assert_array_equal(total.reshape(rows.shape), want)
        np.testing.assert_array_equal(last.reshape(rows.shape), rows[:, -1:].repeat(size, 1))
        want = np.where(rows > 1, bits, 0).sum(1, dtype=np.uint64)[:, None].repeat(size, 1)
        np.testing.assert_array_equal(ballot.reshape(rows.shape), want)
        raw = rows.view(f"u{x.dtype.itemsize}")
        equal = raw[:, :, None] == raw[:, None, :]
        want = np.where(equal, bits, 0).sum(2, dtype=np.uint64)
        np.testing.assert_array_equal(match.reshape(rows.shape), want)


@tile.jit
def identities_kernel(lane_ptr, warp_ptr, elect_ptr, count_ptr):
    t = tl.arange(0, tl.num_warps() * tl.warp.size())
    tl.store(lane_ptr + t, tl.lane_id())
    tl.store(warp_ptr + t, tl.warp_id())
    tl.store(elect_ptr + tl.warp_id(), 7, mask=tl.elect())
    tl.store(count_ptr, tl.num_warps() * 1000 + tl.warp.size())


@pytest.mark.parametrize("warps", [1, 4, 16])
def test_who_a_thread_is(warps):
    size = lanes_of()
    lane, warp = np.full((2, warps * size), -1, np.int32)
    elected, count = np.zeros(warps + 1, np.int32), np.zeros(1, np.int32)
    identities_kernel[(1,)](lane, warp, elected, count, num_warps=warps)
    np.testing.assert_array_equal(lane, np.arange(warps * size) % size)
    np.testing.assert_array_equal(warp, np.arange(warps * size) // size)
    assert elected.tolist() == [7] * warps + [0]
    assert count[0] == warps * 1000 + size


@tile.jit
def one_shuffle(x_ptr, out_ptr):
    t = tl.arange(0, tl.num_warps() * tl.warp.size())
    tl.store(out_ptr + t, tl.warp.shuffle(tl.load(x_ptr + t), xor=5))


@pytest.mark.compiled
@pytest.mark.nvidia("looks at PTX")
def test_a_shuffle_is_one_instruction():
    x = np.arange(128, dtype=np.float32)
    kernel = one_shuffle[(1,)](x, np.zeros_like(x), num_warps=4)
    text = kernel.asm["ptx"]
    assert text.count("shfl.") == 1 and "shared" not in text


@tile.jit
def wrong(x_ptr, n, CASE: tl.constexpr):
    t = tl.arange(0, tl.num_warps() * tl.warp.size())
    if CASE == "small":
        tl.warp.shuffle(tl.arange(0, 16), xor=1)
    elif CASE == "scalar":
        tl.warp.ballot(n)
    elif CASE == "number":
        tl.warp.match(3)
    elif CASE == "none":
        tl.warp.shuffle(t)
    elif CASE == "two":
        tl.warp.shuffle(t, up=1, down=1)
    elif CASE == "far":
        tl.warp.shuffle(t, up=64)
    elif CASE == "float":
        tl.warp.shuffle(t, index=0.5)
    else:
        tl.warp.shuffle(t, xor=1.5)


REFUSED = {
    "small": "warp.shuffle takes a block whose last dimension is a multiple of 32, the size of a "
             "warp, not <[16], int32>",
    "scalar": "warp.ballot takes a block with an element for each thread, not int32",
    "number": "warp.match takes a block with an element for each thread, not an int",
    "none": "shuffle takes one of up, down, xor and index",
    "two": "shuffle takes one of up, down, xor and index",
    "far": "shuffle takes `up` from 0 to 31, the lanes of a warp, not 64",
    "float": "shuffle takes integers as `index`, not fp32",
    "amount": "shuffle takes an integer as `xor`, not float",
}  # fmt: skip


@pytest.mark.compiled
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    error = refusal(wrong, {"x_ptr": "*fp32", "n": "i32"}, {"CASE": case})
    assert REFUSED[case] in str(error)


@pytest.mark.compiled
@pytest.mark.nvidia("its warps have 32 lanes")
def test_the_program_of_the_page(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    file = tmp_path / "program.py"
    file.write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    import runpy

    runpy.run_path(str(file))
    (shown,) = re.findall(r"`(\[[\d ]+\])` are the counts", PAGE.read_text())
    assert capsys.readouterr().out.strip() == shown
