"""bench/regress.py: what is compared with the table, whose change it is, a planted slow-down."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from measured import BENCH, quality
from reference import sim_only

from tile import _C

check, history, kernels, rows, sweep, table = map(
    quality, ("check", "history", "kernels", "rows", "sweep", "table")
)
tools = check.nvidia_tools()
pytestmark = sim_only
needs_ptxas = pytest.mark.skipif(tools.ptxas_path() is None, reason="needs ptxas")

ROW = rows.Row("k, 4 warps", 100, 0, 1000, 4096, 16, 2.5, "0123456789ab")


# The table of the repository.


def test_the_table_has_250_kernels_on_seven_targets():
    names = set(kernels.known_kernels())
    assert len(names) == 250 and len(table.TARGETS) == 7
    for target in table.TARGETS:
        assert set(table.read(target).rows) == names, target


def test_the_page_is_of_the_table():
    tables = {target: table.read(target) for target in table.TARGETS}
    assert (BENCH / "REGRESS.md").read_text() == table.summary(tables), (
        "python bench/regress.py update writes it"
    )


def test_a_table_is_read_as_it_was_written(tmp_path):
    written = table.Table(
        "ptxas 13.5", {r.kernel: r for r in (ROW, rows.Row("a", text=rows.REFUSED))}
    )
    table.write("cuda:90", written, tmp_path)
    assert table.read("cuda:90", tmp_path) == written
    lines = table.path_of("cuda:90", tmp_path).read_text().splitlines()
    assert lines[2:] == ["a" + "\t-" * 6 + "\trefused", lines[3]]  # Sorted.
    assert table.line_of("cuda:90", ROW.kernel, tmp_path) == 4


@pytest.mark.parametrize("name", ["registers", "spills", "instructions", "shared", "warps"])
def test_what_is_worse(name):
    """Each number, by what is more than 5% and by what is not, in both directions."""
    before = replace(ROW, **{name: 1000})
    for now, expected in ((1000, None), (1050, None), (1051, True), (953, None), (952, False)):
        found = table.changes("cuda:90", before, replace(before, **{name: now}), True)
        if name == "warps" and expected is not None:
            expected = not expected
        assert [change.worse for change in found] == ([] if expected is None else [expected])


def test_the_first_spill_and_a_refusal_are_worse():
    (spill,) = table.changes("cuda:90", ROW, replace(ROW, spills=1), True)
    assert spill.worse and "spills 0 -> 1" in str(spill)
    refused = rows.Row(ROW.kernel, text=rows.REFUSED)
    assert [c.worse for c in table.changes("cuda:90", ROW, refused, True)] == [True]
    assert [c.worse for c in table.changes("cuda:90", refused, ROW, True)] == [False]


def test_another_ptxas_is_not_compared():
    now = replace(ROW, registers=200, instructions=9000, shared=8192)
    (found,) = table.changes("cuda:90", ROW, now, same_assembler=False)
    assert found.what == "shared"


def test_shares_have_each_kernel_and_all_of_them_everything():
    pairs = check.all_tasks(table.TARGETS, "")
    shares = [check.share_of(pairs, number) for number in range(check.SHARES)]
    for share in shares:
        assert {name for name, _ in share} == set(kernels.known_kernels())
        assert {target for _, target in share} == set(table.TARGETS)
        assert len(share) <= len(pairs) / check.SHARES + 1
    assert sorted(pair for share in shares for pair in share) == sorted(pairs)


# What is measured.


def section(name: int, kind: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)


def elf(code: bytes) -> bytes:
    """An ELF file with the code in `.text.k`."""
    names = b"\0.text.k\0.shstrtab\0"
    at = 64 + len(code) + len(names)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, at, 0, 64, 0, 0, 64, 3, 2)
    table = section(0, 0, 0, 0) + section(1, 1, 64, len(code))
    return head + code + names + table + section(9, 3, 64 + len(code), len(names))


def test_instructions_of_a_cubin_are_counted_without_what_fills_it_up():
    one = lambda operation: struct.pack("<Q", operation) + bytes(8)  # noqa: E731
    code = [0x7221] * 5 + [0x7918] + [0x794D] + [0x7947] + [0x7918] * 8
    # A NOP in between is an instruction; the branch to itself and the NOPs behind it are none.
    assert rows.machine_instructions(elf(b"".join(map(one, code)))) == 7


def test_comments_are_no_text():
    text = rows.text_hash("add.s32 %r1, 1; // a\n\n// b\n", "cuda")
    assert text == rows.text_hash("\tadd.s32 %r1, 1;\n", "cuda") != rows.text_hash("add", "cuda")
    amd = rows.text_hash('v_add v0 ; a\n.ident "LLVM"\n', "hip")
    assert amd == rows.text_hash("v_add v0\n", "hip")


def test_recorded_kernels_are_modules_and_their_pointers_small_on_amd():
    for path in kernels.RECORDED.glob("*.ttir"):
        text = path.read_text()
        small = kernels.with_small_pointers(text)
        head = small.partition(") attributes {")[0]
        pointers = len(re.findall(r": !tt\.ptr<", head))
        assert head.count("tt.pointer_range = 32 : i32") == pointers, path.name
        for one in (text, small):
            _C.ir.Module.parse(one, _C.ir.Context(), path.name).verify()
        assert set(kernels.of_file(path).options) <= {"num_warps", "num_stages", "num_ctas"}


# A planted slow-down.

MATCH = r"^(layernorm fp16 1024, 4 warps|flag_gems.rms_norm_kernel)$"


def regress(*words: str, **environment: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(BENCH / "regress.py"), *words, "--jobs", "1"]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )


@needs_ptxas
def test_a_planted_slow_down_is_caught_and_an_improvement_offered(tmp_path):
    tables = tmp_path / "tables"
    words = ("--target", "cuda:80", "--match", MATCH, "--tables", str(tables))
    lacking = regress("check", *words)
    assert lacking.returncode == 1 and "not in the table: cuda:80" in lacking.stdout
    done = regress("update", *words)
    assert done.returncode == 0, done.stderr
    same = regress("check", *words)
    assert same.returncode == 0, same.stdout + same.stderr
    assert "2 compiles; 0 texts differ" in same.stdout
    # An optimisation is lost: accesses are no longer wide.
    planted = regress("check", *words, TILE_DISABLE_PASSES="tritongpu-coalesce")
    assert planted.returncode == 1, planted.stdout
    assert re.search(
        r"^worse: cuda:80  layernorm .*: instructions \d+ -> \d+", planted.stdout, re.M
    )
    assert "in no commit yet" in planted.stdout
    # The other way round, the code of now is better than the table's.
    slow = regress("update", *words, TILE_DISABLE_PASSES="tritongpu-coalesce")
    assert "worse: cuda:80" in slow.stdout
    better = regress("check", *words)
    assert better.returncode == 0 and "better: cuda:80  layernorm" in better.stdout
    assert "regress.py update" in better.stdout


def test_without_ptxas_the_rest_is_compared(monkeypatch):
    monkeypatch.setattr(tools, "ptxas_path", lambda arch=0: None)
    task = sweep.Task(ROW.kernel, "cuda:90", ROW.text)
    now = replace(ROW, registers=None, spills=None, instructions=None, warps=None, shared=8192)
    tables = {"cuda:90": table.Table("ptxas 13.5", {ROW.kernel: ROW})}
    found = check.compare([sweep.Result(task, replace(now, text="other"))], tables)
    assert [change.what for change in found.worse] == ["shared"]
    assert "no ptxas" in found.notes["cuda:90"]


def test_a_sum_of_compile_times_is_compared():
    tables = {"hip:gfx942": table.Table("", {ROW.kernel: ROW})}
    for now, slower in ((3.0, False), (4.0, True)):
        result = sweep.Result(
            sweep.Task(ROW.kernel, "hip:gfx942", ROW.text), replace(ROW, compile=now)
        )
        assert check.compare([result], tables).slower == slower


def test_times_near_the_old_ones_leave_the_table_alone():
    assert table.kept_time(ROW, 3.0) == 2.5 and table.kept_time(ROW, 4.44) == 4.4
    assert table.kept_time(None, 1.234) == 1.2


# Whose change it is.


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@x"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """Five commits of a compiler, whose third makes code worse; the table is of the first."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    table.write("cuda:90", table.Table("ptxas 13.5", {ROW.kernel: ROW}), folder / "bench/tables")
    (folder / "lib").mkdir()
    for number, code in enumerate(["good"] * 2 + ["bad"] * 3, 1):
        (folder / "lib/Pass.cpp").write_text(f"{code}\n{number}\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"Commit {number}")
    (folder / "README").write_text("A page\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Write a page")
    return folder


def test_the_commits_since_a_row_was_measured_are_named(repository):
    change = table.Change("cuda:90", ROW.kernel, "registers", 100, 120, True)
    said = history.explain([change], repository / "bench/tables")
    assert "1 rows were measured last at" in said and "Commit 1" in said.splitlines()[0]
    assert [line.split(" ", 5)[-1] for line in said.splitlines()[2:6]] == [
        f"Commit {number}" for number in (5, 4, 3, 2)
    ]
    assert "Write a page" not in said  # Nothing is compiled by it.
    assert "bench/regress.py bisect cuda:90 'k, 4 warps'" in said
    assert "working tree" not in said
    (repository / "lib/Pass.cpp").write_text("worse\n")
    assert "working tree" in history.explain([change], repository / "bench/tables")


@pytest.mark.parametrize(
    "broken, found", [("5", ["3"]), ("3", ["4", "3"]), ("2", ["3", "2"]), ("[45]", ["3"])]
)
@pytest.mark.parametrize("builds", [False, True])
def test_bisection_finds_the_commit(builds, broken, found, repository, tmp_path):
    """Commits that do not build, or with which the program ends by an error, say nothing: where one
    is beside the first that is worse, it could be either."""
    good = git(repository, "rev-list", "--max-parents=0", "HEAD")
    program = "grep -q good lib/Pass.cpp && echo '1 compiles; 0 texts' || echo 'worse: cuda:90  k'"
    build = f"! grep -q '^{broken}$' lib/Pass.cpp"
    if builds:
        program, build = f"{build} && {{ {program}; }}", "true"
    command = history.judge(build, f"({program})", tmp_path / "said")
    said = history.bisect(repository, tmp_path / "tree", good, "HEAD", command)
    assert sorted(one[-1] for one in said) == sorted(found)
    assert not (tmp_path / "tree").exists() and "tree" not in git(repository, "worktree", "list")
