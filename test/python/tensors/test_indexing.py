"""Parts of blocks, read and replaced, against NumPy: random indices, and what is refused."""

from __future__ import annotations

import itertools
import random

import ml_dtypes
import numpy as np
import pytest
from blocks import offsets, put, warps_for
from frontend import kernel_of_text, refusal
from reference import sim_only

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]

HEADER = """import tile
import tile.language as tl
from blocks import offsets, put


@tile.jit
def kernel(x_ptr, v_ptr, out_ptr, i, j):
    x = tl.load(x_ptr + offsets({shape}))
"""
#: What the scalars `i` and `j` are.
SCALARS = {"i": 1, "j": -2}


def slices(extent: int) -> list[str]:
    """All slices of a dimension that have elements."""
    found = []
    bounds = [None, *range(-extent, extent + 1)]
    for start, stop, step in itertools.product(bounds, bounds, (None, 1, 2, 4, -1, -2, 3)):
        count = len(range(*slice(start, stop, step).indices(extent)))
        if count:
            text = ":".join("" if n is None else str(n) for n in (start, stop))
            found.append(f"{text}:{step}" if step is not None else text)
    return found


def index_of(chance: random.Random, shape: tuple[int, ...]) -> str:
    """A random index."""
    items = []
    for extent in shape:
        kind = chance.random()
        if kind < 0.2:
            items.append(":")
        elif kind < 0.4:
            items.append(str(chance.randrange(-extent, extent)))
        elif kind < 0.6 and extent > 1:
            items.append(chance.choice(("i", "j", "i - 1", "j + 1")))
        else:
            items.append(chance.choice(slices(extent)))
    if chance.random() < 0.4:
        at = chance.randrange(len(items) + 1)
        items[at : at + chance.randrange(3)] = ["..."]
    for _ in range(chance.choice((0, 0, 1, 2))):
        items.insert(chance.randrange(len(items) + 1), "None")
    return ", ".join(items[: chance.randint(1, len(items))])


SHAPES = [(8,), (64,), (4, 16), (16, 8), (2, 4, 8), (1, 8, 4), (4, 1, 2, 8)]
TYPES = [np.float32, np.float16, np.int8, np.int64, np.float64, ml_dtypes.bfloat16, np.uint16]
METHODS = {
    "set": lambda old, value: value, "add": np.add, "mul": np.multiply, "max": np.maximum,
    "min": np.minimum,
}  # fmt: skip


def bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(np.uint8)


def values(chance: random.Random, size: int, kind: type) -> np.ndarray:
    """Any bits: zeros of both signs, and NaN of every payload, stay what they are."""
    raw = np.frombuffer(chance.randbytes(size * np.dtype(kind).itemsize), np.uint8)
    return raw.view(kind).copy()


@pytest.mark.parametrize("shape", SHAPES)
def test_reads(shape, tmp_path):
    chance = random.Random(repr(shape))
    kind = chance.choice(TYPES)
    x = values(chance, int(np.prod(shape)), kind).reshape(shape)
    lines, parts, at = [HEADER.format(shape=shape)], [], 0
    for _ in range(12):
        index = index_of(chance, shape)
        part = eval(f"x[{index}]", {"x": x, **SCALARS})
        lines.append(f"    part = x[{index}]\n    put(out_ptr + {at}, part)\n")
        if part.ndim:
            lines.append(f"    tl.static_assert(part.shape == {part.shape})\n")
        parts.append((index, at, part))
        at += part.size
    out = values(chance, at, kind)
    kernel = kernel_of_text("".join(lines), tmp_path)
    kernel[(1,)](x, x, out, *SCALARS.values(), num_warps=warps_for(shape))
    for index, at, part in parts:
        found = out[at : at + part.size]
        np.testing.assert_array_equal(bits(found), bits(part.reshape(-1)), f"x[{index}]")


