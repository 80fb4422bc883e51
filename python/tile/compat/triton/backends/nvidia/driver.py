"""The driver of NVIDIA GPUs, and where its library is."""

from __future__ import annotations

import functools
import glob
import os
import subprocess
import sys
from typing import Any

from tile import knobs
from tile.backends import GPUTarget, drivers
from tile.runtime import descriptors

CudaDriver = drivers()["cuda"]
#: What drivers of GPUs share.
GPUDriver = CudaDriver.__mro__[1]


@functools.lru_cache(maxsize=1)
def libcuda_dirs() -> list[str]:
    """The folders that hold libcuda.so.1."""
    if knobs.nvidia.libcuda_path:
        return [os.path.dirname(knobs.nvidia.libcuda_path) or knobs.nvidia.libcuda_path]
    try:
        text = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, encoding="utf-8", errors="replace"
        ).stdout
    except OSError:
        text = ""
    found = [line.split()[-1] for line in text.splitlines() if "libcuda.so.1" in line]
    folders = [os.path.dirname(path) for path in found]
    path = os.environ.get("LD_LIBRARY_PATH", "")
    folders += [d for d in path.split(":") if os.path.exists(os.path.join(d, "libcuda.so.1"))]
    if not folders:
        raise RuntimeError("libcuda.so.1 is not found: install NVIDIA's driver, or name its place "
                           "in TRITON_LIBCUDA_PATH")  # fmt: skip
    return folders


def _headers() -> list[str]:
    """The folders with cuda.h: of an installed toolkit, or of packages."""
    toolkits = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]
    toolkits += sorted(glob.glob("/usr/local/cuda*"))
    for folder in sys.path:
        toolkits += sorted(glob.glob(os.path.join(folder, "nvidia", "*")))
    folders = [os.path.join(toolkit, "include") for toolkit in toolkits if toolkit]
    return [f for f in folders if os.path.exists(os.path.join(f, "cuda.h"))]


def __getattr__(name: str) -> Any:
    # Looked for when it is asked for.
    if name == "include_dirs":
        return _headers()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def library_dirs() -> list[str]:
    """Where launchers find the libraries they link with."""
    return libcuda_dirs()


def make_tensordesc_arg(arg: Any, metadata: Any) -> list[Any]:
    """The parts of a descriptor at run time, in the kernel's order."""
    return descriptors.values(arg)


def ty_to_cpp(ty: str) -> str:
    """The C type of a signature's type."""
    if ty.startswith("*"):
        return "CUdeviceptr"
    return {
        "i1": "int8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
        "u1": "uint8_t", "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t",
        "u64": "uint64_t", "fp16": "double", "bf16": "double", "fp32": "double", "f32": "double",
        "fp64": "double", "nvTmaDesc": "CUtensorMap",
    }[ty]  # fmt: skip


__all__ = [
    "CudaDriver", "GPUDriver", "GPUTarget", "knobs", "libcuda_dirs", "library_dirs",
    "make_tensordesc_arg", "ty_to_cpp",
]  # fmt: skip
