# ruff: noqa: E501  (PTX text reads better unbroken)
"""What people and tools read of a launch: elements in messages, coverage, pages, SARIF, suppressions."""

from __future__ import annotations

import html
import itertools
import json
import re

import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim
from tile.cli import main
from tile.errors import TileError
from tile.sim.report import LAUNCH_PROCESS

# out[i] = x[i + shift], but 0 where i >= n; every thread then adds to sum without an atomic.
KERNEL = (
    HEADER
    + """.visible .entry shift(.param .u64 x, .param .u64 out, .param .u64 sum, .param .s32 shift, .param .s32 n)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .pred %p;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r1, %r2, %r3, %r1;
  ld.param.s32 %r4, [n]; ld.param.s32 %r5, [shift];
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [sum];
  mov.f32 %f1, 0f00000000;
  setp.ge.s32 %p, %r1, %r4;
  @%p bra STORE;
  add.s32 %r6, %r1, %r5;
  mad.wide.s32 %rd4, %r6, 4, %rd1;
  ld.global.f32 %f1, [%rd4];
  bra.uni SUM;
STORE:
  mov.f32 %f1, 0fBF800000;
SUM:
  mad.wide.s32 %rd5, %r1, 4, %rd2;
  st.global.f32 [%rd5], %f1;
  setp.eq.u64 %p, %rd3, 0;
  @%p bra DONE;
  ld.global.f32 %f2, [%rd3];
  add.f32 %f2, %f2, 0f3F800000;
  st.global.f32 [%rd3], %f2;
DONE: ret;
}
"""
)
LINES = {text.strip(): n for n, text in enumerate(KERNEL.splitlines(), 1)}
ADD = LINES["st.global.f32 [%rd3], %f2;"]
UNCOVERED = LINES["mov.f32 %f1, 0fBF800000;"]


# Far from all other memory, so that it is the nearest to whatever misses it.
FAR = np.zeros(1 << 20, np.float32)


def launch(shift=0, total=None, **options):
    x = FAR[1 << 19 :][:64].reshape(4, 16)
    out = np.zeros((4, 16), np.float32)
    options.setdefault("raise_on_finding", False)
    return tile.sim.launch(KERNEL, "shift", 2, 32, [x, out, total, shift, 64], **options)


@pytest.mark.parametrize(
    "shift, element", [(17, "[4, 0]"), (-3, "[-1, 13]"), (1000, "[62, 8]"), (-64, "[-4, 0]")]
)
def test_out_of_bounds_names_the_element(shift, element):
    (message,) = launch(shift, threads=1).messages
    assert "'x' (256 bytes" in message and f"at element {element} of float32[4, 16]" in message


def test_races_name_the_element():
    report = launch(total=np.zeros(3, np.float64)[1:])
    assert any("(element [0] of float64[2])" in m for m in report.messages), report.messages


def test_arrays_with_gaps_have_no_element():
    x = np.zeros((4, 32), np.float32)[:, ::2]
    report = tile.sim.launch(
        KERNEL,
        "shift",
        2,
        32,
        [x, np.zeros(64, np.float32), None, 1000, 64],
        raise_on_finding=False,
    )
    assert "element" not in report.messages[0]


def test_coverage():
    (one,) = launch().coverage()
    assert one.file == "PTX" and UNCOVERED in one.missing and ADD in one.missing
    assert LINES["ld.global.f32 %f1, [%rd4];"] in one.covered
    assert not set(one.covered) & set(one.missing)
    (all_of_it,) = tile.sim.launch(
        KERNEL, "shift", 2, 32, [np.zeros(64, np.float32)] * 2 + [np.zeros(1, np.float32), 0, 40],
        raise_on_finding=False,
    ).coverage()  # fmt: skip
    assert not all_of_it.missing and all_of_it.fraction == 1


def test_annotated_source():
    report = launch()
    rows = {
        int(row.split()[0]): row
        for row in report.annotated().splitlines()
        if row[:6].strip().isdigit()
    }
    load = rows[LINES["ld.global.f32 %f1, [%rd4];"]]
    assert load.split("|")[0].split()[1:] == ["2", "64", "8", "0"]
    assert load.endswith("| " + "  ld.global.f32 %f1, [%rd4];")
    assert rows[UNCOVERED].split()[1] == "-"
    races = launch(total=np.zeros(1, np.float32)).annotated()
    assert "^^^^^^^^^^^^ race: " in races


def test_page_is_whole_and_escapes():
    page = launch(total=np.zeros(1, np.float32)).html()
    assert page.count('<table class="source">') == 1
    assert page.count("<table") == page.count("</table>") == 4
    assert "src=" not in page and all(link.startswith("#") for link in links(page))
    assert "race: " in page and 'class="missing"' in page
    quiet = tile.sim.launch(KERNEL.replace("{\n", "{ // <b>&\n", 1), "shift", 2, 32, [np.zeros(64, np.float32)] * 2 + [None, 0, 64], raise_on_finding=False).html()  # fmt: skip
    assert "<b>" not in quiet and "&lt;b&gt;&amp;" in quiet


