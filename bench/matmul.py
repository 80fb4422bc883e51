"""Matrix products on a GPU, beside Triton's and cuBLAS in the same run.

    python bench/matmul.py [--filter TEXT] [--all]

The best of one list of configurations for both compilers, and cuBLAS, in turns: turns.py says
how the times are taken. matmul_sweep.py measures many shapes.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util

import torch
from peer import load, load_for_peer
from turns import Candidate, best_times_ms

LARGE = [
    # bm, bn, bk, warps, stages
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (256, 128, 64, 8, 4),
    (128, 128, 64, 4, 3),
    (128, 128, 32, 4, 4),
    (64, 128, 64, 4, 3),
]
#: For products of few tiles, or with few steps.
SMALL = [
    (128, 256, 64, 8, 3),
    (128, 128, 64, 4, 3),
    (256, 128, 64, 8, 3),
    (128, 128, 64, 8, 4),
    (128, 128, 128, 8, 3),
    (128, 64, 64, 4, 4),
    (64, 128, 64, 4, 4),
    (64, 128, 64, 4, 6),
    (64, 128, 128, 4, 4),
    (64, 64, 64, 4, 4),
]

#: Of types other than those of 16 bits, whose tiles along K are as many bytes.
BYTES = [
    (128, 256, 128, 8, 3),
    (128, 256, 128, 8, 4),
    (256, 128, 128, 8, 3),
    (128, 128, 128, 4, 3),
    (128, 128, 128, 8, 4),
]
WORDS = [
    (128, 256, 32, 8, 3),
    (128, 256, 32, 8, 4),
    (256, 128, 32, 8, 3),
    (128, 128, 32, 4, 3),
    (128, 128, 32, 8, 4),
]

#: Sizes, type, configurations.
SHAPES = [
    (8192, 8192, 8192, torch.float16, LARGE),
    (4096, 4096, 4096, torch.bfloat16, LARGE),
    (2048, 2048, 2048, torch.float16, SMALL),
    (8192, 8192, 512, torch.float16, SMALL),
    (4096, 14336, 4096, torch.float16, LARGE),
    (128, 8192, 8192, torch.float16, SMALL),
    (1000, 4104, 2056, torch.float16, SMALL),
]

#: Sizes, operands' type, the result's, configurations; B lies along N, or along K.
OTHER_TYPES = [
    (8192, torch.float8_e4m3fn, torch.float16, BYTES),
    (8192, torch.float8_e5m2, torch.float16, BYTES),
    (8192, torch.int8, torch.int32, BYTES),
    (4096, torch.float32, torch.float32, WORDS),
]


def random_matrix(rows: int, columns: int, dtype) -> torch.Tensor:
    if dtype == torch.int8:
        return torch.randint(-8, 8, (rows, columns), device="cuda", dtype=dtype)
    return torch.randn(rows, columns, device="cuda").to(dtype)


def library_product(a, b, out_dtype):
    """What cuBLAS has for these operands, B along K; None if it has nothing."""
    if a.dtype == torch.int8:
        return lambda: torch._int_mm(a, b)
    if a.dtype == torch.float8_e4m3fn:
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=out_dtype, use_fast_accum=True)
    if a.dtype == torch.float32:
        torch.backends.cuda.matmul.allow_tf32 = True
        return lambda: torch.matmul(a, b)
    return None


def compare(name, modules, configs, flops, run, check, library, everything) -> str:
    """A row of the table. ``run(module, config)`` launches; ``check`` calls a launch and returns
    its relative error; ``library`` is what cuBLAS does, or None."""
    contestants: list[list[Candidate]] = []
    for module in modules:
        able: list[Candidate] = []
        contestants.append(able)
        for config in configs if module is not None else ():
            launch = functools.partial(run, module, config)
            try:
                relative = check(launch)
            except Exception as error:  # a configuration one of them cannot run is reported
                print(f"{module.__name__} {config}: {str(error)[:200]}")
                continue
            assert relative < 1e-2, f"{module.__name__} {config}: relative error {relative}"
            able.append((str(config), launch))

    def show(which: int, config: str, ms: float) -> None:
        if everything:
            print(f"{name} {modules[which].__name__} {config}: {flops / ms * 1e-9:.0f}", flush=True)

    ours, peer, *others = best_times_ms(contestants, library, show=show)
    speeds = [f"{flops / ms * 1e-9:.0f}" for ms, _ in (ours, peer, *others)]
    return (
        f"| {name} | {speeds[0]} {ours[1]} | {speeds[1]} {peer[1]} "
        f"| {peer[0] / ours[0]:.2f} | {speeds[2] if others else '-'} |"
    )


def measure_type(name, modules, size, dtype, out_dtype, configs, along_k, everything) -> str:
    """A square product of operands of ``dtype``, through pointers."""
    a, b = random_matrix(size, size, dtype), random_matrix(size, size, dtype)
    strides = (size, 1)
    if along_k:
        b, strides = b.T, (1, size)
    c = torch.empty(size, size, device="cuda", dtype=out_dtype)
    expected = (a[:512].double() @ b.double()).to(out_dtype).double()

    def run(module, config):
        bm, bn, bk, warps, stages = config
        module.matmul_kernel[((size // bm) * (size // bn),)](
            a, b, c, size, size, size, size, 1, *strides, size, 1,
            BM=bm, BN=bn, BK=bk, GROUP_M=8, num_warps=warps, num_stages=stages,
        )  # fmt: skip

    def check(launch):
        c.zero_()
        launch()
        return ((c[:512].double() - expected).norm() / expected.norm()).item()

    flops = 2 * size**3
    library = library_product(a, b if along_k else b.T.contiguous().T, out_dtype)
    return compare(name, modules, configs, flops, run, check, library, everything)


def measure(name, modules, shape, dtype, configs, everything, **variant) -> str:
    """``variant``: what the example's function takes beside the tile."""
    m, n, k = shape
    a = torch.randn(m, k, device="cuda").to(dtype)
    b = torch.randn(k, n, device="cuda").to(dtype)
    c = torch.empty(m, n, device="cuda", dtype=dtype)
    expected = (a.float() @ b.float()).double()

    def run(module, config):
        *tile, warps, stages = config
        module.matmul(a, b, c, *tile, num_warps=warps, num_stages=stages, **variant)

    def check(launch):
        c.fill_(float("nan"))
        launch()
        return ((c.double() - expected).norm() / expected.norm()).item()

    flops = 2 * m * n * k

    def library():
        torch.matmul(a, b, out=c)

    return compare(name, modules, configs, flops, run, check, library, everything)


