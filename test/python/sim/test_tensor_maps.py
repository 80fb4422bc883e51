# ruff: noqa: E501  (PTX text reads better unbroken)
"""Tensor maps: their bytes as the driver encodes them, and the pixels that im2col copies take.

driver_maps.json and replaced_fields.json are what test/gpu/encode_tensor_maps.py wrote on an H200
(driver 580).
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest
from test_async import INIT, MAP, WAIT, kinds, load_box, run

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(43)
DRIVER = json.loads((pathlib.Path(__file__).parent / "driver_maps.json").read_text())
#: Element types by their number in the driver.
NAMES = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz"]  # fmt: skip


def encode(facts):
    common = (facts["address"], NAMES[facts["type"]], facts["size"], facts["stride"])
    options = {
        "swizzle": (0, 32, 64, 128)[facts["swizzle"]],
        "fill_nan": bool(facts["fill"]),
        "element_strides": facts["step"],
    }
    if "pixels" not in facts:
        return tile.sim.tensor_map(*common, facts["box"], **options)
    corners = facts["lower"], facts["upper"], facts["channels"], facts["pixels"]
    return tile.sim.im2col_tensor_map(*common, *corners, **options)


def test_bytes_are_those_of_the_driver():
    assert len(DRIVER) > 70 and sum("pixels" in facts for facts in DRIVER) > 8
    for facts in DRIVER:
        theirs = bytearray.fromhex(facts["bytes"].ljust(256, "0"))
        # The simulator has no L2 cache: what is promoted into it is left out.
        assert theirs[10] >> 1 & 3 == facts["promotion"]
        theirs[10] &= ~6
        assert encode(facts) == bytes(theirs), facts


def test_a_map_of_the_driver_is_read():
    """Promotion and all."""
    facts = next(f for f in DRIVER if f["promotion"] == 2 and f["size"] == [256, 128])
    array = rng.standard_normal((128, 256)).astype(np.float16)
    bytes_ = bytearray.fromhex(facts["bytes"].ljust(256, "0"))
    bytes_[:8] = array.ctypes.data.to_bytes(8, "little")
    out = np.zeros((32, 64), np.float16)
    run(
        load_box(2, (192, 120), out.nbytes, 2, 0),
        1,
        32,
        [bytes(bytes_), out],
        MAP,
        allocations=[array],
    )
    np.testing.assert_array_equal(out[:8], array[120:, 192:])
    assert not out[8:].any()


def image(rank):
    """N (D, H) W C, as arrays are written."""
    shape = {3: (3, 9, 32), 4: (3, 5, 6, 32), 5: (2, 4, 3, 5, 32)}[rank]
    return rng.standard_normal(shape).astype(np.float16)


def column(array, start, offset, lower, upper, steps, channels, pixels):
    """What a copy takes, coordinates innermost first: pixels in the order of a counter whose digits
    run from `lower` to the last element plus `upper`."""
    rank = array.ndim
    sizes = array.shape[::-1]
    out = np.zeros((pixels, channels), array.dtype)
    at = list(start)
    for pixel in range(pixels):
        where = [a + o for a, o in zip(at[1:], (*offset, 0), strict=True)]
        if all(0 <= w < n for w, n in zip(where, sizes[1:], strict=True)):
            row = array[tuple(where[::-1])]
            for channel in range(channels):
                if 0 <= start[0] + channel < sizes[0]:
                    out[pixel, channel] = row[start[0] + channel]
        for i in range(1, rank):
            at[i] += steps[i] if i + 1 < rank else 1
            if i + 1 == rank or at[i] < sizes[i] + upper[i - 1]:
                break
            at[i] = lower[i - 1]
    return out


def im2col_load(rank, start, offset, total):
    text = load_box(rank, start, total, 2, 0)
    coordinates = ", ".join(map(str, start))
    offsets = ", ".join(f"%h{i}" for i in range(rank - 2))
    for i, value in enumerate(offset):
        text = f"mov.b16 %h{i}, {value};\n" + text
    assert ".tile." in text
    return text.replace(".tile.", ".im2col.").replace(
        f"{{{coordinates}}}], [bar];", f"{{{coordinates}}}], [bar], {{{offsets}}};"
    )


IM2COL = {
    # rank, start, offsets, lower, upper, element strides, channels, pixels
    "rows": (4, (0, 0, 0, 0), (0, 0), (0, 0), (0, 0), (1, 1, 1, 1), 32, 40),
    "a filter of 3 by 3 with padding": (4, (8, -1, -1, 0), (2, 1), (-1, -1), (-1, -1), (1, 1, 1, 1), 16, 64),
    "begins in the middle": (4, (0, 2, 3, 1), (1, 0), (-1, -1), (-1, -1), (1, 1, 1, 1), 32, 50),
    "every second pixel": (4, (16, -1, -1, 0), (0, 2), (-1, -1), (-1, -1), (1, 2, 2, 1), 32, 24),
    "every third of a box of its own": (4, (0, 1, 0, 0), (0, 0), (1, 0), (0, -2), (1, 3, 1, 1), 8, 20),
    "one dimension": (3, (0, -2, 0), (3,), (-2,), (-1,), (1, 1, 1), 32, 33),
    "three dimensions": (5, (24, -1, 0, -1, 0), (1, 0, 2), (-1, 0, -1), (-1, 0, -1), (1, 1, 1, 1, 1), 16, 70),
}  # fmt: skip


@pytest.mark.parametrize("swizzle", [0, 64])
@pytest.mark.parametrize("name", IM2COL)
def test_im2col_loads(name, swizzle):
    rank, start, offset, lower, upper, steps, channels, pixels = IM2COL[name]
    array = image(rank)
    strides = array.strides[::-1][1:]
    tensor = tile.sim.im2col_tensor_map(
        array.ctypes.data, "f16", array.shape[::-1], strides, lower, upper, channels, pixels,
        element_strides=steps, swizzle=swizzle,
    )  # fmt: skip
    want = column(array, start, offset, lower, upper, steps, channels, pixels)
    out = np.zeros(pixels * (swizzle or channels * 2), np.uint8)
    text = im2col_load(rank, start, offset, out.nbytes).replace(
        f"_, [bar], {out.nbytes};", f"_, [bar], {want.nbytes};"
    )
    run(text, 1, 32, [tensor, out], MAP, allocations=[array])
    np.testing.assert_array_equal(rows_of(out, pixels, channels * 2, swizzle), want.view(np.uint8))


def rows_of(image, count, width, swizzle):
    """Rows of bytes as a copy leaves them: with a swizzle, they are as far apart as it is wide."""
    at = np.arange(count)[:, None] * (swizzle or width) + np.arange(width)
    return image[at ^ (at >> 7 & 3) << 4 if swizzle else at]


def test_short_rows_are_as_far_apart_as_the_swizzle_is_wide():
    array = rng.standard_normal((6, 32)).astype(np.float16)
    tensor = tile.sim.tensor_map(array.ctypes.data, "f16", (32, 6), (64,), (16, 6), swizzle=64)
    out = np.zeros(6 * 64, np.uint8)
    text = load_box(2, (8, 0), out.nbytes, 2, 0).replace("_, [bar], 384;", "_, [bar], 192;")
    run(text, 1, 32, [tensor, out], MAP, allocations=[array])
    want = np.ascontiguousarray(array[:, 8:24]).view(np.uint8)
    np.testing.assert_array_equal(rows_of(out, 6, 32, 64), want)
    # And back: the bytes between them may have no value.
    array[:] = 0
    store = (
        INIT
        + """
