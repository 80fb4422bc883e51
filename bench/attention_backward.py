"""Attention's gradients on a GPU, beside Triton's and torch's in the same run.

    python bench/attention_backward.py [--filter TEXT]

Both programs of examples/attention_backward.py, over one list of configurations
for both compilers; see turns.py for how the times are taken. All is timed that
follows a forward pass which hands over the logarithms of sums (`statistics`), as
it is in torch. Every configuration's outputs are compared with gradients in
double precision of one head. Operations are counted as usual, five dots,
though two passes that share nothing compute seven.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import ModuleType

import torch
from peer import load, load_for_peer
from turns import best_times_ms, median_times_ms

# Block of keys, block of queries, warps, stages, whether warps are specialised, registers, whether
# causal blocks have one loop.
ONE_PASS = [
    (64, 64, 4, 2, False, None, False),
    (64, 64, 4, 3, False, None, False),
    (64, 64, 4, 2, False, 168, False),
    (64, 64, 4, 3, False, 168, False),
    (128, 64, 8, 2, False, None, False),
    (128, 64, 8, 3, False, None, False),
    (128, 128, 8, 2, False, None, False),
    (128, 64, 8, 2, True, None, False),
    (128, 64, 8, 3, True, None, False),
    (128, 128, 8, 2, True, None, True),
]
# Block that stays, block of a step, warps, stages, whether warps are specialised.
TWO_PASSES = [
    (64, 64, 4, 2, False),
    (64, 64, 4, 3, False),
    (128, 64, 8, 2, False),
    (128, 64, 8, 3, False),
    (128, 32, 8, 3, True),
    (128, 128, 8, 2, True),
]


def expected_head(q, k, v, dout, causal: bool) -> tuple[torch.Tensor, ...]:
    """The last head's gradients, in double precision."""
    q, k, v, dout = (x[-1].double() for x in (q, k, v, dout))
    scale = q.shape[-1] ** -0.5
    scores = q @ k.T * scale
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
    weights = torch.softmax(scores, dim=1)
    deltas = ((weights @ v) * dout).sum(dim=1, keepdim=True)
    dscores = weights * (dout @ v.T - deltas) * scale
    return dscores @ k, dscores.T @ q, weights.T @ dout