def links(page: str) -> list[str]:
    return re.findall(r'href="([^"]*)"', page)


def test_findings_and_lines_lead_to_each_other():
    report = launch(total=np.zeros(1, np.float32))
    page = report.html()
    sections = re.findall(r'<section class="finding" id="(\S+)">(.*?)</section>', page, re.S)
    assert len(sections) == len(report.errors) >= 1
    for (name, section), text in zip(sections, report.errors, strict=True):
        assert html.unescape(section).count(text) == 1
        keys = re.findall(r'data-goto="(\S+?)"', section)
        assert keys and f'href="#{name}"' in page
        for key in keys:
            row = re.search(rf'data-k="{key}".*?</tr>\s*<tr class="note">.*?</tr>', page, re.S)
            assert row is not None and f'href="#{name}"' in row[0]
    assert {link[1:] for link in links(page)} <= set(re.findall(r'id="(\S+?)"', page))


def test_counters_stand_beside_the_ideal():
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", strided_page()))
    # Each of 64 lanes loads 4 bytes of a sector of its own, and stores without gaps.
    assert "sectors of global loads 64 8 " in page
    assert "sectors of global stores 8 8 " in page
    assert "bank conflicts 0 0 " in page
    for fact in (
        "kernel strided",
        "grid 1",
        "threads of a block 64",
        "shared memory of a block 0 bytes",
    ):
        assert fact in page, fact


STRIDED = HEADER + """.visible .entry strided(.param .u64 x, .param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 32; add.s64 %rd3, %rd1, %rd3; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd4, %rd2, %rd4;
  ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd4], %r2; ret;
}
"""  # fmt: skip


def strided_page() -> str:
    arrays = [np.zeros(64 * 8, np.int32), np.zeros(64, np.int32)]
    return tile.sim.launch(STRIDED, "strided", 1, 64, arrays).html()


def test_sarif():
    log = launch(total=np.zeros(1, np.float32)).sarif("shift.ptx")
    (run,) = json.loads(json.dumps(log))["runs"]
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"race"}
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "shift.ptx"
        assert place["region"]["startLine"] in (ADD, LINES["ld.global.f32 %f2, [%rd3];"])
        assert result["relatedLocations"] and result["level"] == "error"


def test_findings_without_a_place():
    report = launch(total=np.zeros(1, np.float32))
    report.add({"kind": "schedule-dependent", "message": "byte 0 differs", "fatal": False})
    assert report.sarif()["runs"][0]["results"][-1]["message"] == {"text": "byte 0 differs"}
    assert "byte 0 differs" in report.html() and "race" in report.annotated()


def test_suppressions():
    reason = "a statistic that may lose counts"
    all_races = tile.sim.Suppression("race", "PTX:*", reason)
    unused = tile.sim.Suppression("uninitialized", "PTX:*", reason)
    report = launch(total=np.zeros(1, np.float32), suppressions=[all_races, unused])
    assert report.ok and not report.messages and not report.findings
    assert {f["reason"] for f in report.suppressed} == {reason}
    assert report.unused_suppressions == [unused]
    assert f"suppressed ({reason}): race" in report.summary()
    (run,) = report.sarif()["runs"]
    assert all(r["suppressions"][0]["justification"] == reason for r in run["results"])
    # Elsewhere, and what ends the launch, they do not help.
    other = tile.sim.Suppression("race", "PTX:3", reason)
    assert not launch(total=np.zeros(1, np.float32), suppressions=[other]).ok
    bounds = tile.sim.Suppression("*", "PTX:*", reason)
    assert not launch(1000, suppressions=[bounds]).ok


def test_suppressions_of_the_setting(tmp_path, monkeypatch):
    path = tmp_path / "list"
    path.write_text("race PTX:* a statistic that may lose counts\n")
    monkeypatch.setenv("TILE_SIM_SUPPRESSIONS", str(path))
    report = launch(total=np.zeros(1, np.float32))
    assert report.ok and {f["kind"] for f in report.suppressed} == {"race"}
    monkeypatch.setenv("TILE_SIM_SUPPRESSIONS", str(tmp_path / "nothing"))
    with pytest.raises(TileError, match="cannot read the suppressions"):
        launch(total=np.zeros(1, np.float32))


