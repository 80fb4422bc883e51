"""Copies of gfx1250 between memory and LDS: loads of which each lane says where it writes, tiles of
tensors, and the counters by which they are waited for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from asmlib import findings, kernel, run

from tile.errors import TileError
from tile.sim import SimulationError

u8, u32, u64 = np.uint8, np.uint32, np.uint64
GPU = "gfx1250"
START = """s_load_b64 s[8:9], s[0:1], 0
s_load_b64 s[10:11], s[0:1], 8
s_wait_kmcnt 0
"""

#: Lanes write in the opposite order, and read in order what `far` bytes away was written.
ASYNC = """v_lshlrev_b32 v1, {log2}, v0
v_xor_b32 v2, {last}, v1
global_load_async_to_lds_b{bits} v2, v1, s[10:11]
{wait}
v_xor_b32 v3, {far}, v1
{load} {data}, v3
s_wait_dscnt 0
{store} v1, {data}, s[8:9]
"""
LOADS = {
    8: ("ds_load_u8", "global_store_b8", "v4"),
    32: ("ds_load_b32", "global_store_b32", "v4"),
    64: ("ds_load_b64", "global_store_b64", "v[4:5]"),
    128: ("ds_load_b128", "global_store_b128", "v[4:7]"),
}


def loaded(bits: int, wait: str, far: int, waves: int = 1, extra: str = "", active: str = ""):
    lanes, size = 32 * waves, bits // 8
    load, store, data = LOADS[bits]
    body = (
        START
        + active
        + ASYNC.format(
            bits=bits,
            log2=size.bit_length() - 1,
            last=size * (lanes - 1),
            wait=extra + wait,
            far=far,
            load=load,
            store=store,
            data=data,
        )
    )
    x = np.random.default_rng(bits).integers(0, 255, lanes * size).astype(u8)
    out = np.zeros_like(x)
    found = findings(kernel(body, [8, 8], GPU, lds=2 * x.size), [out, x], 1, lanes)
    return found, out.reshape(lanes, size), x.reshape(lanes, size)


@pytest.mark.parametrize("bits", LOADS)
def test_each_lane_says_where_it_writes(bits):
    found, out, x = loaded(bits, "s_wait_asynccnt 0", 0)
    assert found == [] and (out == x[::-1]).all()


def test_only_active_lanes_write():
    """Lanes 0 to 7 and 16 to 23 write places 24 to 31 and 8 to 15."""
    active = "s_mov_b32 exec_lo, 0x00ff00ff\n"
    found, out, x = loaded(32, "s_wait_asynccnt 0", 8 * 4, active=active)
    lane = np.arange(32)
    want = np.where((lane & 8 == 0)[:, None], x[31 - (lane ^ 8)], 0)
    assert found == [] and (out == want).all()
    assert "uninitialized" in loaded(32, "s_wait_asynccnt 0", 0, active=active)[0][0]


def test_loads_are_waited_for():
    """In order, by a counter of their own, and before a barrier by those whose values other waves
    want."""
    lane = np.arange(64)
    for far, waves, barrier in ((4, 1, ""), (0, 2, "\ns_barrier_signal -1\ns_barrier_wait -1")):
        second = (
            f"v_add_nc_u32 v5, {128 * waves}, v2\nglobal_load_async_to_lds_b32 v5, v1, s[10:11]\n"
        )
        for extra, left in (("", 0), (second, 1)):
            found, out, x = loaded(32, f"s_wait_asynccnt {left}{barrier}", far, waves, extra)
            assert found == []
            assert (out == x[::-1][lane[: len(x)] ^ (far // 4)]).all()
            for wait in (f"s_wait_asynccnt {left + 1}", "s_wait_loadcnt 0", "s_nop 0"):
                assert "async-race" in loaded(32, wait + barrier, far, waves, extra)[0], wait
    late = "s_barrier_signal -1\ns_barrier_wait -1\ns_wait_asynccnt 0"
    assert "async-race" in loaded(32, late, 0, 2)[0]


def test_what_is_not_supported_of_loads():
    for text, message in {
        "global_load_async_to_lds_b32 v2, v1, s[10:11] offset:4": "an offset is not supported",
        "global_load_async_to_lds_b96 v2, v1, s[10:11]": "unknown instruction",
    }.items():
        with pytest.raises(TileError, match=message):
            run(kernel(START + text, [8, 8], GPU, lds=64), [np.zeros(1, u32)] * 2, 1, 32)
    with pytest.raises(TileError, match="the target has no such instruction"):
        run(kernel("global_load_async_to_lds_b32 v2, v[0:1], off", [8], "gfx1201", lds=64),
            [np.zeros(1, u32)], 1, 32)  # fmt: skip


# Tiles of tensors.


def words(*fields: tuple[int, int, int], count: int) -> list[int]:
    """`count` words of fields (first bit, bits, value)."""
    value = 0
    for first, bits, field in fields:
        assert 0 <= field < 1 << bits
        value |= field << first
    return [value >> 32 * i & 0xFFFFFFFF for i in range(count)]


def descriptor(
    tensor,
    tile,
    strides,
    bytes_,
    *,
    lds=0,
    pad=(0, 0),
    rows=(),
    wide=True,
    count=1,
    kind=2,
    flags=0,
) -> list[list[int]]:
    """The groups, but for the address in memory; dimensions innermost first, strides of all but the
    first, paddings in words."""
    tensor, tile = (list(x) + [0] * (5 - len(x)) for x in (tensor, tile))
    strides = list(strides) + [0] * (4 - len(strides))
    gather = (30, 1, bool(rows)), (31, 1, bool(rows) and wide)
    padding = [(20, 1, 1), (22, 3, pad[0].bit_length() - 2), (25, 7, pad[1] - 1)] if pad[0] else []
    first = words((0, 2, count), *gather, (32, 32, lds), (126, 2, kind), count=4)
    second = words(
        (16, 2, bytes_.bit_length() - 1), *padding, (0, 32, flags) if flags else (18, 1, 0),
        (48, 32, tensor[0]), (80, 32, tensor[1]), (112, 16, tile[0]), (128, 16, tile[1]),
        (144, 16, tile[2]), (160, 48, strides[0]), (208, 48, strides[1]), count=8,
    )  # fmt: skip
    third = words(
        (0, 32, tensor[2]), (32, 32, tensor[3]), (64, 48, strides[2]), (112, 16, tile[3]), count=4
    )
    fourth = words((0, 48, strides[3]), (48, 32, tensor[4]), (80, 16, tile[4]), count=4)
    if rows:
        bits = 32 if wide else 16
        all_rows = words(*((i * bits, bits, r) for i, r in enumerate(rows)), count=8)
        third, fourth = all_rows[:4], all_rows[4:]
    return [first, second, third, fourth]


def set_descriptor(groups, pointer: str, at: int = 20) -> str:
    """Puts the groups into scalar registers; `pointer` is the pair with the tensor's address."""
    flat = list(itertools.chain(*groups))
    text = "".join(f"s_mov_b32 s{at + i}, 0x{w:x}\n" for i, w in enumerate(flat))
    low = int(pointer[2:].split(":")[0])
    return text + f"s_mov_b32 s{at + 2}, s{low}\ns_or_b32 s{at + 3}, s{at + 3}, s{low + 1}\n"


