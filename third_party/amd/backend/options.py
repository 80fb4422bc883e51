"""The options of a compile for an AMD GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tile.backends.base import BaseOptions
from tile.errors import OutOfResources, TileError

from .targets import find_facts

#: The most threads of a workgroup, on every GPU.
_MOST_THREADS = 1024


@dataclass(frozen=True)
class HIPOptions(BaseOptions):
    """Options of a compile for an AMD GPU."""

    num_stages: int = 2
    #: Waves that each SIMD unit should have room for; 0 leaves it to LLVM.
    waves_per_eu: int = 0
    #: Rows of the matrix instruction to take, where one fits: 16, 32, 4 for narrow ones (4x64 and
    #: 64x4), or 0 for the compiler's choice.
    matrix_instr_nonkdim: int = 0
    #: Factor on the neighbours along K that a lane holds of an operand.
    kpack: int = 1
    #: How instructions of loops are scheduled: "attention" interleaves matrix instructions with
    #: the exponentials between them.
    schedule_hint: str = "none"
    #: Raise the priority of waves that multiply in programs of four, too, on gfx942.
    use_block_pingpong: bool = False
    #: Load operands of loops straight into LDS, on gfx950 and gfx1250.
    use_async_copy: bool = False
    #: Let arithmetic on fp32 flush denormals to zero.
    allow_flush_denorm: bool = False
    enable_fp_fusion: bool = True
    default_dot_input_precision: str = "ieee"
    max_num_imprecise_acc_default: int = 0
    launch_cooperative_grid: bool = False
    line_info: bool = True
    opt_level: int = 3

    records_pass: ClassVar[str] = "convert-proton-amd-gpu-to-llvm"

    @property
    def warp_size(self) -> int:
        return find_facts(self.arch).wave_size

    @property
    def extern_libs(self) -> tuple[tuple[str, str], ...]:
        """The libraries that kernels are linked with: none."""
        return ()

    @property
    def supported_fp8_dtypes(self) -> tuple[str, ...]:
        """The types of 8 bits that kernels convert and multiply."""
        return ("fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")

    @property
    def allowed_dot_inputprecisions(self) -> tuple[str, ...]:
        return precisions(find_facts(self.arch))


def precisions(facts: Any) -> tuple[str, ...]:
    """How exact products of fp32 may be."""
    return ("ieee", "tf32") if facts.has_xf32 else ("ieee",)


#: The values that an option may have.
_CHOICES: dict[str, tuple] = {
    "matrix_instr_nonkdim": (0, 4, 16, 32),
    "kpack": (1, 2),
    "schedule_hint": ("none", "attention", "memory-bound-attention"),
}


def check_options(options: HIPOptions, facts: Any) -> None:
    for name, least in (("num_warps", 1), ("num_stages", 0), ("num_ctas", 1), ("waves_per_eu", 0)):
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            kind = "positive" if least else "non-negative"
            raise TileError(f"{name} must be a {kind} integer, not {value!r}")
    most = _MOST_THREADS // facts.wave_size
    if options.num_warps & (options.num_warps - 1):
        raise TileError(
            f"num_warps must be a power of 2 up to {most} on {facts}, not {options.num_warps}"
        )
    if options.num_warps > most:
        raise OutOfResources(facts.wave_size * options.num_warps, _MOST_THREADS, "threads")
    for name, choices in _CHOICES.items():
        value = getattr(options, name)
        if value not in choices:
            raise TileError(f"{name} is one of {', '.join(map(str, choices))}, not {value!r}")
    allowed, asked = precisions(facts), options.default_dot_input_precision
    if asked not in allowed:
        raise TileError(
            f"default_dot_input_precision on {facts} is one of {', '.join(allowed)}, not {asked!r}"
        )
    # Of gfx1250, programs with explicit layouts are written; the stages behind that refuse them.
    if options.num_ctas > 1 and facts.processor != "gfx1250":
        raise TileError(
            f"num_ctas > 1 not supported: programs of several blocks are not built for {facts}"
        )