@pytest.mark.parametrize("shape", SHAPES)
def test_replacements(shape, tmp_path):
    chance = random.Random(repr(shape) + "at")
    kind = chance.choice((np.int32, np.int16, np.uint8, np.int64))
    x = values(chance, int(np.prod(shape)), kind).reshape(shape)
    v = values(chance, x.size, kind)
    lines, wholes = [HEADER.format(shape=shape)], []
    for n in range(10):
        index = index_of(chance, shape)
        part = eval(f"x[{index}]", {"x": x, **SCALARS})
        name = "set" if chance.random() < 0.5 else chance.choice(list(METHODS))
        extents = tuple(1 if chance.random() < 0.2 else e for e in part.shape)
        extents = extents[chance.randrange(len(extents) + 1) if chance.random() < 0.2 else 0 :]
        value = v[: int(np.prod(extents))].reshape(extents)
        given = f"tl.load(v_ptr + offsets({extents}))" if extents else "tl.load(v_ptr)"
        lines.append(f"    new = x.at[{index}].{name}({given})\n")
        lines.append(f"    put(out_ptr + {n * x.size}, new)\n")
        whole = x.copy()
        with np.errstate(over="ignore"):
            exec(f"y[{index}] = f(y[{index}], value)",
                 {"y": whole, "f": METHODS[name], "value": value, **SCALARS})  # fmt: skip
        wholes.append((f"{index}].{name}({extents})", whole))
    out = values(chance, x.size * len(wholes), kind)
    kernel = kernel_of_text("".join(lines), tmp_path)
    kernel[(1,)](x, v, out, *SCALARS.values(), num_warps=warps_for(shape))
    for n, (index, whole) in enumerate(wholes):
        found = out[n * x.size : (n + 1) * x.size]
        np.testing.assert_array_equal(found, whole.reshape(-1), f"x.at[{index}")


@tile.jit
def rows_kernel(x_ptr, out_ptr, n, SHAPE: tl.constexpr):
    """Reverses the rows one by one, by a loop that carries the block."""
    x = tl.load(x_ptr + offsets(SHAPE))
    y = tl.zeros_like(x)
    for k in range(n):
        y = tl.insert(y, x[-1 - k], k)
    put(out_ptr, y)


