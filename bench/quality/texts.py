"""Whether a change of the compiler leaves the code of kernels as it was.

Compiles every kernel for every target, and keeps its assembly and the stages before it in
FOLDER/TARGET. With `--against`, it names each kernel whose assembly differs, and the first stage
that does; the exit status is then 1. Paths of this checkout count as equal.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import tile
from tile.backends import parse_target
from tile.backends.compiler import GPUTarget

from .compiled import MACHINES
from .kernels import Kernel, known_kernels
from .table import TARGETS

ROOT = Path(__file__).resolve().parents[2]
#: In the order of the compile.
STAGES = ["ttir", "ttgir", "llir"]


def texts_of(kernel: Kernel, target: GPUTarget) -> dict[str, str]:
    """The text of each stage; of a kernel that is refused, the error."""
    try:
        asm = kernel.compile(target).asm
    except tile.errors.TileError as error:
        return {"error": str(error).splitlines()[0]}
    stages = [*STAGES, MACHINES[target.backend].STAGE]
    return {stage: asm[stage].replace(str(ROOT), "") for stage in stages if stage in asm}


def keep(name: str, target: GPUTarget, folder: Path) -> Path:
    """Compiles a kernel; returns the path of its texts, but for the name of a stage."""
    stem = folder / re.sub(r"\W+", "_", name)
    for stage, text in texts_of(known_kernels()[name], target).items():
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


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, help="a folder that an earlier run has filled")
    parser.add_argument("--target", nargs="+", default=list(TARGETS))
    parser.add_argument("--filter", default="", help="kernels whose name matches the expression")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")


def run(options: argparse.Namespace) -> int:
    work = []
    for name in options.target:
        target = parse_target(name)
        folder = options.folder / name.replace(":", "-")
        folder.mkdir(parents=True, exist_ok=True)
        for kernel in known_kernels():
            if re.search(options.filter, kernel):
                work.append((name, target, kernel, folder))
    # Compilers' contexts and threads are not handed on to processes that are forked.
    new = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, new) as pool:
        kept = [pool.submit(keep, kernel, target, folder) for _, target, kernel, folder in work]
        stems = [one.result() for one in kept]
    if options.against is None:
        print(f"{len(work)} texts")
        return 0
    differing = 0
    for (name, target, kernel, folder), stem in zip(work, stems, strict=True):
        before = options.against / folder.name / stem.name
        stage = first_difference(stem, before, MACHINES[target.backend].STAGE)
        if stage is not None:
            differing += 1
            print(f"{name} {kernel}: differs from {stage} on")
    print(f"{differing} of {len(work)} texts differ")
    return 1 if differing else 0
