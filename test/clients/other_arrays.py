"""Arrays and launchers that are not torch's: CuPy, cuda.core, and JAX through jax-triton."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import triton
import triton.language as tl
from cases import Case

PACKAGE = "numpy"


def configure(device: str) -> None:
    # JAX shares the GPU with CuPy and torch.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@triton.jit
def add_kernel(x_ptr, y_ptr, n, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + y, mask=i < n)


@triton.jit
def softmax_kernel(out_ptr, in_ptr, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * stride + i, mask=i < columns, other=float("-inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * stride + i, e / tl.sum(e, 0), mask=i < columns)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + m[:, None] * K + k, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n, acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def add_of_known_size_kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    """The output is the last argument that is no constant, as jax-triton passes it."""
    add_kernel(x_ptr, y_ptr, N, out_ptr, BLOCK)


@triton.jit
def matmul_of_known_size_kernel(
    a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr
):
    matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK)


def _random() -> np.random.Generator:
    return np.random.default_rng(0)


def _autotuned(kernel: Any, key: str) -> Any:
    configs = [triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((128, 2), (512, 4))]
    return triton.autotune(configs, key=[key])(kernel)


# CuPy.


def _cupy_add() -> None:
    import cupy

    for n, dtype in ((1000, "float32"), (4097, "float16"), (77, "int64"), (1, "uint8")):
        x, y = (_random().integers(0, 100, n).astype(dtype) for _ in range(2))
        out = cupy.full(n, 99, dtype)
        add_kernel[(triton.cdiv(n, 256),)](cupy.asarray(x), cupy.asarray(y), n, out, BLOCK=256)
        np.testing.assert_array_equal(cupy.asnumpy(out), x + y)


def _cupy_views() -> None:
    """Columns in the middle of wider rows; what is beside them stays."""
    import cupy

    x = _random().standard_normal((33, 200), dtype=np.float32)
    wide = cupy.zeros((33, 256), "float32")
    wide[:, 3:203] = cupy.asarray(x)
    out = cupy.full_like(wide, 99)
    softmax_kernel[(33,)](out[:, 3:], wide[:, 3:], 256, 200, BLOCK=256)
    e = np.exp(x - x.max(1, keepdims=True))
    found = cupy.asnumpy(out)
    np.testing.assert_allclose(found[:, 3:203], e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)
    assert (found[:, :3] == 99).all() and (found[:, 203:] == 99).all()


def _cupy_matmul() -> None:
    import cupy

    make = _random()
    a = make.standard_normal((100, 70)).astype("float16")
    b = make.standard_normal((70, 130)).astype("float16")
    c = cupy.full((100, 130), 99, "float32")
    matmul_kernel[(4, 5)](cupy.asarray(a), cupy.asarray(b), c, 100, 130, 70, BLOCK=32)
    expected = a.astype("float64") @ b.astype("float64")
    np.testing.assert_allclose(cupy.asnumpy(c), expected, rtol=1e-3, atol=1e-3)


def _cupy_stream() -> None:
    """Arrays that were made on a stream of CuPy's, which has done its work."""
    import cupy

    with cupy.cuda.Stream(non_blocking=True) as stream:
        x, out = cupy.arange(10000, dtype="float32"), cupy.zeros(10000, "float32")
        stream.synchronize()
    add_kernel[(40,)](x, x, 10000, out, BLOCK=256)
    cupy.cuda.Device().synchronize()
    np.testing.assert_array_equal(cupy.asnumpy(out), 2 * np.arange(10000, dtype="float32"))


def _cupy_autotuned() -> None:
    import cupy

    x, out = cupy.arange(5000, dtype="float32"), cupy.zeros(5000, "float32")
    _autotuned(add_kernel, "n")[lambda meta: (triton.cdiv(5000, meta["BLOCK"]),)](x, x, 5000, out)
    np.testing.assert_array_equal(cupy.asnumpy(out), 2 * np.arange(5000, dtype="float32"))


# Launchers of others, for the machine code of `triton.compile`.


def _compiled() -> Any:
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "out_ptr": "*fp32"}
    source = triton.compiler.ASTSource(
        fn=add_kernel, signature={**signature, "BLOCK": "constexpr"}, constexprs={"BLOCK": 256}
    )
    return triton.compile(source)


def _launched(launch: Callable[[Any, tuple], None]) -> None:
    import cupy

    n = 3001
    x, out = cupy.arange(n, dtype="float32"), cupy.zeros(n, "float32")
    cupy.cuda.Device().synchronize()
    launch(_compiled(), (x, n, out))
    cupy.cuda.Device().synchronize()
    np.testing.assert_array_equal(cupy.asnumpy(out), 2 * np.arange(n, dtype="float32"))


