"""Functions of libraries that a launch names: `extern_libs`, as NVSHMEM's users write it."""

from __future__ import annotations

import numpy as np
import pytest
from reference import on_nvidia, poisoned, sim_only

import tile
import tile.language as tl
from tile import knobs
from tile.compat.additions.language import core

pytestmark = [
    sim_only,
    pytest.mark.skipif(not on_nvidia(), reason="kernels for AMD are linked with nothing"),
]

LIBRARY = """
declare i32 @__nv_abs(i32)
declare float @scale(float)

define i32 @size_of_product(i32 %x, i32 %y) {
  %product = mul i32 %x, %y
  %size = call i32 @__nv_abs(i32 %product)
  ret i32 %size
}

define i32 @size_of_product_64(i64 %x, i64 %y) {
  ret i32 64
}

define float @scaled(float %x) {
  %y = call float @scale(float %x)
  ret float %y
}

define i32 @mark(i64 %address, i32 %value) {
  %pointer = inttoptr i64 %address to ptr addrspace(1)
  store i32 %value, ptr addrspace(1) %pointer
  ret i32 %value
}
"""
OTHER = """
define float @scale(float %x) {
  %y = fmul float %x, 3.0
  ret float %y
}
"""


@pytest.fixture
def libraries(tmp_path):
    files = {"first": tmp_path / "first.ll", "second": tmp_path / "second.ll"}
    files["first"].write_text(LIBRARY)
    files["second"].write_text(OTHER)
    return {name: str(path) for name, path in files.items()}


@core.extern
def size_of_product(x, y, _semantic=None):
    i32, i64 = core.dtype("int32"), core.dtype("int64")
    return core.extern_elementwise(
        "", "", [x, y],
        {(i32, i32): ("size_of_product", i32), (i64, i64): ("size_of_product_64", i32)},
        is_pure=True, _semantic=_semantic,
    )  # fmt: skip


@core.extern
def scaled(x, _semantic=None):
    fp32 = core.dtype("fp32")
    return core.extern_elementwise(
        "", "", [x], {(fp32,): ("scaled", fp32)}, is_pure=True, _semantic=_semantic
    )


@core.extern
def mark(address, value, _semantic=None):
    i32, i64 = core.dtype("int32"), core.dtype("int64")
    return core.extern_elementwise(
        "", "", [address, value], {(i64, i32): ("mark", i32)}, is_pure=False, _semantic=_semantic
    )


@tile.jit
def integers(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, size_of_product(x, -7))
    tl.store(out_ptr + N + i, size_of_product(x.to(tl.int64), x.to(tl.int64)))


@tile.jit
def floats(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, scaled(tl.load(x_ptr + i)))


@tile.jit
def marks(out_ptr):
    mark((out_ptr + 1).to(tl.int64), 5)


def test_a_library_with_functions_of_libdevice(libraries):
    x = np.random.default_rng(1).integers(-1000, 1000, 64).astype(np.int32)
    out = poisoned((128,), "i32")
    integers[(1,)](x, out, N=64, extern_libs={"first": libraries["first"]})
    np.testing.assert_array_equal(out, np.concatenate([np.abs(x * 7), np.full(64, 64)]))


@pytest.mark.parametrize("reverse", [False, True])
def test_libraries_that_use_each_other(libraries, reverse):
    """Whatever the order of their names is."""
    files = list(libraries.values())
    named = dict(zip("ab", reversed(files) if reverse else files, strict=True))
    x = np.random.default_rng(2).random(64).astype(np.float32)
    out = poisoned((64,), "fp32")
    floats[(1,)](x, out, N=64, extern_libs=named)
    np.testing.assert_array_equal(out, x * np.float32(3))


def test_a_function_with_an_effect(libraries):
    out = np.zeros(2, np.int32)
    marks[(1,)](out, extern_libs=libraries)
    assert out.tolist() == [0, 5]