ld.param.u64 %rd1, [in]; mov.u32 %r1, buffer; mov.u32 %r2, %r30;
COPY: setp.ge.u32 %p1, %r2, 96; @%p1 bra COPIED;
mad.wide.u32 %rd2, %r2, 4, %rd1; ld.global.u32 %r3, [%rd2]; mad.lo.u32 %r4, %r2, 4, %r1;
shr.u32 %r5, %r4, 7; and.b32 %r5, %r5, 2; shr.u32 %r6, %r4, 4; and.b32 %r6, %r6, 2; setp.eq.u32 %p2, %r5, %r6;
@%p2 st.shared.u32 [%r4], %r3; add.u32 %r2, %r2, 32; bra COPY;
COPIED: fence.proxy.async.shared::cta; bar.sync 0;
mov.b64 %rd3, map; cvta.param.u64 %rd3, %rd3;
@%p15 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {8, 0}], [%r1];
@%p15 cp.async.bulk.commit_group;
@%p15 cp.async.bulk.wait_group 0;
"""
    )
    params = [".param .align 64 .b8 map[128]", ".param .u64 in"]
    run(store, 1, 32, [tensor, out], params, allocations=[array])
    np.testing.assert_array_equal(np.ascontiguousarray(array[:, 8:24]).view(np.uint8), want)


def padded_load(array, start, swizzle, **facts):
    """A box of 8 rows of 128 4-bit elements, as it lies in shared memory."""
    rows, width = array.shape
    plain = {"shape": (2 * width, rows), "strides": (width,), "box": (128, 8)}
    tensor = tile.sim.tensor_map(
        array.ctypes.data, "b4x16_p64", **plain | facts, swizzle=swizzle
    )  # fmt: skip
    out = np.zeros(8 * 128, np.uint8)
    # Bytes of elements count, not those of padding.
    text = load_box(2, start, out.nbytes, 1, 0).replace("_, [bar], 1024;", "_, [bar], 512;")
    return run(text, 1, 32, [tensor, out], MAP, allocations=[array], raise_on_finding=False), out


@pytest.mark.parametrize("swizzle", [0, 128])
@pytest.mark.parametrize("start", [(0, 0), (128, 4), (-128, 1), (256, -3)])
def test_padded_4_bit_elements(start, swizzle):
    """Behind 16 elements, 8 bytes, there are 8 bytes that nobody writes."""
    memory = rng.integers(1, 256, 10 * 192 + 32, np.uint8)
    array = memory[-memory.ctypes.data % 32 :][: 10 * 192].reshape(10, 192)
    report, out = padded_load(array, start, swizzle)
    assert not report.messages
    want = np.zeros((8, 64), np.uint8)
    for row in range(8):
        for byte in range(64):
            at = start[1] + row, start[0] // 2 + byte
            if 0 <= at[0] < 10 and 0 <= at[1] < 192:
                want[row, byte] = array[at]
    place = np.arange(8)[:, None] * 128 + np.arange(64) // 8 * 16 + np.arange(64) % 8
    np.testing.assert_array_equal(out[place ^ (place >> 7 & 7) << 4 if swizzle else place], want)


@pytest.mark.parametrize(
    "start, swizzle, facts, kind, says",
    [
        ((64, 0), 128, {}, "misaligned", "begins at element 64"),
        ((1, 0), 128, {}, "misaligned", "in the middle of a byte"),
        ((0, 0), 64, {}, "bad-tensor-map", "none, or of 128 bytes"),
        ((0, 0), 128, {"box": (64, 8)}, "bad-tensor-map", "rows of 128, found 64"),
        ((0, 0), 128, {"shape": (320, 10)}, "bad-tensor-map", "multiple of 128, found 320"),
        ((0, 0), 128, {"strides": (208,)}, "bad-tensor-map", "multiples of 32, found 208"),
    ],
)
def test_what_padding_wants(start, swizzle, facts, kind, says):
    memory = np.zeros(10 * 256 + 32, np.uint8)
    array = memory[-memory.ctypes.data % 32 :][: 10 * 192].reshape(10, 192)
    report, _ = padded_load(array, start, swizzle, **facts)
    assert kinds(report) == {kind} and says in report.messages[0]


STORE = INIT + """
ld.param.u64 %rd1, [in]; mov.u32 %r1, buffer; mov.u32 %r2, %r30;
COPY: setp.ge.u32 %p1, %r2, WORDS; @%p1 bra COPIED;
mad.wide.u32 %rd2, %r2, 4, %rd1; ld.global.u32 %r3, [%rd2]; mad.lo.u32 %r4, %r2, 4, %r1; st.shared.u32 [%r4], %r3; add.u32 %r2, %r2, 32; bra COPY;
COPIED: fence.proxy.async.shared::cta; bar.sync 0;
mov.b64 %rd3, map; cvta.param.u64 %rd3, %rd3;
@%p15 cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd3, {8, 1, 2, 0}], [%r1];
@%p15 cp.async.bulk.commit_group;
@%p15 cp.async.bulk.wait_group 0;
"""  # fmt: skip


def test_im2col_stores():
    array = image(4)
    before = array.copy()
    source = rng.standard_normal((30, 16)).astype(np.float16)
    lower, upper, steps = (0, 1), (-1, 0), (1, 1, 2, 1)
    tensor = tile.sim.im2col_tensor_map(
        array.ctypes.data, "f16", array.shape[::-1], array.strides[::-1][1:], lower, upper, 16, 30,
        element_strides=steps,
    )  # fmt: skip
    text = STORE.replace("WORDS", str(source.nbytes // 4))
    params = [".param .align 64 .b8 map[128]", ".param .u64 in"]
    run(text, 1, 32, [tensor, source], params, allocations=[array])
    # Every element of the image knows which element of the source comes to it.
    numbers = np.arange(1, array.size + 1, dtype=np.int32).reshape(array.shape)
    taken = column(numbers, (8, 1, 2, 0), (0, 0), lower, upper, steps, 16, 30)
    want = before.ravel().copy()
    want[taken[taken > 0] - 1] = source[taken > 0]
    np.testing.assert_array_equal(array.ravel(), want)
    assert (taken == 0).any() and (array != before).any()


def test_maps_and_instructions_go_together():
    array = image(4)
    common = (array.ctypes.data, "f16", array.shape[::-1], array.strides[::-1][1:])
    tiled = tile.sim.tensor_map(*common, (32, 4, 1, 1))
    columns = tile.sim.im2col_tensor_map(*common, (0, 0), (0, 0), 32, 4)
    empty = tile.sim.im2col_tensor_map(*common, (3, 0), (-4, 0), 32, 4)
    out = np.zeros((4, 32), np.float16)
    load = im2col_load(4, (0, 0, 0, 0), (0, 0), out.nbytes)
    plain = load_box(4, (0, 0, 0, 0), out.nbytes, 2, 0)
    options = {"allocations": [array], "raise_on_finding": False}
    for text, tensor, says in (
        (load, tiled, "is not for im2col"),
        (plain, columns, "is for im2col"),
        (load, empty, "box of pixels is empty in dimension 1"),
    ):
        report = run(text, 1, 32, [tensor, out], MAP, **options)
        assert kinds(report) == {"bad-tensor-map"} and says in report.messages[0]
    for bad, says in (
        (load.replace(".4d.", ".2d."), "needs .3d to .5d"),
        (load.replace("{%h0, %h1}", "{%h0}"), "expected 2 offsets"),
        (load.replace(".im2col.", ".im2col::w."), "needs .target sm_100a"),
    ):
        with pytest.raises(TileError, match=says):
            run(bad, 1, 32, [columns, out], MAP, **options)


@pytest.mark.parametrize(
    "facts, says",
    [
        ({"strides": (24,)}, "multiples of 16"),
        ({"box": (300, 4)}, "box must be 1 to 256, not 300"),
        ({"element_strides": (1, 9)}, "element strides must be 1 to 8, not 9"),
        ({"shape": (0, 4)}, "shape must be 1 to"),
        ({"element": "f8"}, "unknown element type"),
        ({"swizzle": 16}, "swizzle must be"),
        ({"strides": ()}, "one stride less"),
    ],
)
def test_what_the_driver_refuses(facts, says):
    plain = {"address": 0, "element": "f16", "shape": (64, 4), "strides": (128,), "box": (64, 4)}
    tile.sim.tensor_map(**plain)
    with pytest.raises(TileError, match=says):
        tile.sim.tensor_map(**plain | facts)


@pytest.mark.parametrize(
    "facts, says",
    [
        ({"lower": (-129, 0)}, "corners must be -128 to 127, not -129"),
        ({"pixels": 1025}, "pixels must be 1 to 1024"),
        ({"channels": 257}, "channels must be 1 to 256"),
        ({"upper": (0,)}, "corners of two less"),
    ],
)
def test_what_the_driver_refuses_of_im2col(facts, says):
    plain = {"address": 0, "element": "f16", "shape": (64, 4, 4, 2), "strides": (128, 512, 2048)}
    plain |= {"lower": (0, 0), "upper": (0, 0), "channels": 64, "pixels": 8}
    tile.sim.im2col_tensor_map(**plain)
    with pytest.raises(TileError, match=says):
        tile.sim.im2col_tensor_map(**plain | facts)


def test_fields_are_replaced_as_by_hardware():
    """In a map of zeros, one field for each CTA."""
    fields = json.loads((pathlib.Path(__file__).parent / "replaced_fields.json").read_text())
    assert len(fields) > 90
    text = """ld.param.u64 %rd1, [maps]; mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd1, %r1, 128, %rd1; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0;