@pytest.mark.parametrize("text", ["race PTX:1", "race kernel because", "race"])
def test_suppressions_need_a_place_and_a_reason(tmp_path, text):
    path = tmp_path / "list"
    path.write_text(f"# comment\n\n{text}\n")
    with pytest.raises(TileError, match=r"list:3: "):
        tile.sim.read_suppressions(path)
    with pytest.raises(TileError):
        tile.sim.Suppression("race", "PTX:1", " ")


def test_same_result_on_several_threads():
    # Which CTA comes when differs, the sum of integers does not.
    ptx = HEADER + """.visible .entry count(.param .u64 p)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;
  atom.global.add.u32 %r2, [%rd1], %r1;
  ret;
}
"""  # fmt: skip
    for options in ({}, {"deterministic": False}, {"deterministic": False, "threads": 3}):
        total = np.zeros(1, np.uint32)
        report = tile.sim.launch(ptx, "count", 500, 64, [total], **options)
        assert total[0] == 64 * 499 * 500 // 2
        assert report.to_dict()["threads"] == options.get("threads", 1) or not options.get(
            "threads"
        )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shift.ptx"
    path.write_text(KERNEL)
    return path


def test_command(file, tmp_path, capfd):
    page, log, data, out, trace = (
        tmp_path / f"a.{name}" for name in ("html", "sarif", "json", "npy", "trace")
    )
    args = ["sim", str(file), "--grid", "2", "--block", "32", "--array", "x=random:f32:4x16", "--arg", "x",
            "--arg", "zeros:f32:64", "--arg", "null", "--arg", "0", "--arg", "64"]  # fmt: skip
    status = main([*args, "--html", str(page), "--sarif", str(log), "--json", str(data),
                   "--out", f"1={out}", "--timeline", str(trace), "--annotate", "--coverage"])  # fmt: skip
    text = capfd.readouterr().out
    assert status == 0 and "no findings" in text and "not run: " in text and "ld.global.f32" in text
    assert '<table class="source">' in page.read_text() and json.loads(log.read_text())["runs"]
    assert json.loads(data.read_text())["ok"] is True
    assert json.loads(trace.read_text())["traceEvents"]
    want = np.random.default_rng(0).standard_normal((4, 16)).astype(np.float32)
    np.testing.assert_array_equal(np.load(out), want.ravel())


def test_command_suppressions(file, tmp_path, capfd):
    args = [
        "sim",
        str(file),
        "--grid=2",
        "--block=32",
        *(f"--arg={a}" for a in ("zeros:f32:64", "zeros:f32:64", "zeros:f32:1", 0, 64)),
    ]
    assert main(args) == 1
    listed = tmp_path / "list"
    listed.write_text("race PTX:* counted by hand\nasync-race PTX:1 nothing\n")
    assert main([*args, "--suppressions", str(listed)]) == 0
    captured = capfd.readouterr()
    assert "suppressed (counted by hand)" in captured.out
    assert "suppression without a finding: async-race PTX:1" in captured.err


STRUCTURE = HEADER + """.visible .entry fields(.param .align 8 .b8 s[24])
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f;
  ld.param.u32 %r1, [s]; ld.param.u64 %rd1, [s+8]; ld.param.f32 %f, [s+16]; cvt.rzi.u32.f32 %r2, %f;
  add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret;
}
"""  # fmt: skip


def test_command_schedules(tmp_path, capfd):
    """Two CTAs take turns at a counter: which of them is first, a schedule decides."""
    path = tmp_path / "turns.ptx"
    path.write_text(
        HEADER
        + """.visible .entry turns(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r3, 40;
AGAIN: sub.u32 %r3, %r3, 1; setp.ne.u32 %p, %r3, 0; @%p bra AGAIN;
  atom.global.exch.b32 %r2, [%rd1], %r1; ret;
}
"""
    )
    args = ["sim", str(path), "--grid", "4", "--block", "1", "--arg", "zeros:u32:1"]
    assert main(args) == 0
    assert main([*args, "--schedule-seed", "3", "--schedules", "6"]) == 1
    assert "schedule-dependent" in capfd.readouterr().out


def test_command_structures(tmp_path):
    path, out = tmp_path / "s.ptx", tmp_path / "o.npy"
    path.write_text(STRUCTURE)
    args = ["sim", str(path), "--block", "1", "--array", "o=zeros:u32:4", "--arg"]
    assert main([*args, "struct:u32=5,ptr=o,f32=37", "--out", f"o={out}"]) == 0
    assert list(np.load(out)) == [42, 0, 0, 0]


def test_command_tensor_maps(tmp_path):
    import hopper

    path, out = tmp_path / "copy.ptx", tmp_path / "y.npy"
    path.write_text(hopper.copy())
    status = main(["sim", str(path), "--grid", "3,2", "--block", "128", "--dynamic-shared", "16384",
                   "--array", "x=random:f32:128x192", "--array", "y=zeros:f32:128x192",
                   "--arg", "map:x:64x64", "--arg", "map:y:64x64", "--out", f"y={out}"])  # fmt: skip
    assert status == 0
    want = np.random.default_rng(0).standard_normal((128, 192)).astype(np.float32)
    np.testing.assert_array_equal(np.load(out), want)


