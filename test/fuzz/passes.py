"""Random sequences of passes: each must keep the IR valid, and the program what it is.

Every pass between the front end's IR and the lowering is optional, and may run more than once and
at any place: what one makes, all others must be able to read.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any

from tile.backends.base import GPUTarget
from tile.compiler.compiler import make_backend

#: Passes that keep the program what it is, on IR with layouts.
PASSES = (
    "tritongpu-coalesce",
    "tritongpu-f32-dot-tc",
    "tritongpu-remove-layout-conversions",
    "tritongpu-optimize-thread-locality",
    "tritongpu-accelerate-matmul",
    "tritongpu-optimize-dot-operands",
    "tritongpu-fuse-nested-loops",
    "tritongpu-combine-tensor-select-and-if",
    "tritongpu-prefetch",
    "tritongpu-coalesce-async-copy",
    "tritongpu-reduce-data-duplication",
    "tritongpu-reorder-instructions",
    "tritongpu-optimize-accumulator-init",
    "tritongpu-legalize-collectives",
    "triton-licm",
    "triton-loop-aware-cse",
    "triton-combine",
    "triton-reorder-broadcast",
    "triton-loop-unroll",
    "canonicalize",
    "cse",
    "sccp",
    "symbol-dce",
    "loop-invariant-code-motion",
)

#: The steps of the pipeliner, which hand each other what other passes might take apart.
PIPELINER = ("tritongpu-schedule-loops", "tritongpu-pipeline")

#: Without it some products cannot be lowered.
NEEDED = "tritongpu-accelerate-matmul"


def sequence(seed: int) -> list[str]:
    """The passes for a seed."""
    chance = random.Random(seed * 7919 + 1)
    chosen = [chance.choice(PASSES) for _ in range(chance.choice((2, 4, 8, 16)))]
    chosen.insert(chance.randrange(len(chosen) + 1), NEEDED)
    while chance.random() < 0.5:
        at = chance.randrange(len(chosen) + 1)
        stages = f"tritongpu-assign-latencies{{num-stages={chance.choice((2, 3, 5))}}}"
        chosen[at:at] = [stages, *PIPELINER]
    return chosen


@contextlib.contextmanager
def shuffled(seed: int, target: int) -> Iterator[None]:
    """Compiles with the passes for `seed` in place of the usual ones."""
    from tile import _C

    backend = type(make_backend(GPUTarget("cuda", target, 32)))
    usual = backend.make_ttgir

    def make_ttgir(self: Any, module: Any, metadata: dict[str, Any], *, options: Any) -> Any:
        machine = (
            f"target=cuda:{self.target.arch} num-warps={options.num_warps} threads-per-warp=32 "
            f"num-ctas={options.num_ctas}"
        )
        passes = [
            "triton-rewrite-tensor-descriptor-to-pointer",
            f"convert-triton-to-tritongpu{{{machine}}}",
            *sequence(seed),
            # Products of warp groups read what the passes wrote to shared memory.
            "triton-nvidia-gpu-fence-insertion{after-async-copies=true}",
        ]
        if options.overlapping_arguments:
            unit = _C.ir.Attribute.parse("unit", module.context)
            module.set_attribute("ttg.overlapping-arguments", unit)
        for name in passes:  # One by one, so that an error names its pass.
            _C.passes.PassManager.parse(name, module.context).run(module)
        return module

    backend.make_ttgir = make_ttgir
    try:
        yield
    finally:
        backend.make_ttgir = usual
