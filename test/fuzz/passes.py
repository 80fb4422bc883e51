"""Random sequences of passes: each must keep the IR valid, and the program what it is.

Every pass between the front end's IR and the lowering is optional. It may run more than once and at
any place. What one makes, all others must be able to read.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tile import knobs
from tile.backends import simulated_target
from tile.compiler.compiler import make_backend

#: Passes that keep the program what it is, on IR with layouts.
PASSES = (
    "tritongpu-coalesce",
    "tritongpu-f32-dot-tc",
    "tritongpu-remove-layout-conversions",
    "tritongpu-optimize-thread-locality",
    "tritongpu-optimize-dot-operands",
    "tritongpu-fuse-nested-loops",
    "tritongpu-combine-tensor-select-and-if",
    "tritongpu-reduce-data-duplication",
    "tritongpu-reorder-instructions",
    "tritongpu-optimize-accumulator-init",
    "tritongpu-legalize-collectives",
    "roll-fma-dots",
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


@dataclass(frozen=True)
class Pipeline:
    """What a target has of passes, beside those of all."""

    #: Before there are layouts.
    before: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    #: The steps of the pipeliner, which hand each other what other passes might take apart; those
    #: with a question mark may be left out.
    pipeliner: tuple[str, ...] = ("tritongpu-schedule-loops", "tritongpu-pipeline")
    stages: tuple[int, ...] = (2, 3, 5)
    #: Without it some dots cannot be lowered.
    product: str = "tritongpu-accelerate-matmul"
    #: At the end, in this order.
    last: tuple[str, ...] = ()


#: Dots of warp groups read what the passes wrote to shared memory.
FENCES = "triton-nvidia-gpu-fence-insertion{after-async-copies=true}"
AMPERE = Pipeline(
    passes=("tritongpu-prefetch", "tritongpu-coalesce-async-copy"),
    last=(FENCES,),
)
HOPPER = Pipeline(
    before=("?triton-nvidia-optimize-descriptor-encoding{leave-to-pointers=true}",),
    passes=(*AMPERE.passes, "triton-nvidia-tma-lowering", "triton-nvidia-overlap-stores"),
    pipeliner=("?tritongpu-automatic-warp-specialization{supported=true}", *AMPERE.pipeliner),
    last=("triton-nvidia-tma-lowering", "?triton-nvidia-overlap-stores", FENCES),
)
AMD = Pipeline(
    pipeliner=(
        "tritongpu-schedule-loops", "tritonamdgpu-stream-pipeline", "tritongpu-pipeline",
    ),
    stages=(2,),
    product="tritonamdgpu-accelerate-matmul",
)  # fmt: skip


#: Blocks of descriptors that were chosen must be copied in the end.
GFX1250 = replace(
    AMD,
    before=("?tritonamdgpu-choose-tensor-copies",),
    passes=("tritonamdgpu-lower-tensor-copies",),
    last=("tritonamdgpu-lower-tensor-copies",),
)


def pipeline_for(machine: str) -> Pipeline:
    if machine == "hip:gfx1250":
        return GFX1250
    if machine.startswith("hip:"):
        return AMD
    return HOPPER if machine == "cuda:90" else AMPERE


def sequence(seed: int, machine: str) -> list[str]:
    """The passes for a seed, from the one that gives layouts on."""
    chance = random.Random(seed * 7919 + 1)
    known = pipeline_for(machine)

    def some(names: tuple[str, ...]) -> list[str]:
        return [n.removeprefix("?") for n in names if n[0] != "?" or chance.random() < 0.5]

    usual = (*PASSES, known.product, *known.passes)
    chosen = [chance.choice(usual) for _ in range(chance.choice((2, 4, 8, 16)))]
    chosen.insert(chance.randrange(len(chosen) + 1), known.product)
    while chance.random() < 0.5:
        at = chance.randrange(len(chosen) + 1)
        stages = f"tritongpu-assign-latencies{{num-stages={chance.choice(known.stages)}}}"
        chosen[at:at] = [stages, *some(known.pipeliner)]
    before = some(known.before)
    descriptors = "triton-rewrite-tensor-descriptor-to-pointer"
    return [*before, descriptors, f"convert-triton-to-tritongpu{{target={machine} %s}}",
            *chosen, *some(known.last)]  # fmt: skip


def shuffled_pipelines(seed: int, machine: str, options: Any) -> list[str]:
    """The same as pipelines for a kernel with these options."""
    sizes = f"num-warps={options.num_warps} num-ctas={options.num_ctas}"
    return [name.replace("%s", sizes) for name in sequence(seed, machine)]


@contextlib.contextmanager
def shuffled(seed: int, machine: str) -> Iterator[None]:
    """Compiles with the passes for `seed` in place of the usual ones."""
    from tile import _C

    knobs.runtime.sim_target = machine
    backend = type(make_backend(simulated_target()))
    usual = backend.make_ttgir

    def make_ttgir(self: Any, module: Any, metadata: dict[str, Any], *, options: Any) -> Any:
        if options.overlapping_arguments:
            unit = _C.ir.Attribute.parse("unit", module.context)
            module.set_attribute("ttg.overlapping-arguments", unit)
        # One by one, so that an error names its pass.
        for text in shuffled_pipelines(seed, machine, options):
            _C.passes.PassManager.parse(text, module.context).run(module)
        return module

    backend.make_ttgir = make_ttgir
    try:
        yield
    finally:
        backend.make_ttgir = usual
