"""Time of each kernel in a chain of small ones, with and without `launch_pdl`, beside Triton's.

    python bench/chain.py

The chain is captured in a CUDA graph, so that no time of the host is in it, and also launched
as it is; the four variants take turns.
"""

from __future__ import annotations

from functools import partial

import torch
from peer import load, load_for_peer
from turns import median_times_ms

STEPS = 40


def captured(run):
    """A function that replays what `run` launches."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        run()
    return graph.replay


def main() -> None:
    modules = {"tile": load("chain"), "peer": load_for_peer("chain")}
    names = [(who, early) for who, module in modules.items() if module for early in (False, True)]
    print("us of a kernel" + "".join(f"{w + (' pdl' if e else ''):>12}" for w, e in names))
    for n in (1 << 10, 1 << 16, 1 << 20, 1 << 23):
        x, y = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
        expected = x.double()
        for _ in range(STEPS):
            expected = expected * 0.5 + 1
        start = x.clone()
        runs = []
        for who, early in names:
            run = partial(modules[who].run, x, y, STEPS, early)
            x.copy_(start)
            run()
            torch.testing.assert_close(x.double(), expected, rtol=1e-5, atol=1e-5)
            runs.append(run)
        graphs = [captured(run) for run in runs]
        for graph in graphs:
            x.copy_(start)
            graph()
            torch.testing.assert_close(x.double(), expected, rtol=1e-5, atol=1e-5)
        for title, functions in (("graph", graphs), ("launches", runs)):
            times = [ms / STEPS * 1e3 for ms in median_times_ms(functions)]
            label = f"2^{n.bit_length() - 1} {title}"
            print(f"{label:14}" + "".join(f"{time:12.2f}" for time in times), flush=True)


if __name__ == "__main__":
    main()
