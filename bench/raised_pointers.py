"""Attention and matmul by pointers on a GPU, with their operands' loads raised to descriptors
(`TILE_RAISE_POINTERS`) and as they are, beside Triton's and torch's in the same run.

    python bench/raised_pointers.py [--filter TEXT] [--seconds N]

The programs are those of examples/, without a change. Each configuration is compiled as it is,
raised, raised with warps of their own for loads, and as nobody says. All run in turns (turns.py),
and every output is checked. No row begins after N seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import torch
from attention import expected_head
from peer import load, load_for_peer
from turns import Candidate, median_times_ms

ATTENTION = [
    # bm, bn, warps, stages
    (64, 64, 4, 3),
    (128, 64, 8, 3),
    (128, 128, 8, 2),
]
MATMUL = [
    # bm, bn, bk, warps, stages
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (128, 128, 64, 4, 3),
]
WAYS = {
    "pointers": {"raise_pointers": False},
    "raised": {"raise_pointers": True},
    "raised, specialised": {"raise_pointers": True},
    "default": {},
}


def attention_row(size: int, causal: bool):
    """Functions of all ways, torch's, what checks the output, and how much is computed."""
    batch, heads, length = 4, 32, 4096
    q, k, v = torch.randn(
        3, batch * heads, length, size, device="cuda", dtype=torch.float16
    ).unbind()
    out = torch.empty_like(q)
    expected = expected_head(q, k, v, causal)

    def run(module, config, way):
        bm, bn, warps, stages = config
        options = WAYS[way] if module is ours else {}
        special = way == "raised, specialised"
        module.attention(
            q, k, v, out, causal, bm=bm, bn=bn, specialized=special, num_warps=warps,
            num_stages=stages, **options,
        )  # fmt: skip

    ours = load("attention")
    shaped = [x.view(batch, heads, length, size) for x in (q, k, v)]
    by_torch = partial(torch.nn.functional.scaled_dot_product_attention, *shaped, is_causal=causal)
    flops = 4 * batch * heads * length**2 * size * (0.5 if causal else 1)

    def error() -> float:
        return ((out[-1].double() - expected).norm() / expected.norm()).item()

    return ours, load_for_peer("attention"), ATTENTION, run, by_torch, out, error, flops, 5e-3


def matmul_row(size: int):
    a, b = (torch.randn(size, size, device="cuda").half() for _ in range(2))
    out = torch.empty(size, size, device="cuda", dtype=torch.float16)
    expected = a[-256:].double() @ b.double()

    def run(module, config, way):
        *tile, warps, stages = config
        options = WAYS[way] if module is ours else {}
        module.matmul(a, b, out, *tile, num_warps=warps, num_stages=stages, **options)

    ours = load("matmul")

    def error() -> float:
        return ((out[-256:].double() - expected).norm() / expected.norm()).item()

    by_torch = partial(torch.matmul, a, b)
    return ours, load_for_peer("matmul"), MATMUL, run, by_torch, out, error, 2 * size**3, 1e-2


def measure(name: str, ways, row) -> list[str]:
    ours, peer, configs, run, by_torch, out, error, flops, tolerance = row
    candidates: list[Candidate] = []
    for module, label, tried in ((ours, "tile", ways), (peer, "peer", ["pointers"])):
        for config in configs if module is not None else ():
            for way in tried:
                launch: Callable = partial(run, module, config, way)
                out.fill_(float("nan"))
                try:
                    launch()
                    relative = error()
                except Exception as problem:  # one that cannot run is reported
                    print(f"{name} {label} {config} {way}: {str(problem)[:300]}", flush=True)
                    continue
                right = relative < tolerance and not out.isnan().any()
                if not right:
                    print(f"{name} {label} {config} {way}: WRONG, {relative}", flush=True)
                    assert label == "peer", "wrong results"
                    continue
                candidates.append((f"{label} {way} {config}", launch))
    candidates.append(("torch", by_torch))
    times = median_times_ms([launch for _, launch in candidates], repeats=10, warm_up=2)
    found = [(flops / ms * 1e-9, which) for (which, _), ms in zip(candidates, times, strict=True)]
    for speed, which in found:
        print(f"{name} {which}: {speed:.0f}", flush=True)

    def best(prefix: str) -> str:
        fits = [(speed, which) for speed, which in found if which.startswith(prefix)]
        speed, which = max(fits, default=(float("nan"), prefix))
        return f"{speed:.0f} {which.removeprefix(prefix).strip()}"

    kinds = (
        "tile pointers",
        "tile raised (",
        "tile raised, specialised (",
        "tile default",
        "peer pointers",
        "torch",
    )
    return [f"| {name} | " + " | ".join(map(best, kinds)) + " |"]


def check_equal_rows() -> None:
    """Rows that are all the same one: their distance is zero."""
    module = load("matmul")
    a, b = (torch.randn(512, 512, device="cuda").half() for _ in range(2))
    out = torch.full((512, 512), float("nan"), device="cuda", dtype=torch.float16)
    module.matmul_kernel[(16,)](
        a, b, out, 512, 512, 512, 0, 1, 512, 1, 512, 1, BM=128, BN=128, BK=64, GROUP_M=8,
        num_warps=4, num_stages=3, raise_pointers=True,
    )  # fmt: skip
    expected = a[:1].expand(512, 512).double() @ b.double()
    assert ((out.double() - expected).norm() / expected.norm()).item() < 1e-2, "rows of distance 0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only rows whose name has this text")
    parser.add_argument("--seconds", type=float, default=45.0)
    options = parser.parse_args()
    began = time.monotonic()
    check_equal_rows()
    rows = [
        (
            f"attention fp16 B4 H32 S4096 D{size}{' causal' if causal else ''}",
            WAYS, partial(attention_row, size, causal),
        )
        for size in (128, 64)
        for causal in (False, True)
    ]  # fmt: skip
    rows += [
        (f"matmul fp16 {n}^3", ["pointers", "raised"], partial(matmul_row, n)) for n in (4096, 8192)
    ]
    lines = []
    for name, ways, make in rows:
        if options.filter in name and time.monotonic() - began < options.seconds:
            lines += measure(name, ways, make())
    print("| work | pointers | raised | raised, specialised | default | peer | torch |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
