"""Whether a change of the compiler leaves the code of the kernels of bench/static.py as it was.

    python bench/texts.py FOLDER                         (before: keeps the texts)
    python bench/texts.py FOLDER --against BEFORE        (after: compares them)
        [--target cuda:80 ...] [--filter TEXT] [--all] [--jobs N]

Compiles every kernel for every target, and keeps its assembly and the stages before it in
FOLDER/TARGET. With `--against`, it names each kernel whose assembly differs, and the first stage
that does; the exit status is then 1. Paths of this checkout count as equal.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

if __name__ == "__main__":
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="tile-bench-cache-"))

from static import MACHINES, compile_case, parse_target
from static_cases import Case, cases_of

import tile
from tile.backends.compiler import GPUTarget

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx950", "hip:gfx1100"]
#: In the order of the compile.
STAGES = ["ttir", "ttgir", "llir"]


def texts_of(case: Case, target: GPUTarget) -> dict[str, str]:
    """The text of each stage; of a kernel that is refused, the error."""
    try:
        asm = compile_case(case, target).asm
    except tile.errors.TileError as error:
        return {"error": str(error).splitlines()[0]}
    stages = [*STAGES, MACHINES[target.backend].STAGE]
    return {stage: asm[stage].replace(str(ROOT), "") for stage in stages if stage in asm}


def keep(case: Case, target: GPUTarget, folder: Path) -> Path:
    """Compiles `case`; returns the path of its texts, but for the name of a stage."""
    stem = folder / re.sub(r"\W+", "_", case.name)
    for stage, text in texts_of(case, target).items():
        Path(f"{stem}.{stage}").write_text(text)
    return stem


def first_difference(stem: Path, before: Path, stage: str) -> str | None:
    """The first stage whose text differs, if the last one does."""
    texts = lambda name: [  # noqa: E731
        Path(f"{path}.{name}").read_text() if Path(f"{path}.{name}").exists() else None
        for path in (stem, before)
    ]
    last = ["error", stage]
    if all(len(set(texts(name))) == 1 for name in last):
        return None
    return next(name for name in ["error", *STAGES, stage] if len(set(texts(name))) > 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, help="a folder that an earlier run has filled")
    parser.add_argument("--target", nargs="+", default=TARGETS)
    parser.add_argument("--filter", default="", help="cases whose name matches the expression")
    parser.add_argument("--all", action="store_true", help="all combinations of matrix products")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    options = parser.parse_args()

    work = []
    for name in options.target:
        target = parse_target(name)
        folder = options.folder / name.replace(":", "-")
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases_of(target.backend, target.arch, options.all):
            if re.search(options.filter, case.name):
                work.append((name, target, case, folder))
    # Compilers' contexts and threads are not handed on to processes that are forked.
    new = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, new) as pool:
        kept = [pool.submit(keep, case, target, folder) for _, target, case, folder in work]
        stems = [one.result() for one in kept]
    if options.against is None:
        print(f"{len(work)} texts")
        return 0
    differing = 0
    for (name, target, case, folder), stem in zip(work, stems, strict=True):
        before = options.against / folder.name / stem.name
        stage = first_difference(stem, before, MACHINES[target.backend].STAGE)
        if stage is not None:
            differing += 1
            print(f"{name} {case.name}: differs from {stage} on")
    print(f"{differing} of {len(work)} texts differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
