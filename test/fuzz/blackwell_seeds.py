# ruff: noqa: E501  (PTX text reads better unbroken)
"""Writes the forms of Blackwell's instructions as seeds of simulator_fuzzer: each one alone, and each in a kernel that runs it.

    python test/fuzz/blackwell_seeds.py build-fuzz/blackwell

The kernel allocates tensor memory, fills a part of it, has descriptors of shared memory and an mbarrier.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FORMS = Path(__file__).parents[1] / "python" / "sim" / "data" / "blackwell_forms.txt"

REGISTERS = ".reg .b32 r<160>; .reg .b64 d<16>; .reg .pred p<4>; .reg .b16 h<8>; .reg .b128 q<2>; .reg .f32 x<16>;"

ALONE = """.version 9.1
.target {target}
.address_size 64
.visible .entry f(.param .u64 a0, .param .u32 a1) {entry}
{{
{registers} .shared .align 1024 .b8 sm[2048];
ld.param.u64 d0, [a0]; ld.param.u32 r0, [a1]; mov.b64 d1, d0; add.u32 r150, r0, 64; add.u32 r151, r0, 128;
mov.b32 r152, 0x08200490; mov.u32 r153, sm; mov.u32 r154, %tid.x; mov.u32 r155, r154; mov.b16 h0, 3; setp.ne.u32 p0, r154, 0;
{text}
ret;
}}
"""

# p0: the first thread; p1: its warp; r0: 128 columns; r157: the warp's lanes of them.
RUN = """.version 9.1
.target {target}
.address_size 64
.visible .entry f(.param .u64 a0, .param .u32 a1)
{{
{registers} .shared .align 1024 .b8 sm[4096]; .shared .align 8 .b64 bar[2]; .shared .align 4 .b32 where;
mov.u32 r154, %tid.x; shr.u32 r155, r154, 5; setp.eq.u32 p0, r154, 0; setp.eq.u32 p1, r155, 0; mov.u32 r153, bar;
@p0 mbarrier.init.shared::cta.b64 [r153], 1; fence.mbarrier_init.release.cluster; mov.u32 r158, where;
@!p1 bra A; tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [r158], 128; A: bar.sync 0; ld.shared.b32 r0, [where];
mov.b32 r1, 0x3f803f80; mov.b32 r2, r1; mov.b32 r3, r1; mov.b32 r4, r1; shl.b32 r157, r155, 21; add.u32 r157, r0, r157;
tcgen05.st.sync.aligned.32x32b.x4.b32 [r157+64], {{r1, r2, r3, r4}}; tcgen05.st.sync.aligned.32x32b.x4.b32 [r157+80], {{r1, r2, r3, r4}};
tcgen05.wait::st.sync.aligned; fence.proxy.async.shared::cta; bar.sync 0;
mov.b64 d0, 0xc000401000010000; mov.b64 d1, d0; mov.b64 d2, 0x8f00000000; add.u32 r150, r0, 64; add.u32 r151, r0, 80;
mov.b32 r152, {idesc}; mov.b16 h0, 1; setp.ne.u32 p3, r154, r154;
{guard}{text}
@!p0 bra C; tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster.b64 [r153]; C:
W: mbarrier.try_wait.parity.shared::cta.b64 p2, [r153], 0; @!p2 bra W;
bar.sync 0; @!p1 bra E; tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 r0, 128; E: ret;
}}
"""

# Instruction descriptors: M = 128, N = 64.
KINDS = {
    "f16": 0x08100010, "tf32": 0x08100910, "f8f6f4": 0x08100010, "i8": 0x08100020, "mxf8f6f4": 0x08900000, "mxf4": 0x08900480,
}  # fmt: skip


def main() -> int:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for block in FORMS.read_text().split("\n## ")[1:]:
        head, text = block.split("\n", 1)
        head, _, entry = head.partition(" | ")
        name, _version, *targets = head.split()
        target = "sm_100a" if "none" in targets else targets[0]
        text = re.sub(
            r"\{(\d+)\}",
            lambda m: "{" + ", ".join(f"r{i}" for i in range(1, int(m[1]) + 1)) + "}",
            text,
        )
        lines = text.strip().split("\n")
        common = {"target": target, "registers": REGISTERS}
        (out / f"{name}.s").write_text(ALONE.format(entry=entry, text=text, **common))
        if not target.startswith("sm_12"):
            kind = next((k for k in KINDS if f"kind::{k}" in text), "f16")
            collective = ".sync" in text
            for index, line in enumerate(lines):
                one = line.replace("[r0]", "[r157]") if collective else line
                guard = "" if collective or line.startswith("@") else "@p0 "
                body = RUN.format(text=one, guard=guard, group=2 if "cta_group::2" in line else 1, idesc=KINDS[kind], **common)  # fmt: skip
                (out / f"{name}-{index}.s").write_text(body)
    return 0


if __name__ == "__main__":
    sys.exit(main())