def test_the_kernel_is_there_when_its_hook_is_called(libraries, monkeypatch):
    """NVSHMEM's users initialise the module of a kernel before its first launch."""
    found = []

    def hook(*args, **kwargs):
        function = kwargs["fn"].jit_function
        kernels = function.device_caches[kwargs["compile"]["device"]][0]
        kernel = kernels.get(kwargs["key"])
        kernel.run  # noqa: B018  # Loads it.
        found.append((function.fn.__name__, kernel.module))

    monkeypatch.setattr(knobs.runtime, "jit_post_compile_hook", hook)
    x, out = np.ones(64, np.float32), poisoned((64,), "fp32")
    # As `requires_nvshmem` of torch launches.
    floats.run(x, out, N=64, grid=(1,), warmup=False, extern_libs=libraries)
    np.testing.assert_array_equal(out, 3 * x)
    # NVSHMEM wants the handle as a number, also where a simulator has none.
    assert [(name, type(module)) for name, module in found] == [("floats", int)]


def test_kernels_depend_on_what_libraries_contain(libraries, monkeypatch, tmp_path):
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path / "cache"))
    x, results = np.ones(64, np.float32), []
    for factor in ("3.0", "5.0"):
        with open(libraries["second"], "w", encoding="utf-8") as file:
            file.write(OTHER.replace("3.0", factor) + f"; {factor}\n")
        out = poisoned((64,), "fp32")
        kernel = tile.JITFunction(floats.fn)
        kernel[(1,)](x, out, N=64, extern_libs=libraries)
        results.append(float(out[0]))
    assert results == [3, 5]


@pytest.mark.parametrize(("given", "text"), [
    ({"lib": "/nowhere/lib.bc"}, "extern_libs: the library `lib` cannot be read: /nowhere/lib.bc"),
    (7, "extern_libs is a dictionary of names and files, not 7"),
])  # fmt: skip
def test_refused(given, text):
    with pytest.raises(tile.TileError, match=text):
        marks[(1,)](np.zeros(2, np.int32), extern_libs=given)


def test_a_file_that_is_no_library(tmp_path):
    file = tmp_path / "text.bc"
    file.write_text("this is no library")
    with pytest.raises(tile.TileError, match="cannot read the library"):
        marks[(1,)](np.zeros(2, np.int32), extern_libs={"text": str(file)})


@tile.jit
def wrong_types(x_ptr):
    tl.store(x_ptr, size_of_product(tl.load(x_ptr), 1.5))


def test_types_that_no_function_takes():
    with pytest.raises(tile.TileError, match="input arg type does not match"):
        wrong_types[(1,)](np.zeros(1, np.float32))


#: What functions of libraries may say of themselves. The first two would make zeros of subnormal
#: numbers.
ATTRIBUTES = [
    '"denormal-fp-math-f32"="preserve-sign,preserve-sign"',
    '"denormal-fp-math"="preserve-sign"',
    '"target-cpu"="sm_120" "target-features"="+ptx87,+sm_120"',
    "cold noinline",
]


@core.extern
def of_a_library(x, path: tl.constexpr, _semantic=None):
    fp32 = core.dtype("fp32")
    return core.extern_elementwise(
        "library", path.value, [x], {(fp32,): ("halved", fp32)}, is_pure=True, _semantic=_semantic
    )


@tile.jit
def halves(x_ptr, PATH: tl.constexpr):
    i = tl.arange(0, 8)
    tl.store(x_ptr + i, of_a_library(tl.load(x_ptr + i), PATH))


@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_functions_of_libraries_keep_subnormal_numbers(attributes, tmp_path):
    path = tmp_path / "library.ll"
    path.write_text(
        "define float @halved(float %x) #0 {\n"
        "  %r = call float @llvm.fma.f32(float %x, float 0.5, float 0.0)\n"
        "  ret float %r\n}\n"
        "declare float @llvm.fma.f32(float, float, float)\n"
        f"attributes #0 = {{ {attributes} }}\n"
    )
    bits = np.array([2, 1 << 20, (1 << 23) | 2, 0, 0x80000002, 0x3F800000, 6, 1 << 22], np.uint32)
    x = bits.view(np.float32).copy()
    halves[(1,)](x, str(path), extern_libs={"library": str(path)})
    np.testing.assert_array_equal(x, bits.view(np.float32) / np.float32(2))
    assert (x != 0).sum() == 7
