"""Writes tensor maps as the driver encodes them, for test/python/sim/test_tensor_maps.py.

Usage: python test/gpu/encode_tensor_maps.py maps.json

Each map differs from a plain one in one fact, so that its place among the 128 bytes can be seen.
Then come maps of random facts, and what tensormap.replace makes of zeros and of ones. Needs the
driver and cuda-bindings, not tile.
"""

from __future__ import annotations

import json
import random
import sys

import numpy as np
from cuda.bindings import driver as cuda

#: Facts of the plain map; dimensions are innermost first, strides in bytes.
PLAIN = {
    "address": 0,
    "type": 6,
    "size": [256, 128],
    "stride": [512],
    "box": [64, 32],
    "step": [1, 1],
    "interleave": 0,
    "swizzle": 0,
    "promotion": 0,
    "fill": 0,
}
BYTES = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]


def of_rank(rank: int, **facts):
    size = [256, 128, 24, 12, 7][:rank]
    stride, row = [], 2
    for n in size[:-1]:
        row *= n
        stride.append(row)
    box = [64, 8, 4, 2, 3][:rank]
    return {**PLAIN, "size": size, "stride": stride, "box": box, "step": [1] * rank, **facts}


def tiled():
    yield PLAIN
    yield from (of_rank(rank) for rank in (1, 3, 4, 5))
    for kind, size in enumerate(BYTES):
        yield {**PLAIN, "type": kind, "stride": [256 * size], "box": [32 // size, 32]}
    yield {**PLAIN, "address": 0x10}
    yield {**PLAIN, "address": 0xFFF0}
    for swizzle in (1, 2, 3):
        yield {**PLAIN, "swizzle": swizzle, "box": [8 << swizzle, 32]}
    for promotion in (1, 2, 3):
        yield {**PLAIN, "promotion": promotion}
    yield {**PLAIN, "fill": 1}
    for interleave in (1, 2):
        facts = of_rank(3, interleave=interleave, swizzle=interleave - 1)
        yield {**facts, "box": [8 * interleave, 8, 4], "stride": [512, 65536]}
    for dim in range(5):
        for name, value in (("size", 0x12345678), ("box", 200), ("step", 8)):
            facts = of_rank(5)
            facts[name] = [*facts[name]]
            facts[name][dim] = value if dim or name != "box" else 128
            yield facts
        if dim:
            facts = of_rank(5)
            facts["stride"] = [*facts["stride"]]
            facts["stride"][dim - 1] = 0x0123456780 << (dim > 2)
            yield facts
    yield {**PLAIN, "size": [1, 1]}
    yield {**PLAIN, "size": [1 << 32, 128], "stride": [1 << 33]}
    pick = random.Random(7)
    for _ in range(30):
        rank = pick.randint(1, 5)
        kind = pick.randrange(12)
        size = BYTES[kind]
        yield {
            "address": 16 * pick.randrange(4096),
            "type": kind,
            "size": [pick.randint(1, 1 << pick.randint(1, 31)) for _ in range(rank)],
            "stride": [16 * pick.randint(1, 1 << pick.randint(1, 35)) for _ in range(rank - 1)],
            "box": [16 // size, *(pick.randint(1, 256) for _ in range(rank - 1))],
            "step": [pick.randint(1, 8) for _ in range(rank)],
            "interleave": 0,
            "swizzle": pick.randrange(4),
            "promotion": pick.randrange(4),
            "fill": pick.randrange(2) if kind > 5 else 0,
        }


def columns():
    """im2col maps: a pixel box instead of a box."""
    plain = of_rank(4, lower=[-1, -1], upper=[1, 1], channels=64, pixels=32)
    yield plain
    yield of_rank(3, lower=[-1], upper=[2], channels=64, pixels=32)
    yield of_rank(5, lower=[-1, -2, -3], upper=[1, 2, 3], channels=64, pixels=32)
    yield {**plain, "channels": 8}
    yield {**plain, "channels": 256}
    yield {**plain, "pixels": 1}
    yield {**plain, "pixels": 1024}
    yield {**plain, "lower": [-5, 3], "upper": [7, -9]}
    yield {**plain, "lower": [127, -128], "upper": [-128, 127]}
    yield {**plain, "step": [1, 2, 3, 1]}
    yield {**plain, "swizzle": 3}
    yield of_rank(3, lower=[-32768], upper=[32767], channels=64, pixels=32)
    yield of_rank(5, lower=[-16, 15, 1], upper=[15, -16, 2], channels=64, pixels=32)


def encode(facts, base: int):
    u64, u32 = cuda.cuuint64_t, cuda.cuuint32_t
    rank = len(facts["size"])
    ends = (
        [u32(v) for v in facts["step"]],
        cuda.CUtensorMapInterleave(facts["interleave"]),
        cuda.CUtensorMapSwizzle(facts["swizzle"]),
        cuda.CUtensorMapL2promotion(facts["promotion"]),
        cuda.CUtensorMapFloatOOBfill(facts["fill"]),
    )
    starts = (
        cuda.CUtensorMapDataType(facts["type"]),
        rank,
        base + facts["address"],
        [u64(v) for v in facts["size"]],
        [u64(v) for v in facts["stride"]],
    )
    if "pixels" not in facts:
        return cuda.cuTensorMapEncodeTiled(*starts, [u32(v) for v in facts["box"]], *ends)
    return cuda.cuTensorMapEncodeIm2col(
        *starts, facts["lower"], facts["upper"], facts["channels"], facts["pixels"], *ends
    )


#: Fields of tensormap.replace with values.
FIELDS = [
    ("global_address", None, (0x7F12_3456_7890,)),
    ("rank", None, range(5)),
    *(("box_dim", i, (0, 1, 2, 200, 256)) for i in range(5)),
    *(("global_dim", i, (0, 1, 2, 0x12345678)) for i in range(5)),
    *(("global_stride", i, (0, 16, 0x0123456780, 0xF123456780)) for i in range(4)),
    *(("element_stride", i, (0, 1, 2, 8)) for i in range(5)),
    ("elemtype", None, range(13)),
    ("interleave_layout", None, range(3)),
    ("swizzle_mode", None, range(4)),
    ("fill_mode", None, range(2)),
]


def replaced():
    """PTX that changes one field of a map for each CTA, and what each does."""
    text = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry replace(.param .u64 out)
{
.reg .b32 %c, %s, %w; .reg .b64 %o; .reg .pred %p; .shared .align 128 .b8 map[128];
mov.u32 %c, %ctaid.x; mov.u32 %s, map; ld.param.u64 %o, [out]; mad.wide.u32 %o, %c, 128, %o;
mov.u32 %w, 0; setp.ge.u32 %p, %c, HALF; @%p mov.u32 %w, -1;
"""
    text += "".join(f"st.shared.u32 [%s+{4 * i}], %w;\n" for i in range(32))
    done = []
    for field, dim, values in FIELDS:
        wide = field in ("global_address", "global_stride")
        place = "" if dim is None else f"{dim}, "
        for value in values:
            text += f"""setp.eq.u32 %p, %c, {len(done)}; @!%p setp.eq.u32 %p, %c, HALF+{len(done)};
@%p tensormap.replace.tile.{field}.shared::cta.b1024.b{64 if wide else 32} [%s], {place}{value};
"""
            done.append([field, dim, value])
    for i in range(32):
        text += f"ld.shared.u32 %w, [%s+{4 * i}]; st.global.u32 [%o+{4 * i}], %w;\n"
    return text.replace("HALF", str(len(done))) + "ret;\n}\n", done


def run_replaced():
    text, done = replaced()
    error, module = cuda.cuModuleLoadData(text.encode() + b"\0")
    assert not error, error
    _, function = cuda.cuModuleGetFunction(module, b"replace")
    count = 2 * len(done)
    _, out = cuda.cuMemAlloc(128 * count)
    argument = np.array([int(out)], np.uint64)
    pointers = np.array([argument.ctypes.data], np.uint64)
    cuda.cuLaunchKernel(function, count, 1, 1, 1, 1, 1, 0, 0, int(pointers.ctypes.data), 0)
    (error,) = cuda.cuCtxSynchronize()
    assert not error, error
    maps = np.zeros((count, 128), np.uint8)
    cuda.cuMemcpyDtoH(maps.ctypes.data, out, maps.nbytes)
    return [
        {"field": f, "dim": d, "value": v, "before": fill, "bytes": maps[at + i].tobytes().hex()}
        for at, fill in ((0, 0), (len(done), 255))
        for i, (f, d, v) in enumerate(done)
    ]


def main() -> int:
    (error,) = cuda.cuInit(0)
    assert not error, error
    _, device = cuda.cuDeviceGet(0)
    _, context = cuda.cuDevicePrimaryCtxRetain(device)
    cuda.cuCtxSetCurrent(context)
    error, pointer = cuda.cuMemAlloc(1 << 20)
    assert not error, error
    found = []
    # The second base is nobody's memory: addresses are not looked at when a map is made.
    for base in (int(pointer), 0x5A5A_1234_5600_0000 & (1 << 48) - 1):
        for facts in (*tiled(), *columns()):
            facts = {**facts, "address": facts["address"]}
            try:
                error, tensor = encode(facts, base)
            except Exception as problem:  # a form that this cuda-bindings refuses
                found.append({**facts, "error": str(problem)})
                continue
            facts["address"] += base
            if error:
                found.append({**facts, "error": error.name})
            else:
                data = b"".join(int(v).to_bytes(8, "little") for v in tensor.opaque)
                found.append({**facts, "bytes": data.hex()})
        if base == int(pointer):
            first = len(found)
    good = sum("bytes" in f for f in found)
    fields = run_replaced()
    with open(sys.argv[1], "w") as file:
        json.dump({"maps": found, "fields": fields}, file)
    print(f"{good} of {len(found)} encoded ({first} at allocated memory)")
    for f in found[:first]:
        if "error" in f:
            print(f)
    return 0


if __name__ == "__main__":
    sys.exit(main())
