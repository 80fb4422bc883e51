"""What public test suites ask about the device, and how they make data.

The names are those of Triton's module of this name. It needs torch, NumPy and pytest, as those
suites do; nothing of tile imports it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Set
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch
from numpy.random import RandomState

import tile.language as tl
from tile import knobs
from tile.language.dtypes import str_to_type
from tile.runtime.driver import driver
from tile.runtime.jit import TensorWrapper, reinterpret
from tile.settings import Group

from ._test_processes import ProcessResult as ProcessResult
from ._test_processes import ReplenishingProcessPool as ReplenishingProcessPool
from ._test_processes import run_in_process as run_in_process
from ._test_processes import use_process_pool as use_process_pool
from ._utils import type_canonicalisation_dict as type_canonicalisation_dict

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes_with_bfloat16]
#: What tensor descriptors may hold.
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


# The device.


def is_interpreter() -> bool:
    """Whether kernels run as Python."""
    return knobs.runtime.interpret


def get_current_target() -> Any:
    """What kernels are compiled for; None while they are interpreted."""
    return None if is_interpreter() else driver.active.get_current_target()


def _is(backend: str) -> bool:
    target = get_current_target()
    return target is not None and target.backend == backend


def is_cuda() -> bool:
    return _is("cuda")


def is_hip() -> bool:
    return _is("hip")


def is_xpu() -> bool:
    return _is("xpu")


def is_xpu_cri() -> bool:
    """A GPU of Intel's; tile has no backend for one."""
    return False


def _capability() -> tuple[int, int]:
    """Of an NVIDIA GPU; (0, 0) of others."""
    target = get_current_target()
    return divmod(target.arch, 10) if target is not None and target.backend == "cuda" else (0, 0)


def is_ampere_or_newer() -> bool:
    return _capability()[0] >= 8


def is_hopper() -> bool:
    return _capability()[0] == 9


def is_hopper_or_newer() -> bool:
    return _capability()[0] >= 9


def is_blackwell() -> bool:
    """A GPU of a data centre: those with a smaller number of threads have other instructions."""
    return _capability()[0] == 10


def is_blackwell_ultra() -> bool:
    return _capability() == (10, 3)


def is_rubin() -> bool:
    return _capability() == (10, 7)


def is_sm12x() -> bool:
    return _capability()[0] == 12


def _architecture() -> str:
    """Of an AMD GPU; empty of others."""
    target = get_current_target()
    return target.arch if target is not None and target.backend == "hip" else ""


def is_hip_cdna2() -> bool:
    return _architecture() == "gfx90a"


def is_hip_cdna3() -> bool:
    return _architecture() == "gfx942"


def is_hip_cdna4() -> bool:
    return _architecture() == "gfx950"


def is_hip_gfx1250() -> bool:
    return _architecture() == "gfx1250"


def is_hip_cdna() -> bool:
    return is_hip_cdna2() or is_hip_cdna3() or is_hip_cdna4()


def is_hip_cdna3_or_newer() -> bool:
    return is_hip_cdna3() or is_hip_cdna4() or is_hip_gfx1250()


def is_hip_rdna4m() -> bool:
    return _architecture().startswith("gfx117")


def is_hip_rdna3() -> bool:
    return _architecture().startswith("gfx11") and not is_hip_rdna4m()


def is_hip_rdna4() -> bool:
    return _architecture().startswith("gfx120")


def is_hip_rdna() -> bool:
    return is_hip_rdna3() or is_hip_rdna4m() or is_hip_rdna4()


def get_hip_lds_size() -> int:
    """Bytes of shared memory of a block."""
    return {"gfx950": 160 << 10, "gfx1250": 320 << 10}.get(_architecture(), 64 << 10)


def supports_tma(byval_only: bool = False) -> bool:
    """Whether tensor descriptors are more than pointers."""
    return is_interpreter() or is_hopper_or_newer()


def tma_skip_msg(byval_only: bool = False) -> str:
    return "needs an NVIDIA GPU with tensor descriptors (Hopper or newer)"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def supports_ws() -> bool:
    """Whether warps of a loop can be given different work."""
    return is_hopper() or is_blackwell()


def supports_clc() -> bool:
    """Whether a cluster can take the work of another that did not start."""
    return is_blackwell() or is_sm12x()


def skip_if_unsupported_cluster_size(num_ctas: int) -> None:
    """Skips the test where the device has no clusters of that size."""
    if num_ctas > 1 and not is_hopper_or_newer():
        pytest.skip(f"the device has no clusters of {num_ctas} blocks")
    if num_ctas > 16:
        pytest.skip("a cluster has at most 16 blocks")


def is_compile_warmup() -> bool:
    """Whether launches only compile: no run of tests on tile does that."""
    return False


