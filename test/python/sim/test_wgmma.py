# ruff: noqa: E501  (PTX text reads better unbroken)
"""wgmma with every swizzle, both orders of the operands, A in shared memory and in registers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim

rng = np.random.default_rng(11)

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
}
SPAN = {"none": 16, "32B": 32, "64B": 64, "128B": 128}
MODE = {"none": 0, "128B": 1, "64B": 2, "32B": 3}


def swizzle(address, name):
    """16-byte chunks of a row are permuted by the row's number within the pattern."""
    chunk, row = address >> 4, address >> 7
    return ((chunk ^ (row & (SPAN[name] // 16 - 1))) << 4) | (address & 15)


def k_major_image(rows, name):
    """Rows of bytes (R, KB) into the layout of a K-major operand: column blocks of `span` bytes, each all rows."""
    span = SPAN[name]
    count, width = rows.shape
    image = np.zeros(rows.size, np.uint8)
    for r in range(count):
        for k in range(width):
            at = (k // span) * count * span + r * span + k % span
            image[swizzle(at, name)] = rows[r, k]
    return image


def mn_major_image(matrix, name):
    """(K, MN) halves into the layout of an MN-major operand: column blocks of `span` bytes, each all of K."""
    SPAN[name]
    data = matrix.view(np.uint8).reshape(matrix.shape[0], -1)
    return k_major_image(data, name)


def descriptor(start, leading, stride, name):
    return (start >> 4) | (leading >> 4) << 16 | (stride >> 4) << 32 | MODE[name] << 62


def wgmma_ptx(
    instruction,
    steps,
    d_regs,
    a_bytes,
    b_bytes,
    a_regs,
    wait="wgmma.wait_group.sync.aligned 0;",
    fence="fence.proxy.async.shared::cta;",
    order="wgmma.fence.sync.aligned;",
):
    """128 threads copy both images into shared memory, then run `steps` dots, one per descriptor pair."""
    total = a_bytes + b_bytes
    d = ", ".join(f"%d{i}" for i in range(d_regs))
    lines = [
        HEADER,
        ".visible .entry op(.param .u64 image, .param .u64 descs, .param .u64 fragments, .param .u64 out)\n{",
        f".shared .align 1024 .b8 buffer[{total}];",
        f".reg .b32 %d<{d_regs}>, %f<4>, %t, %o, %s; .reg .b64 %g, %k, %x, %y; .reg .b8 %v; .reg .b128 %q; .reg .pred %p, %more;",
        "mov.u32 %t, %tid.x; ld.param.u64 %g, [image]; mov.u32 %s, buffer; mul.lo.u32 %o, %t, 16;",
        "LOOP: setp.ge.u32 %p, %o, " + str(total) + "; @%p bra COPIED;",
        ".reg .b32 %c<4>, %w; .reg .b64 %h; cvt.u64.u32 %h, %o; add.u64 %h, %h, %g; ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%h];",
        "add.u32 %w, %o, %s; st.shared.v4.b32 [%w], {%c0, %c1, %c2, %c3}; add.u32 %o, %o, 2048; bra LOOP;",
        "COPIED:",
        fence,
        "bar.sync 0;",
        "ld.param.u64 %k, [descs]; ld.param.u64 %g, [fragments]; mad.wide.u32 %g, %t, "
        + str(16 * steps)
        + ", %g;",
        *[f"mov.b32 %d{i}, 0;" for i in range(d_regs)],
        "shr.u32 %o, %s, 4; cvt.u64.u32 %y, %o;",
    ]
    products = []
    for j in range(steps):
        lines.append(
            f".reg .b64 %da{j}, %db{j}; .reg .b32 %e{j}_<4>; ld.global.b64 %da{j}, [%k+{16 * j}]; ld.global.b64 %db{j}, [%k+{16 * j + 8}];"
        )
        lines.append(f"add.u64 %da{j}, %da{j}, %y; add.u64 %db{j}, %db{j}, %y;")
        if a_regs:
            lines.append(f"ld.global.v4.b32 {{%e{j}_0, %e{j}_1, %e{j}_2, %e{j}_3}}, [%g+{16 * j}];")
        a = f"{{%e{j}_0, %e{j}_1, %e{j}_2, %e{j}_3}}" if a_regs else f"%da{j}"
        products.append(instruction.format(d="{" + d + "}", a=a, b=f"%db{j}", p="%more"))
    lines += [
        "setp.eq.u32 %more, 0, 0;",
        order,
        *products,
        "wgmma.commit_group.sync.aligned;",
        wait,
    ]
    lines.append(f"ld.param.u64 %x, [out]; mad.wide.u32 %x, %t, {4 * d_regs}, %x;")
    lines += [f"st.global.b32 [%x+{4 * i}], %d{i};" for i in range(d_regs)]
    lines.append("ret;\n}")
    return "\n".join(lines)


def result(out, n, kind):
    """The 64 x N matrix from what the 128 threads hold."""
    view = out.view({"f32": np.float32, "f16": np.float16, "s32": np.int32}[kind]).reshape(
        128, n // 2
    )
    full = np.zeros((64, n))
    for t in range(128):
        for i in range(n // 2):
            row = t // 32 * 16 + t % 32 // 4 + 8 * (i // 2 % 2)
            full[row, i // 4 * 8 + 2 * (t % 4) + i % 2] = view[t, i]
    return full


def random(kind, shape):
    if kind in ("s8", "u8"):
        return rng.integers(
            np.iinfo(DTYPES[kind]).min, np.iinfo(DTYPES[kind]).max + 1, shape
        ).astype(DTYPES[kind])
    values = rng.standard_normal(shape).astype(DTYPES[kind])
    return (values.view(np.uint32) & 0xFFFFE000).view(np.float32) if kind == "tf32" else values


def prepare(kind, n, name, trans_a, trans_b, a_regs):
    """A (64 x K), B (K x N) with K of 128 bytes; the shared-memory image, descriptors and fragments."""
    size = np.dtype(DTYPES[kind]).itemsize
    k, step = 128 // size, 32 // size
    a, b = random(kind, (64, k)), random(kind, (k, n))
    span = SPAN[name]

    def operand(matrix, trans, start):
        """Image and the descriptors of each step for an operand given as (MN, K)."""
        count = matrix.shape[0]
        if not trans:
            image = k_major_image(
                np.ascontiguousarray(matrix).view(np.uint8).reshape(count, -1), name
            )
            starts = [
                start + (32 * j // span) * count * span + 32 * j % span for j in range(k // step)
            ]
            leading, stride = (count * 16, 128) if name == "none" else (16, 8 * span)
        else:
            image = mn_major_image(np.ascontiguousarray(matrix.T), name)
            starts = [start + step * j * span for j in range(k // step)]
            leading, stride = (128, k * 16) if name == "none" else (k * span, 8 * span)
        return image, [descriptor(s, leading, stride, name) for s in starts]

    image_a, desc_a = operand(a, trans_a, 0)
    image_b, desc_b = operand(b.T, trans_b, len(image_a))
    fragments = np.zeros((128, k // step, 4), np.uint32)
    if a_regs:
        e = 4 // size
        words = np.ascontiguousarray(a).view(np.uint32).reshape(64, -1)
        for t in range(128):
            for j in range(k // step):
                for r in range(4):
                    row = t // 32 * 16 + t % 32 // 4 + 8 * (r % 2)
                    fragments[t, j, r] = words[row, (step * j + 4 * e * (r // 2)) // e + t % 4]
    descs = np.array(list(zip(desc_a, desc_b, strict=True)), np.uint64)
    return a, b, np.concatenate([image_a, image_b]), descs, fragments, len(image_a)


CASES = [("f16", "f32", 64, s, 0, 0, False) for s in SPAN]
CASES += [("f16", "f32", 128, s, 0, 1, False) for s in SPAN]
CASES += [("f16", "f32", 128, s, 1, 1, False) for s in SPAN]
CASES += [
    ("f16", "f16", 64, "128B", 0, 0, False),
    ("f16", "f32", 256, "128B", 0, 1, True),
    ("f16", "f32", 8, "64B", 0, 0, True),
]
CASES += [("bf16", "f32", 64, "128B", 0, 0, False), ("bf16", "f32", 128, "128B", 1, 0, False)]
CASES += [("tf32", "f32", 64, "128B", 0, 0, r) for r in (False, True)]
CASES += [("e4m3", "f32", 64, "128B", 0, 0, r) for r in (False, True)]
CASES += [("e5m2", "f32", 16, "64B", 0, 0, r) for r in (False, True)]
CASES += [("s8", "s32", 64, s, 0, 0, False) for s in ("128B", "32B")] + [
    ("u8", "s32", 96, "64B", 0, 0, True)
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: "_".join(map(str, c)))
def test_wgmma(case):
    kind, acc, n, name, trans_a, trans_b, a_regs = case
    a, b, image, descs, fragments, a_bytes = prepare(kind, n, name, trans_a, trans_b, a_regs)
    k = 32 // np.dtype(DTYPES[kind]).itemsize
    tail = "" if acc == "s32" else ", 1, 1"
    if kind in ("f16", "bf16"):
        tail += f", {trans_b}" if a_regs else f", {trans_a}, {trans_b}"
    instruction = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{acc}.{kind}.{kind} {{d}}, {{a}}, {{b}}, {{p}}{tail};"
    d_regs = n // 4 if acc == "f16" else n // 2
    ptx = wgmma_ptx(instruction, len(descs), d_regs, a_bytes, len(image) - a_bytes, a_regs)
    out = np.zeros((128, d_regs), np.uint32)
    tile.sim.launch(ptx, "op", 1, 128, [image, descs, fragments, out])
    want = a.astype(np.float64) @ b.astype(np.float64)
    got = result(out, n, acc)
    if acc == "s32":
        assert (got == want).all()
    else:
        # Halves are coarse; of sums of fp8, 13 bits are kept (test_matrix_sums.py has them exactly).
        coarse = acc == "f16" or kind in ("e4m3", "e5m2")
        np.testing.assert_allclose(
            got, want, rtol=1e-2 if coarse else 1e-5, atol=5e-2 if coarse else 1e-4
        )


def launch_f16(threads=128, options=None, **changes):
    _a, _b, image, descs, fragments, a_bytes = prepare("f16", 64, "128B", 0, 0, False)
    instruction = (
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {d}, {a}, {b}, {p}, 1, 1, 0, 0;"
    )
    ptx = wgmma_ptx(instruction, len(descs), 32, a_bytes, len(image) - a_bytes, False, **changes)
    out = np.zeros((128, 32), np.uint32)
    return tile.sim.launch(
        ptx, "op", 1, threads, [image, descs, fragments, out], raise_on_finding=False, **options or {}
    )  # fmt: skip


def test_wgmma_misuse_is_found():
    assert launch_f16().ok
    findings = launch_f16(wait="").findings
    assert {f["kind"] for f in findings} == {"async-register"} and "wait_group" in findings[0][
        "message"
    ]
    findings = launch_f16(fence="").findings
    assert {f["kind"] for f in findings} == {
        "missing-proxy-fence"
    } and "fence.proxy.async" in findings[0]["message"]


def launch_registers(wait, **options):
    """A from registers."""
    _a, _b, image, descs, fragments, a_bytes = prepare("f16", 64, "128B", 0, 0, True)
    instruction = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {d}, {a}, {b}, {p}, 1, 1, 0;"
    ptx = wgmma_ptx(instruction, len(descs), 32, a_bytes, len(image) - a_bytes, True, wait=wait)
    out = np.zeros((128, 32), np.uint32)
    return tile.sim.launch(
        ptx, "op", 1, 128, [image, descs, fragments, out], raise_on_finding=False, **options
    )


@pytest.mark.parametrize("write", ["mov.b32 %e0_0, 0;", "add.u32 %e1_2, %e1_2, 1;", "ld.global.b32 %e0_3, [%k];"])  # fmt: skip
def test_operands_in_registers_stay_until_the_wait(write):
    end = "wgmma.wait_group.sync.aligned 0;"
    assert launch_registers(end + write).ok
    assert launch_registers("mov.b32 %f0, %e0_0;" + end).ok, "what is only read may be read"
    findings = launch_registers(write + end).findings
    assert {f["kind"] for f in findings} == {"async-register"}


#: Without checks: a dot that is formed late shows what was done before the wait.
SCHEDULED = {"check": "none", "schedules": 12}
END = "wgmma.wait_group.sync.aligned 0;"


@pytest.mark.parametrize(
    "right, wrong",
    [
        (END, ""),
        (END + "st.shared.b64 [buffer+512], 0;", "st.shared.b64 [buffer+512], 0;" + END),
        (END + "mov.b32 %d3, 0;", "mov.b32 %d3, 0;" + END),
        (END + "add.f32 %f0, %d1, %d2; mov.b32 %d3, %f0;", "add.f32 %f0, %d1, %d2;" + END + "mov.b32 %d3, %f0;"),
        ("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 1;"),
    ],
    ids=["no wait", "operand overwritten", "result overwritten", "result read", "wrong group"],
)  # fmt: skip
def test_a_late_product_shows_a_missing_wait(right, wrong):
    assert launch_f16(wait=right, options={"schedules": 12}).ok
    report = launch_f16(wait=wrong, options=SCHEDULED)
    assert {f["kind"] for f in report.findings} == {"schedule-dependent"}


def test_a_late_product_reads_registers_late():
    assert launch_registers(END + "mov.b32 %e0_0, 0;", schedules=12).ok
    report = launch_registers("mov.b32 %e0_0, 0;" + END, **SCHEDULED)
    assert {f["kind"] for f in report.findings} == {"schedule-dependent"}