def give_scratch_memory() -> None:
    """Triton asks for what kernels put their descriptors into."""
    if importlib.util.find_spec("triton") is not None:
        import triton

        triton.set_allocator(
            lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda")
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only rows whose name has this text")
    parser.add_argument("--all", action="store_true", help="show every configuration")
    options = parser.parse_args()
    give_scratch_memory()
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    variants = [("matmul", {})]
    for on_host in (True, False):
        for programs in (None, processors):
            variants.append(("descriptor_matmul", {"on_host": on_host, "programs": programs}))
    rows = []
    for example, variant in variants:
        for m, n, k, dtype, configs in SHAPES:
            words = [example, *(f"{key}={value}" for key, value in variant.items())]
            name = " ".join([*words, str(dtype)[6:], f"{m}x{n}x{k}"])
            if options.filter in name:
                modules = (load(example), load_for_peer(example))
                rows.append(
                    measure(name, modules, (m, n, k), dtype, configs, options.all, **variant)
                )
    for size, dtype, out_dtype, configs in OTHER_TYPES:
        for along_k in (True, False):
            name = f"matmul {str(dtype)[6:]} {size}^3, B along {'K' if along_k else 'N'}"
            if options.filter in name:
                modules = (load("matmul"), load_for_peer("matmul"))
                rows.append(
                    measure_type(
                        name, modules, size, dtype, out_dtype, configs, along_k, options.all
                    )
                )
    print("| work | tile TFLOP/s (config) | peer TFLOP/s (config) | ratio | cuBLAS |")
    print("|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
