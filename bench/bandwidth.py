"""The share of the memory's bandwidth that kernels of serving reach on a GPU, beside Triton.

    python bench/bandwidth.py [--match TEXT] [--seconds 200]

Rows are attention of one token (examples/decode_attention.py), weights of four and eight bits
(examples/quantised_matmul.py) and experts for few tokens (examples/experts.py). Sizes are those of
Llama 3 and Qwen 3. Both compilers get one list of configurations. The best of each are measured in
turns: turns.py says how.

Every launch of a row counts, also those that add up parts. What is counted as moved is what has to
be read: keys and values, or weights. Inputs are random and every output is checked. Two things say
what memory allows: a copy by torch that moves as many bytes, and a kernel that reads as many. The
flush between launches leaves lines in L2 that have to be written back. A kernel that reads makes
room in L2 for all its bytes. The copy does so for as many, but only half of them come from memory.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from peer import load, load_for_peer
from turns import Candidate, best_times_ms

import tile
import tile.language as tl

#: What outputs may be off, relative to their norm.
TOLERANCE = 5e-3
#: Runs an example of a module at a configuration, and returns its output.
Run = Callable[[Any, dict[str, int]], torch.Tensor]


@tile.jit
def read_kernel(words_ptr, out_ptr, count, BLOCK: tl.constexpr, TIMES: tl.constexpr):
    """Reads words, and stores what is no less work to know than all of them."""
    first = tl.program_id(0).to(tl.int64) * (BLOCK * TIMES)
    every = tl.zeros((BLOCK,), tl.int32)
    for i in tl.static_range(TIMES):
        places = first + i * BLOCK + tl.arange(0, BLOCK)
        every |= tl.load(words_ptr + places, mask=places < count, other=0)
    tl.store(out_ptr + tl.program_id(0), tl.max(every, 0))


def reads(moved: int) -> list[Candidate]:
    """Ways to read as many bytes."""
    words = torch.zeros(moved // 4, device="cuda", dtype=torch.int32)
    found: list[Candidate] = []
    for block, times, warps in (
        (512, 8, 2),
        (1024, 4, 4),
        (1024, 8, 4),
        (2048, 4, 4),
        (4096, 4, 8),
    ):
        programs = tile.cdiv(words.numel(), block * times)
        out = torch.empty(programs, device="cuda", dtype=torch.int32)

        def run(
            block: int = block, times: int = times, warps: int = warps, out: torch.Tensor = out
        ) -> None:
            sizes = {"BLOCK": block, "TIMES": times, "num_warps": warps}
            read_kernel[(out.numel(),)](words, out, words.numel(), **sizes)

        found.append((f"{block} {times} {warps}", run))
    return found


def _half(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device="cuda", dtype=torch.float16)


def decode(requests: int, length: int, heads: int = 32, kv_heads: int = 8) -> tuple:
    width, page = 128, 16
    most = length // page
    table = torch.randperm(requests * most, device="cuda").int().view(requests, most)
    keys, values = (_half(requests * most, page, kv_heads, width) for _ in "kv")
    q = _half(requests, heads, width)
    lengths = torch.full((requests,), length, device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)

    def run(module: Any, config: dict[str, int]) -> torch.Tensor:
        parts = torch.empty(requests, heads, config["splits"], width, device="cuda")
        logs = torch.empty(requests, heads, config["splits"], device="cuda")
        module.decode(q, keys, values, table, lengths, parts, logs, out, early=True, **config)
        return out

    def reference() -> torch.Tensor:
        k, v = (x[table.long()].flatten(1, 2).transpose(1, 2) for x in (keys, values))
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(q[:, :, None], k, v, enable_gqa=True)[:, :, 0]

    # Powers of two, and what fills the GPU with some programs for each multiprocessor.
    room = torch.cuda.get_device_properties(0).multi_processor_count
    splits = {min(128, max(1, 2 ** (n // requests).bit_length())) for n in (32, 64)}
    splits |= {max(1, min(128, room * n // (kv_heads * requests))) for n in (3, 6)}
    configs = [
        {"splits": s, "block": block, "num_warps": warps, "num_stages": stages}
        for s in sorted(splits)
        for block, warps, stages in (
            (16, 1, 4), (32, 1, 3), (32, 4, 2), (32, 4, 3), (64, 4, 2), (64, 4, 3), (128, 4, 2)
        )
    ]  # fmt: skip
    return run, reference, configs, 2 * keys.numel() * keys.element_size()


def quantised(m: int, k: int, n: int) -> tuple:
    group = 128
    # Nibbles in the order in which `pack` of the example has those of ordinary weights.
    words = torch.randint(-(2**31), 2**31, (n, k // 8), device="cuda", dtype=torch.int32)
    scales = (torch.rand(k // group, n, device="cuda") * 0.01).half()
    x, out = _half(m, k), _half(m, n)
    counters = torch.zeros(1 << 16, device="cuda", dtype=torch.int32)

    def run(module: Any, config: dict[str, int]) -> torch.Tensor:
        parts = torch.empty(config["splits"], m, n, device="cuda")
        module.matmul(x, words, scales, parts, counters, out, **config)
        return out

    def reference() -> torch.Tensor:
        weights = load("quantised_matmul").unpacked(words.cpu().numpy())
        weights = torch.from_numpy(weights).cuda().float()
        return x.float() @ (weights * scales.float().repeat_interleave(group, 0).T).T

    configs = [
        {"splits": splits, "step": 2, **_options(m, bn, warps, stages)}
        for splits in (1, 2, 4, 8)
        for bn, warps, stages in ((16, 1, 3), (32, 2, 3), (64, 4, 3))
    ]
    return run, reference, configs, words.numel() * 4 + scales.numel() * scales.element_size()


def _options(m: int, bn: int, warps: int, stages: int) -> dict[str, int]:
    # A tensor core multiplies with 8 columns at least.
    return {"bm": 8 if m <= 8 else 16, "bn": bn, "num_warps": warps, "num_stages": stages}


def bytes_of_weights(m: int, k: int, n: int) -> tuple:
    weights = torch.randint(-128, 128, (n, k), device="cuda", dtype=torch.int8)
    scales, x, out = (torch.rand(n, device="cuda") * 0.01).half(), _half(m, k), _half(m, n)
    counters = torch.zeros(1 << 16, device="cuda", dtype=torch.int32)

    def run(module: Any, config: dict[str, int]) -> torch.Tensor:
        parts = torch.empty(config["splits"], m, n, device="cuda")
        module.matmul_of_bytes(x, weights, scales, parts, counters, out, **config)
        return out

    def reference() -> torch.Tensor:
        return x.float() @ (weights.float() * scales.float()[:, None]).T

    configs = [
        {"splits": splits, "bk": bk, **_options(m, bn, warps, stages)}
        for splits in (1, 2, 4)
        for bk, bn, warps, stages in (
            (128, 16, 1, 5),
            (128, 32, 2, 4),
            (128, 64, 4, 3),
            (256, 64, 4, 3),
        )
    ]
    return run, reference, configs, weights.numel()


def experts(tokens: int, count: int, chosen: int, k: int, n: int) -> tuple:
    gate, up, down = (_half(count, *s) * 0.02 for s in ((n, k), (n, k), (k, n)))
    x, out = _half(tokens, k), _half(tokens, k)
    shares, choices = torch.randn(tokens, count, device="cuda").softmax(-1).topk(chosen)
    bm = 8 if int(choices.flatten().bincount().max()) <= 8 else 16
    order, blocks = load("experts").by_expert(choices.cpu().numpy(), count, bm)
    order, blocks = (torch.from_numpy(a).cuda() for a in (order, blocks))
    hidden = _half(tokens * chosen, n)
    parts = torch.empty(tokens * chosen, k, device="cuda")

    def run(module: Any, config: dict[str, int]) -> torch.Tensor:
        module.layer(
            x, gate, up, down, order, blocks, shares, hidden, parts, out, early=True, **config
        )
        return out

    def reference() -> torch.Tensor:
        result = torch.zeros(tokens, k, device="cuda")
        for token, (expert, share) in enumerate(zip(choices, shares, strict=True)):
            row = x[token].float()
            a, b = (torch.einsum("enk,k->en", w[expert].float(), row) for w in (gate, up))
            inner = (torch.nn.functional.silu(a) * b).half().float()
            each = torch.einsum("ekn,en->ek", down[expert].float(), inner)
            result[token] = (each * share[:, None]).sum(0)
        return result

    configs = [
        {"bm": bm, "bn": bn, "bk": bk, "num_warps": warps, "num_stages": stages}
        for bn, bk, warps, stages in (
            (16, 64, 1, 6), (16, 128, 1, 4), (16, 128, 2, 4), (32, 128, 2, 3), (64, 64, 4, 3),
            (64, 128, 4, 3),
        )
    ]  # fmt: skip
    active = len(choices.unique())
    return run, reference, configs, active * 3 * n * k * gate.element_size()


def rows() -> Iterator[tuple[str, str, Callable[[], tuple]]]:
    """The example, what the row is called, and what makes it."""
    for requests, length in ((1, 32768), (16, 4096), (64, 2048)):
        name = f"decode llama 8b {requests}x{length}"
        yield "decode_attention", name, lambda r=requests, n=length: decode(r, n)
    for k, n in ((4096, 4096), (4096, 28672), (8192, 8192)):
        for m in (1, 16):
            name = f"w4a16 {m}x{k}x{n}"
            yield "quantised_matmul", name, lambda m=m, k=k, n=n: quantised(m, k, n)
            name = f"w8a16 {m}x{k}x{n}"
            yield "quantised_matmul", name, lambda m=m, k=k, n=n: bytes_of_weights(m, k, n)
    for tokens in (1, 16, 64):
        name = f"experts qwen 3 30b, {tokens} tokens"
        yield "experts", name, lambda t=tokens: experts(t, 128, 8, 2048, 768)


def measure(example: str, make: Callable[[], tuple]) -> tuple[int, list[tuple[float, str]]]:
    """Bytes, and time and configuration of ours, of Triton, of a read and of a copy."""
    torch.manual_seed(0)
    run, reference, configs, moved = make()
    expected = reference().double()
    contestants = []
    for module in (load(example), load_for_peer(example)):
        candidates = []
        for config in configs if module is not None else ():
            try:
                found = run(module, config).double()
            except Exception as error:
                if "out of resource" not in str(error):
                    raise
                continue
            off = ((found - expected).norm() / expected.norm()).item()
            assert off < TOLERANCE, f"{example} {config}: relative error {off}"
            short = " ".join(map(str, config.values()))
            candidates.append((short, lambda m=module, c=config: run(m, c)))
        contestants.append(candidates)
    contestants.append(reads(moved))
    source, target = torch.empty(2, moved // 2, device="cuda", dtype=torch.int8)
    return moved, best_times_ms(contestants, lambda: target.copy_(source), repeats=10, final=40)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--match", default="", help="a part of a row's name")
    parser.add_argument("--seconds", type=float, default=200, help="no row starts after this")
    options = parser.parse_args()
    until = time.time() + options.seconds
    print(f"GPU: {torch.cuda.get_device_name()}")
    print(
        "| work | MB | tile us (configuration) | Triton us | ratio | tile GB/s | of a copy "
        "| of a read |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for example, name, make in rows():
        if options.match not in name or time.time() > until:
            continue
        moved, (ours, peer, read, copy) = measure(example, make)
        print(
            f"| {name} | {moved / 1e6:.0f} | {ours[0] * 1e3:.1f} ({ours[1]}) "
            f"| {peer[0] * 1e3:.1f} ({peer[1]}) | {peer[0] / ours[0]:.2f} "
            f"| {moved / ours[0] * 1e-6:.0f} | {copy[0] / ours[0]:.2f} "
            f"| {read[0] / ours[0]:.2f} |",
            flush=True,
        )
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
