"""Bandwidth of the memory-bound examples on a GPU, beside Triton's in the same run.

    python bench/memory_bound.py [--markdown]

The best of one list of configurations for both compilers, torch, and a copy of as many bytes by
torch, in turns: turns.py says how. Inputs are random and every output is checked. An empty kernel,
measured in the same way, is what no row can be faster than.
"""

from __future__ import annotations

import argparse

import torch
from peer import load, load_for_peer
from turns import best_times_ms, median_times_ms


def bench(name, ours, peer, reference, configs, moved_bytes, run):
    """One row: bandwidth and configuration of ours and Triton, of torch, and of a copy."""
    contestants = []
    for module in (ours, peer):
        candidates = []
        for config in configs if module is not None else ():
            out = run(module, config, check=True)
            expected = reference()
            error = ((out.double() - expected.double()).norm() / expected.double().norm()).item()
            assert error < 2e-3, f"{name} {config}: relative error {error}"
            candidates.append(
                (str(config), lambda module=module, config=config: run(module, config))
            )
        contestants.append(candidates)
    source, target = torch.empty(2, moved_bytes // 2, device="cuda", dtype=torch.int8)
    contestants += [[("torch", reference)], [("copy", lambda: target.copy_(source))]]
    return name, [(moved_bytes / ms * 1e-6, which) for ms, which in best_times_ms(contestants)]


def add_row(n: int):
    ours, peer = load("vector_add"), load_for_peer("vector_add")
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    out = torch.empty_like(x)

    def run(module, config, check=False):
        if check:
            out.fill_(float("nan"))
        block, warps = config
        module.add(x, y, out, block=block, num_warps=warps)
        return out

    configs = [(b, w) for b in (512, 1024, 2048, 4096) for w in (4, 8)]
    return bench(
        f"add fp32, 2^{n.bit_length() - 1}", ours, peer, lambda: x + y, configs, 12 * n, run
    )


def softmax_row(rows: int, cols: int):
    ours, peer = load("softmax"), load_for_peer("softmax")
    x = torch.randn(rows, cols, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)

    def run(module, config, check=False):
        if check:
            out.fill_(float("nan"))
        module.softmax(x, out, num_warps=config)
        return out

    reference = lambda: torch.softmax(x, dim=1)  # noqa: E731
    return bench(
        f"softmax fp16, {rows}x{cols}",
        ours,
        peer,
        reference,
        (1, 2, 4, 8, 16),
        4 * rows * cols,
        run,
    )


def layernorm_row(rows: int, cols: int):
    ours, peer = load("layernorm"), load_for_peer("layernorm")
    x = torch.randn(rows, cols, device="cuda", dtype=torch.float16)
    weight, bias = torch.randn(2, cols, device="cuda", dtype=torch.float16)
    out = torch.empty_like(x)

    def run(module, config, check=False):
        if check:
            out.fill_(float("nan"))
        module.layernorm(x, weight, bias, out, num_warps=config)
        return out

    reference = lambda: torch.nn.functional.layer_norm(x, (cols,), weight, bias)  # noqa: E731
    return bench(
        f"layernorm fp16, {rows}x{cols}",
        ours,
        peer,
        reference,
        (2, 4, 8, 16),
        4 * rows * cols,
        run,
    )


def transpose_row(m: int, n: int):
    ours, peer = load("transpose"), load_for_peer("transpose")
    x = torch.randn(m, n, device="cuda", dtype=torch.float32)
    out = torch.empty(n, m, device="cuda", dtype=torch.float32)

    def run(module, config, check=False):
        if check:
            out.fill_(float("nan"))
        block, warps = config
        module.transpose(x, out, block=block, num_warps=warps)
        return out

    configs = [(b, w) for b in (32, 64) for w in (4, 8)]
    return bench(
        f"transpose fp32, {m}x{n}", ours, peer, lambda: x.T.contiguous(), configs, 8 * m * n, run
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    rows = [add_row(1 << 28), softmax_row(8192, 1024), softmax_row(8192, 4096)]
    rows += [softmax_row(4096, 8192), softmax_row(4096, 16384)]
    rows += [layernorm_row(8192, 4096), layernorm_row(4096, 15000), transpose_row(8192, 8192)]
    print(f"GPU: {torch.cuda.get_device_name()}")
    print("| work | tile GB/s (config) | peer GB/s (config) | ratio | torch GB/s | copy GB/s |")
    print("|---|---|---|---|---|---|")
    for name, (ours, peer, by_torch, copy) in rows:
        print(
            f"| {name} | {ours[0]:.0f} ({ours[1]}) | {peer[0]:.0f} ({peer[1]}) "
            f"| {ours[0] / peer[0]:.3f} | {by_torch[0]:.0f} | {copy[0]:.0f} |"
        )
    empty = load("empty")
    ms = median_times_ms([lambda: empty.nothing[(8192,)](num_warps=4)])[0]
    print(f"\nAn empty kernel of 8192 programs takes {ms * 1000:.1f} us.")


if __name__ == "__main__":
    main()
