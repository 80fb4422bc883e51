# ruff: noqa: E501  (PTX text reads better unbroken)
"""Counters whose values follow from the kernel by counting on one's fingers."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim
from tile.errors import TileError


def run(text, block=32, size=4096, **options):
    registers = ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<10>;"
    head = "mov.u32 %r1, %tid.x; mov.u32 %r2, buffer; ld.param.u64 %rd1, [p];"
    ptx = f"{HEADER}.visible .entry k(.param .u64 p)\n{{\n.shared .align 128 .b8 buffer[16384]; {registers}\n{head}\n{text}\nret;\n}}\n"
    data = np.zeros(size, np.int32)
    return tile.sim.launch(ptx, "k", 1, block, [data], check="none", **options)


@pytest.mark.parametrize(
    ("stride", "sectors"), [(4, 4), (8, 8), (16, 16), (32, 32), (128, 32), (0, 1)]
)
def test_sectors_of_a_load(stride, sectors):
    report = run(f"mad.wide.u32 %rd2, %r1, {stride}, %rd1; ld.global.b32 %r3, [%rd2];")
    assert report.counters["global_load_requests"] == 1
    assert report.counters["global_load_sectors"] == sectors
    assert report.counters["global_load_bytes"] == 128


def test_sectors_of_wide_and_unaligned_requests():
    assert (
        run(
            "mad.wide.u32 %rd2, %r1, 16, %rd1; ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%rd2];"
        ).counters["global_load_sectors"]
        == 16
    )
    assert (
        run("mad.wide.u32 %rd2, %r1, 4, %rd1; st.global.b32 [%rd2+4], %r1;").counters[
            "global_store_sectors"
        ]
        == 5
    )
    # Lanes in any order touch the same sectors.
    assert (
        run(
            "sub.u32 %r3, 31, %r1; mad.wide.u32 %rd2, %r3, 4, %rd1; ld.global.b32 %r3, [%rd2];"
        ).counters["global_load_sectors"]
        == 4
    )


@pytest.mark.parametrize(
    ("stride", "conflicts"), [(4, 0), (8, 1), (16, 3), (128, 31), (132, 0), (0, 0)]
)
def test_bank_conflicts(stride, conflicts):
    report = run(f"mad.lo.u32 %r3, %r1, {stride}, %r2; st.shared.b32 [%r3], 0;")
    assert report.counters["bank_conflicts"] == conflicts


def test_bank_conflicts_of_vectors():
    assert (
        run("mad.lo.u32 %r3, %r1, 16, %r2; ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];").counters[
            "bank_conflicts"
        ]
        == 0
    )
    assert (
        run(
            "mad.lo.u32 %r3, %r1, 128, %r2; ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3];"
        ).counters["bank_conflicts"]
        == 4 * 7
    )


def test_classes_lines_and_divergence():
    text = "setp.lt.u32 %p1, %r1, 10;\n@%p1 add.u32 %r3, %r1, 1;\n@%p1 bra L;\nmul.lo.u32 %r4, %r1, 3;\nL: bar.sync 0;"
    report = run(text, block=64)
    by_class = report.counters["by_class"]
    assert by_class["integer"] == {"warp": 2 + 2, "lane": 10 + 22 + 32}
    assert by_class["compare"] == {"warp": 2, "lane": 64}
    assert report.counters["barriers"] == 2 and report.counters["divergent_branches"] == 1
    line = {entry["line"]: entry for entry in report.lines}
    assert line[9]["lane_instructions"] == 10 and line[11]["lane_instructions"] == 54


def test_summary_and_roofline():
    report = run("mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.b32 %r3, [%rd2];")
    data = report.to_dict()
    assert data["roofline"]["memory"] == pytest.approx(4 * 32 / 4.8e12)
    assert data["roofline"]["bound"] in ("memory", "issue")
    for gpu, rate in (
        ("H200", 4.8e12), ("A100", 2.04e12), ("B200", 8e12), ("RTX 5090", 1.79e12),
    ):  # fmt: skip
        estimate = report.roofline(gpu)
        assert estimate["gpu"] == gpu and estimate["memory"] == pytest.approx(4 * 32 / rate)
        names = ("memory", "tensor", "issue", "shared", "special", "tensor_memory")
        parts = {name: estimate[name] for name in names}
        assert estimate["seconds"] == max(parts.values()) == parts[estimate["bound"]]
        assert f"{gpu} at least" in report.summary(gpu)
    with pytest.raises(TileError, match="unknown GPU 'B52'; known are H200"):
        report.roofline("B52")
    text = str(report)
    assert "sectors per load" in text and "no findings" in text and "H200" in text
    again = run("mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.b32 %r3, [%rd2];")
    assert again.counters == report.counters


def test_blocks_are_spread_as_wholes():
    """On 132 multiprocessors 133 blocks take twice as long as one, where memory is not the bound."""
    report = run("mul.lo.u32 %r3, %r1, 3;\n" * 100, block=1024)
    one, all_of_them, one_more = (
        report.roofline("H200", blocks)["expected"] - 0.1 * sum_of_parts(report, blocks)
        for blocks in (1, 132, 133)
    )
    assert one == pytest.approx(all_of_them) and one_more == pytest.approx(2 * one)


def sum_of_parts(report, blocks: int) -> float:
    found = report.roofline("H200", blocks)
    names = ("memory", "tensor", "issue", "shared", "special", "tensor_memory")
    return sum(found[name] for name in names)


def test_parts_grow_with_the_blocks():
    report = run(
        ".reg .f32 %f<2>; mov.f32 %f0, 0f3f800000; ex2.approx.f32 %f1, %f0; mad.lo.u32 %r3, %r1, 4, %r2; ld.shared.u32 %r4, [%r3];"
    )
    for name in ("issue", "shared", "special"):
        assert report.roofline("B200", 10)[name] == pytest.approx(
            10 * report.roofline("B200")[name]
        )
    special, issue = (report.roofline("B200")[name] for name in ("special", "issue"))
    assert special == pytest.approx(32 / 16 / (148 * 1.85e9)) and issue > 0


def test_what_is_read_again_comes_from_the_cache():
    text = "mad.wide.u32 %rd2, %r1, 4, %rd1;" + "ld.global.b32 %r3, [%rd2];" * 1000
    found = run(text).roofline("H200")
    assert found["memory"] == pytest.approx(1000 * 4 * 32 / (64 * 132 * 1.98e9))


def test_tensor_cores_are_faster_on_narrow_elements():
    """An estimate is a lower bound: products of bytes and of 4 bits have rates of their own."""

    def estimate(mma, gpu):
        header = ".version 8.8\n.target sm_120a\n.address_size 64\n"
        registers = ".reg .b32 %r<8>; .reg .f32 %f<4>;"
        zeros = "".join(f"mov.b32 %r{i}, 0; " for i in range(8))
        zeros += "".join(f"mov.f32 %f{i}, 0f00000000; " for i in range(4))
        ptx = f"{header}.visible .entry k() {{ {registers} {zeros} {mma} ret; }}"
        report = tile.sim.launch(ptx, "k", 1, 32, [])
        return report.roofline(gpu)["tensor"] / report.counters["tensor_flops"]

    sums, a, b = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r4, %r5}"
    operands = f"{sums}, {a}, {b}, {sums}"
    halves = f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {operands};"
    octets = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {operands};"
    fours = f"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {operands}, %r6, {{0, 0}}, %r7, {{0, 0}};"
    for gpu, rates in (
        ("B200", (2250e12, 4500e12, 9000e12)),
        ("B300", (2250e12, 4500e12, 14000e12)),
        ("RTX 5090", (419e12, 838e12, 1676e12)),
        ("H200", (990e12, 1979e12, 1979e12)),
        ("RX 7900 XTX", (122.8e12, 122.8e12, 122.8e12)),
    ):
        for text, rate in zip((halves, octets, fours), rates, strict=True):
            assert estimate(text, gpu) == pytest.approx(1 / rate)
