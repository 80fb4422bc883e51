"""The tables of LLVM's faults, the page about them, and what shows them, say the same."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/rationale/llvm-22.md"


def rows(columns: int = 6) -> dict[str, list[str]]:
    """The rows of the table with so many columns. Faults with a workaround have six."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row for row in cells if len(row) == columns and row[0][0] == "`"}


def test_page_and_tables_agree():
    tables = {}
    for file in sorted(ROOT.glob("third_party/*/lib/Target/LLVM22/Workarounds.cpp")):
        text = file.read_text()
        assert "static_assert(LLVM_VERSION_MAJOR == 22" in text
        tables |= dict(re.findall(r'\.name = "([\w-]+)",\s*\.component = "(\w+)"', text))
    assert {name: cells[1].strip("`") for name, cells in rows().items()} == tables


def test_what_shows_a_fault_exists():
    reproducers = {p.stem for p in ROOT.glob("third_party/*/test/lit/LLVM22/*.ll")}
    assert reproducers <= rows().keys() | rows(columns=5).keys()
    for name, cells in rows().items():
        shown = cells[4]
        assert ("LLVM22/" in shown) == (name in reproducers), name
        for test, file in re.findall(r"`(test_\w+)` in `([\w/.]+)`", shown):
            assert f"def {test}(" in (ROOT / file).read_text(), test
        files = re.findall(r"`(\w+\.cpp)`", cells[5])
        assert all(list(ROOT.glob(f"third_party/*/lib/Target/LLVM22/{f}")) for f in files), name
    for cells in rows(columns=5).values():  # Those that are refused.
        for test, file in re.findall(r"`(test_\w+)` in `([\w/.]+)`", cells[4]):
            assert f"def {test}(" in (ROOT / file).read_text(), test


def test_every_file_has_a_row():
    named = {f for cells in rows().values() for f in re.findall(r"`(\w+\.cpp)`", cells[5])}
    files = {p.name for p in ROOT.glob("third_party/*/lib/Target/LLVM22/*.cpp")}
    refused = {name.title().replace("-", "") + ".cpp" for name in rows(columns=5)}
    assert files - {"Workarounds.cpp"} == named | refused


def test_nobody_else_sets_options_of_the_process():
    users = [
        p.relative_to(ROOT).as_posix()
        for top in ("lib", "third_party", "tools", "python/src")
        for p in (ROOT / top).rglob("*.cpp")
        if re.search(r"getRegisteredOptions\(\)\.(lookup|find)|addOccurrence|ParseCommandLine",
                     p.read_text())
    ]  # fmt: skip
    assert users == ["lib/Target/LLVMFlagScope.cpp"]