@pytest.mark.parametrize("shape", [(8, 16), (4, 4, 8), (32,)])
def test_a_loop_over_rows(shape):
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    out = np.full_like(x, np.nan)
    rows_kernel[(1,)](x, out, shape[0] // 2, SHAPE=shape)
    want = x[::-1].copy()
    want[shape[0] // 2 :] = 0
    np.testing.assert_array_equal(out, want)


@tile.jit
def pointers_kernel(x_ptr, out_ptr, i):
    pointers = x_ptr + tl.arange(0, 32).reshape(4, 8)
    tl.store(out_ptr + tl.arange(0, 8), tl.load(pointers[i]))
    tl.store(out_ptr + 8, tl.load(pointers[1, 2]))
    flags = (tl.arange(0, 32) % 3 == 0).reshape(4, 8)
    tl.store(out_ptr + 16 + tl.arange(0, 4), flags[:, 2:6][i].to(tl.float32))


def test_pointers_and_booleans():
    x = np.arange(32, dtype=np.float32)
    out = np.full(20, np.nan, np.float32)
    pointers_kernel[(1,)](x, out, 3)
    assert out[:9].tolist() == [*range(24, 32), 10]
    assert out[16:].tolist() == [float(k % 3 == 0) for k in range(26, 30)]


@tile.jit
def undefined_kernel(x_ptr, out_ptr):
    i = tl.arange(0, 64)
    x = tl.load(x_ptr + i, i < 32)
    put(out_ptr, x[:32])
    put(out_ptr + 32, x.at[32:].set(x[:32] + 1))


def test_what_a_mask_left_undefined_is_not_looked_at():
    x = np.random.default_rng(2).standard_normal(32).astype(np.float32)
    out = np.full(96, np.nan, np.float32)
    undefined_kernel[(1,)](x, out)
    np.testing.assert_array_equal(out, np.concatenate((x, x, x + np.float32(1))))


@tile.jit
def outside_kernel(x_ptr, out_ptr, i):
    x = tl.load(x_ptr + tl.arange(0, 8))
    tl.store(out_ptr, x[i])


@sim_only
def test_a_scalar_that_is_out_of_range(machine):
    x, out = np.zeros(8, np.float32), np.zeros(1, np.float32)
    for i in (-9, 8, 100):
        with pytest.raises(Exception, match="out of range for dimension 0"):
            outside_kernel[(1,)](x, out, i, debug=True)
    for i in (-8, 7):
        outside_kernel[(1,)](x, out, i, debug=True)


BAD = {
    "x[8]": "index 8 is out of range for dimension 0, which has 8 elements",
    "x[:, -5]": "index -5 is out of range for dimension 1, which has 4 elements",
    "x[0, 0, 0]": "too many indices (3) for <[8, 4], fp32>",
    "x[..., 0, ...]": "an index has one `...` at most",
    "x[1.5]": "a block is indexed with integers, slices, None and '...', not with float",
    "x[True]": "a block is indexed with integers, slices, None and '...', not with bool",
    "x[x > 0]": "how many elements x[mask] has is not known at compile time; use "
                "tl.where(mask, x, other), or a mask in tl.load, tl.store or tl.reduce",
    "x[tl.arange(0, 4)]": "a block is not indexed with a block; use tl.gather(x, index, axis), or "
                          "pointers",
    "x[n:]": "slices need constant bounds; use tl.gather(x, start + tl.arange(0, n), axis), or "
             "pointers and masks, for run-time ones",
    "x[1.0:]": "the bounds of a slice are integers, not float",
    "x[::0]": "a slice has a step other than 0",
    "x[3:3]": "the slice 3:3 of 8 elements has none",
    "p[0]": "unsupported tensor index: a pointer has no elements; use tl.load(pointer + index)",
    "p.at[0]": "a pointer has no elements; use tl.load(pointer + index)",
    "n.at[0]": "a scalar (int32) has no elements to replace",
    "x[0] = 1": "elements of a <[8, 4], fp32> cannot be assigned; x = x.at[index].set(value) makes "
                "a block with others, and tl.store writes to memory",
    "p[0] = 1": "a pointer has no elements; use tl.store(pointer + index, value)",
    "x.at[0].set(p)": "elements of <[8, 4], fp32> are not replaced by pointer<fp32>",
    "x.at[0].set(x)": "cannot broadcast shape [8, 4] to [4]: the ranks differ",
    "x.at[0, 0].set(x)": "one element is no <[8, 4], fp32>",
    "tl.insert(x, 0.0, 0, axis=2)": "invalid axis 2: the block of insert has 2 dimensions",
}  # fmt: skip


@tile.jit
def assigning(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    x[0] = 1


def test_elements_are_not_assigned():
    with pytest.raises(Exception, match=r"x = x.at\[index\].set\(value\)"):
        assigning[(1,)](np.zeros(8, np.float32))


@pytest.mark.parametrize("code", BAD)
def test_refused(code, tmp_path):
    head = "import tile\nimport tile.language as tl\n\n\n@tile.jit\ndef kernel(p, n):\n"
    body = f"    x = tl.zeros([8, 4], tl.float32)\n    {code}\n"
    error = refusal(kernel_of_text(head + body, tmp_path), {"p": "*fp32", "n": "i32"})
    assert BAD[code] in str(error)


@tile.jit
def scalars_kernel(x_ptr, n, out_ptr):
    value = tl.load(x_ptr[None, None, :]) + n[None, :, None] + tl.load(x_ptr + 1)[None, :]
    tl.store(out_ptr[None, :, None], value)


def test_dimensions_of_scalars():
    """A scalar has no dimension that `:` would name."""
    x, out = np.array([3, 40], np.int32), np.zeros(1, np.int32)
    scalars_kernel[(1,)](x, 500, out)
    assert out[0] == 543
