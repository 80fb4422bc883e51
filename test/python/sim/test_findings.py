# ruff: noqa: E501  (PTX text reads better unbroken)
"""Findings as texts: the place, both accesses, who, the remedy; one mistake is told once."""

from __future__ import annotations

import itertools
import linecache
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from ptxlib import HEADER
from reference import sim_only

import tile
import tile.language as tl
from tile.sim.findings import grouped
from tile.sim.kinds import KINDS, RULES

ROOT = Path(__file__).resolve().parents[3]


@tile.jit
def shift(p, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(p + (i + 1) % N, x)


@tile.jit
def last(p):
    tl.store(p, tl.program_id(0))


@tile.jit
def no_mask(p, out, N: tl.constexpr):
    tl.store(out + tl.arange(0, N), tl.load(p + tl.arange(0, N)))


def line_of(fn, offset: int) -> int:
    return fn.fn.__code__.co_firstlineno + offset


def refusal(fn, *args, grid, **kwargs) -> str:
    with pytest.raises(tile.sim.SimulationError) as caught:
        fn.simulate(*args, grid=grid, **kwargs)
    return str(caught.value)


@sim_only
def test_a_race_between_programs_reads_like_an_error():
    text = refusal(last, np.zeros(1, np.int32), grid=(2,))
    place = f'  File "{__file__}", line {line_of(last, 2)}, in last\n    tl.store(p, tl.program_id(0))\n    ^'
    assert text.startswith("\n" + place) and text.count(place) == 2
    assert re.search(
        r"\nrace: write to global memory at 'argument p'.*element \[0\] of int32\[1\]", text
    )
    # Which of the two comes second is a matter of time.
    found = re.search(
        r"in program \(([01]), 0, 0\), thread \(\d+, 0, 0\), assembly line \d+ \(st\)\nthe other access:\n",
        text,
    )
    assert found and f"in program ({1 - int(found[1])}, 0, 0)" in text
    assert text.endswith("help: programs of one launch run in any order: use `tl.atomic_add` or another atomic, or two launches\nmore: tile help race")  # fmt: skip


@sim_only
def test_an_access_out_of_bounds_says_what_to_mask():
    text = refusal(no_mask, np.zeros(100, np.float32), np.zeros(128, np.float32), grid=(1,), N=128)
    assert f"line {line_of(no_mask, 2)}, in no_mask\n" in text and "help: mask the load: " in text
    assert "out-of-bounds: global load" in text and "'argument p'" in text
    text = refusal(no_mask, np.zeros(128, np.float32), np.zeros(100, np.float32), grid=(1,), N=128)
    assert "help: mask the store: " in text and "'argument out'" in text


@tile.jit
def from_a_table(table, out):
    tl.store(out, tl.load(tl.load(table).to(tl.pointer_type(tl.float32))))


@sim_only
def test_an_array_that_only_an_address_names():
    value, out = np.full(1, 7, np.float32), np.zeros(1, np.float32)
    table = np.array([value.ctypes.data], np.int64)
    with tile.sim.reachable(value):
        from_a_table[(1,)](table, out)
    assert out[0] == 7
    text = refusal(from_a_table, np.array([1 << 40], np.int64), out, grid=(1,))
    assert "is named by `with tile.sim.reachable(array):`" in text
    assert "reachable" not in refusal(
        no_mask, np.zeros(100, np.float32), np.zeros(128, np.float32), grid=(1,), N=128
    )


PAIRS = HEADER + """.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<20>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[2560];
  mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.s32 %r3, %r1, 4, %r2; xor.b32 %r4, %r1, 32; mad.lo.s32 %r4, %r4, 4, %r2;
BODY
  ret;
}
"""  # fmt: skip


def run_pairs(body: str):
    return tile.sim.launch(
        PAIRS.replace("BODY", body), "k", 1, 64, [np.zeros(64, np.int32)], raise_on_finding=False
    )


STORES = [f"st.shared.u32 [%r3+{256 * i}], %r1;" for i in range(9)]
LOADS = [f"ld.shared.u32 %r{5 + i}, [%r4+{256 * i}];" for i in range(9)]
STORE = STORES[0]


def test_one_missing_barrier_is_one_error():
    """Nine loads behind nine stores, of either warp: 18 pairs, one barrier."""
    report = run_pairs("\n".join([*STORES, *LOADS]))
    assert len(report.findings) == 18 and len(report.messages) == 18
    (text,) = report.errors
    assert "the same mistake shows in 8 more places:" in text
    assert "help: put `__syncthreads()` (bar.sync) between the two accesses" in text
    assert text in report.summary()
    (result,) = report.sarif()["runs"][0]["results"]
    assert len(result["relatedLocations"]) == 35
    assert run_pairs("\n".join([*STORES, "bar.sync 0;", *LOADS])).ok


def test_two_missing_barriers_are_two_errors():
    body = [STORE, LOADS[0], "bar.sync 0;", STORE, LOADS[0]]
    assert len(run_pairs("\n".join(body)).errors) == 2


def race(before: int, after: int) -> dict:
    where = [{"line": line, "file": "", "source_line": 0} for line in (before, after)]
    thread = {"cta": [0, 0, 0], "thread": [0, 0, 0]}
    return {
        "kind": "race", "message": "no barrier orders the two", "place": where[1],
        "other_place": where[0], "thread": thread, "other_thread": thread,
    }  # fmt: skip


def fewest(pairs: list[tuple[int, int]]) -> int:
    """How few barriers order all pairs, by trying all."""
    lines = sorted({line for pair in pairs for line in pair})
    for count in itertools.count(1):
        for chosen in itertools.combinations(lines, count):
            if all(any(low < at <= high for at in chosen) for low, high in pairs):
                return count


def test_as_few_errors_as_barriers_are_missing():
    """Against all choices of barriers; and each group has one that serves all of it."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        count = int(rng.integers(1, 7))
        pairs = [tuple(sorted(map(int, rng.choice(10, 2, replace=False)))) for _ in range(count)]
        groups = grouped([race(*pair) for pair in pairs])
        assert sum(map(len, groups)) == count and len(groups) == fewest(pairs), pairs
        for group in groups:
            low = max(f["other_place"]["line"] for f in group)
            assert low < min(f["place"]["line"] for f in group)


def test_shared_memory_is_named_by_its_variable():
    report = run_pairs(f"{STORE}\n{LOADS[0]}")
    assert (
        "shared memory at s[" in report.messages[0]
        and "(elements of 4 bytes)" in report.messages[0]
    )
    mangled = PAIRS.replace(" s[2560]", " _ZZ1kPiE5cache[2560]").replace(
        "%r2, s;", "%r2, _ZZ1kPiE5cache;"
    )
    report = tile.sim.launch(mangled.replace("BODY", f"{STORE}\n{LOADS[0]}"), "k", 1, 64, [np.zeros(64, np.int32)], raise_on_finding=False)  # fmt: skip
    assert "shared memory at cache[" in report.messages[0]


DYNAMIC = PAIRS.replace(".visible", ".extern .shared .align 16 .b8 buf[];\n.visible").replace(
    ".shared .align 4 .b8 s[2560];", ""
).replace("%r2, s;", "%r2, buf;")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("buf", "buf[32] (elements of 4 bytes)"),
        ("_ZN2ns3bufE", "buf[32] (elements of 4 bytes)"),
        # What compilers of tile programs call all of shared memory.
        ("global_smem", "0x80"),
    ],
)
def test_the_dynamic_array_is_named_by_its_variable(name, shown):
    text = DYNAMIC.replace("buf", name).replace("BODY", f"{STORE}\n{LOADS[0]}")
    report = tile.sim.launch(
        text, "k", 1, 64, [np.zeros(64, np.int32)], dynamic_shared=256, raise_on_finding=False
    )
    assert f"shared memory at {shown}" in report.messages[0]


def test_the_dynamic_array_follows_the_static_ones():
    """Each keeps its name, also next to the gap between the two."""
    text = PAIRS.replace(".visible", ".extern .shared .align 16 .b8 buf[];\n.visible").replace(
        "BODY",
        "mov.u32 %r10, buf; st.shared.u32 [%r3], %r1;\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r2+OFFSET], %r1;",
    ).replace(".reg .b32", ".reg .pred %p<2>; .reg .b32")  # fmt: skip
    named = [
        re.search(r" at (\S+)", tile.sim.launch(
            text.replace("%r2+OFFSET", at), "k", 1, 64, [np.zeros(64, np.int32)],
            dynamic_shared=8, raise_on_finding=False,
        ).messages[0])[1]
        for at in ("%r2+2560", "%r10+8")
    ]  # fmt: skip
    assert named == ["s[640]", "buf[2]"]


def test_the_summary_says_the_name_of_the_source():
    text = PAIRS.replace("BODY", "").replace("k(", "_Z7reversePfS_i(")
    report = tile.sim.launch(text, "_Z7reversePfS_i", 1, 64, [np.zeros(64, np.int32)])
    assert report.summary().startswith("reverse(float*, float*, int)  grid (1, 1, 1)")


def test_cells_of_a_notebook_are_named_as_its_tracebacks_do(monkeypatch):
    compiler = types.SimpleNamespace(
        format_code_name=lambda name: ("Cell", "In[5]") if name == __file__ else None
    )
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    place = tile.compiler.errors.SourceRange(__file__, 1)
    assert place.render().startswith("  Cell In[5], line 1\n")
    assert tile.compiler.errors.SourceRange("a.py", 1).render().startswith('  File "a.py", line 1')
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace())
    assert place.render().startswith(f'  File "{__file__}"')


CELL = """
import tile
import tile.language as tl

@tile.jit
def outside(x):
    tl.store(x + tl.arange(0, 8), 1.0)

@tile.jit
def refused(x):
    tl.store(x + tl.arange(0, 8), tl.relu(1.0))
"""


@pytest.fixture
def cell(monkeypatch):
    """The names of a cell that a notebook ran: its source is in no file."""
    name = "/tmp/ipykernel_77/3456.py"
    monkeypatch.setitem(linecache.cache, name, (len(CELL), None, CELL.splitlines(True), name))
    compiler = types.SimpleNamespace(
        format_code_name=lambda file: ("Cell", "In[7]") if file == name else None
    )
    shell = types.SimpleNamespace(compile=compiler)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    names = {"__name__": "__main__"}
    exec(compile(CELL, name, "exec"), names)
    return names


@pytest.mark.simulator
@pytest.mark.parametrize("run", ["simulate", "interpret"])
@pytest.mark.parametrize(("kernel", "line"), [("outside", 7), ("refused", 11)])
def test_errors_in_a_notebook_show_the_cell(cell, run, kernel, line):
    with pytest.raises(tile.TileError) as caught:
        getattr(cell[kernel], run)(np.zeros(4, np.float32), grid=(1,))
    text = CELL.splitlines()[line - 1]
    assert f"  Cell In[7], line {line}, in {kernel}\n{text}\n" in str(caught.value)


def test_reports_of_a_notebook_show_the_cell(cell):
    report = cell["outside"].simulate(np.zeros(8, np.float32), grid=(1,))
    for text in (report.annotated(), re.sub(r"<[^>]*>", "", report.html())):
        assert "tl.store(x + tl.arange(0, 8), 1.0)" in text and "Cell In[7]" in text


AROUND = HEADER + """.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  setp.gt.u32 %p1, %r1, 6;
BODY
}
"""  # fmt: skip
WRITE = "st.global.u32 [%rd3], %r1;"


@pytest.mark.parametrize(
    ("body", "is_wrong"),
    [
        (f"@%p1 bra L;\nbar.sync 0;\nL: {WRITE} ret;", True),
        (f"@!%p1 bra L;\n{WRITE} bra M;\nL: bar.sync 0;\nM: {WRITE} ret;", True),
        (f"@!%p1 bar.sync 0;\n{WRITE} ret;", True),
        (f"@!%p1 barrier.sync 0;\n{WRITE} ret;", False),
        # Early returns take no part in barriers.
        (f"@%p1 bra L;\nbar.sync 0;\n{WRITE}\nL: ret;", False),
        (f"@%p1 ret;\nbar.sync 0;\n{WRITE} ret;", False),
        (f"@!%p1 bra L;\n{WRITE} ret;\nL: bar.sync 0;\n{WRITE} ret;", False),
        (f"bar.sync 0;\n@%p1 bra L;\n{WRITE}\nL: ret;", False),
        (f"bar.sync 0;\n@%p1 bra L;\n{WRITE} ret;\nL: {WRITE} ret;", False),
    ],
)
def test_a_barrier_that_some_threads_go_around(body, is_wrong):
    for seed in (0, 1, 2, 3):
        report = tile.sim.launch(AROUND.replace("BODY", body), "k", 1, 64, [np.zeros(64, np.int32)], schedule_seed=seed, raise_on_finding=False)  # fmt: skip
        assert {f["kind"] for f in report.findings} == (
            {"barrier-divergence"} if is_wrong else set()
        ), report.messages


def test_every_kind_of_finding_is_described():
    text = "\n".join(path.read_text() for path in (ROOT / "lib/Simulator").rglob("*.[ch]*"))
    calls = re.findall(r'(?:fail|note)\([^;"]*?,\s*"([a-z0-9-]+)",', text)
    named = set(calls) | set(re.findall(r'kind = "([a-z0-9-]+)"', text))
    named |= {kind for kind, _ in RULES}
    assert {"race", "out-of-bounds", "deadlock"} <= named
    assert named <= set(KINDS), named - set(KINDS)
    for described in KINDS.values():
        assert described.endswith(".") and len(described) < 100


def test_sarif_has_relative_files_and_rules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = run_pairs(f"{STORE}\n{LOADS[0]}")
    for name, uri in ((str(tmp_path / "a b.ptx"), "a%20b.ptx"), ("k.ptx", "k.ptx")):
        (run,) = report.sarif(name)["runs"]
        where = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert where == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == f"{tmp_path.as_uri()}/"
    (run,) = report.sarif("/elsewhere/k.ptx")["runs"]
    where = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert where == {"uri": "file:///elsewhere/k.ptx"}
    driver = run["tool"]["driver"]
    assert driver["version"] == tile.__version__
    assert [rule["shortDescription"]["text"] for rule in driver["rules"]] == [KINDS["race"]]