class Row:
    """The tensors of one row of the table, and what each compiler takes for its kernels."""

    def __init__(self, batch: int, heads: int, length: int, size: int, causal: bool) -> None:
        self.causal, self.size, self.length, self.heads = causal, size, length, batch * heads
        shape = (batch * heads, length, size)
        self.q, self.k, self.v, self.dout = torch.randn(
            4, *shape, device="cuda", dtype=torch.float16
        ).unbind()
        self.gradients = torch.empty(3, *shape, device="cuda", dtype=torch.float16)
        self.sums, self.deltas = torch.empty(2, batch * heads, length, device="cuda")
        self.dq_sums = torch.empty(shape, device="cuda")
        self.shaped = [
            x.view(batch, heads, length, size).detach().requires_grad_()
            for x in (self.q, self.k, self.v)
        ]
        attend = torch.nn.functional.scaled_dot_product_attention
        self.attended = attend(*self.shaped, is_causal=causal)
        self.out = self.attended.detach().view(shape)
        self.expected = expected_head(self.q, self.k, self.v, self.dout, causal)
        self.flops = 10 * batch * heads * length**2 * size * (0.5 if causal else 1)

    def by_torch(self) -> None:
        dout = self.dout.view_as(self.attended)
        torch.autograd.grad(self.attended, self.shaped, dout, retain_graph=True)

    def works(self, name: str, run: Callable[[], object], which: slice = slice(None)) -> bool:
        """Whether `run` gives the right gradients."""
        self.gradients[which].fill_(float("nan"))
        try:
            run()
        except Exception as error:  # a configuration one of them cannot run is reported
            print(f"{name}: {str(error)[:200]}")
            return False
        for gradient, expected in zip(self.gradients[which], self.expected[which], strict=True):
            relative = ((gradient[-1].double() - expected).norm() / expected.norm()).item()
            if not relative < 5e-3 or gradient.isnan().any():
                print(f"{name}: WRONG, relative error {relative}")
                assert name.startswith("peer"), "wrong results"
                return False
        return True

    def in_one_pass(self, module: ModuleType, config) -> None:
        bn, bm, warps, stages, specialized, registers, one_loop = config
        options = {} if registers is None else {"maxnreg": registers}
        module.attention_backward(
            self.q, self.k, self.v, self.out, self.dout, *self.gradients, self.sums, self.deltas,
            self.dq_sums, self.causal, bm, bn, specialized, one_loop, num_warps=warps,
            num_stages=stages, **options,
        )  # fmt: skip

    def part(self, module: ModuleType, kernel: str, config) -> None:
        """One of the two kernels that share nothing."""
        stays, step, warps, stages, specialized = config
        dq, dk, dv = self.gradients
        made = (dq,) if kernel == "queries" else (dk, dv)
        bm, bn = (stays, step) if kernel == "queries" else (step, stays)
        getattr(module, f"{kernel}_kernel")[(self.length // stays, self.heads)](
            self.q, self.k, self.v, self.dout, *made, self.sums, self.deltas, self.size**-0.5,
            self.length, self.size, bm, bn, self.causal, specialized, num_warps=warps,
            num_stages=stages,
        )  # fmt: skip

    def prepare(self, module: ModuleType) -> None:
        module.prepare_kernel[(self.length // 32, self.heads)](
            self.out, self.dout, self.deltas, None, self.length, self.size, 32, False
        )

    def best_part(self, module: ModuleType, kernel: str, which: slice):
        """The configuration with which one of the two kernels is fastest; None if all fail."""
        times = []
        for config in TWO_PASSES:

            def run(config=config):
                self.part(module, kernel, config)

            name = f"{module.__name__.split('_')[0]} {kernel} D{self.size} {self.causal} {config}"
            if self.works(name, run, which):
                times.append((median_times_ms([run], repeats=10)[0], config))
                print(f"{name}: {times[-1][0]:.3f} ms")
        return min(times)[1] if times else None

    def candidates(self, module: ModuleType | None) -> list[tuple[str, Callable[[], object]]]:
        """All that a compiler makes of the two programs, by name."""
        if module is None:
            return []
        self.sums.fill_(float("nan"))
        module.statistics(self.q, self.k, self.sums, self.causal, 64, 64)
        found = []
        for config in ONE_PASS:

            def run(config=config):
                self.in_one_pass(module, config)

            if self.works(f"{module.__name__.split('_')[0]} one pass {config}", run):
                found.append((f"one pass {config}", run))
        self.prepare(module)
        parts = {"keys_values": slice(1, 3), "queries": slice(0, 1)}
        configs = {x: self.best_part(module, x, which) for x, which in parts.items()}

        def in_two():
            self.prepare(module)
            for kernel, config in configs.items():
                self.part(module, kernel, config)

        if None not in configs.values():
            found.append((f"two passes {' '.join(map(str, configs.values()))}", in_two))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only rows whose name has this text")
    chosen = parser.parse_args().filter
    modules = load("attention_backward"), load_for_peer("attention_backward")
    rows = []
    for size in (64, 128):
        for causal in (False, True):
            name = f"gradients fp16 B4 H16 S4096 D{size}{' causal' if causal else ''}"
            if chosen not in name:
                continue
            row = Row(4, 16, 4096, size, causal)
            contestants = [row.candidates(module) for module in modules]

            def show(i, candidate, ms, row=row):
                rate = row.flops / ms * 1e-9
                print(f"{('tile', 'peer')[i]} {candidate}: {ms:.3f} ms, {rate:.0f} TFLOP/s")

            results = best_times_ms(contestants, row.by_torch, show=show)
            ours, peer, torchs = (row.flops / ms * 1e-9 for ms, _ in results)
            rows.append(
                f"| {name} | {ours:.0f} | {peer:.0f} | {ours / peer:.2f} "
                f"| {torchs:.0f} | {results[0][1]} | {results[1][1]} |"
            )
    print("| work | tile TFLOP/s | peer TFLOP/s | ratio | torch SDPA | tile: | Triton: |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
