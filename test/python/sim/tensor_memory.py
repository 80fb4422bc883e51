# ruff: noqa: E501  (PTX text reads better unbroken)
"""Kernels around single tcgen05 instructions, and NumPy statements of where things are.

A kernel fills shared memory and all of tensor memory from arrays, lets one thread issue instructions, waits for
their commit, and gives all of tensor memory back.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

import tile.sim

LANES = 128
HEADER = ".version 8.8\n.target {target}\n.address_size 64\n"


def registers(prefix, first, count):
    return "{" + ", ".join(f"%{prefix}{i}" for i in range(first, first + count)) + "}"


def wait(label, barrier, parity):
    return f"{label}: mbarrier.try_wait.parity.shared::cta.b64 %done, [{barrier}], {parity}; @!%done bra {label};"


def move_columns(columns, load):
    """Every warp moves its lanes' columns from (or to) an array of 128 rows."""
    text = ""
    for first in range(0, columns, 32):
        text += f"add.u32 %a, %window, {first}; add.u64 %p, %row, {4 * first};\n"
        if load:
            text += f"tcgen05.ld.sync.aligned.32x32b.x32.b32 {registers('v', 0, 32)}, [%a];\ntcgen05.wait::ld.sync.aligned;\n"
        for i in range(0, 32, 4):
            vector = registers("v", i, 4)
            text += (
                f"st.global.v4.b32 [%p+{4 * i}], {vector};\n"
                if load
                else f"ld.global.v4.b32 {vector}, [%p+{4 * i}];\n"
            )
        if not load:
            text += f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%a], {registers('v', 0, 32)};\n"
    return text


def kernel(body, columns, shared, target="sm_100a", group=1, whole=False):
    """`body` runs in thread 0 (of the even CTA), or, `whole`, in every thread, without a commit. It has %t, an
    address of tensor memory, %s, one of shared memory, and %lanes, the lanes that the warp reaches."""
    one = f"""@!%first bra ISSUED;
{body}
tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster{".multicast::cluster" if group == 2 else ""}.b64 [%bar]{", %both" if group == 2 else ""};
ISSUED:
{wait("WAIT", "%bar", "0")}"""
    pair = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" if group == 2 else ""
    return f"""{HEADER.format(target=target)}
.visible .entry op(.param .u64 shared_in, .param .u64 tensor_in, .param .u64 tensor_out, .param .u64 more)
{{
.shared .align 1024 .b8 memory[{shared}]; .shared .align 8 .b64 barrier; .shared .align 4 .b32 where;
.reg .b32 %thread, %warp, %lane, %lanes, %s, %bar, %t, %a, %window, %i, %rank, %v<160>, %x<8>; .reg .b64 %p, %q, %row, %out, %more, %d<8>;
.reg .b16 %both, %h<4>; .reg .pred %first, %done, %go, %never, %always, %p<4>;
mov.u32 %thread, %tid.x; shr.u32 %warp, %thread, 5; and.b32 %lane, %thread, 31; mov.u32 %s, memory; mov.u32 %bar, barrier; mov.b16 %both, 3;
mov.u32 %rank, %cluster_ctarank; or.b32 %i, %thread, %rank; setp.eq.u32 %first, %i, 0; setp.ne.u32 %never, %thread, %thread; setp.eq.u32 %always, %thread, %thread;
setp.ne.u32 %p0, %thread, 0; @%p0 bra BEGUN; mbarrier.init.shared::cta.b64 [%bar], 1; fence.mbarrier_init.release.cluster; BEGUN:
ld.param.u64 %p, [shared_in]; mad.wide.u32 %p, %rank, {shared}, %p; shl.b32 %i, %thread, 4;
FILL: cvt.u64.u32 %q, %i; add.u64 %q, %p, %q; add.u32 %a, %s, %i; setp.ge.u32 %go, %i, {shared}; @%go bra FILLED;
ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%q]; st.shared.v4.b32 [%a], {{%v0, %v1, %v2, %v3}}; add.u32 %i, %i, 2048; bra FILL;
FILLED: fence.proxy.async.shared::cta;
{pair}
setp.ne.u32 %p0, %warp, 0; @%p0 bra ALLOCATED; mov.u32 %a, where; tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [%a], {max(32, columns)}; ALLOCATED:
bar.sync 0; ld.shared.b32 %t, [where]; shl.b32 %lanes, %warp, 21; add.u32 %window, %t, %lanes;
ld.param.u64 %row, [tensor_in]; mad.wide.u32 %row, %rank, {LANES * columns * 4}, %row; mad.wide.u32 %row, %thread, {columns * 4}, %row;
ld.param.u64 %out, [tensor_out]; mad.wide.u32 %out, %rank, {LANES * columns * 4}, %out; mad.wide.u32 %out, %thread, {columns * 4}, %out; ld.param.u64 %more, [more];
{move_columns(columns, False)}tcgen05.wait::st.sync.aligned;
tcgen05.fence::before_thread_sync; {pair or "bar.sync 0;"} tcgen05.fence::after_thread_sync;
{body if whole else one}
{pair or "bar.sync 0;"}
tcgen05.fence::after_thread_sync;
mov.b64 %row, %out;
{move_columns(columns, True)}tcgen05.fence::before_thread_sync;
{pair or "bar.sync 0;"}
@%p0 bra END; tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %t, {max(32, columns)}; tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;
END: ret;
}}
"""


