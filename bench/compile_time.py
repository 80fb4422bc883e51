"""Cold compile time of the example kernels, beside the peer's in the same process.

    python bench/compile_time.py [--repeats 5]

Works without a GPU: both compilers are asked for PTX for sm_90 from source, with
their caches off. The first compile of the process is left out for both (it loads
libraries); the median of the rest is shown.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import statistics
import tempfile
import time

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="tile-bench-cache-"))

from peer import load, load_for_peer

KERNELS = {
    "vector_add": ("add_kernel", "*fp32 *fp32 *fp32 i32", {"BLOCK": 1024}),
    "softmax": ("softmax_kernel", "*fp16 *fp16 i32 i32 i32", {"BLOCK": 4096}),
    "transpose": ("transpose_kernel", "*fp32 *fp32 i32 i32", {"BM": 64, "BN": 64}),
    "argmax": ("argmax_kernel", "*fp32 *i32 *fp32 i32", {"BLOCK": 1024}),
}


def compile_once(compiler, module, example: str) -> float:
    """Seconds from source to PTX (and to a cubin where the compiler makes one)."""
    name, types, constexprs = KERNELS[example]
    fn = getattr(module, name)
    signature = dict.fromkeys(fn.arg_names, "constexpr")
    signature.update(zip(fn.arg_names, types.split(), strict=False))
    start = time.perf_counter()
    target = importlib.import_module(f"{compiler.__name__}.backends.compiler").GPUTarget(
        "cuda", 90, 32
    )
    source = compiler.compiler.ASTSource(fn=fn, signature=signature, constexprs=constexprs)
    compiler.compile(source, target=target)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats

    import tile

    compilers = {"tile": (tile, load)}
    if importlib.util.find_spec("triton"):
        import triton

        compilers["peer"] = (triton, load_for_peer)

    print("| kernel | " + " | ".join(f"{name} ms" for name in compilers) + " | ratio |")
    print("|---" * (len(compilers) + 2) + "|")
    for example in KERNELS:
        modules = {name: loader(example) for name, (_, loader) in compilers.items()}
        times = {name: [] for name in compilers}
        for _ in range(repeats + 1):
            for name, (compiler, _) in compilers.items():
                times[name].append(compile_once(compiler, modules[name], example))
        medians = {name: statistics.median(t[1:]) * 1e3 for name, t in times.items()}
        ratio = medians["tile"] / medians["peer"] if "peer" in medians else float("nan")
        print(
            f"| {example} | "
            + " | ".join(f"{m:.1f}" for m in medians.values())
            + f" | {ratio:.2f} |"
        )


if __name__ == "__main__":
    main()
