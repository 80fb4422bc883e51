# ruff: noqa: E501  (PTX text reads better unbroken)
"""Runs products of matrix instructions on random numbers and keeps what the GPU made of them.

Usage: python test/gpu/measure_sums.py sums.npz

For each instruction: the words of A, B and C that a block read, and those of D that it wrote. They
are in the order of registers (of shared memory for wgmma). Needs the driver, cuda-bindings and
NumPy, not tile.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

#: name: (instruction, words of A, B, C a lane, type of elements, type of C)
MMA = {
    "mma.f16": ("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, "f16", "f32"),
    "mma.f16.k8": ("m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, "f16", "f32"),
    "mma.f16.f16": ("m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "f16", "f16"),
    "mma.f16.f16.k8": ("m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, "f16", "f16"),
    "mma.bf16": ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, "bf16", "f32"),
    "mma.bf16.k8": ("m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, "bf16", "f32"),
    "mma.tf32": ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, "tf32", "f32"),
    "mma.tf32.k4": ("m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, "tf32", "f32"),
    "mma.e4m3": ("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, "e4m3", "f32"),
    "mma.e4m3.k16": ("m16n8k16.row.col.f32.e4m3.e4m3.f32", 2, 1, 4, "e4m3", "f32"),
    "mma.e5m2": ("m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 2, 4, "e5m2", "f32"),
    "mma.e4m3.f16": ("m16n8k32.row.col.f16.e4m3.e4m3.f16", 4, 2, 2, "e4m3", "f16"),
}
#: name: (instruction, whether the layout's operands follow, words of C a lane, types)
WGMMA = {
    "wgmma.f16": ("m64n8k16.f32.f16.f16", True, 4, "f16", "f32"),
    "wgmma.f16.f16": ("m64n8k16.f16.f16.f16", True, 2, "f16", "f16"),
    "wgmma.bf16": ("m64n8k16.f32.bf16.bf16", True, 4, "bf16", "f32"),
    "wgmma.tf32": ("m64n8k8.f32.tf32.tf32", False, 4, "tf32", "f32"),
    "wgmma.e4m3": ("m64n8k32.f32.e4m3.e4m3", False, 4, "e4m3", "f32"),
    "wgmma.e5m2": ("m64n8k32.f32.e5m2.e5m2", False, 4, "e5m2", "f32"),
    "wgmma.e4m3.f16": ("m64n8k32.f16.e4m3.e4m3", False, 2, "e4m3", "f16"),
}
BLOCKS = 48
_HEADER = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry sums(.param .u64 in, .param .u64 out)
{
.reg .b32 %t, %c, %w, %x; .reg .b32 %a<4>, %b<2>, %d<4>; .reg .b64 %in, %out, %o, %da, %db; .reg .pred %p;
mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
"""


def mma(name: str) -> str:
    shape, na, nb, nc, _, _ = MMA[name]
    total = na + nb + nc
    text = f"""{_HEADER}mad.lo.u32 %w, %c, 32, %t; mad.wide.u32 %in, %w, {4 * total}, %in; mad.wide.u32 %out, %w, {4 * nc}, %out;
"""
    names = [f"%a{i}" for i in range(na)] + [f"%b{i}" for i in range(nb)]
    names += [f"%d{i}" for i in range(nc)]
    for i, register in enumerate(names):
        text += f"ld.global.u32 {register}, [%in+{4 * i}];\n"
    a, b, d = (", ".join(names[i:j]) for i, j in ((0, na), (na, na + nb), (na + nb, total)))
    text += f"mma.sync.aligned.{shape} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}};\n"
    for i in range(nc):
        text += f"st.global.u32 [%out+{4 * i}], %d{i};\n"
    return text + "ret;\n}\n"


def wgmma(name: str) -> str:
    """2048 bytes of A and 256 of B, in core matrices of 128 bytes, those along K neighbours."""
    shape, layouts, nc, _, _ = WGMMA[name]
    total = 512 + 64 + 128 * nc
    descriptor = (128 >> 4) << 16 | (256 >> 4) << 32
    d = ", ".join(f"%d{i}" for i in range(nc))
    text = f"""{_HEADER}.shared .align 128 .b32 memory[576];
mad.wide.u32 %in, %c, {4 * total}, %in; mad.lo.u32 %w, %c, 128, %t; mad.wide.u32 %out, %w, {4 * nc}, %out;
mov.u32 %w, %t; mov.u32 %x, memory;
COPY:
mad.wide.u32 %o, %w, 4, %in; ld.global.u32 %a0, [%o]; mad.lo.u32 %a1, %w, 4, %x; st.shared.u32 [%a1], %a0;
add.u32 %w, %w, 128; setp.lt.u32 %p, %w, 576; @%p bra COPY;
mad.wide.u32 %o, %t, {4 * nc}, %in;
"""
    for i in range(nc):
        text += f"ld.global.u32 %d{i}, [%o+{4 * 576 + 4 * i}];\n"
    return (
        text
        + f"""fence.proxy.async.shared::cta; bar.sync 0;
shr.u32 %a0, %x, 4; cvt.u64.u32 %da, %a0; or.b64 %da, %da, {descriptor}; add.u64 %db, %da, 128;
setp.eq.u32 %p, 0, 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.{shape} {{{d}}}, %da, %db, %p, 1, 1{", 0, 0" if layouts else ""};
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
"""
        + "".join(f"st.global.u32 [%out+{4 * i}], %d{i};\n" for i in range(nc))
        + "ret;\n}\n"
    )


