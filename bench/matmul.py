"""Matrix products on a GPU, beside the peer's and cuBLAS in the same run.

    python bench/matmul.py

Best median over one list of configurations for both compilers; see
memory_bound.py for how the times are taken.
"""

from __future__ import annotations

import importlib.util

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


def row(size: int, dtype: torch.dtype, example: str = "matmul", **variant: object) -> str:
    """``variant``: what the example's function takes beside the tile."""
    a = torch.randn(size, size, device="cuda").to(dtype)
    b = torch.randn(size, size, device="cuda").to(dtype)
    c = torch.empty(size, size, device="cuda", dtype=dtype)
    expected = (a.float() @ b.float()).double()
    best: list[tuple[float, object]] = []
    for module in (load(example), load_for_peer(example)):
        if module is None:
            best.append((float("nan"), "-"))
            continue
        results = []
        for bm, bn, bk, warps, stages in CONFIGS:

            def run(module=module, bm=bm, bn=bn, bk=bk, warps=warps, stages=stages):
                options = {"num_warps": warps, "num_stages": stages, **variant}
                module.matmul(a, b, c, bm, bn, bk, **options)

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
    name = " ".join([example, *(f"{key}={value}" for key, value in variant.items())])
    return (
        f"| {name} {str(dtype)[6:]} {size}^3 | {ours[0]:.0f} {ours[1]} | {peer[0]:.0f} {peer[1]} "
        f"| {ours[0] / peer[0]:.2f} | {blas:.0f} |"
    )


def give_scratch_memory() -> None:
    """The peer asks for what kernels put their descriptors into."""
    if importlib.util.find_spec("triton") is not None:
        import triton

        triton.set_allocator(
            lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda")
        )


def main() -> None:
    give_scratch_memory()
    rows = [row(8192, torch.float16), row(4096, torch.bfloat16)]
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for on_host in (True, False):
        for programs in (None, processors):
            rows.append(
                row(8192, torch.float16, "descriptor_matmul", on_host=on_host, programs=programs)
            )
    print("| work | tile TFLOP/s (config) | peer TFLOP/s (config) | ratio | cuBLAS |")
    print("|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
