"""Runs Triton's own lit tests with tile-opt, and counts the files and sections that pass.

    test/gpu/peer_lit.py FOLDER [FILE...]

FOLDER is the `test` folder of Triton's repository. Without FILE all files of its subfolders run. A
file is *read* if tile-opt parses and verifies it, but for sections (between lines of `// -----`)
that expect errors. A file, and each of its sections, *passes* if all its RUN lines do.
With --why, the first error of each section that fails is printed. At the end, sections that fail
are counted by their cause.

A section that fails is also compared in what it means, and counted apart:

- Where it expects errors, tile-opt may refuse the same lines in other words, when it reads them or
  when it converts them to LLVM. Each function is asked for by itself, as the first error ends the
  rest. A function may also be refused at another line.
- Where it looks for text, tile-opt may print every operation and instruction that the lines name,
  at least as often as they do. Ends of functions do not count. A section of a conversion to LLVM
  first gets the passes that choose places in shared and tensor memory, and each of its modules is
  run by itself. Loads and stores of tensor memory count as many times as they move columns. This
  says nothing about their order and operands.
- Where it looks for text, a pass with another name may print it.
- Where it looks for barriers of a cluster, passes or the lowered code may have as many of them, and
  as many fences. They have no more where the file says so of some places.
- What orders threads, and shuffles, may be fewer than the lines name. Then the program has to run
  in the simulator under several orders of warps, with nothing found, and give the same in all of
  them (`simulated_lit.py`). All else must be there.

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
    r"^accepted and lowered here": "accepted and lowered here, refused there",
    r"unexpected (error|warning)": "refused, in other words",
    r"expected (error|warning|remark) .* was not produced": "accepted here, refused there",
    r"Unknown command line argument|no such option|does not refer to a registered": (
        "a pass, or an option of one, that is not there"
    ),
    r"is unknown|not found for custom op|unknown key|dim = 1, found dim": "not read",
    r"run -allocate|no place|no places|'ttg.target' attribute": "wants other passes first",
    r"unknown target \"cuda:107\"|blockRepOrder|unknown compute capability 107": "sm_107 alone",
    r"failed to legalize|expected no memory descriptor among the results": "not lowered",
    r"^prints (fewer|more)": "some operations or instructions are missing, or too many",
    r"expected string not found|CHECK-COUNT|excluded string": "other code or IR",
}

#: Passes that tile wants in front of its conversion to LLVM.
PREPARATION = (
    "-tritongpu-allocate-warp-groups -triton-tensor-memory-allocation -allocate-shared-memory-nv "
    "-insert-memory-barriers"
)
#: That of `nvg` is a part of it: with no such operation, the other does the same.
LOWERING = re.compile(r"--?convert-(?:triton|nv)-gpu-to-llvm(?:='([^']*)'|=(\S+))?")
VERIFY = re.compile(r"--?verify-diagnostics(=\S+)?")
EXPECTED = re.compile(
    r"expected-(error|warning|remark)(?:-re)?\s*(?:@(above|below|[+-]\d+))?\s*(\d*)\s*\{\{"
)
DIAGNOSTIC = re.compile(
    r"^[^:\n]+:(\d+):\d+: (error|warning|remark): (?!expected (?:error|warning|remark) )",
    re.MULTILINE,
)
LOWERED = "accepted and lowered here"
#: From the closest to the least close.
REFUSALS = [
    "",
    "the same lines refused, in other words",
    "the same lines refused by the conversion to LLVM",
    "the same functions refused, at other lines",
]
UNKNOWN = re.compile(r"error: .*(unknown (key|attribute)|is unknown|not found for custom op)")
CHECK = re.compile(r"//\s*([\w-]+?)(-NEXT|-SAME|-DAG|-NOT|-COUNT-\d+)?(?:\{LITERAL\})?:(.*)")
#: What may be fewer, if the program runs: barriers, their fences, and moves between threads.
SPARED = {
    "mbarrier.init", "mbarrier.arrive", "mbarrier.try.wait", "shfl.sync", "cluster.arrive",
    "cluster.wait", "fence.mbarrier.init", "ttng.cluster_barrier",
    "ttng.fence_mbarrier_init_release_cluster",
}  # fmt: skip
RUNS = "fewer barriers or shuffles, and nothing found when it ran"
#: Operations, and in lowered code the names of instructions.
OPERATION = re.compile(r"\b(?!tt\.return)(?:tt|ttg|ttng|nvws|scf)\.[a-z_][a-z_0-9.]*[a-z0-9]")
FILLED = re.compile(r"\b(ttng\.tmem_alloc|ttg\.local_alloc) %")
INSTRUCTION = re.compile(
    r"(?:\b|(?<=\\0A)|(?<=\\09))(tcgen05[.]\w+|kind::\w+|mbarrier[.](?!shared)\w+"
    r"|cp[.](?:reduce[.])?async[.]bulk[.]tensor|cp[.]async[.]bulk[.](?:commit|wait)[._]group"
    r"|st[.]async|clusterlaunchcontrol[.](?:try|query)[._]cancel|tensormap[.]\w+"
    r"|cluster[.](?:arrive|wait)|wgmma[.]\w+|ldmatrix|stmatrix|redux[.]sync|shfl[.]sync"
    r"|fence[.](?:proxy|mbarrier[._]init)|(?:atom|red)(?=[.](?:\w+[.])*(?:shared|global))|llvm[.]atomicrmw)\b"
    r"((?:[.](?:\w|::)+)*)"
)
#: What accesses memory, and attributes of arguments: asked for only where no instruction is named.
ACCESS = re.compile(
    r"\b(llvm[.](?:load|store|byval|align)|nvvm[.](?:grid_constant|mapa)|mapa[.]shared)\b()"
)
#: Constants and what they are added to, such as places of parts of buffers: asked for only where
#: neither is named.
PLACE = re.compile(r"(\bllvm[.]mlir[.]constant\(-?\d+ : i\d+\)|\bllvm[.]add\b)()")
COLUMNS = re.compile(r"[.]x(\d+)(?:[.]|$)")
#: Whether an operand is kept for the next instruction.
KEPT = re.compile(r"collector::\w+::\w+")
MODULE = re.compile(r"^module\b", re.MULTILINE)
FUNCTION = re.compile(r"^ *(?:tt|llvm)[.]func\b", re.MULTILINE)
#: What one of Triton's passes does, and several of tile.
PASSES = {
    r"--?triton-nvidia-mma-lowering\b": "-triton-nvidia-copy-scales -triton-nvidia-mma-lowering",
    # That of Triton puts in the waits for dots, too.
    r"--?tritongpu-pipeline\b": "-tritongpu-pipeline -triton-nvidia-mma-lowering",
}
#: Passes of Triton that do what a pass with another name does here.
RENAMED = {r"--?tritongpu-partition-loops\b": "-nvws-partition-loops"}
#: Passes that put barriers of clusters in, and what these and their fences become.
CLUSTERS = " ".join(
    f"-triton-nvidia-gpu-cluster-{name}"
    for name in ("barrier-after-init", "shared-memory", "barrier-at-end")
)
MEETINGS = {
    "ttng.cluster_barrier": "nvvm.cluster.wait",
    "ttng.fence_mbarrier_init_release_cluster": "nvvm.fence.mbarrier.init",
}


def by_our_names(run: str) -> str:
    for theirs, ours in RENAMED.items():
        run = re.sub(theirs, ours, run)
    return run


def count_operations(names: re.Pattern[str], text: str) -> Counter[str]:
    """How often each is named. A buffer that is made with contents is stored to, as well."""
    if names is OPERATION:
        made = Counter(FILLED.findall(text))
        stored = {name.replace("_alloc", "_store"): count for name, count in made.items()}
        return Counter(names.findall(text)) + Counter(stored)
    counts: Counter[str] = Counter()
    for name, modifiers in names.findall(text):
        columns = COLUMNS.search(modifiers) if name in ("tcgen05.ld", "tcgen05.st") else None
        kind = "atom" if name in ("red", "llvm.atomicrmw") else name.replace("_", ".")
        # A line may begin inside of a name.
        kind = "tcgen05.mma" if kind.startswith("kind::") else kind
        counts[kind] += int(columns[1]) if columns else 1
        counts.update(KEPT.findall(modifiers))
    return counts


def find_parts(text: str, begins: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where parts begin and end: each goes to the end of the line in which braces are balanced."""
    spans: list[tuple[int, int]] = []
    for match in begins.finditer(text):
        depth, end = 0, match.start()
        for line in text[match.start() :].splitlines(keepends=True):
            end += len(line)
            code = line.split("//")[0].rstrip()
            depth += code.count("{") - code.count("}")
            if depth == 0 and code.endswith("}"):
                break
        spans.append((match.start(), end))
    return spans


