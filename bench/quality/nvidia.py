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
    "blocks": "resident blocks",
    "sass": "SASS",
    "loop": "SASS/MMA in loops",
    "loop_barriers": "barriers/MMA in loops",
    "tcgen05": "tcgen05/MMA in loops",
    "columns": "tensor memory columns",
    "wgmma": "wgmma",
}
#: Ratios above are marked.
LIMIT = 1.05
MORE_IS_BETTER = {"blocks"}
#: A block gets shared memory in units of so many bytes.
SHARED_UNIT = 128


def granules(arch: int) -> dict[str, int]:
    """What the machine hands out in larger portions."""
    return {"shared": SHARED_UNIT}


def is_comparable(metric: str, ours: dict[str, Any], peer: dict[str, Any]) -> bool:
    """Figures for a dot in tensor memory are not those for a dot in registers."""
    both = [record.get("in_tensor_memory") for record in (ours, peer)]
    return metric not in ("loop", "loop_barriers") or both[0] == both[1]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm"))


def entry(ptx: str) -> tuple[str, int]:
    """The kernel's name, and its threads."""
    name = re.search(r"\.visible\s+\.entry\s+([\w$]+)", ptx).group(1)
    return name, int(re.search(r"\.(?:req|max)ntid\s+(\d+)", ptx).group(1))


def resident_blocks(ptx: str, target: str, found: dict[str, Any], shared: int) -> int:
    """How many blocks a multiprocessor holds at once."""
    from tile.backends import find_backend
    from tile.backends.compiler import GPUTarget

    facts = find_backend(GPUTarget("cuda", int(re.sub("[^0-9]", "", target)), 32)).facts
    from tile.backends.nvidia import occupancy  # Found with the backend.

    _, threads = entry(ptx)
    warps = -(-threads // 32)
    columns = found["columns"] or 0
    return occupancy.resident_blocks(facts, found["registers"], warps, shared, columns)


def describe(ptx: str, shared: int, options: argparse.Namespace) -> dict[str, Any]:
    """What ptxas says, how many blocks are resident then, and counts of the machine code."""
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
            "columns": tensor_memory_columns(ptx),
            "registers": int(re.search(r"Used (\d+) registers", log).group(1)),
            "spills": sum(int(n) for n in re.findall(r"(\d+) bytes spill", log)),
        }
        found["blocks"] = resident_blocks(ptx, target, found, shared)
        if options.nvdisasm:
            text = subprocess.run(
                [options.nvdisasm, "-c", str(binary)], capture_output=True, text=True, check=True
            ).stdout
            found |= sass_counts(text)
    return found


def tensor_memory_columns(ptx: str) -> int | None:
    """The columns that a block allocates."""
    asked = re.findall(r"tcgen05\.alloc\.[^;]*,\s*(\d+)\s*;", ptx)
    return sum(map(int, asked)) or None


#: wgmma computes 8 to 256 columns, and counts as one matrix instruction for each so many.
COLUMNS = 64

#: The machine code does not say how much a dot in tensor memory computes.
TENSOR_MEMORY_PRODUCT = re.compile(r"\bUTC[HIQO]?MMA\b")
#: What else is tcgen05: loads, stores, copies, commits.
TENSOR_MEMORY = re.compile(r"\bUTC\w+|\b(LDTM|STTM)\b")
#: Where it goes to; the condition may be an operand.
BRANCH = re.compile(r"\bBRA\b\S*\s+(!?UP\d)?.*?(\.L_\w+)")
#: What makes threads wait for each other.
BARRIER = re.compile(r"\b(BAR\.\w+|SYNCS\.PHASECHK|SYNCS\.ARRIVE|UCGABAR_WAIT)\b")


def matrix_work(instruction: str) -> float:
    """How many matrix instructions this one counts as."""
    if re.search(r"\b[HIDQO]MMA\b", instruction) or TENSOR_MEMORY_PRODUCT.search(instruction):
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
        place: (labels[branch.group(2)], instruction.startswith("@") or bool(branch.group(1)))
        for place, instruction in enumerate(code)
        if (branch := BRANCH.search(instruction)) and branch.group(2) in labels
    }
    # Behind the end there is code that others branch to.
    ends = (i for i, x in enumerate(code) if re.match(r"(EXIT|RET)\b", x))
    branches |= {place: (len(code), False) for place in ends}
    work = [matrix_work(x) for x in code]
    products = [i for i, amount in enumerate(work) if amount]
    inner = [code[i] for loop in innermost_loops(len(code), branches, products) for i in loop]
    matrix = sum(map(matrix_work, inner))
    found: dict[str, Any] = {
        # A branch to itself and padding follow the end of the kernel.
        "sass": sum(not re.search(r"\bNOP\b", x) for x in code) - 1,
        "wgmma": sum(bool(re.search(r"\b[HIQ]GMMA\b", x)) for x in code) or None,
    }
    if matrix:
        found["loop"] = len(inner) / matrix
        found["loop_barriers"] = sum(bool(BARRIER.search(x)) for x in inner) / matrix
        found["in_tensor_memory"] = any(map(TENSOR_MEMORY_PRODUCT.search, inner))
        if found["in_tensor_memory"]:
            found["tcgen05"] = sum(bool(TENSOR_MEMORY.search(x)) for x in inner) / matrix
    return found