def numbers(random, kind: str, words: int, spread: int, edge: str = "") -> np.ndarray:
    """Words of random numbers of a type, with exponents in a range of `spread` about 1, or at an
    edge: subnormal and other small ones, large ones, infinities and NaNs."""
    exponent, fraction = {
        "f16": (5, 10),
        "bf16": (8, 7),
        "tf32": (8, 23),
        "f32": (8, 23),
        "e4m3": (4, 3),
        "e5m2": (5, 2),
    }[kind]
    bits = 1 + exponent + fraction
    count = words * 32 // bits
    bias = (1 << exponent - 1) - 1
    most = min(spread, bias - 1)
    exponents = bias + random.integers(-most, most + 1, count)
    if edge == "small":
        exponents = random.integers(0, 1 + spread % 4, count)
    elif edge == "half small":
        # With these of B, products of bf16 and tf32 come to the end of floats.
        exponents = bias - bias // 2 + random.integers(0, 1 + spread % 4, count)
    elif edge == "large":
        exponents = 2 * bias - random.integers(0, 1 + spread % 4, count)
    elif edge == "special":
        exponents = np.where(random.random(count) < 0.02, 2 * bias + 1, exponents)
    value = random.integers(0, 1 << fraction, count)
    if kind == "tf32":
        value &= ~0x1FFF
    sign = random.integers(0, 2, count)
    whole = sign << bits - 1 | exponents << fraction | value
    whole[random.random(count) < 0.1] = 0
    return whole.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]).view(np.uint32)


#: For A, B and C.
EDGES = (
    ("small", "", ""),
    ("small", "half small", "small"),
    ("half small", "half small", "small"),
    ("", "", "small"),
    ("large", "large", "large"),
    ("large", "", "large"),
    ("special", "", ""),
    ("", "", "special"),
)


def inputs(name: str, seed: int = 5, edges: bool = False) -> np.ndarray:
    """Words of all blocks; the exponents' spread and C's size vary with the block."""
    random = np.random.default_rng(seed)
    if name in MMA:
        _, na, nb, nc, kind, result = MMA[name]
        parts, lanes = (32 * na, 32 * nb, 32 * nc), 32
    else:
        _, _, nc, kind, result = WGMMA[name]
        parts, lanes = (512, 64, 128 * nc), 128
    blocks = []
    for block in range(BLOCKS):
        spread = (0, 1, 2, 4, 7, 12)[block % 6]
        at = EDGES[block // 6] if edges else ("", "", "")
        a = numbers(random, kind, parts[0], spread, at[0])
        b = numbers(random, kind, parts[1], spread, at[1])
        c = numbers(random, result, parts[2], 2 * spread + 1, at[2])
        if not edges and block // 6 % 2:
            c = np.zeros_like(c)
        if name in MMA:
            words = [v.reshape(lanes, -1) for v in (a, b, c)]
            blocks.append(np.concatenate(words, axis=1).ravel())
        else:
            blocks.append(np.concatenate((a, b, c)))
    return np.stack(blocks)


def output_words(name: str) -> int:
    return 32 * MMA[name][3] if name in MMA else 128 * WGMMA[name][2]


def main() -> int:
    from cuda.bindings import driver as cuda

    def check(result):
        assert not result[0], result[0]
        return result[1] if len(result) > 1 else None

    check(cuda.cuInit(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(check(cuda.cuDeviceGet(0))))))
    kept = {}
    for name, edges in itertools.product((*MMA, *WGMMA), (False, True)):
        ptx = mma(name) if name in MMA else wgmma(name)
        words = inputs(name, edges=edges)
        out = np.zeros((BLOCKS, output_words(name)), np.uint32)
        error, module = cuda.cuModuleLoadData(ptx.encode() + b"\0")
        if error:
            print(name, error)
            continue
        function = check(cuda.cuModuleGetFunction(module, b"sums"))
        source, target = check(cuda.cuMemAlloc(words.nbytes)), check(cuda.cuMemAlloc(out.nbytes))
        check(cuda.cuMemcpyHtoD(source, words.ctypes.data, words.nbytes))
        arguments = np.array([int(source), int(target)], np.uint64)
        pointers = np.array([arguments.ctypes.data, arguments.ctypes.data + 8], np.uint64)
        threads = 32 if name in MMA else 128
        check(
            cuda.cuLaunchKernel(
                function, BLOCKS, 1, 1, threads, 1, 1, 0, 0, int(pointers.ctypes.data), 0
            )
        )
        check(cuda.cuCtxSynchronize())
        check(cuda.cuMemcpyDtoH(out.ctypes.data, target, out.nbytes))
        key = f"{name}/edges" if edges else name
        kept[f"{key}/in"], kept[f"{key}/out"] = words, out
        print(key, "measured")
    np.savez_compressed(sys.argv[1], **kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
