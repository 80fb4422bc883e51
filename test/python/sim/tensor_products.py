# ruff: noqa: E501  (PTX text reads better unbroken)
"""Runs one tcgen05.mma on random operands and compares all of tensor memory with what NumPy makes of it."""

from __future__ import annotations

import numpy as np
import tensor_memory as tm
from tensor_memory import LANES

rng = np.random.default_rng(31)
K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}


def word(value, d):
    if d == "f16":
        return int(np.float16(value).view(np.uint16))
    return int(np.float32(value).view(np.uint32)) if d == "f32" else int(value) & 0xFFFFFFFF


def number(bits, d):
    if d == "f16":
        return float(np.uint16(bits & 0xFFFF).view(np.float16))
    return float(np.uint32(bits).view(np.float32)) if d == "f32" else int(np.uint32(bits).view(np.int32))  # fmt: skip


def matrix_from_words(tensor, shape, d, **where):
    m, n = shape
    out = np.zeros(shape)
    for i in range(m):
        for j in range(n):
            cta, lane, column = tm.place_of_sum(i, j, shape, **where)
            out[i, j] = number(tensor[cta, lane, column], d)
    return out


def load64(name, value):
    return f"mov.b64 {name}, {value};"


def shifted_rows(m, window, up=False):
    """The row of A that .ashift puts in the place of each."""
    rows = np.arange(m)
    moved = rows - 1 if up else rows + 1
    return np.where(moved // window == rows // window, moved, rows)


def zero_columns(n, parts, counts, skips_first, used, skipped):
    """Which columns of B count as zeros, one span after the other, and the descriptor that says so."""
    out = []
    for part in range(parts):
        both = [False] * used + [True] * skipped
        if skips_first[part]:
            both = [True] * skipped + [False] * used
        out += (both * n)[counts[part] :][: n // parts]
    bits = 1 << 39 | (skipped - 1) << 40 | (used - 1) << 48
    for part in range(parts):
        bits |= counts[part] << 8 * part | skips_first[part] << 32 + part
    return np.array(out), bits


def check(
    kind, m, n, a, b, d="f32", mode="128", ta=False, tb=False, tensor_a=False, add=True, group=1, stationary=False,
    align=0, negate=(0, 0), saturate=0, scale_input=None, kept=None, extra="", seed=0, mode_b=None, target=None, shift=None, zeros=None,
    assumptions=(),
):  # fmt: skip
    k = K[kind]
    ctas = group
    av, ac = tm.random_elements(rng, a, (m, k))
    bv, bc = tm.random_elements(rng, b, (n, k))
    shared = np.zeros((ctas, 65536), np.uint8)
    columns = 512 if tensor_a else 256
    tensor = rng.integers(0, 1 << 32, (ctas, LANES, columns), dtype=np.uint64).astype(np.uint32)
    shape, where = (m, n), {"group": group, "stationary": stationary, "align": align}
    cv = rng.integers(-1000, 1000, shape) if d == "s32" else rng.standard_normal(shape)
    if saturate:
        cv = rng.choice([2**31 - 100, -(2**31) + 100], shape)
    cv = np.array([[number(word(x, d), d) for x in row] for row in cv])
    for i in range(m):
        for j in range(n):
            tensor[tm.place_of_sum(i, j, shape, **where)] = word(cv[i, j], d)
    descriptors = []
    rows, cols = m // ctas, n // ctas
    for cta in range(ctas):
        da, end = (0, 0) if tensor_a else tm.put_matrix(shared[cta], 0, ac[cta * rows :][:rows], a, mode, ta)  # fmt: skip
        at = (end + 1023) // 1024 * 1024
        db, _ = tm.put_matrix(shared[cta], at, bc[cta * cols :][:cols], b, mode_b or mode, tb)
        descriptors.append((da, db))
    assert len(set(descriptors)) == 1
    da, db = descriptors[0]
    operand = "%d0"
    if tensor_a:
        operand = "[%a]"
        put_a(tensor, ac, a, shape, where)
    bits = tm.idesc(kind, m, n, a, b, d, ta, tb, *negate, saturate)
    if shift is not None:
        av = av[shift]
    masked, zero = "", 0
    if zeros is not None:
        columns_off, zero = zeros
        bv = np.where(columns_off[:, None], 0, bv)
        masked = ", %d2"
    mask = ""
    if kept is not None:
        mask = "{" + ", ".join(f"%x{i}" for i in range(4 * group)) + "}, "
    scale = "" if scale_input is None else f", {scale_input}"
    setup = "".join(f"mov.b32 %x{i}, {int(w)};" for i, w in enumerate([] if kept is None else kept))
    body = f"""{load64("%d0", da)} {load64("%d1", db)} {load64("%d2", zero)} mov.b32 %i, {bits}; add.u32 %a, %t, {256 + (align << 16)}; {setup}
tcgen05.mma{".ws" if stationary else ""}.cta_group::{group}.kind::{kind}{extra} [%t+{align << 16}], {operand}, %d1, %i, {mask}{"%always" if add else "!%always"}{masked}{scale};"""
    options = {"group": group, "schedule_seed": seed, "assumptions": assumptions}
    if target:
        options["target"] = target
    after = tm.run(body, shared if group == 2 else shared[0], tensor if group == 2 else tensor[0], **options).reshape(tensor.shape)  # fmt: skip
    want = (-1) ** sum(negate) * (av @ bv.T)
    if add:
        want = want + cv * (0.5**scale_input if scale_input else 1)
    if saturate:
        want = np.clip(want, -(2**31), 2**31 - 1)
    got = matrix_from_words(after, shape, d, **where)
    touched = np.zeros(tensor.shape, bool)
    for i in range(m):
        for j in range(n):
            place = tm.place_of_sum(i, j, shape, **where)
            if kept is not None and int(kept[4 * place[0] + place[1] // 32]) >> place[1] % 32 & 1:
                want[i, j] = cv[i, j]
            touched[place] = True
    np.testing.assert_array_equal(after[~touched], tensor[~touched])
    if d == "s32":
        np.testing.assert_array_equal(got, want)
    else:
        bound = np.abs(av) @ np.abs(bv.T) + np.abs(cv)
        near = np.abs(got - want) <= bound * (2.0**-10 if d == "f16" else 2.0**-21) + 1e-4
        if d == "f16":
            near |= np.abs(want) > 65000
        assert near.all(), (np.argwhere(~near)[:4], got[~near][:4], want[~near][:4])


def put_a(tensor, codes, kind, shape, where):
    """A in tensor memory, 256 columns behind D: a row in its lane, 32-bit words along K."""
    bits = tm.element_bits(kind, False)
    for i, row in enumerate(codes):
        for lane_of in {tm.place_of_sum(i, j, shape, **where)[:2] for j in (0, shape[1] - 1)}:
            cta, lane = lane_of
            for k, code in enumerate(row):
                column, shift = 256 + k * bits // 32, k * bits % 32
                value = int(code) << (2 if kind == "e2m1" else 0)
                old = int(tensor[cta, lane, column])
                tensor[cta, lane, column] = old & ~(((1 << bits) - 1) << shift) | value << shift


# ---- Scale factors ------------------------------------------------------------------------------------------------


def put_behind_edge(shared, at, codes, kind):
    """Rows of 48 bytes from byte 96 of 128 on: the last 16 bytes are in a second tile, where the descriptor says."""
    rows, k = codes.shape
    size = (rows + 7) // 8 * 1024
    for row in range(rows):
        for i in range(k):
            byte = 96 + i // 2
            offset = byte // 128 * size + row // 8 * 1024 + row % 8 * 128 + byte % 128
            tm.put_element(shared, at, offset, "128", int(codes[row, i]), kind, i, True)
    return tm.sdesc(at + 96, at + size, 1024, "128") | 1 << 52, at + 2 * size


def check_scaled(kind, a, b, scale, factors, spelled, ids=(0, 0), n=64, m=128, group=1, tensor_a=False, seed=0, assumptions=(), together=False, target="sm_100a", k96=False, mode="128", absolute=False, interleaved=False):  # fmt: skip
    k, packed, ctas = 96 if k96 else K[kind], kind != "mxf8f6f4", group
    av, ac = tm.random_elements(rng, a, (m, k))
    bv, bc = tm.random_elements(rng, b, (n, k))
    shared = np.zeros((ctas, 65536), np.uint8)
    tensor = rng.integers(0, 1 << 32, (ctas, LANES, 512), dtype=np.uint64).astype(np.uint32)
    low, high = (120, 135) if scale == "ue8m0" else (8, 96)
    sa, sb = (rng.integers(low, high, (rows, factors)).astype(np.uint8) for rows in (m, n))
    rows, cols = m // ctas, n // ctas
    shape, where = (m, n), {"group": group}
    cv = rng.standard_normal(shape).astype(np.float32)
    for cta in range(ctas):
        put = put_behind_edge if absolute else lambda s, at, codes, kind: tm.put_matrix(s, at, codes, kind, mode, False, packed)  # fmt: skip
        da, end = (0, 0) if tensor_a else put(shared[cta], 0, ac[cta * rows :][:rows], a)
        at = (end + 1023) // 1024 * 1024
        db, _ = put(shared[cta], at, bc[cta * cols :][:cols], b)
        tm.put_scales(tensor[cta], 400, sa[cta * rows :][:rows], ids[0], interleaved)
        if group == 2 and m == 128 and not together:
            # The upper half of the columns has its factors in the upper half of the lanes.
            for half in (0, 1):
                lanes = np.zeros((LANES, 512), np.uint32)
                tm.put_scales(lanes, 420, sb[half * cols :][:cols], ids[1])
                tensor[cta, 64 * half : 64 * half + 64, 420:440] = lanes[64 * half :][:64, 420:440]
        else:
            tm.put_scales(tensor[cta], 420, sb, ids[1], interleaved)
    if tensor_a:
        for i, row in enumerate(ac):
            for j, code in enumerate(row):
                bits = 4 if packed else 8
                value = int(code) << (2 if not packed and a == "e2m1" else 0)
                at = (0, i, 300 + j * bits // 32)
                shift = j * bits % 32
                tensor[at] = int(tensor[at]) & ~(((1 << bits) - 1) << shift) | value << shift
    for i in range(m):
        for j in range(n):
            tensor[tm.place_of_sum(i, j, shape, **where)] = word(cv[i, j], "f32")
    bits = tm.idesc_scaled(kind, m, n, a, b, scale, *ids) | k96 << 31
    body = f"""{load64("%d0", da)} {load64("%d1", db)} mov.b32 %i, {bits}; add.u32 %a, %t, 400;
tcgen05.mma.cta_group::{group}.kind::{kind}.block_scale{spelled} [%t], {"[%t+300]" if tensor_a else "%d0"}, %d1, %i, [%a], [%a+20], %always;"""
    after = tm.run(body, shared if group == 2 else shared[0], tensor if group == 2 else tensor[0], group=group, schedule_seed=seed, assumptions=assumptions, target=target).reshape(tensor.shape)  # fmt: skip
    dtype = {"ue8m0": tm.ml_dtypes.float8_e8m0fnu, "ue4m3": tm.ml_dtypes.float8_e4m3fn}[scale]
    wide = [np.repeat(s.view(dtype).astype(np.float64), k // factors, axis=1) for s in (sa, sb)]
    want = (av * wide[0]) @ (bv * wide[1]).T + cv
    bound = np.abs(av * wide[0]) @ np.abs(bv * wide[1]).T + np.abs(cv)
    got = matrix_from_words(after, shape, "f32", **where)
    assert (np.abs(got - want) <= bound * 2.0**-22).all()
    touched = np.zeros(tensor.shape, bool)
    for i in range(m):
        for j in range(n):
            touched[tm.place_of_sum(i, j, shape, **where)] = True
    np.testing.assert_array_equal(after[~touched], tensor[~touched])
