"""Times of kernels of ragged sizes on a GPU, beside Triton's at the same configuration.

    python bench/ragged.py

A size that is not a multiple of 16 elements tells a compiler nothing about where the mask ends.
Beside each such size stands the next one that is a multiple. Both compilers' code runs in turns on
the same inputs: turns.py says how. All outputs are checked.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable

import torch
from peer import load, load_for_peer
from turns import median_times_ms


def random(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(-9, 9, shape, device="cuda").to(dtype)


def add_row(n: int, dtype: torch.dtype, block: int) -> tuple:
    x, y, out = random(n, dtype=dtype), random(n, dtype=dtype), random(n, dtype=dtype)

    def launch(module) -> None:
        module.add[(-(-n // block),)](x, y, out, n, block, num_warps=4)

    return launch, out, x + y


def double_row(rows: int, cols: int, dtype: torch.dtype) -> tuple:
    stride = -(-cols // 64) * 64
    x, out = random(rows, stride, dtype=dtype), random(rows, stride, dtype=dtype)

    def launch(module) -> None:
        grid = (-(-rows // 32), -(-cols // 128))
        module.double[grid](x, out, rows, cols, stride, 32, 128, num_warps=4)

    return launch, out[:, :cols], x[:, :cols] * 2


def softmax_row(cols: int, dtype: torch.dtype) -> tuple:
    stride = -(-cols // 64) * 64
    x, out = torch.randn(2, 8192, stride, device="cuda").to(dtype)

    def launch(module) -> None:
        block = 1 << (cols - 1).bit_length()
        module.softmax[(8192,)](x, out, cols, stride, block, num_warps=8)

    return launch, out[:, :cols], torch.softmax(x[:, :cols].float(), 1)


def rows() -> list[tuple[str, Callable[[], tuple]]]:
    fp32, fp16, int8 = torch.float32, torch.float16, torch.int8
    found = []
    for dtype, name in ((fp32, "fp32"), (fp16, "fp16"), (int8, "int8")):
        for n in (1 << 25, (1 << 25) + 1):
            for block in (1024, 4096):
                found.append(
                    (f"add {name}, {n}, blocks of {block}", lambda a=(n, dtype, block): add_row(*a))
                )
    for dtype, name in ((fp32, "fp32"), (fp16, "fp16")):
        for m, n in ((8192, 4000), (8192, 4001), (100003, 125)):
            found.append((f"double {name}, {m}x{n}", lambda a=(m, n, dtype): double_row(*a)))
        for n in (4096, 4095, 1001, 12289):
            found.append((f"softmax {name}, 8192x{n}", lambda a=(n, dtype): softmax_row(*a)))
    return found


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    ours, peer = load("ragged_kernels"), load_for_peer("ragged_kernels")
    modules = [module for module in (ours, peer) if module is not None]
    print("| kernel | tile us | Triton us | ratio |\n|---|---|---|---|")
    for name, make in rows():
        launch, out, expected = make()
        for module in modules:
            out.zero_()
            launch(module)
            error = ((out.double() - expected.double()).norm() / expected.double().norm()).item()
            assert error < 2e-3, f"{name}: relative error {error}"
        times = median_times_ms(
            [functools.partial(launch, module) for module in modules], repeats=25
        )
        times = [1000 * ms for ms in times] + [float("nan")] * (2 - len(times))
        print(
            f"| {name} | {times[0]:.1f} | {times[1]:.1f} | {times[0] / times[1]:.2f} |", flush=True
        )


if __name__ == "__main__":
    main()