OPERANDS = "s[20:23], s[24:31], s[32:35], s[36:39]"
BARRIER = "s_barrier_signal -1\ns_barrier_wait -1\n"


def tile_in_lds(groups, x, lds: int, wait: str = "s_wait_tensorcnt 0", operands: str = OPERANDS):
    """What LDS holds after a copy into it; it holds 0xee before."""
    body = START + set_descriptor(groups, "s[10:11]")
    fill = "v_mov_b32 v2, 0xeeeeeeee\nv_lshlrev_b32 v1, 2, v0\n"
    for at in range(0, lds, 128):
        fill += f"ds_store_b32 v1, v2 offset:{at}\n"
    body += fill + f"s_wait_dscnt 0\ntensor_load_to_lds {operands}\n{wait}\n"
    for at in range(0, lds, 128):
        body += f"ds_load_b32 v3, v1 offset:{at}\ns_wait_dscnt 0\n"
        body += f"global_store_b32 v1, v3, s[8:9] offset:{at}\n"
    out = np.zeros(lds, u8)
    return findings(kernel(body, [8, 8], GPU, lds=lds), [out, x], 1, 32), out


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "uint64"])
def test_tiles_are_cut_at_the_end_of_the_tensor(dtype):
    x = np.random.default_rng(1).integers(0, 99, (16, 24)).astype(dtype)
    size = x.itemsize
    groups = descriptor([5, 3], [8, 4], [24], size)
    found, out = tile_in_lds(groups, x, 512, operands="s[20:23], s[24:31]")
    want = np.zeros((4, 8), dtype)
    want[:3, :5] = x[:3, :5]
    assert found == []
    assert (out[: want.nbytes] == want.view(u8).ravel()).all()
    assert (out[want.nbytes :] == 0xEE).all()


