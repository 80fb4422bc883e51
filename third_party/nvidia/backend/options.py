"""The options of a compile for an NVIDIA GPU."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tile.backends.base import BaseOptions
from tile.errors import OutOfResources, TileError

from .targets import find_facts

#: The least that a thread may be limited to: below, ptxas cannot call a function.
_FEWEST_REGISTERS = 16
_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")


@dataclass(frozen=True)
class NvidiaOptions(BaseOptions):
    """Options of a compile for an NVIDIA GPU."""

    maxnreg: int | None = None
    ptx_version: int | None = None
    ptx_options: str | None = None
    enable_fp_fusion: bool = True
    #: Let functions of the device library flush denormals of fp32 to zero.
    enable_reflect_ftz: bool = False
    default_dot_input_precision: str = "tf32"
    max_num_imprecise_acc_default: int = 0
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    #: Let programs go on with others that have not begun, from sm_100 on.
    clc: bool = False
    line_info: bool = True
    opt_level: int = 3
    #: Read the first operands of the next iteration before the last product of this one.
    prefetch: bool = False
    #: Let bulk tensor copies serve descriptors on sm_90.
    tma: bool = True
    #: Let dots add up in tensor memory on sm_100, sm_103 and sm_110.
    tensor_memory: bool = True
    #: Give loops over tiles warps for copies and dots where it pays, on the same targets.
    specialize_warps: bool = True
    #: Among how many groups of warps attention divides blocks of 256 rows, on the same targets: 1,
    #: or 2 where it is possible. None: 2 where it pays. Its loop has ``warp_specialize=True``.
    row_groups: int | None = None
    #: Whether such groups, also one alone, leave the correction of their sums to further warps,
    #: where memory suffices.
    correction_group: bool = True
    #: Whether such groups compute some powers of two by a polynomial.
    exp2_polynomial: bool = False
    #: Whether loops with dots load by bulk tensor copies where programs load by pointers. None:
    #: where it pays, on sm_90.
    raise_pointers: bool | None = None
    #: Let launches make the tensor maps of descriptors that are of arguments alone.
    launch_maps: bool = True

    #: Libraries of functions, as text of JSON: names, files, and what tells their contents apart.
    #: A launch names them by `extern_libs`, a dictionary of names and files.
    libraries: str = ""

    records_pass: ClassVar[str] = "convert-proton-nvidia-gpu-to-llvm"

    @classmethod
    def names(cls) -> frozenset[str]:
        return super().names() | {"extern_libs"}

    @property
    def extern_libs(self) -> tuple[tuple[str, str], ...]:
        """The libraries that kernels are linked with: names and files."""
        from . import tools

        given = tuple((name, path) for name, path, _ in json.loads(self.libraries or "[]"))
        path = None if "libdevice" in dict(given) else tools.libdevice_path()
        return ((("libdevice", path),) if path else ()) + given

    @property
    def supported_fp8_dtypes(self) -> tuple[str, ...]:
        """The types of 8 bits that kernels convert and multiply."""
        if find_facts(self.arch).has_native_fp8_cvt:
            return ("fp8e4b15", "fp8e4nv", "fp8e5")
        return ("fp8e4b15", "fp8e5")

    @property
    def allowed_dot_input_precisions(self) -> tuple[str, ...]:
        return _PRECISIONS


def check_options(options: NvidiaOptions, facts: Any) -> None:
    for name, least in (("num_warps", 1), ("num_stages", 0), ("num_ctas", 1)):
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            kind = "positive" if least else "non-negative"
            raise TileError(f"{name} must be a {kind} integer, not {value!r}")
    registers = options.maxnreg
    if registers is not None and (
        isinstance(registers, bool)
        or not isinstance(registers, int)
        or not _FEWEST_REGISTERS <= registers <= facts.max_registers_per_thread
    ):
        raise TileError(
            f"maxnreg must be an integer from {_FEWEST_REGISTERS} to "
            f"{facts.max_registers_per_thread}, not {registers!r}"
        )
    if options.num_warps & (options.num_warps - 1):
        raise TileError(f"num_warps must be a power of 2 up to 32, not {options.num_warps}")
    if options.num_warps > 32:
        raise OutOfResources(32 * options.num_warps, 1024, "threads")
    if options.num_ctas & (options.num_ctas - 1) or options.num_ctas > 16:
        raise TileError(f"num_ctas must be a power of 2 up to 16, not {options.num_ctas}")
    if options.default_dot_input_precision not in _PRECISIONS:
        raise TileError(
            f"default_dot_input_precision is one of {', '.join(_PRECISIONS)}, not "
            f"{options.default_dot_input_precision!r}"
        )
    if options.num_ctas > 1 and not facts.has_clusters:
        raise TileError(
            f"num_ctas > 1 requires NVIDIA SM90+ (Hopper): {facts} has no clusters of blocks"
        )
    if options.row_groups not in (None, 1, 2):
        raise TileError(f"row_groups is 1, 2 or None, not {options.row_groups!r}")
    for name in ("correction_group", "exp2_polynomial"):
        if not isinstance(getattr(options, name), bool):
            raise TileError(f"{name} is True or False, not {getattr(options, name)!r}")
    if options.clc and not facts.has_cluster_launch_control:
        raise TileError(
            f"clc requires NVIDIA SM100+ (Blackwell): {facts} has no cluster launch control"
        )
    if options.clc and options.launch_cooperative_grid:
        raise TileError(
            "clc and launch_cooperative_grid exclude each other: all programs of a "
            "cooperative grid have begun, so none is left to go on with"
        )


def described_libraries(given: Any) -> str:
    """Libraries as users name them, with what tells the contents of their files apart."""
    pairs = given.items() if isinstance(given, Mapping) else given
    try:
        named = sorted((str(name), os.fspath(path)) for name, path in pairs)
    except (TypeError, ValueError):
        raise TileError(f"extern_libs is a dictionary of names and files, not {given!r}") from None
    found = []
    for name, path in named:
        try:
            status = os.stat(path)
        except OSError as error:
            raise TileError(
                f"extern_libs: the library `{name}` cannot be read: {path}: {error.strerror}"
            ) from None
        found.append((name, path, _contents(path, status.st_mtime_ns, status.st_size)))
    return json.dumps(found) if found else ""


@functools.lru_cache(maxsize=64)
def _contents(path: str, changed: int, size: int) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
