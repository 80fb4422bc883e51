# ruff: noqa: E501  (PTX text reads better unbroken)
"""tcgen05.ld and .st: every shape and number, packed and not, against the tables of the ISA."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_memory import LANES, registers, run

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(21)
COUNTS = [1, 2, 4, 8, 16, 32, 64, 128]
EACH = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
SHARED = np.zeros(2048, np.uint8)


def place(shape, t, r):
    """Lane and column of register r of thread t, as the figures of the ISA have them."""
    if shape == "32x32b":
        return t, r
    if shape == "16x64b":
        return t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * r
    if shape == "16x128b":
        return t // 4 + 8 * (r % 2), t % 4 + 4 * (r // 2)
    if shape == "16x256b":
        return t // 4 + 8 * (r // 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r // 4)
    return t % 16, r


def cells(shape, t, r, packed, split):
    """The cells of a register: one, or, packed, two."""
    lane, column = place(shape, t, r)
    upper = split if shape == "16x32bx2" and t >= 16 else 0
    if not packed:
        return [(lane, column + upper)]
    return [(lane, 2 * column + half + upper) for half in (0, 1)]


CASES = [
    (shape, count, packed)
    for shape in EACH
    for count in COUNTS
    for packed in (False, True)
    if EACH[shape] * count <= 128
]


def spans(shape, count, packed, split):
    return 1 + max(c for t in range(32) for r in range(EACH[shape] * count) for _, c in cells(shape, t, r, packed, split))  # fmt: skip


def layout(shape, count, packed):
    split = (2 if packed else 1) * count if shape == "16x32bx2" else 0
    columns = 32
    while columns < spans(shape, count, packed, split):
        columns *= 2
    return split, columns


def addresses(shape):
    """Shapes of 16 lanes reach the lower or the upper ones."""
    half = 0 if shape == "32x32b" else 16
    return half, f"add.u32 %a, %window, {half << 16};"


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}.x{c[1]}{'.packed' if c[2] else ''}")
def test_load(case):
    shape, count, packed = case
    split, columns = layout(shape, count, packed)
    if columns > 512:
        pytest.skip("more than there is")
    number = EACH[shape] * count
    tensor = rng.integers(0, 1 << 32, (LANES, columns), dtype=np.uint64).astype(np.uint32)
    out = np.zeros((LANES, number), np.uint32)
    half, address = addresses(shape)
    body = f"""{address} mad.wide.u32 %q, %thread, {4 * number}, %more;
tcgen05.ld.sync.aligned.{shape}.x{count}{".pack::16b" if packed else ""}.b32 {registers("v", 0, number)}, [%a]{f", {split}" if shape == "16x32bx2" else ""};
tcgen05.wait::ld.sync.aligned;
""" + "\n".join(f"st.global.b32 [%q+{4 * i}], %v{i};" for i in range(number))  # fmt: skip
    after = run(body, SHARED, tensor, out, whole=True)
    np.testing.assert_array_equal(after, tensor)
    for t in range(LANES):
        for r in range(number):
            want = 0
            for i, (lane, column) in enumerate(cells(shape, t % 32, r, packed, split)):
                value = int(tensor[t // 32 * 32 + half + lane, column])
                want |= (value & 0xFFFF) << 16 * i if packed else value
            assert out[t, r] == want, (t, r)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}.x{c[1]}{'.packed' if c[2] else ''}")
def test_store(case, seed):
    shape, count, packed = case
    split, columns = layout(shape, count, packed)
    if columns > 512 or (seed and count not in (2, 16)):
        pytest.skip("more than there is, or than is needed")
    number = EACH[shape] * count
    tensor = rng.integers(0, 1 << 32, (LANES, columns), dtype=np.uint64).astype(np.uint32)
    values = rng.integers(0, 1 << 32, (LANES, number), dtype=np.uint64).astype(np.uint32)
    half, address = addresses(shape)
    body = f"{address} mad.wide.u32 %q, %thread, {4 * number}, %more;\n"
    body += "\n".join(f"ld.global.b32 %v{i}, [%q+{4 * i}];" for i in range(number))
    body += f"""
