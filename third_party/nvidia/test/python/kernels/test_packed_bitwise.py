"""Bitwise operations on small elements, which are packed before or behind them: random chains."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl

#: Targets are named, and what is compiled for them is looked at.
pytestmark = sim_only

TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16}
OPERATIONS = ("and", "or", "xor", "shl", "shr", "other", "widen", "narrow")


@pytest.fixture(autouse=True)
def target(monkeypatch):
    """The pass is the same for all GPUs."""
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


@tile.jit
def chain_kernel(
    x_ptr, y_ptr, out_ptr, shared_ptr, n, NAMES: tl.constexpr, NUMBERS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    y = tl.load(y_ptr + i, mask=i < n, other=0)
    for k in tl.static_range(len(NAMES)):
        if NAMES[k] == "and":
            x &= NUMBERS[k]
        elif NAMES[k] == "or":
            x |= NUMBERS[k]
        elif NAMES[k] == "xor":
            x ^= NUMBERS[k]
        elif NAMES[k] == "shl":
            x <<= NUMBERS[k]
        elif NAMES[k] == "shr":
            x >>= NUMBERS[k]
        elif NAMES[k] == "other":
            x ^= y.to(x.dtype)
        elif NAMES[k] == "widen":
            x = x.to(tl.uint16)
        elif NAMES[k] == "narrow":
            x = x.to(tl.uint8)
        elif NAMES[k] == "shared":
            tl.store(shared_ptr + i, x, mask=i < n)
    tl.store(out_ptr + i, x, mask=i < n)


def chain(rng: np.random.Generator, kind: str) -> tuple[list[str], list[int]]:
    """Operations with their numbers, which fit the type that the elements then have."""
    bits, names, numbers = 8 * TYPES[kind]().itemsize, [], []
    for _ in range(int(rng.integers(1, 8))):
        name = str(rng.choice(OPERATIONS))
        if name == "widen":
            bits = 16
        elif name == "narrow":
            bits = 8
        names.append(name)
        # Numbers that every type of so many bits has.
        most = bits - 1 if name in ("shl", "shr") else 1 << (bits - 1)
        numbers.append(int(rng.integers(0, most)))
    return names, numbers


def reference(x, y, names, numbers) -> np.ndarray:
    for name, number in zip(names, numbers, strict=True):
        if name == "widen":
            x = x.astype(np.uint16)
        elif name == "narrow":
            x = x.astype(np.uint8)
        elif name == "other":
            x = x ^ y.astype(x.dtype)
        elif name != "shared":
            number = x.dtype.type(number)
            x = {
                "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
                "shl": np.left_shift, "shr": np.right_shift,
            }[name](x, number)  # fmt: skip
    return x


def empty_like(x: np.ndarray) -> np.ndarray:
    return poisoned(x.shape, f"i{8 * x.itemsize}").view(x.dtype)


def run(x, y, names, numbers, block) -> str:
    """Checks a chain on random elements; its PTX."""
    n = len(x)
    expected = reference(x, y, names, numbers)
    out = empty_like(expected)
    places = [i for i, name in enumerate(names) if name == "shared"]
    seen = reference(x, y, names[: places[0]], numbers[: places[0]]) if places else x
    shared = empty_like(seen)
    kernel = chain_kernel[(tile.cdiv(n, block),)](
        x, y, out, shared, n, NAMES=tuple(names), NUMBERS=tuple(numbers), BLOCK=block, num_warps=1
    )
    np.testing.assert_array_equal(out, expected, err_msg=f"{names} {numbers}")
    if places:
        np.testing.assert_array_equal(shared, seen, err_msg=f"{names} {numbers}")
    return kernel.asm["ptx"]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", TYPES)
def test_random_chains(kind, seed):
    """With 2 to 16 elements a thread, and sizes that fill no block."""
    rng = np.random.default_rng([seed, list(TYPES).index(kind)])
    for _ in range(4):
        names, numbers = chain(rng, kind)
        block = int(rng.choice([64, 128, 256, 512]))
        n = int(rng.integers(block, 2 * block)) if rng.random() < 0.5 else 2 * block
        limits = np.iinfo(TYPES[kind])
        x, y = rng.integers(limits.min, limits.max, (2, n), TYPES[kind], endpoint=True)
        run(x, y, names, numbers, block)


@pytest.mark.parametrize("seed", range(4))
def test_elements_that_are_stored_in_between(seed):
    rng = np.random.default_rng(seed)
    names, numbers = chain(rng, "u8")
    place = int(rng.integers(0, len(names) + 1))
    names.insert(place, "shared")
    numbers.insert(place, 0)
    x, y = rng.integers(0, 255, (2, 256), np.uint8, endpoint=True)
    run(x, y, names, numbers, 128)


def test_all_bytes_and_shifts():
    """Bits that leave one element are in no other one."""
    x = np.tile(np.arange(256, dtype=np.uint8), 2)
    y = np.random.default_rng(7).permutation(x)
    for shift in range(1, 8):
        for name in ("shl", "shr"):
            ptx = run(y, x, [name, "or"], [shift, 0x41], 128)
            assert not re.search(r"\b(or|shl|shr)\.[bus]16", ptx)
            run(y, x, ["widen", name, "xor"], [0, shift, 0x1234], 128)


@tile.jit
def half_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in tl.static_range(2):
        bits = ((x >> (4 * k)) & 15).to(tl.int16) | 0x6400
        weights = bits.to(tl.float16, bitcast=True) - 1032.0
        tl.store(out_ptr + k * BLOCK + i, weights * 0.5)


def test_weights_of_four_bits():
    """All bytes; per register there is one operation and not one per weight."""
    x = np.random.default_rng(3).permutation(np.arange(256, dtype=np.uint8))
    out = poisoned((512,), "fp16")
    kernel = half_kernel[(1,)](x, out, BLOCK=256, num_warps=1)
    expected = np.concatenate([x & 15, x >> 4]).astype(np.float16) - np.float16(8)
    np.testing.assert_array_equal(out, expected * np.float16(0.5))
    ptx = kernel.asm["ptx"]
    assert ptx.count("1677747200") == 8 and not re.search(r"\bor\.b16", ptx)