def test_tiles_of_one_to_five_dimensions():
    rng = np.random.default_rng(2)
    for rank in range(1, 6):
        shape, tile = (2, 3, 3, 5, 6)[-rank:], (2, 2, 4, 2, 8)[-rank:]
        x = rng.integers(0, 99, shape).astype(u32)
        strides = [s // 4 for s in x.strides[::-1]]
        groups = descriptor(shape[::-1], tile[::-1], strides[1:], 4)
        found, out = tile_in_lds(groups, x, 1024)
        want = np.zeros(tile, u32)
        part = tuple(slice(0, min(a, b)) for a, b in zip(shape, tile, strict=True))
        want[part] = x[part]
        assert found == [] and (out.view(u32)[: want.size] == want.ravel()).all(), rank


def test_gaps_in_lds_keep_what_they_hold():
    x = np.arange(64, dtype=np.uint16).reshape(4, 16)
    found, out = tile_in_lds(descriptor([16, 4], [16, 4], [16], 2, pad=(8, 4)), x, 256)
    want = np.full(128, 0xEEEE, np.uint16)
    for i in range(4):
        want[24 * i : 24 * i + 16] = x[i]
    assert found == [] and (out.view(np.uint16) == want).all()


@pytest.mark.parametrize("wide", [False, True])
def test_rows_are_gathered(wide):
    x = np.arange(160, dtype=u32).reshape(20, 8)
    rows = [3, 19, 0, 20, 7, 7, 65535, 1] + ([] if wide else [2, 4, 6, 8, 10, 12, 14, 16])
    groups = descriptor([6, 20], [8, len(rows)], [8], 4, rows=rows, wide=wide)
    found, out = tile_in_lds(groups, x, 512)
    want = np.zeros((len(rows), 8), u32)
    for i, r in enumerate(rows):
        if r < 20:
            want[i, :6] = x[r, :6]
    assert found == [] and (out.view(u32)[: want.size] == want.ravel()).all()


def test_tiles_are_stored():
    """But for what lies outside of the tensor, and without gaps."""
    for rows in ([], [5, 9, 1, 2]):
        groups = descriptor([6, 8], [8, 4], [8], 4, pad=(8, 1), rows=rows)
        body = START + set_descriptor(groups, "s[8:9]")
        body += """v_lshlrev_b32 v1, 2, v0
global_load_b32 v2, v1, s[10:11]
s_wait_loadcnt 0
ds_store_b32 v1, v2
s_wait_dscnt 0
"""
        body += f"tensor_store_from_lds {OPERANDS}\ns_wait_tensorcnt 0\n"
        x, out = np.arange(32, dtype=u32) + 100, np.zeros((8, 8), u32)
        assert findings(kernel(body, [8, 8], GPU, lds=128), [out, x], 1, 32) == []
        want = np.zeros((8, 8), u32)
        for i, r in enumerate(rows or range(4)):
            if r < 8:
                want[r, :6] = x[8 * i : 8 * i + 6]
        assert (out == want).all()


def test_tiles_are_waited_for():
    x = np.arange(64, dtype=u32)
    groups = descriptor([32, 1], [32, 1], [32], 4)
    for wait in ("s_wait_tensorcnt 1", "s_wait_asynccnt 0", "s_nop 0"):
        assert "async-race" in tile_in_lds(groups, x, 128, wait)[0], wait
    # What a wave has written is not there before it has waited for that.
    text = START + set_descriptor(groups, "s[8:9]")
    text += "v_lshlrev_b32 v1, 2, v0\nds_store_b32 v1, v0\n"
    for wait, bad in (("s_wait_dscnt 0\n", False), ("s_wait_loadcnt 0\n", True)):
        copied = text + wait + f"tensor_store_from_lds {OPERANDS}\ns_wait_tensorcnt 0\n"
        found = findings(kernel(copied, [8, 8], GPU, lds=128), [np.zeros(32, u32), x], 1, 32)
        assert ("missing-wait" in found) == bad
    # The buffer is read until the store was waited for.
    body = START + set_descriptor(groups, "s[8:9]")
    store = f"v_lshlrev_b32 v1, 2, v0\nds_store_b32 v1, v0\ns_wait_dscnt 0\ntensor_store_from_lds {OPERANDS}\n"  # noqa: E501
    again = "ds_store_b32 v1, v1\n"
    for wait, bad in (("s_wait_tensorcnt 0\n", False), ("", True)):
        text = kernel(body + store + wait + again + "s_wait_tensorcnt 0\n", [8, 8], GPU, lds=128)
        assert ("async-race" in findings(text, [np.zeros(32, u32), x], 1, 32)) == bad


def test_nothing_is_copied_where_the_count_is_zero():
    found, out = tile_in_lds(descriptor([32], [32], [], 4, count=0), np.arange(32, dtype=u32), 128)
    assert found == [] and (out == 0xEE).all()


def test_waves_know_their_number():
    body = START + "s_bfe_u32 s3, ttmp8, 0x50019\nv_mov_b32 v2, s3\nv_lshlrev_b32 v1, 2, v0\n"
    body += "global_store_b32 v1, v2, s[8:9]\n"
    out = np.zeros(128, u32)
    run(kernel(body, [8, 8], GPU), [out, out], 1, 128)
    assert (out == np.arange(128) // 32).all()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"kind": 0}, "its type is not 2"),
        ({"flags": 1}, "copies to several workgroups are not supported"),
        ({"flags": 1 << 18}, "arriving at a barrier is not supported"),
        ({"flags": 1 << 19}, "repeated copies are not supported"),
    ],
)
def test_what_is_not_supported_of_descriptors(more, message):
    x = np.zeros(64, u32)
    body = START + set_descriptor(descriptor([8, 8], [8, 8], [8], 4, **more), "s[10:11]")
    body += f"tensor_load_to_lds {OPERANDS}\ns_wait_tensorcnt 0\n"
    with pytest.raises(SimulationError, match=message):
        run(kernel(body, [8, 8], GPU, lds=256), [x, x], 1, 32)


def test_tiles_stay_inside_memory():
    x = np.zeros(64, u32)
    body = START + set_descriptor(descriptor([8, 9], [8, 9], [8], 4), "s[10:11]")
    body += f"tensor_load_to_lds {OPERANDS}\ns_wait_tensorcnt 0\n"
    for lds in (256, 512):
        with pytest.raises(SimulationError, match="out-of-bounds"):
            run(kernel(body, [8, 8], GPU, lds=lds), [x, x], 1, 32)
