"""Functions of NVIDIA GPUs."""

from typing import Any

from ....errors import SemanticError
from ... import dtypes as dt
from ...collective import assembly, inline_asm_elementwise
from ...conversion import public_cast
from ...state import current
from ...target_info import cuda_capability_geq, current_target, is_cuda
from ...values import builtin, tensor
from .. import libdevice


@builtin
def globaltimer() -> tensor:
    """The GPU's clock in nanoseconds, as int64."""
    return inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dt.int64, False, 1)


@builtin
def smid() -> tensor:
    """The number of the multiprocessor that runs this program, as int32."""
    return inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dt.int32, True, 1)


@builtin
def num_threads() -> int:
    """The number of threads of the program."""
    from ...state import current

    return current().options.num_warps * 32


@builtin
def num_warps() -> int:
    """The number of warps of the program."""
    from ...state import current

    return current().options.num_warps


def prefetch_line(pointer: tensor, condition: tensor) -> None:
    """Asks for lines of memory in the L2 cache, where the condition is not zero."""
    text = (
        "{ .reg .pred %asked; setp.ne.b32 %asked, $2, 0; "
        "@%asked prefetch.global.L2 [$1]; mov.b32 $0, 0; }"
    )
    hint = {"tt.prefetch": current().unit_attr()}
    assembly(text, "=r,l,r", [pointer, condition], dt.int32, False, 1, hint)


def _need_dependent_launches(name: str) -> None:
    """Refuses what only GPUs have whose launches may overlap the one before."""
    if not (is_cuda() and cuda_capability_geq(9)):
        target = current_target()
        raise SemanticError(
            f"{name} is for NVIDIA GPUs from sm_90 on, not for {target.backend}:{target.arch}; "
            "leave it out there: launches follow one another"
        )


@builtin
def gdc_wait() -> None:
    """Waits until the kernels before this one, which it overlaps with when it is
    launched with ``launch_pdl=True``, have ended and their stores are visible."""
    _need_dependent_launches("gdc_wait")
    asm = "griddepcontrol.wait; mov.u32 $0, 0;"
    inline_asm_elementwise(asm, "=r", [], dt.int32, False, 1)


@builtin
def gdc_launch_dependents() -> None:
    """Lets the kernels after this one start, if launched with ``launch_pdl=True``."""
    _need_dependent_launches("gdc_launch_dependents")
    asm = "griddepcontrol.launch_dependents; mov.u32 $0, 0;"
    inline_asm_elementwise(asm, "=r", [], dt.int32, False, 1)


@builtin
def convert_custom_float8_sm80(
    arg: tensor, dst_ty: Any, fp_downcast_rounding: str | None = None
) -> tensor:
    """A block from or to `tl.float8e4b15`, as `arg.to(dst_ty)` converts it, too."""
    return public_cast(arg, dst_ty, fp_downcast_rounding)


convert_custom_float8_sm70 = convert_custom_float8_sm80


__all__ = [
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "gdc_launch_dependents",
    "gdc_wait",
    "globaltimer",
    "libdevice",
    "num_threads",
    "num_warps",
    "smid",
]
