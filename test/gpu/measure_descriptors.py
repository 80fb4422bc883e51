# ruff: noqa: E501  (PTX text reads better unbroken)
"""Which bytes of shared memory does wgmma read through a descriptor? Keeps the answers of a GPU.

Usage: python test/gpu/measure_descriptors.py descriptors.npz

Each chunk of 16 bytes holds its own number, B picks one chunk of each row of A: what comes out is
where the row was read. Swizzles, base offsets, and starts within the pattern vary. Needs the driver,
cuda-bindings and NumPy, not tile.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

CHUNKS = 1280
#: Mode in the descriptor and bytes of a row of the pattern.
SPANS = {1: 128, 2: 64, 3: 32}
PTX = f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry descriptors(.param .u64 in, .param .u64 out)
{{
.reg .b32 %t, %c, %w, %x, %v, %k; .reg .f32 %d<4>; .reg .b64 %in, %out, %o, %da, %db, %base; .reg .pred %p; .reg .b16 %h;
.shared .align 1024 .b8 memory[{16 * CHUNKS}]; .shared .align 1024 .b32 picks[128];
mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %x, memory;
mov.u32 %w, %t;
FILL: cvt.rn.f16.u32 %h, %w; mov.b32 %v, {{%h, %h}}; mad.lo.u32 %k, %w, 16, %x; st.shared.v4.b32 [%k], {{%v, %v, %v, %v}};
add.u32 %w, %w, 128; setp.lt.u32 %p, %w, {CHUNKS}; @%p bra FILL;
mov.u32 %k, 0;
PICK:
bar.sync 0;
mov.u32 %w, picks; mad.lo.u32 %v, %t, 4, %w; st.shared.u32 [%v], 0; bar.sync 0;
mad.lo.u32 %w, %k, 128, %w; setp.lt.u32 %p, %t, 8; mad.lo.u32 %v, %t, 18, %w; mov.b16 %h, 0x3C00; @%p st.shared.u16 [%v], %h;
fence.proxy.async.shared::cta; bar.sync 0;
mad.wide.u32 %o, %c, 8, %in; ld.global.u64 %da, [%o]; shr.u32 %v, %x, 4; cvt.u64.u32 %base, %v; add.u64 %da, %da, %base;
mov.u32 %w, picks; shr.u32 %v, %w, 4; cvt.u64.u32 %db, %v; or.b64 %db, %db, {8 << 16 | 16 << 32};
mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0; setp.eq.u32 %p, 0, 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%d0, %d1, %d2, %d3}}, %da, %db, %p, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
mad.lo.u32 %v, %c, 2, %k; mad.lo.u32 %v, %v, 128, %t; mad.wide.u32 %o, %v, 16, %out;
st.global.v4.f32 [%o], {{%d0, %d1, %d2, %d3}};
add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 2; @%p bra PICK;
ret;
}}
"""


def cases() -> list[tuple[int, int, int]]:
    """Mode, offset of the start in bytes, base offset."""
    return [
        (mode, 128 * row + 16 * chunk, base)
        for mode, row, chunk, base in itertools.product(SPANS, range(8), (0, 2, 3), range(8))
    ]


def descriptors() -> np.ndarray:
    return np.array(
        [
            offset >> 4 | 1 << 16 | (8 * SPANS[mode] >> 4) << 32 | base << 49 | mode << 62
            for mode, offset, base in cases()
        ],
        np.uint64,
    )


def chunks_of_rows(out: np.ndarray) -> np.ndarray:
    """The chunk that each row's first and second part was read from: (cases, 2, 64)."""
    lanes = out.reshape(-1, 2, 4, 8, 4, 4)  # case, part, warp, row, pair of columns, register
    rows = np.stack([lanes[..., 0, 0], lanes[..., 0, 2]], axis=3)
    return rows.reshape(-1, 2, 64).astype(np.uint16)


def main() -> int:
    from cuda.bindings import driver as cuda

    def check(result):
        assert not result[0], result[0]
        return result[1] if len(result) > 1 else None

    check(cuda.cuInit(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(check(cuda.cuDeviceGet(0))))))
    module = check(cuda.cuModuleLoadData(PTX.encode() + b"\0"))
    function = check(cuda.cuModuleGetFunction(module, b"descriptors"))
    given = descriptors()
    out = np.zeros((len(given), 2, 128, 4), np.float32)
    source, target = check(cuda.cuMemAlloc(given.nbytes)), check(cuda.cuMemAlloc(out.nbytes))
    check(cuda.cuMemcpyHtoD(source, given.ctypes.data, given.nbytes))
    arguments = np.array([int(source), int(target)], np.uint64)
    pointers = np.array([arguments.ctypes.data, arguments.ctypes.data + 8], np.uint64)
    check(
        cuda.cuLaunchKernel(
            function, len(given), 1, 1, 128, 1, 1, 0, 0, int(pointers.ctypes.data), 0
        )
    )
    check(cuda.cuCtxSynchronize())
    check(cuda.cuMemcpyDtoH(out.ctypes.data, target, out.nbytes))
    np.savez_compressed(sys.argv[1], chunks=chunks_of_rows(out))
    print(len(given), "descriptors measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
