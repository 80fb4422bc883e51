"""What a process pays for kernels that are in the cache on disk, and for importing tile.

python bench/warm_start.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

KERNELS = (16, 32, 64, 128, 256, 512)


def measure() -> None:
    start = time.process_time()
    import tile
    from tile.compiler import ASTSource

    print(f"import tile, processor time: {(time.process_time() - start) * 1e3:.0f} ms")
    kernel = _kernel()
    times = []
    for block in KERNELS:
        start = time.perf_counter()
        source = ASTSource(kernel, {"p": "*fp32", "n": "i32"}, {"BLOCK": block})
        tile.compile(source, tile.GPUTarget("cuda", 90, 32), stop_at="ptx").asm["ptx"]
        times.append((time.perf_counter() - start) * 1e3)
    print(f"first kernel: {times[0]:.1f} ms, each further one: {min(times[1:]):.2f} ms")


def _kernel():
    import tile
    import tile.language as tl

    @tile.jit
    def fill(p, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(p + offsets, n, mask=offsets < n)

    return fill


def main() -> None:
    if len(sys.argv) > 1:
        measure()
        return
    with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
        # Bytecode is kept, as that of an installed package is.
        environment = {**os.environ, "TILE_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for state in ("cold", "warm"):
            print(f"{state}:", flush=True)
            subprocess.run([sys.executable, __file__, "measure"], env=environment, check=True)


if __name__ == "__main__":
    main()
