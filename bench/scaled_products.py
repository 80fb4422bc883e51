"""Products of operands with scales on a GPU without an instruction for them, beside Triton's.

    python bench/scaled_products.py [--size 4096]

Same kernel and same configurations, in turns; milliseconds of device time. `exact` is the default,
`fast` has `fast_math=True`; docs/numerics.md says what they promise. Triton scales in bf16.
"""

from __future__ import annotations

import argparse
import functools

import torch
from peer import load, load_for_peer
from turns import median_times_ms

#: Formats of the operands, and whether the second one has scales.
KINDS = [("e4m3", "e4m3", True), ("e4m3", "bf16", False), ("e4m3", "bf16", True)]
#: BM, BN, BK, warps.
CONFIGURATIONS = [(128, 128, 64, 8), (128, 128, 128, 8), (64, 64, 64, 4)]


def operand(form: str, shape: tuple[int, int]) -> tuple[torch.Tensor, torch.Tensor]:
    """As the kernel gets it, and what it is."""
    values = torch.randn(shape, device="cuda")
    if form == "bf16":
        values = values.bfloat16()
        return values, values.double()
    values = values.to(torch.float8_e4m3fn)
    return values.view(torch.uint8), values.double()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=4096)
    n = parser.parse_args().size
    modules = {"tile": load("scaled_kernels"), "peer": load_for_peer("scaled_kernels")}
    modules = {who: module for who, module in modules.items() if module is not None}
    torch.manual_seed(0)
    print(
        "| operands | block, warps | "
        + " | ".join(f"{w} {m}" for w in modules for m in ("exact", "fast"))
        + " |"
    )
    print("|---" * (2 + 2 * len(modules)) + "|")
    for of_a, of_b, both in KINDS:
        a, x = operand(of_a, (n, n))
        b, y = operand(of_b, (n, n))
        scales = [
            torch.randint(120, 135, (n, n // 32), device="cuda", dtype=torch.uint8)
            for _ in range(2)
        ]
        factors = [torch.exp2(s.double() - 127).repeat_interleave(32, 1) for s in scales]
        want = (x * factors[0]) @ (y * factors[1].T if both else y)
        out = torch.empty(n, n, device="cuda")
        for bm, bn, bk, warps in CONFIGURATIONS:
            runs = []
            for module in modules.values():
                for fast in (False, True):
                    run = functools.partial(
                        module.scaled_matmul[(n // bm * (n // bn),)],
                        a, scales[0], b, scales[1] if both else None, out, n, n, n,
                        of_a, of_b, fast, bm, bn, bk, num_warps=warps, num_stages=3,
                    )  # fmt: skip
                    out.fill_(float("nan"))
                    run()
                    error = ((out.double() - want).abs().max() / want.abs().max()).item()
                    assert error < 1e-3, error
                    runs.append(run)
            times = " | ".join(f"{ms:.3f}" for ms in median_times_ms(runs, repeats=20))
            name = f"{of_a}, {of_b}{' with scales' if both and of_b == 'bf16' else ''}"
            print(f"| {name} | {bm}x{bn}x{bk}, {warps} | {times} |", flush=True)


if __name__ == "__main__":
    main()