@pytest.mark.parametrize(
    "argument, message",
    [
        ("map:none:64x64", "no array 'none'"),
        ("map:x", "not a tensor map"),
        ("map:x:64x64:5", "swizzle"),
        ("map:x:axb", "not a shape"),
        ("struct:u32", "not a .u32"),
        ("struct:q=1", "not a field"),
        ("struct:u8=300", "not a .u8"),
        ("hex:zz", "not hexadecimal"),
        ("what", "neither a number"),
        ("zeros:f99:4", "unknown type"),
        ("missing.npy", "cannot read"),
    ],
)
def test_command_refuses(file, capfd, argument, message):
    args = ["sim", str(file), "--block=32", "--array", "x=zeros:f32:64x64", "--arg", argument]
    assert main(args) == 2
    assert message in capfd.readouterr().err


def spans(report, pid=0):
    events = report.timeline()["traceEvents"]
    names = {
        (e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"
    }
    found: dict[str, list] = {}
    for e in events:
        if e["ph"] == "X" and e["pid"] == pid:
            found.setdefault(names[e["pid"], e["tid"]], []).append(e)
    return {name: sorted(list_, key=lambda e: e["ts"]) for name, list_ in found.items()}


def test_timeline_of_a_warp_specialised_product():
    import hopper

    a, b = (np.ones((256, 64 * 8), np.float16) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    report = hopper.launch_product(hopper.warp_specialized(), a, b, c, timelines=2)
    events = report.timeline()["traceEvents"]
    assert {e["pid"] for e in events} == {0, 1, LAUNCH_PROCESS}
    (launched,) = spans(report, LAUNCH_PROCESS)["kernel"]
    spans_of_warps = [e for e in events if e["ph"] == "X" and e is not launched]
    assert launched["name"] == report.to_dict()["entry"]
    assert launched["dur"] == max(e["ts"] + e["dur"] for e in spans_of_warps)
    by_lane = spans(report)
    # Nobody does two things at once, and all time is accounted for as work or a wait.
    for name, list_ in by_lane.items():
        for one, next_one in itertools.pairwise(list_):
            assert one["dur"] >= 0
            assert name == "bulk copies" or one["ts"] + one["dur"] <= next_one["ts"], name
    assert len(by_lane["tensor cores"]) == 2 * 8 * 4  # groups, steps, instructions a step
    assert len(by_lane["bulk copies"]) == 2 * 8
    waits = {e["name"] for name in ("warp 0", "warp 4", "warp 8") for e in by_lane[name]}
    assert {"wait: mbarrier", "wait: wgmma group", "wait: bulk group"} <= waits
    # The ring has four stages: the fifth copy waits until the first dot is done.
    copies, products = by_lane["bulk copies"], by_lane["tensor cores"]
    assert copies[8]["ts"] >= products[3]["ts"] + products[3]["dur"]
    assert copies[3]["ts"] < products[-1]["ts"]
    # The phases of an mbarrier come one after the other, and what fills a buffer is in one.
    phases = [by_lane[name] for name in by_lane if name.startswith("mbarrier")]
    assert len(phases) == 8 and all(len(list_) >= 2 for list_ in phases)
    for copy in copies:
        assert any(
            p["ts"] <= copy["ts"] and copy["ts"] + copy["dur"] <= p["ts"] + p["dur"]
            for list_ in phases
            for p in list_
        )


def test_timeline_waits_for_loads_and_barriers():
    ptx = HEADER + """.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, 32; @%p bra MEET;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r2, 1;
MEET:
  bar.sync 0;
  add.u32 %r4, %r1, 1;
  ret;
}
"""  # fmt: skip
    p = np.zeros(1, np.uint32)
    report = tile.sim.launch(ptx, "k", 1, 64, [p], timelines=1)
    first, second = spans(report)["warp 0"], spans(report)["warp 1"]
    (load,) = [e for e in first if e["name"] == "wait: ld" and e["dur"] > 100]
    assert load["dur"] == pytest.approx(500, abs=5)
    (barrier,) = [e for e in second if e["name"] == "wait: barrier"]
    assert barrier["ts"] + barrier["dur"] >= load["ts"] + load["dur"]
    # From the arrival of one warp to that of the other.
    (met,) = spans(report)["barrier 0"]
    assert met["ts"] == barrier["ts"]
    assert met["ts"] + met["dur"] == barrier["ts"] + barrier["dur"]
    assert not tile.sim.launch(ptx, "k", 1, 64, [p]).timeline()["traceEvents"]
