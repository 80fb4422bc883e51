"""Matrix products on a GPU, beside the peer's and cuBLAS in the same run.

    python bench/matmul.py

Best median over one list of configurations for both compilers; see
memory_bound.py for how the times are taken.
"""

from __future__ import annotations

import torch
from memory_bound import median_times_ms
from peer import load, load_for_peer

CONFIGS = [
    # bm, bn, bk, warps, stages
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (256, 128, 64, 8, 4),
    (128, 128, 64, 4, 3),
    (128, 128, 32, 4, 4),
    (64, 128, 64, 4, 3),
]


def row(size: int, dtype: torch.dtype) -> str:
    a = torch.randn(size, size, device="cuda").to(dtype)
    b = torch.randn(size, size, device="cuda").to(dtype)
    c = torch.empty(size, size, device="cuda", dtype=dtype)
    expected = (a.float() @ b.float()).double()
    best: list[tuple[float, object]] = []
    for module in (load("matmul"), load_for_peer("matmul")):
        if module is None:
            best.append((float("nan"), "-"))
            continue
        results = []
        for bm, bn, bk, warps, stages in CONFIGS:

            def run(module=module, bm=bm, bn=bn, bk=bk, warps=warps, stages=stages):
                module.matmul(a, b, c, bm, bn, bk, num_warps=warps, num_stages=stages)

            c.fill_(float("nan"))
            try:
                run()
            except Exception as error:  # a configuration one of them cannot run is reported
                print(f"{module.__name__} {bm}x{bn}x{bk} {warps} {stages}: {str(error)[:200]}")
                continue
            relative = ((c.double() - expected).norm() / expected.norm()).item()
            assert relative < 1e-2, f"{module.__name__} {bm}x{bn}x{bk}: relative error {relative}"
            ms = median_times_ms([run], repeats=20)[0]
            results.append((2 * size**3 / ms * 1e-9, (bm, bn, bk, warps, stages)))
        best.append(max(results, default=(float("nan"), "-"), key=lambda r: r[0]))
    blas = 2 * size**3 / median_times_ms([lambda: torch.matmul(a, b, out=c)], repeats=20)[0] * 1e-9
    ours, peer = best
    return (
        f"| matmul {str(dtype)[6:]} {size}^3 | {ours[0]:.0f} {ours[1]} | {peer[0]:.0f} {peer[1]} "
        f"| {ours[0] / peer[0]:.2f} | {blas:.0f} |"
    )


def main() -> None:
    rows = [row(8192, torch.float16), row(4096, torch.bfloat16)]
    print("| work | tile TFLOP/s (config) | peer TFLOP/s (config) | ratio | cuBLAS |")
    print("|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