def default_alloc_fn(size: int, align: int, _: Any) -> torch.Tensor:
    """Global scratch memory."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.empty(size, dtype=torch.int8, device=device)


# Data.


def numpy_random(
    shape: Any, dtype_str: str, rs: RandomState | None = None, low: Any = None, high: Any = None
) -> np.ndarray:
    """Random values of a type. Two calls without `rs` give the same values.

    Integers are never 0, so that they divide. A `bfloat16` is a float32 that is one, too. An
    8-bit float is an int8 with its bits: a finite number that is not negative."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    rs = rs or RandomState(seed=17)
    if dtype_str in integral_dtypes:
        limits = np.iinfo(dtype_str)
        least = limits.min if low is None else max(low, limits.min)
        bound = limits.max if high is None else min(high, limits.max)
        values = rs.randint(least, bound, shape, dtype=dtype_str)
        return np.where(values == 0, np.ones_like(values), values).astype(dtype_str)
    if "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    if dtype_str in ("bool", "int1", "bool_"):
        return np.asarray(rs.normal(0, 1, shape) > 0)
    values = rs.normal(0, 1, shape)
    if dtype_str == "bfloat16":
        bits = np.asarray(values, dtype=np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32)
    if dtype_str in float_dtypes:
        return np.asarray(values, dtype=dtype_str)
    raise RuntimeError(f"there are no random values of the type {dtype_str}")


def to_triton(x: np.ndarray, device: Any, dst_type: str | None = None) -> Any:
    """The array as a tensor that kernels take. `dst_type` is the type of its elements, if it is
    another one than the array's."""
    name = x.dtype.name
    if name in uint_dtypes:  # As signed integers: torch has too little for unsigned ones.
        signed = torch.tensor(x.view(name.lstrip("u")), device=device)
        return reinterpret(signed, getattr(tl, name))
    if dst_type is not None and "float8" in dst_type:
        return reinterpret(torch.tensor(x, device=device), str_to_triton_dtype(dst_type))
    tensor = torch.tensor(x, device=device)
    return tensor.bfloat16() if name == "float32" and dst_type == "bfloat16" else tensor


def str_to_triton_dtype(x: str) -> tl.dtype:
    """The language's type of a name such as `int32`, `fp32` or `float8_e5m2`."""
    return str_to_type(type_canonicalisation_dict.get(x, x))


def torch_dtype_name(dtype: Any) -> str:
    """`float32` of torch's and of the language's float32."""
    return dtype.name if isinstance(dtype, tl.dtype) else str(dtype).removeprefix("torch.")


def unwrap_tensor(t: Any) -> torch.Tensor:
    """The tensor whose elements are read as another type."""
    return t.base if isinstance(t, TensorWrapper) else t


def to_numpy(x: Any) -> np.ndarray:
    """The elements; those of a `bfloat16` as float32."""
    if isinstance(x, TensorWrapper):
        return x.base.cpu().numpy().view(getattr(np, torch_dtype_name(x.dtype)))
    if isinstance(x, torch.Tensor):
        return (x.float() if x.dtype is torch.bfloat16 else x).cpu().numpy()
    raise ValueError(f"{type(x).__name__} is no tensor")


def random_int(low: int, high: int, *, warmup_value: Any = None, **kwargs: Any) -> int:
    """A number from `low` to below `high`, from torch's generator."""
    return int(torch.randint(low, high, size=(), **kwargs).item())


def random_float(*, warmup_value: float = 0.5, **kwargs: Any) -> float:
    """A number from 0 to below 1, from torch's generator."""
    return float(torch.rand((), **kwargs).item())


# Settings.


def _fresh_knobs_impl(
    skipped_attr: Set[str] | None = None,
) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Two functions. The first gives all settings their defaults, and returns their module. The
    second gives back what they were. Groups in `skipped_attr` keep what they are."""
    skipped = skipped_attr or set()
    groups = {n: group for n, group in knobs.groups().items() if n not in skipped}
    variables = {
        name
        for group in groups.values()
        for knob in group.settings().values()
        for name in knob.names
    } - {"TILE_COMPAT", "TILE_COMPAT_VERSION", "TILE_DRIVER", "TILE_SIM_TARGET"}
    saved: dict[str, str] = {}
    stack = ExitStack()
    propagates = vars(knobs).get("propagate_env")

    def fresh() -> Any:
        knobs.propagate_env = True  # type: ignore[attr-defined]
        saved.update({name: os.environ.pop(name) for name in variables & os.environ.keys()})
        for group in groups.values():
            _scope_and_reset(stack, group)
        return knobs

    def reset() -> None:
        stack.close()
        vars(knobs).pop("propagate_env", None)
        if propagates is not None:
            knobs.propagate_env = propagates  # type: ignore[attr-defined]
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update(saved)

    return fresh, reset


def _scope_and_reset(stack: ExitStack, group: Group) -> None:
    stack.enter_context(group.scope())
    group.reset()
