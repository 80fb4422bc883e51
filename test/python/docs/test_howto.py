"""What docs/howto tells people to write compiles as it stands there."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import textwrap
from pathlib import Path

import pytest
from reference import sim_only

pytestmark = sim_only

ROOT = Path(__file__).parents[3]
COMMANDS = ROOT / "build" / "compile_commands.json"
TRANSFORMS = Path("tile/Dialect/TritonGPU/Transforms")


def block(page: str, language: str) -> str:
    """The only block of a language on a page."""
    text = (ROOT / "docs" / "howto" / page).read_text()
    (found,) = re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.S | re.M)
    return textwrap.dedent(found)


@pytest.mark.skipif(not COMMANDS.exists(), reason="not a development build")
def test_the_pass_of_the_howto_compiles(tmp_path):
    entry = next(
        e for e in json.loads(COMMANDS.read_text()) if e["file"].endswith("Transforms/Prefetch.cpp")
    )
    words = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(words) if word.endswith("clang++"))
    llvm = Path(words[compiler]).parent

    # The record goes where the page says; the declarations are made as the build makes them.
    record = block("add-a-pass.md", "tablegen")
    passes = (ROOT / "include" / TRANSFORMS / "Passes.td").read_text()
    head, end, tail = passes.rpartition("#endif")
    (tmp_path / "Passes.td").write_text(head + record + end + tail)
    headers = tmp_path / TRANSFORMS
    headers.mkdir(parents=True)
    includes = ["-I", ROOT / "include", "-I", llvm.parent / "include"]
    subprocess.run(
        [llvm / "mlir-tblgen", "-gen-pass-decls", "-name=TritonGPU", *includes,
         tmp_path / "Passes.td", "-o", tmp_path / "Upstream.h.inc"],
        check=True,
    )  # fmt: skip
    subprocess.run(
        ["cmake", f"-DIN={tmp_path / 'Upstream.h.inc'}", f"-DOUT={headers / 'Passes.h.inc'}",
         "-P", ROOT / "cmake" / "CountingStatistics.cmake"],
        check=True,
    )  # fmt: skip

    source = tmp_path / "MyPass.cpp"
    source.write_text(block("add-a-pass.md", "cpp"))
    flags = words[compiler + 1 :]
    del flags[flags.index("-o") : flags.index("-o") + 2]
    flags = [flag for flag in flags if flag not in ("-c", entry["file"])]
    done = subprocess.run(
        [words[compiler], f"-I{tmp_path}", *flags, "-Werror", "-fsyntax-only", source],
        cwd=entry["directory"], capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_files_of_the_howto_exist():
    """The example of an operation touches eight, which are where the page says."""
    text = (ROOT / "docs" / "howto" / "add-an-op.md").read_text()
    files = re.findall(r"^\| [\d, ]+ \| `([^`]+)` \|", text, re.M)
    assert len(files) == 8
    named = re.findall(r"`((?:lib|test|python|scripts)/[\w/.-]+)`", text)
    assert [name for name in [*files, *named] if not (ROOT / name).exists()] == []


def test_the_programs_that_pages_name_are_installed():
    if not COMMANDS.exists():
        pytest.skip("not a development build")
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        program
        for page in pages
        for program in re.findall(r"(?:\.venv|build)/bin/[\w-]+", page.read_text())
    }
    assert {".venv/bin/python", "build/bin/tile-opt"} <= named
    assert [program for program in sorted(named) if not (ROOT / program).exists()] == []
