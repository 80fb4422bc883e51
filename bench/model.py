"""How well the cost model ranks what a GPU has measured.

    python bench/model.py

Takes measured rows of RESULTS.md: matmuls of operands with scales, and of fp16 and bf16
through pointers. Compiles each row for sm_90, runs one block in the simulator, and asks the cost
model what all blocks take. Prints the table, and the rank correlation. No GPU is needed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

os.environ["TILE_SIM_TARGET"] = "cuda:90"

import ml_dtypes
import numpy as np
from peer import load

from tile.runtime.driver import driver

RESULTS = (Path(__file__).parent / "RESULTS.md").read_text()


def rank_correlation(x: list[float], y: list[float]) -> float:
    """Spearman's: 1 if the order is the same."""
    ranks = [np.argsort(np.argsort(values)) for values in (x, y)]
    return float(np.corrcoef(*ranks)[0, 1])


def expected_ms(kernel: Any, arguments: tuple, blocks: int, **options: Any) -> float:
    with driver.active.ranking():
        kernel[(1,)](*arguments, **options)
    return 1e3 * driver.active.last_report.roofline("H200", blocks)["expected"]


def scaled_rows() -> list[tuple[str, float, float]]:
    """Name, measured and expected milliseconds."""
    kernel, n = load("scaled_kernels").scaled_matmul, 4096
    octets = np.full((n, n), 0x38, np.uint8)
    halves = np.ones((n, n), ml_dtypes.bfloat16)
    scales = np.full((n, n // 32), 127, np.uint8)
    out = np.empty((n, n), np.float32)
    row = r"\| e4m3, (e4m3|bf16)( with scales)? \| (\d+)x(\d+)x(\d+), (\d) \| ([\d.]+) \| ([\d.]+)"
    rows = []
    for kind, with_scales, bm, bn, bk, warps, exact, fast in re.findall(row, RESULTS):
        both = kind == "e4m3" or bool(with_scales)
        bm, bn, bk = int(bm), int(bn), int(bk)
        for is_fast, measured in ((False, exact), (True, fast)):
            arguments = (
                octets, scales, octets if kind == "e4m3" else halves, scales if both else None,
                out, n, n, n, "e4m3", kind, is_fast, bm, bn, bk,
            )  # fmt: skip
            how = {"num_warps": int(warps), "num_stages": 3}
            ms = expected_ms(kernel, arguments, n // bm * (n // bn), **how)
            name = f"e4m3, {kind}{with_scales} {bm}x{bn}x{bk} {'fast' if is_fast else 'exact'}"
            rows.append((name, float(measured), ms))
    return rows


def matmul_rows() -> list[tuple[str, float, float]]:
    kernel = load("matmul").matmul_kernel
    row = r"\| matmul (b?float16) (\d+)x(\d+)x(\d+) \| (\d+) \((\d+), (\d+), (\d+), (\d), (\d)\)"
    rows = []
    for dtype, *sizes in re.findall(row, RESULTS):
        m, n, k, speed, bm, bn, bk, warps, stages = map(int, sizes)
        kind = np.float16 if dtype == "float16" else ml_dtypes.bfloat16
        a, b, c = (np.ones(shape, kind) for shape in ((m, k), (k, n), (m, n)))
        arguments = (a, b, c, m, n, k, k, 1, n, 1, n, 1)
        blocks = -(-m // bm) * -(-n // bn)
        options = {"BM": bm, "BN": bn, "BK": bk, "GROUP_M": 8}
        ms = expected_ms(
            kernel, arguments, blocks, num_warps=warps, num_stages=stages, **options
        )  # fmt: skip
        rows.append((f"{dtype} {m}x{n}x{k} {bm}x{bn}x{bk}", 2e-9 * m * n * k / speed, ms))
    return rows


def main() -> None:
    print("| row | measured ms | expected ms | measured / expected |\n|---|---|---|---|")
    for title, rows in (("scaled", scaled_rows()), ("matmul", matmul_rows())):
        for name, measured, expected in rows:
            print(f"| {name} | {measured:.3f} | {expected:.3f} | {measured / expected:.2f} |")
        _, measured, expected = (list(column) for column in zip(*rows, strict=True))
        print(f"{title}: rank correlation {rank_correlation(measured, expected):.3f}", flush=True)


if __name__ == "__main__":
    main()
