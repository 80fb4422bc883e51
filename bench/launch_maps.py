"""Attention by pointers on a GPU, by who makes the descriptors that its loads may get: nobody, the
programs, the launch, or whom the compiler chooses. Beside torch's in the same run, in turns
(turns.py); every output is checked. The last table is the host's time of a launch.

    python bench/launch_maps.py [--filter TEXT] [--seconds N]

The program is that of examples/, without a change. No row begins after N seconds.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import torch
from attention import expected_head
from launch import microseconds
from peer import load
from turns import median_times_ms

#: Kernels that others launch get no maps of a launch: `overlapping_arguments` says so.
WAYS = {
    "pointers": {"raise_pointers": False},
    "by programs": {"raise_pointers": True, "overlapping_arguments": True},
    "by launches": {"raise_pointers": True},
    "default": {},
}
#: By the size of a head: bm, bn, warps, stages.
CONFIGS = {64: (64, 64, 4, 3), 128: (128, 128, 8, 2)}
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
#: As many for all heads together, and no more than so many heads.
KEYS, MOST_HEADS = 1 << 19, 128


def run(module, tensors, causal: bool, way: str) -> None:
    bm, bn, warps, stages = CONFIGS[tensors[0].shape[-1]]
    module.attention(*tensors, causal, bm=bm, bn=bn, num_warps=warps, num_stages=stages,
                     **WAYS[way])  # fmt: skip


def make(heads: int, length: int, size: int) -> list[torch.Tensor]:
    q, k, v = torch.randn(3, heads, length, size, device="cuda", dtype=torch.float16).unbind()
    return [q, k, v, torch.empty_like(q)]


def check(name: str, tensors, launch, expected) -> None:
    out = tensors[3]
    out.fill_(float("nan"))
    launch()
    error = (out[-1].double() - expected).norm() / expected.norm()
    assert error < 5e-3 and not out.isnan().any(), f"{name}: wrong, {error}"


def row(module, heads: int, length: int, size: int, causal: bool) -> str:
    tensors = make(heads, length, size)
    name = f"D{size}{' causal' if causal else ''}, {heads} heads of {length}"
    expected = expected_head(*tensors[:3], causal)
    launches = []
    for way in WAYS:
        launch = partial(run, module, tensors, causal, way)
        check(f"{name} {way}", tensors, launch, expected)
        launches.append(launch)
    shaped = [t[None] for t in tensors[:3]]
    launches.append(
        partial(torch.nn.functional.scaled_dot_product_attention, *shaped, is_causal=causal)
    )
    times = median_times_ms(launches, repeats=15, warm_up=2)
    flops = 4 * heads * length**2 * size * (0.5 if causal else 1)
    speeds = " | ".join(f"{ms * 1000:.1f} ({flops / ms * 1e-9:.0f})" for ms in times)
    line = f"| {name} | {speeds} |"
    print(line, flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only rows whose name has this text")
    parser.add_argument("--seconds", type=float, default=75.0)
    options = parser.parse_args()
    began = time.monotonic()
    module = load("attention")
    lines = []
    for size in CONFIGS:
        tensors = make(16, 256, size)
        hosts = [
            microseconds(partial(run, module, tensors, False, way), torch.cuda.synchronize, 5)
            for way in WAYS
        ]
        lines.append(f"| D{size}, host | " + " | ".join(f"{us:.1f}" for us in hosts) + " | |")
        print(lines[-1], flush=True)
        for causal in (False, True):
            for length in LENGTHS:
                name = f"D{size}{' causal' if causal else ''}"
                if options.filter in name and time.monotonic() - began < options.seconds:
                    heads = min(MOST_HEADS, KEYS // length)
                    lines.append(row(module, heads, length, size, causal))
                if options.filter in name and length <= 512:
                    lines.append(row(module, 16, length, size, causal))
    print(f"us (TFLOP/s) | {' | '.join(WAYS)} | torch")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
