"""The tables of LLVM's faults, the page about them, and what shows them, say the same."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/rationale/llvm-22.md"


def rows() -> dict[str, list[str]]:
    lines = [line.strip("|").split("|") for line in PAGE.read_text().splitlines() if "|" in line]
    return {cells[0].strip(" `"): [c.strip() for c in cells] for cells in lines[2:]}


def test_page_and_tables_agree():
    tables = {}
    for file in sorted(ROOT.glob("third_party/*/lib/Target/LLVM22/Workarounds.cpp")):
        text = file.read_text()
        assert "static_assert(LLVM_VERSION_MAJOR == 22" in text
        tables |= dict(re.findall(r'\.name = "([\w-]+)",\s*\.component = "(\w+)"', text))
    assert {name: cells[1].strip("`") for name, cells in rows().items()} == tables


def test_what_shows_a_fault_exists():
    reproducers = {p.stem for p in ROOT.glob("third_party/*/test/lit/LLVM22/*.ll")}
    assert reproducers <= rows().keys()
    for name, cells in rows().items():
        shown = cells[4]
        assert ("LLVM22/" in shown) == (name in reproducers), name
        for test, file in re.findall(r"`(test_\w+)` in `([\w/.]+)`", shown):
            assert f"def {test}(" in (ROOT / file).read_text(), test
        files = re.findall(r"`(\w+\.cpp)`", cells[5])
        assert all(list(ROOT.glob(f"third_party/*/lib/Target/LLVM22/{f}")) for f in files), name


def test_every_file_has_a_row():
    named = {f for cells in rows().values() for f in re.findall(r"`(\w+\.cpp)`", cells[5])}
    files = {p.name for p in ROOT.glob("third_party/*/lib/Target/LLVM22/*.cpp")}
    assert files - {"Workarounds.cpp"} == named


def test_nobody_else_sets_options_of_the_process():
    users = [
        p.relative_to(ROOT).as_posix()
        for top in ("lib", "third_party", "tools", "python/src")
        for p in (ROOT / top).rglob("*.cpp")
        if re.search(r"getRegisteredOptions\(\)\.(lookup|find)|addOccurrence|ParseCommandLine",
                     p.read_text())
    ]  # fmt: skip
    assert users == ["lib/Target/LLVMFlagScope.cpp"]
