"""What type checkers and editors know of the language: its stub, by mypy and by pyright."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tile.tools import explicit_stubs, stubs

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
STUB = ROOT / "python" / "tile" / "language" / "__init__.pyi"
LIBRARY = STUB.parent / "extra" / "libdevice.pyi"
MISTAKES = Path(__file__).with_name("mistakes.py")
EXPLICIT = MISTAKES.with_name("explicit_mistakes.py")

#: Parameters of kernels have no types: the arguments of a launch give them.
OPTIONS = [
    "--strict", "--allow-untyped-defs", "--allow-untyped-calls", "--allow-incomplete-defs",
    "--allow-untyped-decorators", "--no-warn-return-any", "--ignore-missing-imports",
    "--follow-imports=silent", "--no-error-summary",
]  # fmt: skip


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """Where mypy keeps what it knows of Python's library, of NumPy and of tile: it reads each of
    these once for all tests."""
    return tmp_path_factory.mktemp("mypy")


def check(cache: Path, *files: Path | str) -> str:
    """What mypy says about files."""
    pytest.importorskip("mypy")
    path = ":".join(str(ROOT / folder) for folder in ("python", "examples", "examples/gluon"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *OPTIONS, f"--cache-dir={cache}", *map(str, files)],
        env={"MYPYPATH": path, "PATH": ""}, capture_output=True, text=True, cwd=cache,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout


def test_the_stub_says_what_is_there():
    made = {STUB: stubs.render(), LIBRARY: stubs.render_libdevice()}
    for stub, text in made.items():
        assert stub.read_text() == text, f"run `python -m tile.tools.stubs {STUB}`"


def programs(folder: Path) -> list[Path]:
    """The programs of pages, those in the text of a page as files of their own. Explicit layouts
    have no types yet."""
    found = sorted((ROOT / "docs" / "tutorials").glob("*.py"))
    found = [file for file in found if "explicit-layouts" not in file.name]
    for page in (ROOT / "README.md", ROOT / "docs" / "quickstart.md"):
        for number, block in enumerate(BLOCK.findall(page.read_text())):
            path = folder / f"{page.stem.lower()}_{number}.py"
            path.write_text(block)
            found.append(path)
    assert len(found) >= 14
    return found


def examples() -> list[Path]:
    return sorted((ROOT / "examples").glob("*.py"))


def test_correct_programs_pass(cache):
    assert check(cache, STUB, LIBRARY, *examples()) == ""


def test_programs_of_pages_pass(cache, tmp_path):
    assert check(cache, "--scripts-are-modules", *programs(tmp_path)) == ""


def pyright(folder: Path, *files: Path) -> list[tuple[str, int]]:
    """What pyright marks in files. The package of its name that PyPI has as a whole is a fork."""
    pytest.importorskip("basedpyright")
    settings = {
        "typeCheckingMode": "standard", "include": [str(file) for file in files],
        "extraPaths": [str(ROOT / "python"), str(ROOT / "examples")], "pythonVersion": "3.11",
        "reportMissingImports": False, "reportMissingModuleSource": False,
        # A part of a tutorial sets what a later one reads.
        "reportPossiblyUnbound": False, "reportPossiblyUnboundVariable": False,
    }  # fmt: skip
    project = folder / "pyrightconfig.json"
    project.write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", "-p", str(project), "--outputjson",
         "--pythonpath", sys.executable],
        capture_output=True, text=True,
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] >= len(files)
    return sorted(
        (f"{Path(one['file']).name}: {one['message']}", one["range"]["start"]["line"] + 1)
        for one in report["generalDiagnostics"]
        if one["severity"] == "error"
    )


def test_pyright_passes_what_is_correct(tmp_path):
    # torch, whose decorators that one uses, is not installed everywhere.
    known = [file for file in examples() if file.name != "torch_op.py"]
    assert pyright(tmp_path, *known, *programs(tmp_path)) == []


def test_pyright_marks_mistakes_and_nothing_else(tmp_path):
    marked = {line for _, line in pyright(tmp_path, MISTAKES)}
    lines = MISTAKES.read_text().splitlines()
    assert marked == {n for n, line in enumerate(lines, 1) if line.endswith("# error")}


@pytest.mark.parametrize("mistakes", [MISTAKES, EXPLICIT], ids=["tl", "gl"])
def test_mistakes_are_marked_and_nothing_else(mistakes, cache):
    marked = {int(line) for line in re.findall(r":(\d+): error:", check(cache, mistakes))}
    lines = mistakes.read_text().splitlines()
    assert marked == {n for n, line in enumerate(lines, 1) if line.endswith("# error")}


def test_explicit_programs_pass(cache):
    programs = sorted((ROOT / "examples" / "gluon").glob("*.py"))
    assert check(cache, *programs) == ""


@pytest.mark.parametrize("module", explicit_stubs.MODULES)
def test_stubs_of_explicit_layouts_are_up_to_date(module):
    """`python -m tile.tools.stubs python/tile/language/__init__.pyi` writes them anew."""
    assert explicit_stubs.path_of(module).read_text() == explicit_stubs.render(module)
