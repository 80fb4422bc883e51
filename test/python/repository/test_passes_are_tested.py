"""Every pass that the project defines has a lit test that runs it by its name."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: TableGen's definition of a pass.
PASS = re.compile(r'^def \w+\s*:\s*(?:Interface)?Pass<\s*"([^"]+)"', re.MULTILINE)


def defined_passes() -> set[str]:
    return {
        name
        for top in ("include", "third_party")
        for file in (ROOT / top).rglob("*Passes.td")
        for name in PASS.findall(file.read_text())
    }


def passes_run_by_tests() -> set[str]:
    """The words of all command lines of lit tests, however they give options."""
    return {
        word.lstrip("-")
        for folder in [ROOT / "test/lit", *ROOT.glob("third_party/*/test/lit")]
        for file in folder.rglob("*")
        if file.suffix in {".mlir", ".ttir", ".ttgir", ".test", ".ll"}
        for line in file.read_text().splitlines()
        if "RUN:" in line
        for word in re.findall(r"[\w-]+", line)
    }


def test_definitions_are_found():
    assert {"tritongpu-coalesce", "convert-warp-specialize-to-llvm"} <= defined_passes()


def test_pages_name_passes_that_exist():
    """Or names of other compilers' passes, which tile-opt takes as well."""
    named = {
        (page.relative_to(ROOT).as_posix(), name)
        for page in (ROOT / "docs").rglob("*.md")
        if page.parent.name != "generated"
        for name in re.findall(
            r"`((?:tritongpu|tritonamdgpu|triton-nvidia)-[a-z0-9-]+)`", page.read_text()
        )
    }
    others = [
        ROOT / "lib/Pipeline/UnavailablePasses.cpp",
        *ROOT.glob("third_party/*/lib/Pipelines/OtherNames.cpp"),
    ]
    known = defined_passes().union(*(re.findall(r'"([\w-]+)"', f.read_text()) for f in others))
    assert sorted((page, name) for page, name in named if name not in known) == []


def test_every_pass_is_run_by_name():
    assert sorted(defined_passes() - passes_run_by_tests()) == []