def run(body, shared, tensor, more=None, **options):
    """Tensor memory after `body`. Of a pair of CTAs, `shared` and `tensor` have a first dimension of 2."""
    names = ("target", "group", "whole")
    chosen = {name: options.pop(name) for name in names if name in options}
    pair = chosen.get("group", 1) == 2
    columns = tensor.shape[-1]
    ptx = kernel(body, columns, shared.shape[-1], **chosen)
    out = np.zeros_like(tensor)
    more = np.zeros(4, np.uint32) if more is None else more
    count = 2 if pair else 1
    if pair:
        options["cluster"] = (2, 1, 1)
    tile.sim.launch(ptx, "op", count, 128, [shared, tensor, out, more], **options)
    return out


# ---- Elements -------------------------------------------------------------------------------------------------

TYPES = {
    "f16": (16, np.float16), "bf16": (16, ml_dtypes.bfloat16), "tf32": (32, np.float32), "s8": (8, np.int8), "u8": (8, np.uint8),
    "e4m3": (8, ml_dtypes.float8_e4m3fn), "e5m2": (8, ml_dtypes.float8_e5m2), "e2m3": (6, ml_dtypes.float6_e2m3fn),
    "e3m2": (6, ml_dtypes.float6_e3m2fn), "e2m1": (4, ml_dtypes.float4_e2m1fn),
}  # fmt: skip


def random_elements(rng, kind, shape):
    """Numbers in double precision, and their bits."""
    bits, dtype = TYPES[kind]
    if bits >= 16:
        values = rng.standard_normal(shape).astype(dtype)
        if kind == "tf32":
            values = (values.view(np.uint32) & 0xFFFFE000).view(np.float32)
        return values.astype(np.float64), values.view(np.dtype(f"u{bits // 8}")).astype(np.uint32)
    codes = rng.integers(0, 1 << bits, shape).astype(np.uint8)
    if kind == "e4m3":
        codes[(codes & 0x7F) == 0x7F] = 1
    if kind == "e5m2":
        codes[(codes & 0x7C) == 0x7C] = 1
        codes[(codes & 0x60) == 0x60] &= 0xBF
    return codes.view(dtype).astype(np.float64), codes.astype(np.uint32)


# ---- Shared memory --------------------------------------------------------------------------------------------

SPANS = {"none": 16, "atoms": 128, "128": 128, "64": 64, "32": 32}
MODES = {"none": 0, "atoms": 1, "128": 2, "64": 4, "32": 6}


def sdesc(address, leading, stride, mode):
    return address >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | MODES[mode] << 61


