"""Times of kernels that reduce rows on a GPU, beside Triton's at the same configuration.

    python bench/reductions.py

The kernels have the forms and the configurations of public libraries (reduction_kernels.py). Both
compilers' code runs in turns on the same inputs: turns.py says how. All outputs are checked.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable

import torch
from peer import load, load_for_peer
from turns import median_times_ms


@dataclasses.dataclass
class Row:
    """One kernel at one size."""

    name: str
    launch: Callable
    outputs: list[torch.Tensor]
    #: Makes the inputs anew where the kernel overwrites them; returns what is right.
    expected: Callable[[], list[torch.Tensor]]
    #: What is compared, where this is not the outputs themselves.
    compared: Callable[[], list[torch.Tensor]] | None = None


def random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype)


def var_mean_row(rows: int, cols: int, warps: int, block: int | None = None) -> Row:
    x, mean, var = random(rows, cols), random(rows), random(rows)

    def launch(module):
        kernel = module.var_mean if block is None else module.var_mean_in_steps
        return kernel[(rows,)](x, mean, var, cols, block or cols, num_warps=warps)

    name = f"var_mean fp32 {rows}x{cols}" + (f", steps of {block}" if block else "")
    name += f", {warps} warps"
    return Row(name, launch, [mean, var], lambda: [x.mean(1), x.var(1)])


def layer_norm_row(rows: int, cols: int, warps: int) -> Row:
    x, residual, out = (random(rows, cols, dtype=torch.bfloat16) for _ in range(3))
    weight, bias = random(cols), random(cols)

    def launch(module):
        return module.layer_norm[(rows,)](
            x, residual, weight, bias, out, cols, 1e-5, cols, num_warps=warps
        )

    def expected():
        total = x.float() + residual.float()
        return [torch.nn.functional.layer_norm(total, (cols,), weight, bias)]

    name = f"layer_norm with residual bf16 {rows}x{cols}, {warps} warps"
    return Row(name, launch, [out], expected)


def argmax_row(rows: int, cols: int, warps: int) -> Row:
    x = random(rows, cols, dtype=torch.float16)
    out = torch.zeros(rows, device="cuda", dtype=torch.int64)

    def launch(module):
        return module.argmax[(rows,)](x, out, cols, cols, num_warps=warps)

    def compared():
        # Equal elements may stand in several places.
        return [x.gather(1, out[:, None].clamp(0, cols - 1))[:, 0]]

    name = f"argmax fp16 {rows}x{cols}, {warps} warps"
    return Row(name, launch, [out], lambda: [x.amax(1)], compared)


def cross_entropy_row(rows: int, cols: int, block: int, warps: int) -> Row:
    logits = random(rows, cols, dtype=torch.bfloat16)
    x, loss = logits.clone(), random(rows)
    labels = torch.randint(0, cols, (rows,), device="cuda")

    def launch(module):
        return module.cross_entropy[(rows,)](x, labels, loss, cols, block, num_warps=warps)

    def expected():
        x.copy_(logits)
        return [torch.nn.functional.cross_entropy(logits.float(), labels, reduction="none")]

    name = f"cross_entropy bf16 {rows}x{cols}, {warps} warps"
    return Row(name, launch, [loss], expected)


def kl_div_row(rows: int, cols: int, block: int, warps: int) -> Row:
    predicted = random(rows, cols).log_softmax(1)
    target, loss = random(rows, cols).softmax(1), random(rows)

    def launch(module):
        return module.kl_div[(rows,)](predicted, target, loss, cols, block, num_warps=warps)

    def expected():
        return [torch.nn.functional.kl_div(predicted, target, reduction="none").sum(1)]

    return Row(f"kl_div fp32 {rows}x{cols}, {warps} warps", launch, [loss], expected)


def column_moments_row(rows: int, cols: int, tile: tuple[int, int], warps: int) -> Row:
    parts = 64
    x, mean, m2 = random(rows, cols), random(parts, cols), random(parts, cols)
    grid = (-(-cols // tile[1]), parts)

    def launch(module):
        return module.column_moments[grid](x, mean, m2, rows // parts, cols, *tile, num_warps=warps)

    def expected():
        part = x.view(parts, rows // parts, cols)
        return [part.mean(1), part.var(1, correction=0) * (rows // parts)]

    name = f"batch_norm, first pass, fp32 {rows}x{cols}, {warps} warps"
    return Row(name, launch, [mean, m2], expected)


def check(row: Row, module) -> object:
    """Launches once with poisoned outputs; returns the compiled kernel."""
    row.expected()
    for out in row.outputs:
        out.fill_(-1)
    compiled = row.launch(module)
    torch.cuda.synchronize()
    results = row.compared() if row.compared else row.outputs
    for out, right in zip(results, row.expected(), strict=True):
        error = (out.double() - right.double()).norm() / right.double().norm()
        assert error < 5e-3, f"{row.name}: relative error {error.item()}"
    return compiled


def measure(row: Row) -> str:
    modules = [load("reduction_kernels"), load_for_peer("reduction_kernels")]
    compiled = [check(row, module) for module in modules]
    ours, peer = median_times_ms([lambda m=module: row.launch(m) for module in modules])
    registers = [kernel.n_regs for kernel in compiled]
    return (
        f"| {row.name} | {ours * 1e3:.1f} | {peer * 1e3:.1f} | {ours / peer:.2f} "
        f"| {registers[0]} | {registers[1]} |"
    )


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    rows: list[Callable[[], Row]] = [
        lambda: var_mean_row(8192, 4096, 16),
        lambda: var_mean_row(8192, 1024, 4),
        lambda: var_mean_row(4096, 32768, 16, block=2048),
        lambda: layer_norm_row(8192, 4096, 16),
        lambda: layer_norm_row(8192, 4096, 8),
        lambda: argmax_row(8192, 8192, 8),
        lambda: argmax_row(8192, 8192, 16),
        lambda: cross_entropy_row(4096, 32768, 32768, 32),
        lambda: cross_entropy_row(2048, 131072, 32768, 32),
        lambda: kl_div_row(2048, 32768, 32768, 16),
        lambda: column_moments_row(65536, 1024, (128, 8), 8),
    ]
    print(f"GPU: {torch.cuda.get_device_name()}")
    print("| work | tile us | peer us | ratio | registers | peer's |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(measure(row()), flush=True)


if __name__ == "__main__":
    main()
