"""Places of code that was inlined from other files: the kernel's own line is named, too."""

from __future__ import annotations

import numpy as np
from ptxlib import HEADER

import tile.sim
from tile.sim.source_view import coverage

# kernel.cu calls helper() of lib.h at line 7, and wrap() of lib.h, which calls deep.h, at line 9.
# Its own small() at line 3 is inlined at line 11.
KERNEL = (
    HEADER
    + """
.visible .entry k(.param .u64 out)
{
.reg .b64 %p; .reg .b32 %t; .reg .b64 %q;
.loc 1 6 1
ld.param.u64 %p, [out]; mov.u32 %t, %tid.x;
.loc 1 7 5
.loc 2 20 9, function_name $L__info_string0, inlined_at 1 7 5
st.global.u32 [%p], %t;
.loc 2 0 9
st.global.u32 [%p+4], %t;
.loc 1 9 5
.loc 2 30 9, function_name $L__info_string1, inlined_at 1 9 5
.loc 3 44 2, function_name $L__info_string2+4, inlined_at 2 30 9
st.global.u32 [%p+8], %t;
.loc 1 11 5
.loc 1 3 9, function_name $L__info_string3, inlined_at 1 11 5
st.global.u32 [%p+12], %t;
.loc 1 12 1
ret;
}
.file 1 "kernel.cu"
.file 2 "lib.h"
.file 3 "deep.h"
"""
)


def launch(**options):
    return tile.sim.launch(
        KERNEL, "k", 1, 2, [np.zeros(4, np.uint32)], raise_on_finding=False, **options
    )


def places(report):
    return [
        tuple(f["place"][k] for k in ("file", "source_line", "call_file", "call_line"))
        for f in report.findings
    ]


def test_findings_name_both_places():
    report = launch()
    assert places(report) == [
        ("lib.h", 20, "kernel.cu", 7),
        ("lib.h", 0, "kernel.cu", 7),
        ("deep.h", 44, "kernel.cu", 9),
        ("kernel.cu", 3, "", 0),
    ]
    first = report.messages[0]
    assert first.startswith(
        '  File "kernel.cu", line 7, in k\n  File "lib.h", line 20, in k\nrace: '
    )
    regions = [
        r["locations"][0]["physicalLocation"] for r in report.sarif("k.ptx")["runs"][0]["results"]
    ]
    assert {r["artifactLocation"]["uri"] for r in regions} == {"kernel.cu"}
    assert [r["region"]["startLine"] for r in regions] == [7, 7, 9, 3]


def test_lines_count_what_was_inlined_into_them():
    report = launch()
    counts = {(n["file"], n["line"]): n["warp_instructions"] for n in report.lines}
    assert counts["kernel.cu", 7] == 2 and counts["kernel.cu", 9] == 1
    assert counts["lib.h", 20] == 1 and counts["deep.h", 44] == 1
    kernel = next(one for one in coverage(report) if one.file == "kernel.cu")
    assert {7, 9, 3} <= set(kernel.covered) and not kernel.missing
    text = report.annotated(sources={"kernel.cu": "\n" * 6 + "helper();"})
    assert "helper();" in text and 'File "kernel.cu", line 7' in text


def test_suppressed_at_the_call():
    report = launch(suppressions=[tile.sim.Suppression("race", "kernel.cu:7", "known")])
    assert [p[3] for p in places(report) if p[2]] == [9]