def swizzled(address, mode):
    if mode == "none":
        return address
    row = address >> 7
    if mode == "atoms":
        return address ^ (row & 3) << 5
    return address ^ (row & (SPANS[mode] // 16 - 1)) << 4


def element_bits(kind, packed_four):
    """Of an element in shared memory, with its share of padding."""
    bits = TYPES[kind][0]
    return bits if bits >= 8 or packed_four else 8


def put_matrix(shared, at, codes, kind, mode, transposed=False, packed_four=False):
    """Writes elements (rows along M or N, then K) where a descriptor finds them; returns it and where they end.

    One element after the other: K-major rows of 8 of the swizzle's width; MN-major with 8 rows of K (4 of the mode "atoms").
    """
    rows, k = codes.shape
    width, bits = SPANS[mode], element_bits(kind, packed_four)
    row_bytes = k * bits // 8
    if not transposed:
        groups = (rows + 7) // 8
        if mode == "none":
            leading, stride = 128, 128 * (row_bytes // 16)
            size = stride * groups
        else:
            leading, stride = 16, 8 * width
            size = stride * groups
    else:
        across = rows * bits // 8
        tall = 4 if mode == "atoms" else 8
        if mode == "none":
            stride, leading = 128, 128 * (across // 16)
            size = leading * (k // 8)
        else:
            stride = width * tall
            leading = stride * (k // tall)
            size = leading * ((across + width - 1) // width)
    for row in range(rows):
        for i in range(k):
            if not transposed:
                byte = i * bits // 8
                if bits == 8 and TYPES[kind][0] < 8:  # sixteen of them in front of their padding
                    byte = i // 16 * 16
                if mode == "none":
                    offset = row // 8 * stride + byte // 16 * leading + row % 8 * 16 + byte % 16
                else:
                    offset = row // 8 * stride + row % 8 * width + byte
            else:
                byte = row * bits // 8
                tall = 4 if mode == "atoms" else 8
                if mode == "none":
                    offset = byte // 16 * stride + i // 8 * leading + i % 8 * 16 + byte % 16
                else:
                    offset = (
                        byte // width * leading
                        + i // tall * stride
                        + i % tall * width
                        + byte % width
                    )
            put_element(shared, at, offset, mode, int(codes[row, i]), kind, i, packed_four)
    return sdesc(at, leading, stride, mode), at + size


def put_element(shared, at, offset, mode, code, kind, i, packed_four):
    bits = TYPES[kind][0]
    if bits < 8 and not packed_four:
        bit = i % 16 * bits
        for b in range(bits):
            address = swizzled(at + offset + (bit + b) // 8, mode)
            shared[address] = (
                int(shared[address]) & ~(1 << (bit + b) % 8) | (code >> b & 1) << (bit + b) % 8
            )
        return
    if bits == 4:
        address = swizzled(at + offset, mode)
        shared[address] |= code << 4 * (i % 2)
        return
    for b in range(bits // 8):
        shared[swizzled(at + offset + b, mode)] = code >> 8 * b & 255


# ---- Tensor memory --------------------------------------------------------------------------------------------


def place_of_sum(m, n, shape, group=1, stationary=False, align=0):
    """CTA, lane and column of an element of D."""
    rows, columns = shape
    if group == 2:
        if rows == 256:
            return m // 128, m % 128, n
        return m // 64, m % 64 + 64 * (n >= columns // 2), n % (columns // 2)
    if rows == 128:
        return 0, m, n
    if rows == 64 and not stationary:
        return 0, 32 * (m // 16) + m % 16 + align, n
    if rows == 64:
        return 0, m + 64 * (n >= columns // 2), n % (columns // 2)
    return 0, m + 32 * (n // (columns // 4)), n % (columns // 4)


def put_scales(tensor, column, codes, byte=0, interleaved=False):
    """Factor k of row i: lane i % 32 of every 32 lanes, column i / 32, byte k. What a word has no room for is behind
    the words of all rows, or, `interleaved`, in the next column."""
    groups = (len(codes) + 31) // 32
    words = (byte + codes.shape[1] + 3) // 4
    for i, row in enumerate(codes):
        for k, code in enumerate(row):
            next_word, shift = (byte + k) // 4, 8 * ((byte + k) % 4)
            place = i // 32 * words + next_word if interleaved else next_word * groups + i // 32
            for quarter in range(4):
                at = (i % 32 + 32 * quarter, column + place)
                tensor[at] = int(tensor[at]) & ~(255 << shift) | int(code) << shift


# ---- Instruction descriptors ----------------------------------------------------------------------------------

CODES = {
    "f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "i8": {"u8": 0, "s8": 1},
    "f8f6f4": {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}, "mxf4": {"e2m1": 1},
}  # fmt: skip
CODES["mxf8f6f4"], CODES["mxf4nvf4"] = CODES["f8f6f4"], CODES["mxf4"]


def idesc(kind, m, n, a, b, d="f32", ta=0, tb=0, na=0, nb=0, saturate=0):
    sums = {"f16": 0, "f32": 1, "s32": 2}
    return (saturate << 3 | sums[d] << 4 | CODES[kind][a] << 7 | CODES[kind][b] << 10 | na << 13 | nb << 14
            | ta << 15 | tb << 16 | n >> 3 << 17 | m >> 4 << 24)  # fmt: skip


def idesc_scaled(kind, m, n, a, b, scale, ida=0, idb=0, ta=0, tb=0, na=0, nb=0):
    return (idb << 4 | CODES[kind][a] << 7 | CODES[kind][b] << 10 | na << 13 | nb << 14 | ta << 15 | tb << 16
            | n >> 3 << 17 | (scale == "ue8m0") << 23 | m >> 7 << 27 | ida << 29)  # fmt: skip
