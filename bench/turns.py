"""Measures functions on a GPU in turns: clocks drift by more than the functions differ.

The order is another one in each round. What ran before left the multiprocessors divided in some way
between cache and shared memory. That costs a kernel of some microseconds one more or less.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence

import torch

FLUSH_BYTES = 256 << 20
#: What the GPU waits before each launch, some 0.2 ms: until then the host has made it.
CYCLES_FOR_HOST = 400_000
#: How many candidates of each contestant are measured twice.
FINALISTS = 4

#: What is measured, and how it is called in a table.
Candidate = tuple[str, Callable[[], object]]


def median_times_ms(functions, repeats: int = 60, warm_up: int = 5) -> list[float]:
    """Median device time of each function; the L2 cache is flushed before each, and what the
    host takes for the launch is not part of it."""
    flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    times: list[list[float]] = [[] for _ in functions]
    for function in functions:
        for _ in range(warm_up):
            function()
    turn = list(zip(times, functions, strict=True))
    order = random.Random(0)
    for _ in range(repeats):
        order.shuffle(turn)
        for slot, function in turn:
            flush.zero_()
            torch.cuda._sleep(CYCLES_FOR_HOST)
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            function()
            end.record()
            end.synchronize()
            slot.append(start.elapsed_time(end))
    return [statistics.median(slot) for slot in times]


def best_times_ms(
    contestants: Sequence[Sequence[Candidate]],
    library: Callable[[], object] | None = None,
    repeats: int = 20,
    final: int = 60,
    show: Callable[[int, str, float], None] | None = None,
) -> list[tuple[float, str]]:
    """Time and name of each contestant's best candidate, and then of the library, if there is one.

    All candidates run in turns, ``repeats`` times, and the best four of each contestant again:
    between many others each finds its code gone from the caches, which costs kernels of some
    microseconds more or less. Then the best of each contestant and the library run in turns
    ``final`` times, which are the times returned (NaN for a contestant without candidates).
    ``show`` is told of each candidate: the contestant's number, the name and the time in ms.
    """
    everything = [(i, c) for i, candidates in enumerate(contestants) for c in candidates]
    times = median_times_ms([run for _, (_, run) in everything], repeats, warm_up=2)
    ranked: list[list[tuple[float, Candidate]]] = [[] for _ in contestants]
    for (i, candidate), ms in zip(everything, times, strict=True):
        if show is not None:
            show(i, candidate[0], ms)
        ranked[i].append((ms, candidate))
    finalists = [
        (i, candidate)
        for i, entries in enumerate(ranked)
        for _, candidate in sorted(entries, key=lambda entry: entry[0])[:FINALISTS]
    ]
    times = median_times_ms([run for _, (_, run) in finalists], repeats, warm_up=2)
    best: dict[int, tuple[float, Candidate]] = {}
    for (i, candidate), ms in zip(finalists, times, strict=True):
        if i not in best or ms < best[i][0]:
            best[i] = (ms, candidate)
    chosen = {i: candidate for i, (_, candidate) in best.items()}
    if library is not None:
        chosen[len(contestants)] = ("library", library)
    last = median_times_ms([run for _, run in chosen.values()], final)
    result = {i: (ms, chosen[i][0]) for i, ms in zip(chosen, last, strict=True)}
    wanted = len(contestants) + (library is not None)
    return [result.get(i, (float("nan"), "-")) for i in range(wanted)]
