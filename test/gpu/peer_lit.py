"""Runs Triton's own lit tests with tile-opt, and counts the files and sections that pass.

    test/gpu/peer_lit.py FOLDER [FILE...]

FOLDER is the `test` folder of Triton's repository. Without FILE all files of its subfolders run. A
file is *read* if tile-opt parses and verifies it, but for sections (between lines of `// -----`)
that expect errors. A file, and each of its sections, *passes* if all its RUN lines do.
With --why, the first error of each section that fails is printed. At the end, sections that fail
are counted by their cause.

A section that fails is also compared in what it means, and counted apart:

- Where it expects errors, tile-opt may refuse the same lines in other words, when it reads them or
  when it converts them to LLVM.
- Where it looks for text, tile-opt may print every operation and instruction that the lines name,
  at least as often as they do. A section of a conversion to LLVM first gets the passes that choose
  places in shared and tensor memory. This says nothing about their order and operands.

What tile-opt prints is compared in Triton's spelling: `ttng.` for `ttnvgpu.`, and descriptors
without `tensor<>`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = re.compile(r"// ?RUN: ?(.*)")
SPELLING = (
    r"s/ttnvgpu[.]/ttng./g; s/tensordesc<tensor<([^<>]*)>>/tensordesc<\1>/g; "
    r"/make_tensor_descriptor/s/<tensor<([^<>]*)>>/<\1>/"
)
SECTION = re.compile(r"^// -----.*$", re.MULTILINE)
#: What a section fails for, by its first error. The first expression that matches names it.
CAUSES = {
    r"unexpected (error|warning)": "refused, in other words",
    r"expected (error|warning|remark) .* was not produced": "accepted here, refused there",
    r"Unknown command line argument|no such option|does not refer to a registered": (
        "a pass, or an option of one, that is not there"
    ),
    r"is unknown|not found for custom op|unknown key|dim = 1, found dim": "not read",
    r"run -allocate|no place|no places|'ttg.target' attribute": "wants other passes first",
    r"expected string not found|CHECK-COUNT|excluded string": "other code or IR",
}

#: Passes that tile wants in front of its conversion to LLVM.
PREPARATION = (
    "-tritongpu-allocate-warp-groups -triton-tensor-memory-allocation -allocate-shared-memory-nv "
    "-insert-memory-barriers"
)
LOWERING = re.compile(r"--?convert-triton-gpu-to-llvm(?:='([^']*)'|=(\S+))?")
VERIFY = re.compile(r"--?verify-diagnostics(=\S+)?")
EXPECTED = re.compile(
    r"expected-(error|warning|remark)(?:-re)?\s*(?:@(above|below|[+-]\d+))?\s*(\d*)\s*\{\{"
)
DIAGNOSTIC = re.compile(
    r"^[^:\n]+:(\d+):\d+: (error|warning|remark): (?!expected (?:error|warning|remark) )",
    re.MULTILINE,
)
CHECK = re.compile(r"//\s*([\w-]+?)(-NEXT|-SAME|-DAG|-COUNT-\d+)?(?:\{LITERAL\})?:(.*)")
#: Operations, and in lowered code the names of instructions.
OPERATION = re.compile(r"\b(?:tt|ttg|ttng|nvws|scf)\.[a-z_][a-z_0-9.]*[a-z0-9]")
INSTRUCTION = re.compile(
    r"(?:\b|(?<=\\0A)|(?<=\\09))(?:tcgen05[.]\w+|mbarrier[.](?!shared)\w+|cp[.](?:reduce[.])?async[.]bulk[.]tensor"
    r"|st[.]async|clusterlaunchcontrol[.]\w+|tensormap[.]\w+|cluster[.](?:arrive|wait)|wgmma[.]\w+"
    r"|ldmatrix|stmatrix)\b"
)


def find_filecheck() -> str:
    for name in ("FileCheck", "FileCheck-22"):
        if path := shutil.which(name):
            return path
    sys.exit("no FileCheck on the PATH")


class Suite:
    def __init__(self, tile_opt: Path) -> None:
        self.tile_opt = tile_opt
        self.filecheck = find_filecheck()
        self.environment = {**os.environ, "FILECHECK_OPTS": "--enable-var-scope"}

    def shell(self, line: str) -> str:
        """Runs a command line; its first error, or nothing."""
        result = subprocess.run(
            f"set -o pipefail; {line}",
            shell=True,
            executable="/bin/bash",
            capture_output=True,
            text=True,
            env=self.environment,
        )
        if result.returncode == 0:
            return ""
        # A section need not have what FileCheck looks for.
        if "no check strings found" in result.stderr and "|" in line:
            return self.shell(line.split("|")[0] + " > /dev/null")
        lines = result.stderr.splitlines()
        # FileCheck then complains of an empty text.
        errors = [text for text in lines if "Unknown command line argument" in text]
        errors += [text for text in lines if "error" in text]
        why = errors[0] if errors else result.stderr.strip()[:200]
        return why or f"exit status {result.returncode}"

    def command(self, run: str, path: Path) -> str:
        run = re.sub(r"\btriton-opt\b", str(self.tile_opt), run)
        check = f"sed -E '{SPELLING}' | {self.filecheck}"
        run = re.sub(r"\bFileCheck\b", lambda _: check, run)
        return run.replace("%s", str(path))

    def reads(self, text: str) -> bool:
        """Sections that expect errors are left out: passes may be what gives them."""
        sections = [part for part in SECTION.split(text) if "expected-" not in part]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write("// -----".join(sections))
            file.flush()
            options = "-split-input-file -allow-unregistered-dialect -o /dev/null"
            return not self.shell(f"{self.tile_opt} {options} {file.name}")

    def output(self, line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            line, shell=True, executable="/bin/bash", capture_output=True, text=True
        )

    def with_target(self, path: Path, target: str) -> Path:
        module = path.read_text()
        if "ttg.target" in module:
            return path
        module = module.replace(
            "module attributes {", f'module attributes {{ttg.target = "{target}", '
        )
        path = path.with_suffix(".prepared.mlir")
        path.write_text(module)
        return path

    def refuses_same_lines(self, path: Path, run: str, passes: str = "") -> bool:
        """Whether the diagnostics are of the kinds and at the lines that the file expects."""
        lines = path.read_text().splitlines()
        expected: Counter[tuple[int, str]] = Counter()
        for i, line in enumerate(lines):
            for kind, where, count in EXPECTED.findall(line):
                if where in ("above", "below"):
                    step = 1 if where == "below" else -1
                    place = i + step
                    while 0 <= place < len(lines) and "expected-" in lines[place]:
                        place += step
                else:
                    place = i + int(where or 0)
                expected[place + 1, kind] += int(count or 1)
        if not expected:
            return False
        if passes:
            path = self.with_target(path, "cuda:100")
        command = VERIFY.sub("", self.command(run, path).split(" | ")[0]) + " " + passes
        found = Counter(
            (int(line), kind) for line, kind in DIAGNOSTIC.findall(self.output(command).stderr)
        )
        return found == expected

    def count_same_operations(self, path: Path, run: str) -> int | None:
        """How many operations the lines of the checks name; nothing if tile-opt does not print each
        at least as often."""
        if "FileCheck" not in run:
            return None
        tool, check = run.split("|", 1)
        prefixes = set(
            ",".join(re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", check)).split(",")
        )
        prefixes = prefixes - {""} or {"CHECK"}
        lowering = LOWERING.search(tool)
        names = INSTRUCTION if lowering else OPERATION
        wanted: Counter[str] = Counter()
        for prefix, suffix, text in CHECK.findall(path.read_text()):
            if prefix in prefixes:
                count = int(suffix.rsplit("-", 1)[1]) if "COUNT" in suffix else 1
                for name in names.findall(text):
                    wanted[name] += count
        if lowering:
            # Passes behind it are those of Triton's dialect between ttg and LLVM.
            options = lowering[1] or lowering[2] or ""
            capability = re.search(r"compute-capability=(\d+)", options)
            path = self.with_target(path, f"cuda:{capability[1] if capability else 90}")
            tool = (
                f"triton-opt %s -allow-unregistered-dialect {PREPARATION} {lowering[0]} "
                "-convert-warp-specialize-to-llvm"
            )
        result = self.output(self.command(f"{tool} | sed -E '{SPELLING}'", path))
        if "error:" in result.stderr:
            return None
        found = Counter(names.findall(result.stdout))
        agrees = all(found[name] >= count for name, count in wanted.items())
        return wanted.total() if agrees else None

    def same_meaning(self, path: Path, runs: list[str]) -> str:
        """In which way each run means the same, in other text; nothing if one does not."""
        if all(self.refuses_same_lines(path, run) for run in runs if VERIFY.search(run)):
            if any(VERIFY.search(run) for run in runs):
                return "the same lines refused, in other words"
        if all(
            self.refuses_same_lines(path, run, f"{PREPARATION} -convert-triton-gpu-to-llvm")
            for run in runs
            if VERIFY.search(run)
        ):
            if any(VERIFY.search(run) for run in runs):
                return "the same lines refused by the conversion to LLVM"
        # There is no sm_107 here.
        runs = [run for run in runs if "compute-capability=107" not in run]
        counts = [self.count_same_operations(path, run) for run in runs]
        if any(counts) and all(
            count is not None or not self.shell(self.command(run, path))
            for count, run in zip(counts, runs, strict=True)
        ):
            return "the operations that the checks name, as often, in other text"
        return ""

    def why_not(self, path: Path, runs: list[str]) -> str:
        for run in runs:
            if why := self.shell(self.command(run, path)):
                return why
        return ""


def cause_of(why: str) -> str:
    return next((name for text, name in CAUSES.items() if re.search(text, why)), "another error")


def run_sections(
    suite: Suite, text: str, runs: list[str], folder: Path
) -> list[tuple[int, str, str]]:
    """The lines where sections begin, why they fail, and in which way they mean the same."""
    splits = any("split-input-file" in run for run in runs)
    outcomes: list[tuple[int, str, str]] = []
    begin = 0
    ends = [(m.start(), m.end()) for m in SECTION.finditer(text) if splits]
    for end, following in [*ends, (len(text), len(text))]:
        line = text.count("\n", 0, begin)
        path = folder / f"section{line}.mlir"
        # Diagnostics and variables name lines.
        path.write_text("\n" * line + RUN.sub("", text[begin:end]))
        why = suite.why_not(path, runs)
        outcomes.append((line + 1, why, suite.same_meaning(path, runs) if why else ""))
        begin = following
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--tile-opt", type=Path, default=ROOT / "build/bin/tile-opt")
    parser.add_argument("--why", action="store_true")
    options = parser.parse_args()
    suite = Suite(options.tile_opt)
    names = options.files or ["."]
    paths = sorted(
        path
        for name in names
        for path in (
            [options.folder / name]
            if (options.folder / name).is_file()
            else (options.folder / name).rglob("*.mlir")
        )
    )
    read = passed = sections = sections_passed = 0
    causes: Counter[str] = Counter()
    meanings: Counter[str] = Counter()
    for path in paths:
        text = path.read_text()
        runs = [run for run in RUN.findall(text) if run]
        is_read, passes = suite.reads(text), not suite.why_not(path, runs)
        with tempfile.TemporaryDirectory() as folder:
            outcomes = run_sections(suite, text, runs, Path(folder))
        good = sum(not why for _, why, _ in outcomes)
        causes.update(cause_of(why) for _, why, meaning in outcomes if why and not meaning)
        meanings.update(meaning for _, _, meaning in outcomes if meaning)
        read, passed = read + is_read, passed + passes
        sections, sections_passed = sections + len(outcomes), sections_passed + good
        print(
            f"{path.relative_to(options.folder)}: {'read' if is_read else 'NOT READ'}, "
            f"{'passes' if passes else 'fails'}, {good} of {len(outcomes)} sections",
            flush=True,
        )
        if options.why:
            for line, why, meaning in outcomes:
                if why:
                    print(f"    line {line}: {why[:300]}" + (f" ({meaning})" if meaning else ""))
    print(
        f"{len(paths)} files: {read} read, {passed} pass; "
        f"{sections_passed} of {sections} sections pass"
    )
    print("Of the others, these mean the same:")
    for name, count in meanings.most_common():
        print(f"{count:5} {name}")
    print("and the rest, by their first error:")
    for name, count in causes.most_common():
        print(f"{count:5} {name}")


if __name__ == "__main__":
    main()