def _cuda_core() -> None:
    core = importlib.import_module("cuda.core")
    if not hasattr(core, "ObjectCode"):
        core = importlib.import_module("cuda.core.experimental")
    device = core.Device()
    device.set_current()
    stream = device.create_stream()

    def launch(kernel: Any, arguments: tuple) -> None:
        x, n, out = arguments
        loaded = core.ObjectCode.from_cubin(kernel.asm["cubin"]).get_kernel(kernel.metadata.name)
        threads = kernel.metadata.num_warps * 32
        config = core.LaunchConfig(grid=12, block=threads, shmem_size=kernel.metadata.shared)
        pointers = (x.data.ptr, x.data.ptr, np.int32(n), out.data.ptr)
        core.launch(stream, config, loaded, *pointers, 0, 0)
        stream.sync()

    _launched(launch)


def _cupy_raw_module() -> None:
    import tempfile

    import cupy

    def launch(kernel: Any, arguments: tuple) -> None:
        x, n, out = arguments
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(kernel.asm["cubin"])
            file.flush()
            loaded = cupy.RawModule(path=file.name).get_function(kernel.metadata.name)
        threads, none = kernel.metadata.num_warps * 32, np.uint64(0)
        given = (x, x, np.int32(n), out, none, none)
        loaded((12,), (threads,), given, shared_mem=kernel.metadata.shared)

    _launched(launch)


# JAX through jax-triton, which calls the stages of a compile by itself.


def _jax_triton() -> Any:
    """It empties the variable of the cache's folder when it is imported. Other clients run in this
    process, too."""
    before = os.environ.get("TRITON_CACHE_DIR")
    import jax_triton

    os.environ.pop("TRITON_CACHE_DIR", None)
    if before is not None:
        os.environ["TRITON_CACHE_DIR"] = before
    return jax_triton


def _jax_add() -> None:
    import jax
    import jax.numpy as jnp

    jax_triton = _jax_triton()

    for n, dtype in ((1000, "float32"), (4097, "bfloat16"), (77, "int32")):
        x = jnp.arange(n).astype(dtype)
        out = jax_triton.triton_call(
            x, x, kernel=add_of_known_size_kernel, out_shape=jax.ShapeDtypeStruct((n,), x.dtype),
            grid=(triton.cdiv(n, 256),), N=n, BLOCK=256,
        )  # fmt: skip
        expected = np.asarray((x + x).astype("float32"))
        np.testing.assert_array_equal(np.asarray(out.astype("float32")), expected)


def _jax_scalar() -> None:
    """A size that is an argument at run time, in a compiled function."""
    import jax
    import jax.numpy as jnp

    jax_triton = _jax_triton()

    n = 3001

    @jax.jit
    def add(x: Any, y: Any) -> Any:
        shape = jax.ShapeDtypeStruct((n,), x.dtype)
        return jax_triton.triton_call(
            x, y, n, kernel=add_kernel, out_shape=shape, grid=(12,), BLOCK=256
        )

    x = jnp.arange(n, dtype="float32")
    np.testing.assert_array_equal(np.asarray(add(x, 2 * x)), 3 * np.arange(n, dtype="float32"))


def _jax_matmul() -> None:
    import jax
    import jax.numpy as jnp

    jax_triton = _jax_triton()

    make = _random()
    a = make.standard_normal((128, 64)).astype("float16")
    b = make.standard_normal((64, 96)).astype("float16")
    out = jax_triton.triton_call(
        jnp.asarray(a), jnp.asarray(b), kernel=matmul_of_known_size_kernel,
        out_shape=jax.ShapeDtypeStruct((128, 96), jnp.float32), grid=(4, 3),
        M=128, N=96, K=64, BLOCK=32,
    )  # fmt: skip
    expected = a.astype("float64") @ b.astype("float64")
    np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-3, atol=1e-3)


def _jax_autotuned() -> None:
    import jax
    import jax.numpy as jnp

    jax_triton = _jax_triton()

    n = 5000
    x = jnp.arange(n, dtype="float32")
    out = jax_triton.triton_call(
        x, x, kernel=_autotuned(add_of_known_size_kernel, "N"),
        out_shape=jax.ShapeDtypeStruct((n,), x.dtype),
        grid=lambda meta: triton.cdiv(n, meta["BLOCK"]), N=n,
    )  # fmt: skip
    np.testing.assert_array_equal(np.asarray(out), 2 * np.arange(n, dtype="float32"))


#: By the package that they need.
CASES: dict[str, dict[str, Callable[[], None]]] = {
    "cupy": {
        "cupy:add": _cupy_add,
        "cupy:views": _cupy_views,
        "cupy:matmul": _cupy_matmul,
        "cupy:stream": _cupy_stream,
        "cupy:autotuned": _cupy_autotuned,
        "cupy:raw_module": _cupy_raw_module,
    },
    "cuda.core": {"cuda_core": _cuda_core},
    "jax_triton": {
        "jax:add": _jax_add,
        "jax:scalar": _jax_scalar,
        "jax:matmul": _jax_matmul,
        "jax:autotuned": _jax_autotuned,
    },
}


def _is_there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def cases(device: str) -> list[Case]:
    return [
        Case(name, run, devices=("cuda",))
        for package, found in CASES.items()
        if _is_there(package)
        for name, run in found.items()
    ]
