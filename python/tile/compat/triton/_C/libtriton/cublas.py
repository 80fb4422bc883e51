"""Matmuls by cuBLAS, which programs measure their own against.

The library is the one that torch or CUDA brings. It is opened when the first matmul is asked
for. Matrices are row-major here and column-major there: the transposed matmul is asked for.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tile.errors import DriverError, TileError
from tile.runtime.driver import driver
from tile.runtime.specialize import type_name

#: cudaDataType, by the name of the type of elements.
_DATA_TYPES = {"fp32": 0, "fp16": 2, "bf16": 14, "fp8e4nv": 28, "fp8e5": 29}
_COMPUTE_32F, _COMPUTE_TF32 = 68, 77
_OP_T = 1
#: Attributes of descriptors and preferences.
_TRANSA, _MAX_WORKSPACE = 3, 1


class _Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int), ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4),
    )  # fmt: skip


def _candidates() -> Iterator[str]:
    """Where the library may be: where the linker looks, and in packages of NVIDIA's."""
    names = ["libcublasLt.so.13", "libcublasLt.so.12"]
    yield from names
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for name in names:
            yield from map(str, Path(folder).glob(f"*/lib/{name}"))


@functools.lru_cache(maxsize=1)
def _library() -> Any:
    for path in _candidates():
        with contextlib.suppress(OSError):
            return ctypes.CDLL(path)
    raise DriverError(
        "there is no libcublasLt.so: install torch, or the package nvidia-cublas, or CUDA"
    )


def _check(status: int, what: str) -> None:
    if status:
        library = _library()
        library.cublasLtGetStatusString.restype = ctypes.c_char_p
        text = library.cublasLtGetStatusString(status).decode()
        raise DriverError(f"cuBLAS {what}: {text}")


@contextlib.contextmanager
def _made(kind: str, *arguments: Any) -> Iterator[Any]:
    """A descriptor, layout or preference of the library; it is given back at the end."""
    library, handle = _library(), ctypes.c_void_p()
    create: Callable = getattr(library, f"cublasLt{kind}Create")
    _check(create(ctypes.byref(handle), *arguments), f"makes no {kind}")
    try:
        yield handle
    finally:
        getattr(library, f"cublasLt{kind}Destroy")(handle)


def _layout(matrix: Any, element: int) -> Any:
    """The layout of a row-major matrix: its columns are the rows there."""
    rows, columns = matrix.shape
    return _made(
        "MatrixLayout", ctypes.c_int(element), ctypes.c_uint64(columns), ctypes.c_uint64(rows),
        ctypes.c_int64(matrix.stride(0)),
    )  # fmt: skip


class CublasLt:
    """Matmuls that use the memory of `workspace`."""

    def __init__(self, workspace: Any) -> None:
        if driver.active.name != "cuda":
            raise DriverError(f"cuBLAS needs an NVIDIA GPU, not the driver `{driver.active.name}`")
        self._workspace = workspace
        self._size = workspace.numel() * workspace.element_size()
        self._handle = ctypes.c_void_p()
        _check(_library().cublasLtCreate(ctypes.byref(self._handle)), "makes no handle")

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            _library().cublasLtDestroy(handle)

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """c = a @ b.T"""
        self._multiply(a, b, c, c, 1.0, 0.0)

    def gemm(self, a: Any, b: Any, c: Any, d: Any, alpha: float, beta: float) -> None:
        """d = alpha * (a @ b.T) + beta * c"""
        self._multiply(a, b, c, d, alpha, beta)

    def _multiply(self, a: Any, b: Any, c: Any, d: Any, alpha: float, beta: float) -> None:
        types = [_element(matrix) for matrix in (a, b, c, d)]
        _check_shapes(a, b, c, d)
        eight_bits = {_DATA_TYPES["fp8e4nv"], _DATA_TYPES["fp8e5"]}
        added = _address(c)
        # What is added to a matmul of fp8 has 16 bits. Nothing is added with a `beta` of zero: then
        # there is no such matrix. It must not be the result, which has another type.
        if types[2] in eight_bits:
            if beta:
                raise TileError("cuBLAS adds no matrix of fp8 to a matmul")
            types[2], added = _DATA_TYPES["bf16"], None
        compute = _COMPUTE_TF32 if types[0] == _DATA_TYPES["fp32"] else _COMPUTE_32F
        with (
            _made("MatmulDesc", ctypes.c_int(compute), ctypes.c_int(0)) as what,
            _layout(a, types[0]) as of_a,
            _layout(b, types[1]) as of_b,
            _layout(c, types[2]) as of_c,
            _layout(d, types[3]) as of_d,
        ):
            transposed = ctypes.c_int(_OP_T)
            _check(
                _library().cublasLtMatmulDescSetAttribute(
                    what, _TRANSA, ctypes.byref(transposed), ctypes.sizeof(transposed)
                ),
                "takes no transposed matrix",
            )
            found = self._choose(what, (of_b, of_a, of_c, of_d))
            first, second = ctypes.c_float(alpha), ctypes.c_float(beta)
            device = driver.active.get_current_device()
            _check(
                _library().cublasLtMatmul(
                    self._handle, what, ctypes.byref(first), _address(b), of_b, _address(a), of_a,
                    ctypes.byref(second), added, of_c, _address(d), of_d,
                    ctypes.byref(found.algorithm), _address(self._workspace),
                    ctypes.c_size_t(self._size),
                    ctypes.c_void_p(driver.active.get_current_stream(device)),
                ),
                "does not multiply",
            )  # fmt: skip

    def _choose(self, what: Any, layouts: tuple) -> _Heuristic:
        """The algorithm that the library takes for the best."""
        found, count, size = _Heuristic(), ctypes.c_int(), ctypes.c_size_t(self._size)
        with _made("MatmulPreference") as preference:
            _check(
                _library().cublasLtMatmulPreferenceSetAttribute(
                    preference, _MAX_WORKSPACE, ctypes.byref(size), ctypes.sizeof(size)
                ),
                "takes no size of a workspace",
            )
            _check(
                _library().cublasLtMatmulAlgoGetHeuristic(
                    self._handle, what, *layouts, preference, 1, ctypes.byref(found),
                    ctypes.byref(count),
                ),
                "has no algorithm for this matmul",
            )  # fmt: skip
        if not count.value:
            raise DriverError("cuBLAS has no algorithm for this matmul")
        return found


def _address(tensor: Any) -> Any:
    return ctypes.c_void_p(tensor.data_ptr())


def _element(matrix: Any) -> int:
    name = type_name(matrix.dtype)
    if name not in _DATA_TYPES:
        raise TileError(f"cuBLAS takes elements of {', '.join(_DATA_TYPES)}, not {name}")
    return _DATA_TYPES[name]


def _check_shapes(a: Any, b: Any, c: Any, d: Any) -> None:
    """Refuses matrices that do not fit together, which the library would take as they are."""
    (m, k), (n, other) = a.shape, b.shape
    if k != other or any(tuple(matrix.shape) != (m, n) for matrix in (c, d)):
        shapes = ", ".join(str(tuple(matrix.shape)) for matrix in (a, b, c, d))
        raise TileError(f"the shapes of a @ b.T do not fit together: {shapes}")
    if any(matrix.stride(1) != 1 for matrix in (a, b, c, d)):
        raise TileError("the rows of a matrix must be contiguous")


__all__ = ["CublasLt"]
