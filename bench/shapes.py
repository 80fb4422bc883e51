"""Blocks of any shape on a GPU, beside the same programs padded by masks to powers of two.

    python bench/shapes.py [--filter TEXT]

Prints a line of JSON for each row, and one with the geometric mean. Both forms get the same list
of configurations; the best of each are measured in turns (turns.py). Every output is checked.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator

import torch
from shape_kernels import attention, layernorm, matmul, softmax
from turns import Candidate, best_times_ms

import tile

#: A kernel's launch, with the extent of blocks and a configuration.
Run = Callable[[int, tuple], object]


def close(out: torch.Tensor, want: torch.Tensor) -> bool:
    """Whether it is right; NaNs are not."""
    error = (out.double() - want.double()).norm() / want.double().norm()
    return bool(error < 2e-3)


def row(
    name: str, extent: int, configs: list[tuple], run: Run, out: torch.Tensor, want: torch.Tensor
) -> float:
    """Measures both forms; gives how many times as fast the one without padding is."""
    contestants: list[list[Candidate]] = []
    for padded in (extent, tile.next_power_of_2(extent)):
        found: list[Candidate] = []
        for config in configs:
            out.fill_(float("nan"))
            try:
                run(padded, config)
            except tile.OutOfResources:
                continue
            assert close(out, want), f"{name} {padded} {config} is wrong"
            found.append((str(config), lambda p=padded, c=config: run(p, c)))
        contestants.append(found)
    (whole, how), (masked, how_masked) = best_times_ms(contestants, repeats=6, final=40)
    print(
        json.dumps(
            {
                "row": name, "us": round(whole * 1e3, 2), "config": how,
                "padded_us": round(masked * 1e3, 2), "padded_config": how_masked,
                "speed": round(masked / whole, 3),
            }
        ),
        flush=True,
    )  # fmt: skip
    return masked / whole


def softmax_row(columns: int) -> float:
    x = torch.randn((1 << 25) // columns, columns, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)

    def run(padded: int, config: tuple) -> object:
        return softmax[(x.shape[0],)](x, out, columns, columns, padded, num_warps=config[0])

    want = torch.softmax(x.float(), dim=1)
    return row(f"softmax {columns}", columns, [(2,), (4,), (8,), (16,)], run, out, want)


def layernorm_row(columns: int) -> float:
    x = torch.randn((1 << 25) // columns, columns, device="cuda", dtype=torch.float16)
    weight, bias = torch.randn(2, columns, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)

    def run(padded: int, config: tuple) -> object:
        return layernorm[(x.shape[0],)](
            x, weight, bias, out, columns, columns, padded, num_warps=config[0]
        )

    want = torch.nn.functional.layer_norm(x, (columns,), weight, bias)
    return row(f"layernorm {columns}", columns, [(8,), (16,), (32,)], run, out, want)


def matmul_row(n: int, m: int = 16384, k: int = 4096) -> float:
    a = torch.randn(m, k, device="cuda", dtype=torch.float16)
    b = torch.randn(k, n, device="cuda", dtype=torch.float16)
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)

    def run(padded: int, config: tuple) -> object:
        bm, bk, warps, stages = config
        return matmul[(m // bm,)](
            a, b, c, n, k, bm, n, bk, padded, num_warps=warps, num_stages=stages
        )

    configs = [
        (bm, bk, warps, stages)
        for bm, warps in ((64, 4), (128, 4), (128, 8))
        for bk, stages in ((64, 2), (64, 3), (64, 4))
    ]
    return row(f"matmul N={n}", n, configs, run, c, a.float() @ b.float())


def attention_row(size: int, heads: int = 64, length: int = 2048) -> float:
    q, k, v = torch.randn(3, heads, length, size, device="cuda", dtype=torch.float16).unbind()
    out = torch.empty_like(q)
    scale = size**-0.5 * math.log2(math.e)

    def run(padded: int, config: tuple) -> object:
        bm, bn, warps, stages = config
        return attention[(length // bm, heads)](
            q, k, v, out, length, scale, bm, bn, size, padded, num_warps=warps, num_stages=stages
        )

    configs = [
        (64, 64, 4, 2), (64, 64, 4, 3), (128, 64, 4, 2), (128, 64, 8, 2), (128, 64, 8, 3),
        (128, 128, 8, 2),
    ]  # fmt: skip
    want = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    return row(f"attention {size}", size, configs, run, out, want)


def rows(text: str) -> Iterator[float]:
    for make, what, extents in (
        (softmax_row, "softmax", (768, 1536, 3072, 5120)),
        (layernorm_row, "layernorm", (12288,)),
        (matmul_row, "matmul", (96, 192, 320)),
        (attention_row, "attention", (80, 96, 160, 192)),
    ):
        for extent in extents:
            if text in f"{what} {extent}":
                yield make(extent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filter", default="", help="only rows with this text")
    torch.manual_seed(0)
    speeds = list(rows(parser.parse_args().filter))
    mean = math.exp(sum(map(math.log, speeds)) / max(1, len(speeds)))
    print(
        json.dumps(
            {"rows": len(speeds), "geometric_mean": round(mean, 3), "least": round(min(speeds), 3)}
        )
    )


if __name__ == "__main__":
    main()
