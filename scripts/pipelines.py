#!/usr/bin/env python3
"""Writes the tables of passes in docs/generated/pipelines.md: one for each stage of the compiler.

    scripts/pipelines.py --write FILE    # docs.sh calls it so
    scripts/pipelines.py --check         # the page is up to date

tile-opt says which passes a pipeline has. TableGen's files say what a pass is for.
check_attributes.py says which attributes its source file, and what this includes of the same
folder, writes and reads.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import check_attributes

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/generated/pipelines.md"
TILE_OPT = ROOT / os.environ.get("TILE_BUILD", "build") / "bin/tile-opt"
#: Headings, and pipelines with their options.
PIPELINES = {
    "NVIDIA: `ttir`": "tile-nvidia-ttir",
    "NVIDIA: `ttgir`": "tile-nvidia-ttgir{target=cuda:90}",
    "NVIDIA: `ttgir` of programs with explicit layouts": "tile-nvidia-gluon",
    "NVIDIA: `llir`": "tile-nvidia-llir",
    "AMD: `ttir`": "tile-amd-ttir",
    "AMD: `ttgir`": "tile-amd-ttgir{target=hip:gfx942}",
    "AMD: `ttgir` of programs with explicit layouts": "tile-amd-gluon",
    "AMD: `llir`": "tile-amd-llir",
}
PASS = re.compile(r'^def (\w+)\s*:\s*(?:Interface)?Pass<\s*"([^"]+)"(.*?)^\}', re.M | re.S)
SUMMARY = re.compile(r'let\s+summary\s*=\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
INCLUDE = re.compile(r'^#include "([^"]+)\.h"', re.MULTILINE)


class Pass(NamedTuple):
    summary: str
    sources: list[str]


def includes_of_its_folder(file: Path) -> list[Path]:
    """What a pass has in other files: headers beside it, or of its dialect's transforms."""
    found = []
    for name in INCLUDE.findall(file.read_text()):
        if "/" not in name:
            found += [file.parent / f"{name}.cpp", file.parent / f"{name}.h"]
        elif re.match(r"tile/.*/Transforms/(?!Passes$)", name):
            folder = ROOT / "lib" / Path(name).parent.relative_to("tile")
            found += sorted(folder.rglob(f"{Path(name).name}.cpp"))
    return [path for path in found if path.is_file()]


def defined_passes() -> dict[str, Pass]:
    by_definition = {}
    for top in ("lib", "third_party"):
        for file in sorted((ROOT / top).rglob("*.cpp")):
            for name in re.findall(r"GEN_PASS_DEF_(\w+)", file.read_text()):
                by_definition[name] = file
    found = {}
    for top in ("include", "third_party"):
        for file in sorted((ROOT / top).rglob("*Passes.td")):
            for definition, name, body in PASS.findall(file.read_text()):
                summary = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', SUMMARY.search(body)[1]))
                source = by_definition.get(definition.upper())
                sources = [source, *includes_of_its_folder(source)] if source else []
                found[name] = Pass(summary, [x.relative_to(ROOT).as_posix() for x in sources])
    return found


def run_tile_opt(*arguments: str) -> str:
    done = subprocess.run([TILE_OPT, *arguments], input="module {}", capture_output=True, text=True)
    return done.stdout + done.stderr


def passes_of(pipeline: str) -> list[str]:
    text = run_tile_opt(f"--pass-pipeline=builtin.module({pipeline})", "--dump-pass-pipeline")
    begin = text.index("builtin.module(\n")
    listed = text[begin : text.index("\n)\n", begin)].splitlines()[1:]
    return [re.match(r"\s*([\w-]+)", line)[1] for line in listed if re.match(r"\s*[\w-]+", line)]


def tests() -> dict[str, list[str]]:
    """For each word of a command line of a lit test, the tests that have it."""
    found: dict[str, set[str]] = {}
    for folder in [ROOT / "test/lit", *sorted(ROOT.glob("third_party/*/test/lit"))]:
        for file in sorted(folder.rglob("*.mlir")):
            for line in file.read_text().splitlines():
                if "RUN:" in line:
                    for word in re.findall(r"[\w-]+", line):
                        found.setdefault(word.lstrip("-"), set()).add(
                            file.relative_to(ROOT).as_posix()
                        )
    return {name: sorted(files) for name, files in found.items()}


def best_test(name: str, source: str, files: list[str]) -> str:
    """The test called like the pass, or else the first one of the folder that mirrors its own."""
    folders = set(Path(source).parent.parts)
    return min(
        files,
        key=lambda file: (
            not name.endswith(Path(file).stem),
            -len(folders & set(Path(file).parent.parts)),
            file,
        ),
    )


def table(names: list[str], known: dict[str, Pass], attributes, test_of) -> list[str]:
    lines = ["| pass | what it does | reads | writes | test |", "|---|---|---|---|---|"]
    for name in names:
        own = known[name]
        reads = [n for n, a in sorted(attributes.items()) if a.readers & set(own.sources)]
        writes = [n for n, a in sorted(attributes.items()) if a.writers & set(own.sources)]
        test = best_test(name, own.sources[0], test_of[name]) if own.sources else None
        cells = [
            f"`{name}`",
            own.summary,
            ", ".join(f"`{x}`" for x in reads),
            ", ".join(f"`{x}`" for x in writes),
            f"[{Path(test).name}](../../{test})" if test else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def page() -> str:
    attributes = check_attributes.find_attributes()
    check_attributes.find_users(attributes)
    known = defined_passes()
    # Passes of MLIR itself.
    for name, summary in re.findall(r"^ +--([\w-]+) +- +(.*)$", run_tile_opt("--help"), re.M):
        known.setdefault(name, Pass(summary, []))
    test_of = tests()
    lines = [
        "<!-- Made by scripts/pipelines.py. -->",
        "# Pipelines",
        "",
        "The passes of each stage, in their order. *Reads* and *writes* are the discardable",
        "[attributes](attributes.md) by which passes tell each other something. A pass without a",
        "test is one of MLIR.",
    ]
    for heading, pipeline in PIPELINES.items():
        lines += [
            "",
            f"## {heading}",
            "",
            f"`tile-opt -pass-pipeline='builtin.module({pipeline})'`",
        ]
        lines += ["", *table(passes_of(pipeline), known, attributes, test_of)]
    return "\n".join(lines) + "\n"


def main() -> int:
    text = page()
    if sys.argv[1:2] == ["--write"]:
        Path(sys.argv[2]).write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print(
            "error: docs/generated/pipelines.md is not up to date: run make docs", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
