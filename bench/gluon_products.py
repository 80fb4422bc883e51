"""Programs with explicit layouts on a GPU, beside torch in the same run, at most 90 seconds.

    python bench/gluon_products.py [--seconds 90] [--filter TEXT] > lines.jsonl

The examples' persistent matmuls of fp16 and of 8-bit floats, without and with partitions, beside
cuBLAS, and attention in turns of two groups beside torch's. A line of JSON for each work: the
speeds in TFLOP/s, the ratio to torch, and the configuration that was best. All candidates of a work
and torch run in turns (turns.py), after the result of each was compared.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections.abc import Callable

import torch
from peer import ROOT, load
from turns import best_times_ms

sys.path.append(str(ROOT / "examples" / "gluon"))

#: Example, tile, stages, what else. K of a tile is that of 16-bit elements.
PRODUCTS: list[tuple[str, tuple[int, int, int], int, dict]] = [
    ("persistent_matmul", (128, 256, 64), 4, {"parts": 4, "group": 16, "num_warps": 8}),
    ("persistent_matmul", (128, 256, 64), 4, {"parts": 4, "group": 8, "num_warps": 8}),
    # Two groups of warps share a tile.
    ("group_matmul", (128, 256, 64), 4, {"parts": 4, "group": 16}),
    ("group_matmul", (128, 256, 64), 4, {"parts": 4, "group": 8}),
    # Each has its own: one stores while the other one multiplies.
    ("group_matmul", (128, 128, 64), 5, {"parts": 2, "group": 16, "shared": False}),
    ("group_matmul", (64, 256, 64), 4, {"parts": 4, "group": 16, "shared": False}),
]
#: Keys to a step, stages, whether groups take turns, programs.
ATTENTION = [
    (128, 2, True, 132),
    (128, 2, False, 132),
    (128, 2, True, 1 << 20),
    (64, 4, True, 132),
]

#: What is launched, and its relative error once it has run.
Candidates = dict[str, tuple[Callable[[], object], Callable[[], float]]]


def measure(work: str, flops: float, candidates: Candidates, library: Callable[[], object]) -> dict:
    """The line of a work."""
    right, refused = [], {}
    for name, (launch, error) in candidates.items():
        try:
            launch()
            relative = error()
        except Exception as problem:  # A configuration that does not compile is reported.
            refused[name] = str(problem).strip().splitlines()[-1][:200]
            continue
        if relative < 1e-2:
            right.append((name, launch))
        else:
            refused[name] = f"relative error {relative}"
    (ours, best), (theirs, _) = best_times_ms([right], library, repeats=8, final=30)
    speeds = [flops / ms * 1e-9 for ms in (ours, theirs)]
    return {
        "work": work, "tile_tflops": round(speeds[0], 1), "torch_tflops": round(speeds[1], 1),
        "ratio": round(speeds[0] / speeds[1], 4), "best": best, "refused": refused,
    }  # fmt: skip


def error_of(result: torch.Tensor, expected: torch.Tensor) -> float:
    part = result[: expected.shape[0]].double()
    error = ((part - expected).norm() / expected.norm()).item()
    result.fill_(float("nan"))  # What the next candidate does not write is no result.
    return error


def matmuls(a, b, c, expected: torch.Tensor, factor: int, **how) -> Candidates:
    """The candidates of a matmul. `factor`: how many elements are as long as one of 16 bits."""
    candidates: Candidates = {}
    for example, (bm, bn, bk), stages, more in PRODUCTS:
        block = (bm, bn, factor * bk)
        run = functools.partial(
            load(f"gluon/{example}").matmul, a, b, c, 132, block, stages, **more, **how
        )
        name = f"{example} {block} {stages} stages {more}"
        candidates[name] = (run, functools.partial(error_of, c, expected))
    return candidates


def products(size: int) -> dict:
    """fp16, beside cuBLAS."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    c, d = (torch.empty_like(a) for _ in range(2))
    candidates = matmuls(a, b, c, a[:512].double() @ b.double(), 1)
    library = functools.partial(torch.matmul, a, b, out=d)
    return measure(f"matmul fp16 {size}^3", 2 * size**3, candidates, library)


def products_of_bytes(size: int) -> dict:
    """8-bit floats into fp16; both sum fast."""
    from tile.experimental.gluon import language as gl

    a, b = (
        torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2)
    )  # fmt: skip
    c = torch.empty(size, size, device="cuda", dtype=torch.float16)
    one = torch.ones((), device="cuda")
    expected = a[:512].double() @ b.double().T
    candidates = matmuls(a, b, c, expected, 2, dtype=gl.float8e4nv, along_k=True)

    def library():
        torch._scaled_mm(a, b.T, one, one, out_dtype=torch.float16, use_fast_accum=True)

    return measure(f"matmul e4m3 {size}^3", 2 * size**3, candidates, library)


def attention(batch: int, heads: int, length: int, size: int, causal: bool) -> dict:
    q, k, v = torch.randn(
        3, batch * heads, length, size, device="cuda", dtype=torch.float16
    ).unbind()
    out = torch.empty_like(q)
    head = [x[-1].double() for x in (q, k, v)]
    scores = head[0] @ head[1].T * size**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
    expected = (torch.softmax(scores, dim=1) @ head[2])[None]
    module = load("gluon/pingpong_attention")
    candidates: Candidates = {}
    for bn, stages, turns, programs in ATTENTION:
        run = functools.partial(
            module.attention, q, k, v, out, causal, bn, stages, turns, programs
        )  # fmt: skip
        name = f"{bn} keys, {stages} stages, {'in turns' if turns else 'free'}, {programs} programs"
        candidates[name] = (run, lambda: error_of(out[-1:], expected))
    shaped = [x.view(batch, heads, length, size) for x in (q, k, v)]
    library = functools.partial(
        torch.nn.functional.scaled_dot_product_attention, *shaped, is_causal=causal
    )
    flops = 4 * batch * heads * length**2 * size * (0.5 if causal else 1)
    name = f"attention fp16 B{batch} H{heads} S{length} D{size}{' causal' if causal else ''}"
    return measure(name, flops, candidates, library)


WORK: dict[str, Callable[[], dict]] = {
    "matmul fp16 8192": lambda: products(8192),
    "matmul fp16 4096": lambda: products(4096),
    "matmul e4m3 8192": lambda: products_of_bytes(8192),
    "matmul e4m3 4096": lambda: products_of_bytes(4096),
    "attention D128": lambda: attention(4, 32, 4096, 128, False),
    "attention D128 causal": lambda: attention(4, 32, 4096, 128, True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=90, help="no work begins after this time")
    parser.add_argument("--filter", default="", help="only works whose name has this text")
    args = parser.parse_args()
    start = time.monotonic()
    for name, work in WORK.items():
        if args.filter not in name:
            continue
        # The last work takes as long as one before it.
        if time.monotonic() - start > args.seconds * 0.85:
            print(json.dumps({"work": name, "skipped": "no time is left"}), flush=True)
            continue
        begin = time.monotonic()
        line = work()
        line["seconds"] = round(time.monotonic() - begin, 1)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