"""
    for i, (field, dim, value, _) in enumerate(fields):
        wide = field in ("global_address", "global_stride")
        place = "" if dim is None else f"{dim}, "
        text += f"""setp.eq.and.u32 %p2, %r1, {i}, %p1;
@%p2 tensormap.replace.tile.{field}.global.b1024.b{64 if wide else 32} [%rd1], {place}{value};
"""
    memory = np.zeros(128 * len(fields) + 128, np.uint8)
    maps = memory[-memory.ctypes.data % 128 :][: 128 * len(fields)].reshape(-1, 128)
    run(text, len(fields), 32, [maps], [".param .u64 maps"])
    for got, (*field, want) in zip(maps, fields, strict=True):
        assert got.tobytes().hex() == want.ljust(256, "0"), field


REPLACE = """
ld.param.u64 %rd1, [scratch]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
@%p1 tensormap.replace.tile.FIELD.global.b1024.bTYPE [%rd1], VALUE;
"""


@pytest.mark.parametrize(
    "field, value, says",
    [
        ("rank", "5", "rank less one is 5; allowed are 0 to 4"),
        ("box_dim", "1, 257", "box is 257"),
        ("global_stride", "0, 24", "stride 24 is not a multiple of 16"),
        ("element_stride", "1, 9", "element stride is 9; allowed are 1 to 8"),
        ("elemtype", "13", "element type is 13"),
        ("swizzle_mode", "4", "swizzle is 4"),
        ("swizzle_atomicity", "1", "swizzles of other than 16 bytes"),
    ],
)
def test_values_that_a_field_cannot_hold(field, value, says):
    scratch = np.zeros(256, np.uint8)
    scratch = scratch[-scratch.ctypes.data % 128 :][:128]
    text = REPLACE.replace("FIELD", field).replace("VALUE", value)
    text = text.replace("TYPE", "64" if field == "global_stride" else "32")
    report = run(text, 1, 32, [scratch], [".param .u64 scratch"], raise_on_finding=False)
    assert kinds(report) == {"bad-tensor-map"} and says in report.messages[0]


@pytest.mark.parametrize("is_im2col", [False, True])
def test_any_bytes_are_a_map_or_a_finding(is_im2col):
    """Mostly right maps with wrong bytes: nothing but findings comes of them."""
    array, out = image(4), np.zeros((16, 32), np.float16)
    common = (array.ctypes.data, "f16", array.shape[::-1], array.strides[::-1][1:])
    if is_im2col:
        right = tile.sim.im2col_tensor_map(*common, (-1, -1), (-1, -1), 32, 16)
        text = im2col_load(4, (0, -1, -1, 0), (1, 1), out.nbytes)
    else:
        right = tile.sim.tensor_map(*common, (32, 4, 4, 1))
        text = load_box(4, (0, -1, 2, 0), out.nbytes, 2, 0)
    seen = set()
    for _ in range(150):
        changed = bytearray(right)
        for _ in range(rng.integers(1, 4)):
            changed[rng.integers(8, 72)] = rng.integers(0, 256)
        report = run(
            text, 1, 32, [bytes(changed), out], MAP, allocations=[array], raise_on_finding=False,
            max_instructions=3000,
        )  # fmt: skip
        seen |= kinds(report)
    assert {"bad-tensor-map", "out-of-bounds"} <= seen


AT_ONCE = """
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r1+{place}], 128;
"""
#: Two maps come to shared memory. The first one goes on to global memory.
FIRST_MAP = (
    INIT
    + """
