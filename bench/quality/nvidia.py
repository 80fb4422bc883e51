"""What is shown of PTX: what `ptxas -v` says, and counts of the machine code."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from .loops import innermost_loops

#: The stage whose text both compilers have.
STAGE = "ptx"
#: Metrics: their titles in the table.
METRICS = {
    "instructions": "instructions",
    "barriers": "barriers",
    "conflicts": "bank conflicts",
    "sectors": "global sectors",
    "registers": "registers",
    "spills": "spill bytes",
    "shared": "shared bytes",
    "sass": "SASS",
    "loop": "SASS/MMA in loops",
    "wgmma": "wgmma",
}
#: Ratios above are marked.
LIMIT = 1.05
MORE_IS_BETTER: set[str] = set()


def granules(arch: int) -> dict[str, int]:
    """Nothing is compared in multiples of something."""
    return {}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm"))


def entry(ptx: str) -> tuple[str, int]:
    """The kernel's name, and its threads."""
    name = re.search(r"\.visible\s+\.entry\s+([\w$]+)", ptx).group(1)
    return name, int(re.search(r"\.(?:req|max)ntid\s+(\d+)", ptx).group(1))


def describe(ptx: str, options: argparse.Namespace) -> dict[str, Any]:
    """What ptxas says, and counts of the machine code."""
    target = re.search(r"^\s*\.target\s+(sm_\w+)", ptx, re.M).group(1)
    with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        from tile.backends.nvidia.tools import require_ptxas

        log = subprocess.run(
            [require_ptxas(), "-v", f"-arch={target}", str(source), "-o", str(binary)],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        found = {
            "registers": int(re.search(r"Used (\d+) registers", log).group(1)),
            "spills": sum(int(n) for n in re.findall(r"(\d+) bytes spill", log)),
        }
        if options.nvdisasm:
            text = subprocess.run(
                [options.nvdisasm, "-c", str(binary)], capture_output=True, text=True, check=True
            ).stdout
            found |= sass_counts(text)
    return found


#: wgmma computes 8 to 256 columns, and counts as one matrix instruction for each so many.
COLUMNS = 64


def matrix_work(instruction: str) -> float:
    """How many matrix instructions this one counts as."""
    if re.search(r"\b[HIDQ]MMA\b", instruction):
        return 1
    # HGMMA, QGMMA (of eight bits) or IGMMA.
    found = re.search(r"\b[HIQ]GMMA\.64x(\d+)x\d+\b", instruction)
    return int(found.group(1)) / COLUMNS if found else 0


def sass_counts(text: str) -> dict[str, Any]:
    """Instructions of the kernel, and those of loops with matrix instructions for each of them."""
    labels: dict[str, int] = {}
    code: list[str] = []
    for line in text.splitlines():
        if label := re.match(r"\s*(\.L_\w+):", line):
            labels[label.group(1)] = len(code)
        elif instruction := re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?);", line):
            code.append(instruction.group(1))
    branches = {
        place: (labels[branch.group(1)], instruction.startswith("@"))
        for place, instruction in enumerate(code)
        if (branch := re.search(r"\bBRA\b.*?(\.L_\w+)", instruction)) and branch.group(1) in labels
    }
    work = [matrix_work(x) for x in code]
    inner = [loop for loop in innermost_loops(len(code), branches) if any(work[i] for i in loop)]
    # A branch to itself and padding follow the end of the kernel.
    total = sum(not re.search(r"\bNOP\b", x) for x in code) - 1
    matrix = sum(work[i] for loop in inner for i in loop)
    return {
        "sass": total,
        "loop": sum(map(len, inner)) / matrix if matrix else None,
        "wgmma": sum(bool(re.search(r"\b[HIQ]GMMA\b", x)) for x in code) or None,
    }
