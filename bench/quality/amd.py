"""What is shown of AMDGCN: the metadata of the assembly, and counts of the code."""

from __future__ import annotations

import argparse
import re
from typing import Any

from .loops import innermost_loops

#: The stage whose text both compilers have.
STAGE = "amdgcn"
#: Metrics: their titles in the table.
METRICS = {
    "instructions": "executed",
    "barriers": "barriers",
    "conflicts": "bank conflicts",
    "sectors": "global sectors",
    "code": "code",
    "inner": "in loops",
    "matrix": "products in loops / 8192",
    "loop": "in loops for 8192 products",
    "registers": "VGPRs",
    "accumulation": "AGPRs",
    "scalars": "SGPRs",
    "spills": "spilled",
    "shared": "LDS",
    "waves": "waves",
    "accesses": "memory accesses",
    "globals": "of them through pointers",
}
#: Ratios above are marked.
LIMIT = 1.15
#: Of these, more is better: Triton's in relation to ours is what is compared.
MORE_IS_BETTER = {"waves"}
#: What a wave gets at once, at least.
CDNA = {"registers": 8, "accumulation": 8, "scalars": 16, "shared": 512}
#: In waves of 32. All have the same scalar registers.
RDNA = {"registers": 24, "scalars": 128, "shared": 1024}
#: Where a SIMD unit has registers for two thirds of the others' waves.
SMALL_RDNA = RDNA | {"registers": 16}
#: Dots that the loops' instructions are counted for: those of one 32x32x8.
PRODUCTS = 32 * 32 * 8


def granules(arch: str) -> dict[str, int]:
    """Registers and LDS are compared as they are allocated: in multiples of these."""
    if arch.startswith("gfx9"):
        return CDNA | {"shared": 1280} if arch == "gfx950" else CDNA
    if arch == "gfx1250":
        return SMALL_RDNA | {"shared": 2048}
    return SMALL_RDNA if arch == "gfx1102" else RDNA


def is_comparable(metric: str, ours: dict[str, Any], peer: dict[str, Any]) -> bool:
    return True


def add_options(parser: argparse.ArgumentParser) -> None:
    pass


def entry(assembly: str) -> tuple[str, int]:
    """The kernel's name, and its threads."""
    name = re.search(r"^\s*\.amdhsa_kernel\s+([\w$.]+)", assembly, re.M).group(1)
    return name, _metadata(assembly, "max_flat_workgroup_size")


def _metadata(assembly: str, name: str) -> int:
    found = re.search(rf"^\s*(?:- )?\.{name}:\s+(\d+)", assembly, re.M)
    # Processors without accumulation registers do not count them.
    return int(found.group(1)) if found else 0


def describe(assembly: str, options: argparse.Namespace) -> dict[str, Any]:
    """What the metadata says, and counts of the code."""
    code = counts(assembly, entry(assembly)[0])
    return code | {
        "registers": _metadata(assembly, "vgpr_count"),
        "accumulation": _metadata(assembly, "agpr_count"),
        "scalars": _metadata(assembly, "sgpr_count"),
        "spills": _metadata(assembly, "vgpr_spill_count") + _metadata(assembly, "sgpr_spill_count"),
    }


def counts(assembly: str, name: str) -> dict[str, Any]:
    """Instructions of the kernel and of its innermost loops, and those of some kinds."""
    text = re.search(rf"^{re.escape(name)}:(.*?)^\.Lfunc_end", assembly, re.M | re.S).group(1)
    labels: dict[str, int] = {}
    code: list[str] = []
    for line in text.splitlines():
        if label := re.match(r"(\.L\w+):", line):
            labels[label.group(1)] = len(code)
        elif instruction := re.match(r"\s+([a-z]\w+.*?)\s*(?:;.*)?$", line):
            code.append(instruction.group(1))
    branches = {
        place: (labels[branch.group(1)], instruction.startswith("s_cbranch"))
        for place, instruction in enumerate(code)
        if (branch := re.match(r"s_c?branch\w*\s+(\.L\w+)", instruction))
    }
    loops = innermost_loops(len(code), branches)
    inner = sum(map(len, loops))
    products = [_products(instruction) for instruction in code]
    working = [loop for loop in loops if any(products[i] for i in loop)]
    total = sum(products[i] for loop in working for i in loop)
    return {
        "code": len(code),
        "inner": inner or None,
        "matrix": total / PRODUCTS or None,
        "loop": sum(map(len, working)) * PRODUCTS / total if total else None,
        "accesses": sum(
            bool(re.match(r"(buffer|global|flat)_(load|store|atomic)", i)) for i in code
        ),
        "globals": sum(bool(re.match(r"(global|flat)_(load|store|atomic)", i)) for i in code),
    }


def _products(instruction: str) -> int:
    """Multiplications of a matrix instruction; 0 for others."""
    shape = re.match(r"v_(?:mfma|wmma)\w*?_(\d+)x(\d+)x(\d+)", instruction)
    if shape is None:
        return 0
    m, n, k = map(int, shape.groups())
    return m * n * k
