"""Programs with explicit layouts on a GPU, beside torch in the same run, at most two minutes.

    python bench/gluon_products.py [--seconds 120] [--filter TEXT] > lines.jsonl

The examples' persistent matmul of fp16 and of 8-bit floats beside cuBLAS, the matmul with
partitions, and attention in turns of two groups beside torch's. A line of JSON for each work: the
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

#: Tile, stages, parts, tiles to a group.
PERSISTENT = [
    ((128, 256, 64), 4, 4, 16),
    ((128, 256, 64), 3, 1, 16),
    ((128, 256, 64), 4, 4, 8),
    ((256, 128, 64), 4, 4, 8),
]
#: Tile, stages: a partition copies.
PARTITIONS = [((128, 256, 64), 3), ((128, 128, 64), 4)]
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
    return ((part - expected).norm() / expected.norm()).item()


def products(size: int) -> dict:
    """fp16, by both programs."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    c, d = (torch.empty_like(a) for _ in range(2))
    expected = a[:512].double() @ b.double()
    check = functools.partial(error_of, c, expected)
    persistent, partitions = load("gluon/persistent_matmul"), load("gluon/wgmma_matmul")
    candidates: Candidates = {}
    for block, stages, parts, group in PERSISTENT:
        how = {"parts": parts, "group": group, "num_warps": 8}
        run = functools.partial(persistent.matmul, a, b, c, 132, block, stages, **how)
        candidates[f"persistent {block} {stages} stages, {parts} parts, groups of {group}"] = (
            run,
            check,
        )
    for block, stages in PARTITIONS:
        warps = block[0] // 16
        run = functools.partial(
            partitions.matmul, a, b, c, True, block, stages, num_warps=warps
        )  # fmt: skip
        candidates[f"partitions {block} {stages} stages"] = (run, check)
    return measure(
        f"matmul fp16 {size}^3", 2 * size**3, candidates, lambda: torch.matmul(a, b, out=d)
    )


def products_of_bytes(size: int) -> dict:
    """8-bit floats into fp16; both sum fast."""
    from tile.experimental.gluon import language as gl

    a, b = (
        torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2)
    )  # fmt: skip
    c = torch.empty(size, size, device="cuda", dtype=torch.float16)
    expected = a[:512].double() @ b.double().T
    check = functools.partial(error_of, c, expected)
    one = torch.ones((), device="cuda")
    persistent = load("gluon/persistent_matmul")
    candidates: Candidates = {}
    for (bm, bn, bk), stages, parts, group in PERSISTENT:
        how = {"parts": parts, "group": group, "num_warps": 8}
        how |= {"dtype": gl.float8e4nv, "along_k": True}
        block = (bm, bn, 2 * bk)
        run = functools.partial(persistent.matmul, a, b, c, 132, block, stages, **how)
        candidates[f"persistent {block} {stages} stages, {parts} parts, groups of {group}"] = (
            run,
            check,
        )

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
    parser.add_argument("--seconds", type=float, default=120, help="no work begins after this time")
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