tcgen05.st.sync.aligned.{shape}.x{count}{".unpack::16b" if packed else ""}.b32 [%a], {f"{split}, " if shape == "16x32bx2" else ""}{registers("v", 0, number)};
tcgen05.wait::st.sync.aligned;"""
    after = run(body, SHARED, tensor, values, whole=True, schedule_seed=seed)
    want = tensor.copy()
    for t in range(LANES):
        for r in range(number):
            for i, (lane, column) in enumerate(cells(shape, t % 32, r, packed, split)):
                value = int(values[t, r])
                want[t // 32 * 32 + half + lane, column] = (
                    value >> 16 * i & 0xFFFF if packed else value
                )
    np.testing.assert_array_equal(after, want)


def extreme(values, op, absolute, nan):
    if absolute:
        values = np.abs(values)
    if nan:
        return (np.min if op == "min" else np.max)(values, axis=1)
    return (np.fmin if op == "min" else np.fmax).reduce(values, axis=1)


@pytest.mark.parametrize("shape", ["32x32b", "16x32bx2"])
@pytest.mark.parametrize("kind", ["f32", "abs.f32", "NaN.f32", "abs.NaN.f32", "u32", "s32"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_load_and_reduce(op, kind, shape):
    tensor = rng.standard_normal((LANES, 32)).astype(np.float32)
    tensor[rng.random(tensor.shape) < 0.05] = np.nan
    tensor = tensor.view(np.uint32)
    out = np.zeros((LANES, 9), np.uint32)
    split = 8 if shape == "16x32bx2" else 0
    body = f"""mad.wide.u32 %q, %thread, 36, %more;
tcgen05.ld.red.sync.aligned.{shape}.x8.{op}.{kind} {registers("v", 0, 8)}, %v8, [%window]{", 8" if split else ""};
tcgen05.wait::ld.sync.aligned;
""" + "\n".join(f"st.global.b32 [%q+{4 * i}], %v{i};" for i in range(9))  # fmt: skip
    run(body, SHARED, tensor, out, whole=True, target="sm_103a")
    loaded = np.zeros((LANES, 8), np.uint32)
    for t in range(LANES):
        for r in range(8):
            ((lane, column),) = cells(shape, t % 32, r, False, split)
            loaded[t, r] = tensor[t // 32 * 32 + lane, column]
    np.testing.assert_array_equal(out[:, :8], loaded)
    if kind[-3:] == "f32":
        want = extreme(loaded.view(np.float32), op, "abs" in kind, "NaN" in kind)
        np.testing.assert_array_equal(out[:, 8].view(np.float32), want)
    else:
        typed = loaded.view(np.int32) if kind == "s32" else loaded
        want = (np.min if op == "min" else np.max)(typed, axis=1)
        np.testing.assert_array_equal(out[:, 8].view(typed.dtype), want)


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%window];", "sm_120a", "needs .target sm_100a, sm_100f"),
        ("tcgen05.ld.sync.aligned.16x128b.x128.b32 {%v0}, [%window];", "sm_100a", "no such number"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0, %v1}, [%window];", "sm_100a", "expected 1 registers"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%window], 1;", "sm_100a", "expected 2 operands"),
        ("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%v0}, [%window], %v1;", "sm_100a", "expected a constant"),
        ("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%v0}, [%window];", "sm_100a", "expected 3 operands"),
        ("tcgen05.ld.aligned.32x32b.x1.b32 {%v0}, [%window];", "sm_100a", "needs .sync.aligned"),
        ("tcgen05.wait::ld.aligned;", "sm_100a", "needs .sync.aligned"),
        ("tcgen05.ld.red.sync.aligned.32x32b.x1.max.f32 {%v0}, %v1, [%window];", "sm_103a", "no reduction of this shape"),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%v0, %v1}, %v2, [%window];", "sm_100a", "needs .target sm_103a"),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.u32 {%v0, %v1}, %v2, [%window];", "sm_103f", "needs .min or .max"),
    ],
)  # fmt: skip
def test_refused(text, target, message):
    tensor = np.zeros((LANES, 32), np.uint32)
    with pytest.raises(TileError, match=message):
        run(text, SHARED, tensor, whole=True, target=target)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("add.u32 %a, %t, 0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%a];", "wrong-lanes"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%window+0x100000];", "wrong-lanes"),
        ("tcgen05.st.sync.aligned.16x64b.x1.b32 [%window+0x200000], {%v0};", "wrong-lanes"),
        ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%v0, %v1}, [%window+31];", "out-of-bounds"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%window+32];", "out-of-bounds"),
        ("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%window], 400, {%v0};", "out-of-bounds"),
        ("add.u32 %a, %window, %lane; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%a];", "divergent-address"),
        ("setp.eq.u32 %p1, %lane, 0; @%p1 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%window];", "missing-lanes"),
    ],
)  # fmt: skip
def test_accesses_that_must_not_be(text, kind):
    tensor = np.zeros((LANES, 32), np.uint32)
    with pytest.raises(tile.sim.SimulationError, match=kind):
        run("mov.b32 %v0, 0; mov.b32 %v1, 0;" + text, SHARED, tensor, whole=True)


@pytest.mark.parametrize(
    "text",
    [
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%window];",
        "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%v0}, [%window+0x100000];",
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%v0, %v1}, [%window+30];",
    ],
)
def test_accesses_that_may(text):
    tensor = np.zeros((LANES, 32), np.uint32)
    run(text + "tcgen05.wait::ld.sync.aligned;", SHARED, tensor, whole=True)