ld.param.u64 %rd1, [maps]; ld.param.u64 %rd2, [scratch]; mov.u32 %r1, buffer;
mad.wide.u32 %rd3, %r30, 4, %rd1; shl.b32 %r2, %r30, 2; add.u32 %r3, %r1, %r2;
ld.global.b32 %r4, [%rd3]; st.shared.b32 [%r3+8192], %r4;
ld.global.b32 %r5, [%rd3+128]; st.shared.b32 [%r3+8320], %r5;
st.shared.b32 [%r3], 7; st.shared.b32 [%r3+128], 7; fence.proxy.async.shared::cta;
bar.warp.sync 0xffffffff;
"""
    + AT_ONCE.format(place=8192)
)
ACQUIRE = "fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;\n"
SECOND_MAP = AT_ONCE.format(place=8320)
COPIES = {
    "load": (
        """
@%p15 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
@%p15 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {8, 4}], [bar];
""",
        WAIT,
    ),
    "store": (
        """
@%p15 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {8, 4}], [%r1];
@%p15 cp.async.bulk.commit_group;
""",
        "@%p15 cp.async.bulk.wait_group.read 0;\n",
    ),
}


def rewrite(text):
    array = rng.standard_normal((10, 32)).astype(np.float32)
    maps = [
        tile.sim.tensor_map(array.ctypes.data, "f32", (32, rows), (128,), (16, 4))
        for rows in (10, 8)
    ]
    memory = np.zeros(384, np.uint8)
    scratch = memory[-memory.ctypes.data % 128 :][:128]
    both = np.frombuffer(b"".join(maps), np.uint8).copy()
    params = [".param .u64 maps", ".param .u64 scratch"]
    report = run(text, 1, 32, [both, scratch], params, allocations=[array], raise_on_finding=False)
    return report


@pytest.mark.parametrize("copy", COPIES)
def test_a_map_that_a_copy_uses_stays(copy):
    """A copy may read its map as late as it ends."""
    start, wait = COPIES[copy]
    right = rewrite(FIRST_MAP + ACQUIRE + start + wait + SECOND_MAP)
    assert kinds(right) == set()
    wrong = rewrite(FIRST_MAP + ACQUIRE + start + SECOND_MAP + wait.replace("WAITING", "LATE"))
    assert kinds(wrong) == {"async-race"}
    assert "cp_fenceproxy" in wrong.messages[0]


@pytest.mark.parametrize("copy", COPIES)
def test_a_map_is_acquired(copy):
    """Copies see maps that their own threads have acquired since."""
    start, wait = COPIES[copy]
    wrong = rewrite(FIRST_MAP + start + wait)
    assert kinds(wrong) == {"missing-proxy-fence"}
    assert "fence.proxy.tensormap::generic.acquire is missing" in wrong.messages[0]
