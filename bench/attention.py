"""Attention forward on a GPU, beside the peer's and torch's in the same run.

    python bench/attention.py [--filter TEXT]

Best median over one list of configurations for both compilers; see
memory_bound.py for how the times are taken. Every configuration's output is
compared with torch's in double precision on one head.
"""

from __future__ import annotations

import argparse

import torch
from memory_bound import median_times_ms
from peer import load, load_for_peer

CONFIGS = [
    # the example's function, bm, bn, warps, stages, whether warps are specialised
    ("attention", 128, 64, 4, 3, False),
    ("attention", 128, 64, 8, 3, False),
    ("attention", 128, 128, 8, 2, False),
    ("attention", 128, 32, 4, 4, False),
    ("attention", 64, 64, 4, 3, False),
    ("attention", 128, 128, 8, 2, True),
    ("by_descriptors", 64, 64, 4, 3, False),
    ("by_descriptors", 128, 64, 8, 3, True),
    ("by_descriptors", 128, 128, 8, 2, True),
]


def expected_head(q, k, v, causal: bool) -> torch.Tensor:
    """The last head, in double precision."""
    q, k, v = (x[-1].double() for x in (q, k, v))
    scores = q @ k.T * q.shape[-1] ** -0.5
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
    return torch.softmax(scores, dim=1) @ v


def row(name: str, batch: int, heads: int, length: int, size: int, causal: bool) -> str:
    q, k, v = torch.randn(
        3, batch * heads, length, size, device="cuda", dtype=torch.float16
    ).unbind()
    out = torch.empty_like(q)
    expected = expected_head(q, k, v, causal)
    flops = 4 * batch * heads * length**2 * size * (0.5 if causal else 1)
    best: list[tuple[float, object]] = []
    for module in (load("attention"), load_for_peer("attention")):
        results = []
        for config in CONFIGS if module is not None else ():
            name_of, bm, bn, warps, stages, specialized = config
            attend = getattr(module, name_of)
            options = {"bm": bm, "bn": bn, "specialized": specialized}
            options |= {"num_warps": warps, "num_stages": stages}

            def run(attend=attend, options=options):
                attend(q, k, v, out, causal, **options)

            out.fill_(float("nan"))
            try:
                run()
            except Exception as error:  # a configuration one of them cannot run is reported
                print(f"{module.__name__} {config}: {str(error)[:200]}")
                continue
            relative = ((out[-1].double() - expected).norm() / expected.norm()).item()
            if not relative < 5e-3 or out.isnan().any():
                print(f"{module.__name__} {config}: WRONG, relative error {relative}")
                assert module.__name__.startswith("peer"), "wrong results"
                continue
            ms = median_times_ms([run], repeats=20)[0]
            results.append((flops / ms * 1e-9, config))
        best.append(max(results, default=(float("nan"), "-"), key=lambda r: r[0]))
    shaped = [x.view(batch, heads, length, size) for x in (q, k, v)]
    by_torch = torch.nn.functional.scaled_dot_product_attention
    ms = median_times_ms([lambda: by_torch(*shaped, is_causal=causal)], repeats=20)[0]
    ours, peer = best
    return (
        f"| {name} | {ours[0]:.0f} {ours[1]} | {peer[0]:.0f} {peer[1]} "
        f"| {ours[0] / peer[0]:.2f} | {flops / ms * 1e-9:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only rows whose name has this text")
    chosen = parser.parse_args().filter
    rows = []
    for size in (64, 128):
        for causal in (False, True):
            name = f"attention fp16 B4 H32 S4096 D{size}{' causal' if causal else ''}"
            if chosen in name:
                rows.append(row(name, 4, 32, 4096, size, causal))
    print("| work | tile TFLOP/s (config) | peer TFLOP/s (config) | ratio | torch SDPA |")
    print("|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
