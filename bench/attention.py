"""Attention forward on a GPU, beside Triton's and torch's in the same run.

    python bench/attention.py [--filter TEXT]

One list of configurations for both compilers, all of them in turns, and then the
best of each and torch's in turns (turns.py). Every configuration's output is
compared with one in double precision on one head.
"""

from __future__ import annotations

import argparse
from functools import partial
from types import ModuleType

import torch
from peer import load, load_for_peer
from turns import Candidate, best_times_ms

CONFIGS = [
    # the example's function, bm, bn, warps, stages, whether warps are specialised, programs
    ("attention", 128, 64, 4, 3, False, None),
    ("attention", 128, 64, 8, 3, False, None),
    ("attention", 128, 128, 8, 2, False, None),
    ("attention", 128, 32, 4, 4, False, None),
    ("attention", 64, 64, 4, 3, False, None),
    ("attention", 128, 128, 8, 2, True, None),
    ("by_descriptors", 64, 64, 4, 3, False, None),
    ("by_descriptors", 128, 64, 8, 3, True, None),
    ("by_descriptors", 128, 128, 8, 2, True, None),
    ("by_descriptors", 128, 128, 8, 2, True, 132),
    ("by_descriptors", 128, 128, 8, 3, True, 132),
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

    def candidates(module: ModuleType | None) -> list[Candidate]:
        """What runs and is right, of all configurations."""
        found: list[Candidate] = []
        for config in CONFIGS if module is not None else ():
            name_of, bm, bn, warps, stages, specialized, programs = config
            options = {"bm": bm, "bn": bn, "specialized": specialized}
            options |= {"num_warps": warps, "num_stages": stages}
            if programs:
                options["programs"] = programs
            run = partial(getattr(module, name_of), q, k, v, out, causal, **options)
            out.fill_(float("nan"))
            try:
                run()
            except Exception as error:  # a configuration one of them cannot run is reported
                print(f"{module.__name__} {config}: {str(error)[:200]}")
                continue
            relative = ((out[-1].double() - expected).norm() / expected.norm()).item()
            if relative < 5e-3 and not out.isnan().any():
                found.append((str(config), run))
                continue
            print(f"{module.__name__} {config}: WRONG, relative error {relative}")
            assert module.__name__.startswith("peer"), "wrong results"
        return found

    shaped = [x.view(batch, heads, length, size) for x in (q, k, v)]
    by_torch = partial(torch.nn.functional.scaled_dot_product_attention, *shaped, is_causal=causal)
    modules = (load("attention"), load_for_peer("attention"))

    def show(i: int, config: str, ms: float) -> None:
        print(f"{modules[i].__name__} {name} {config}: {flops / ms * 1e-9:.0f}")

    times = best_times_ms([candidates(m) for m in modules], by_torch, repeats=10, show=show)
    ours, peer, library = (flops / ms * 1e-9 for ms, _ in times)
    return (
        f"| {name} | {ours:.0f} {times[0][1]} | {peer:.0f} {times[1][1]} "
        f"| {ours / peer:.2f} | {library:.0f} |"
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