def blank_others(text: str, begins: re.Pattern[str]) -> list[str]:
    """The text once for each of these parts, with nothing in the places of the others."""
    spans = find_parts(text, begins)
    texts = []
    for kept in spans:
        lines = text
        for begin, end in spans:
            if (begin, end) != kept:
                blank = re.sub(r"[^\n]", " ", lines[begin:end])
                lines = lines[:begin] + blank + lines[end:]
        texts.append(lines)
    return texts


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
        """Names a target. There is no sm_107 here: its programs run as those of sm_103. Pairs of
        blocks multiply on sm_100."""
        module = path.read_text().replace("cuda:107", "cuda:103")
        if "two-ctas" in module:
            target = "cuda:100"
        if "ttg.target" in module:
            path = path.with_suffix(".prepared.mlir")
            path.write_text(module)
            return path
        module = module.replace(
            "module attributes {", f'module attributes {{ttg.target = "{target}", '
        )
        path = path.with_suffix(".prepared.mlir")
        path.write_text(module)
        return path

    def find_diagnostics(
        self, path: Path, run: str, passes: str
    ) -> tuple[Counter[tuple[int, str]], Counter[tuple[int, str]]]:
        """The lines and kinds of the diagnostics that the file expects, and of those found."""
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
        if passes:
            path = self.with_target(path, "cuda:100")
        command = VERIFY.sub("", self.command(run, path).split(" | ")[0]) + " " + passes
        diagnostics = self.output(command).stderr
        found = Counter((int(line), kind) for line, kind in DIAGNOSTIC.findall(diagnostics))
        # What is not read is not refused: no line has such an error.
        return expected, Counter({(0, "error"): 1}) if UNKNOWN.search(diagnostics) else found

    def how_refused(self, path: Path, run: str) -> str:
        """How what the file expects to be refused is refused; nothing where it is not."""
        text = path.read_text()
        functions = blank_others(text, FUNCTION) or [text]
        places = [
            range(text.count("\n", 0, begin) + 1, text.count("\n", 0, end) + 2)
            for begin, end in find_parts(text, FUNCTION)
        ] or [range(0)]
        ways: set[str] = set()
        for i, (part, lines) in enumerate(zip(functions, places, strict=True)):
            own = path.with_suffix(f".part{i}.mlir")
            own.write_text(part)
            expected, found = self.find_diagnostics(own, run, "")
            if not expected:
                continue
            converts = f"{PREPARATION} -convert-triton-gpu-to-llvm"
            if expected == found:
                ways.add("the same lines refused, in other words")
                continue
            _, later = self.find_diagnostics(own, run, converts)
            if expected == later:
                ways.add("the same lines refused by the conversion to LLVM")
            elif all(kind == "error" for _, kind in expected) and any(
                kind == "error" and line in lines for line, kind in found
            ):
                ways.add("the same functions refused, at other lines")
            else:
                return ""
        return max(ways, key=REFUSALS.index, default="")

    def lower(self, path: Path, lowering: re.Match[str]) -> tuple[str, str]:
        """What becomes of each module, and the first error."""
        # Passes behind it are those of Triton's dialect between ttg and LLVM.
        options = lowering[1] or lowering[2] or ""
        capability = re.search(r"compute-capability=(\d+)", options)
        text = path.read_text()
        modules = blank_others(text, MODULE)
        output = ""
        for i, part in enumerate(modules if len(modules) > 1 else [text]):
            own = path.with_suffix(f".module{i}.mlir")
            own.write_text(part)
            own = self.with_target(own, f"cuda:{capability[1] if capability else 90}")
            own_target = "two-ctas" in part or "-nv-gpu" in lowering[0]
            lower = "-convert-triton-gpu-to-llvm" if own_target else lowering[0]
            tool = (
                f"triton-opt %s -allow-unregistered-dialect {PREPARATION} {lower} "
                "-convert-warp-specialize-to-llvm"
            )
            result = self.output(self.command(tool, own))
            if "error:" in result.stderr:
                return "", next(line for line in result.stderr.splitlines() if "error:" in line)
            output += result.stdout
        return output, ""

    def count_same_operations(self, path: Path, run: str) -> tuple[int, str, bool]:
        """How many operations the lines of the checks name, why tile-opt does not print each at
        least as often, and whether only what may be spared is missing."""
        if "FileCheck" not in run:
            return 0, "nothing to look for", False
        tool, check = run.split("|", 1)
        prefixes = set(
            ",".join(re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", check)).split(",")
        )
        prefixes = prefixes - {""} or {"CHECK"}
        lowering = LOWERING.search(tool)
        checks = [
            (text, int(suffix.rsplit("-", 1)[1]) if "COUNT" in suffix else 1)
            for prefix, suffix, text in CHECK.findall(path.read_text())
            if prefix in prefixes and suffix != "-NOT"
        ]
        excluded = " ".join(
            text
            for prefix, suffix, text in CHECK.findall(path.read_text())
            if prefix in prefixes and suffix == "-NOT"
        )
        if "test-print-membar" in tool and any(
            name in text for text, _ in checks for name in MEETINGS
        ):
            return self.count_meetings(path, checks, excluded)
        if lowering:
            output, error = self.lower(path, lowering)
        else:
            for name, passes in PASSES.items():
                tool = re.sub(name, passes, by_our_names(tool))
            result = self.output(self.command(f"{tool} | sed -E '{SPELLING}'", path))
            errors = [line for line in result.stderr.splitlines() if "error:" in line]
            output, error = result.stdout, errors[0] if errors else ""
        if error:
            return 0, error, False
        for names in (INSTRUCTION, ACCESS, PLACE) if lowering else (OPERATION,):
            wanted: Counter[str] = Counter()
            for text, count in checks:
                # Contents are contents: a line may leave open where they come from.
                for name, times in count_operations(names, FILLED.sub(r"\1 ", text)).items():
                    wanted[name] += count * times
            found = count_operations(names, output)
            fewer = [name for name, count in wanted.items() if found[name] < count]
            if fewer:
                name = next((name for name in fewer if name not in SPARED), fewer[0])
                why = f"prints fewer {name}: {found[name]}, not {wanted[name]}"
                return 0, why, name in SPARED
            if wanted:
                return wanted.total(), "", False
        return 0, "", False

    def count_meetings(
        self, path: Path, checks: list[tuple[str, int]], excluded: str
    ) -> tuple[int, str, bool]:
        """The same for barriers of a cluster and their fences, in lowered code."""
        path = self.with_target(path, "cuda:90")
        lowering = "-convert-scf-to-cf -convert-triton-gpu-to-llvm -convert-warp-specialize-to-llvm"
        why, spared = "", False
        for passes in (CLUSTERS, f"{CLUSTERS} {PREPARATION} {lowering}"):
            result = self.output(
                self.command(f"triton-opt %s {passes} | sed -E '{SPELLING}'", path)
            )
            if "error:" in result.stderr:
                why = why or next(x for x in result.stderr.splitlines() if "error:" in x)
                continue
            total, why = 0, ""
            for name, lowered in MEETINGS.items():
                count = sum(times * text.count(name) for text, times in checks)
                found = result.stdout.count(lowered) + result.stdout.count(name)
                if found < count:
                    why, spared = f"prints fewer {name}: {found}, not {count}", True
                elif name in excluded and found > count:
                    why, spared = f"prints more {name}: {found}, not {count}", False
                total += count
            if not why:
                return total, "", False
        return 0, why, spared

    def why_not_run(self, path: Path, run: str) -> str:
        """Why each module does not run in the simulator, with nothing found."""
        try:
            import simulated_lit
        except ImportError as error:
            return f"no simulator: {error}"
        text = path.read_text()
        modules = blank_others(text, MODULE)
        # A dot that is to be done at once gets its wait from a pass.
        passes = f"-triton-nvidia-mma-lowering {CLUSTERS}" if "membar" in run else ""
        passes = passes.replace(" -", ",").lstrip("-")
        for i, part in enumerate(modules if len(modules) > 1 else [text]):
            own = path.with_suffix(f".run{i}.mlir")
            own.write_text(part)
            capability = re.search(r"compute-capability=(\d+)", run)
            module = self.with_target(own, f"cuda:{capability[1] if capability else 90}")
            text = module.read_text()
            # Only there is tensor memory.
            if "tensor_memory" in text:
                text = text.replace("cuda:90", "cuda:100")
            if why := simulated_lit.why_not_clean(text, passes):
                return why
        return ""

    def same_meaning(self, path: Path, runs: list[str]) -> tuple[str, str]:
        """In which way each run means the same, in other text; nothing and why if one does not."""
        renamed = list(map(by_our_names, runs))
        if renamed != runs and not self.why_not(path, renamed):
            return "what the checks look for, by a pass with another name", ""
        verifying = [run for run in runs if VERIFY.search(run)]
        if verifying and "expected-" in path.read_text():
            ways = [self.how_refused(path, run) for run in verifying]
            if all(ways):
                return max(ways, key=REFUSALS.index), ""
            converts = f"{PREPARATION} -convert-triton-gpu-to-llvm"
            found = [self.find_diagnostics(path, run, converts) for run in verifying]
            return "", LOWERED if not any(diagnostics for _, diagnostics in found) else ""
        # There is no sm_107 here.
        runs = [run for run in runs if "compute-capability=107" not in run]
        counts = [self.count_same_operations(path, run) for run in runs]
        missing = [
            (why, spared, run)
            for (_, why, spared), run in zip(counts, runs, strict=True)
            if why and self.shell(self.command(run, path))
        ]
        for why, spared, run in missing:
            if not spared:
                return "", why
            if reason := self.why_not_run(path, run):
                return "", f"{why} ({reason})"
        if missing:
            return RUNS, ""
        if any(count for count, _, _ in counts):
            return "the operations that the checks name, as often, in other text", ""
        return "", ""

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
        meaning, why = "", suite.why_not(path, runs)
        if why:
            meaning, reason = suite.same_meaning(path, runs)
            # An option that is not there says less than what became of the program.
            why = reason or why
        outcomes.append((line + 1, why, meaning))
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
