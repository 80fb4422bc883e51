"""Functions of AMD GPUs."""

from ... import dtypes as dt
from ...collective import inline_asm_elementwise
from ...state import current
from ...values import builtin, tensor
from .. import libdevice


def _is_cdna() -> bool:
    return str(current().options.arch).startswith("gfx9")


@builtin
def memrealtime() -> tensor:
    """The GPU's clock, which counts at a constant rate (100 MHz), as int64."""
    if _is_cdna():
        asm = "s_memrealtime $0\ns_waitcnt lgkmcnt(0)"
    else:
        wait = "s_waitcnt lgkmcnt(0)"
        if str(current().options.arch).startswith("gfx12"):
            wait = "s_wait_kmcnt 0x0"
        asm = f"s_sendmsg_rtn_b64 $0, sendmsg(MSG_RTN_GET_REALTIME)\n{wait}"
    return inline_asm_elementwise(asm, "=s", [], dt.int64, False, 1)


@builtin
def smid() -> tensor:
    """A number of the compute unit (of RDNA, of the pair of them) that runs this program, as
    int32. Not all numbers below the largest are in use."""
    if not _is_cdna():
        asm = "s_getreg_b32 $0, hwreg(HW_REG_HW_ID1, 10, 11)"
        return inline_asm_elementwise(asm, "=s", [], dt.int32, True, 1)
    asm = "s_getreg_b32 $0, hwreg(HW_REG_HW_ID, 8, 8)"
    if current().options.arch not in ("gfx942", "gfx950"):
        return inline_asm_elementwise(asm, "=s", [], dt.int32, True, 1)
    # Their units lie on several dies.
    asm += (
        "\ns_getreg_b32 $1, hwreg(HW_REG_XCC_ID, 0, 4)\ns_lshl_b32 $1, $1, 8\ns_or_b32 $0, $0, $1"
    )
    return inline_asm_elementwise(asm, "=&s,=&s,~{scc}", [], (dt.int32, dt.int32), True, 1)[0]


@builtin
def num_threads() -> int:
    """The number of work-items of the program."""
    options = current().options
    return options.num_warps * options.warp_size


@builtin
def num_warps() -> int:
    """The number of waves of the program."""
    return current().options.num_warps


__all__ = ["libdevice", "memrealtime", "num_threads", "num_warps", "smid"]
