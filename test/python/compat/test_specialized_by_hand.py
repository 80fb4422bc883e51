"""What libraries ask about arguments, to compile kernels themselves."""

from __future__ import annotations

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import make_backend
from tile.runtime import specialization


def test_what_backends_tell_apart():
    """Plugins ask a backend what of an argument it compiles for."""
    array = np.zeros(64, np.int32)
    aligned = array[(-array.ctypes.data // 4) % 4 :]
    for target in (("cuda", 90, 32), ("hip", "gfx942", 64)):
        backend = make_backend(GPUTarget(*target))
        for align in (True, False):
            known = "D" if align else ""
            assert backend.get_int_specialization(32, align=align) == known
            assert backend.get_int_specialization(33, align=align) == ""
            assert backend.get_tensor_specialization(aligned, align=align) == known
            assert backend.get_tensor_specialization(aligned[1:], align=align) == ""


@tile.jit
def various_kernel(x_ptr, n, pair, value, flag, BLOCK: tl.constexpr, NAME: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at + pair[0], value + n + pair[1], at < n)


@sim_only
@pytest.mark.parametrize("n", [1, 5, 32, -3, 2**30, 2**31 - 16, 2**40, -(2**40), 2**63])
def test_what_is_compiled_ahead_by_hand_is_what_is_launched(n):
    """Autotuners of libraries compile in processes of their own, and launch from the cache."""
    kernel = tile.jit(various_kernel.fn)
    active = tile.runtime.driver.active
    _, _, target, backend, binder = kernel.device_caches[active.get_current_device()]
    x = np.zeros(64, np.float32)
    args, options = (x, n, (8, n), 2.0, True, 32, "a name"), {"num_warps": 2, "debug": False}
    bound, pairs, _ = binder(*args, **options)
    types, known = [p[0] for p in pairs], [p[1] for p in pairs]
    values = list(bound.values())

    def paths(items, wanted, path=()):
        for i, item in enumerate(items):
            if isinstance(item, tuple):
                yield from paths(item, wanted, (*path, i))
            elif wanted(item):
                yield (*path, i)

    def at(items, path):
        for i in path:
            items = items[i]
        return items

    source = kernel.ASTSource(
        kernel,
        dict(zip(kernel.arg_names, types, strict=True)),
        {p: at(values, p) for p in paths(types, lambda t: t == "constexpr")},
        {p: backend.parse_attr(at(known, p)) for p in paths(known, lambda k: isinstance(k, str))},
    )
    ahead = kernel.compile(source, target=target, options=backend.parse_options(options).__dict__)
    assert isinstance(ahead, kernel.CompiledKernel)
    assert ahead.hash == kernel.warmup(*args, grid=(1,), **options).hash


@pytest.mark.parametrize(
    "value, expected",
    [
        (1, ("constexpr", 1)), (16, ("i32", "D")), (7, ("i32", "")), (2**40, ("i64", "D")),
        (True, ("u1", None)), (1.5, ("fp32", None)), (None, ("constexpr", None)),
        ((1, 16, 3.0), (("constexpr", "i32", "fp32"), (1, "D", None))),
    ],
)  # fmt: skip
def test_arguments_are_described_as_known(value, expected):
    assert specialization.native_specialize_impl(None, value, False, True, True) == expected


def test_arguments_that_no_kernel_takes():
    with pytest.raises(TypeError, match="failed to specialize argument of type: str"):
        specialization.native_specialize_impl(None, "text", False, True, True)


def test_a_type_stands_for_a_tensor_but_as_a_constant():
    @tile.jit
    def kernel(out, value, TYPE: tl.constexpr):
        tl.static_assert(TYPE == tl.float16)
        tl.store(out, tl.load(value).to(TYPE))

    compiled = kernel.warmup(tl.float16, value=tl.float32, TYPE=tl.float16, grid=(1,))
    assert compiled.src.signature == {"out": "*fp16", "value": "*fp32", "TYPE": "constexpr"}


def test_what_is_known_of_numbers_has_the_letters_of_triton():
    from tile.compat.triton._C.libtriton import native_specialize_impl

    for value, known in ((-1, ""), (-16, "D"), (24, ""), (2**31, "D"), (2**31 - 1, ""), (17, "")):
        assert native_specialize_impl(None, value, False, True, True)[1] == known
    assert native_specialize_impl(None, (1, 3), False, True, True) == (
        ("constexpr", "i32"), (1, ""),
    )  # fmt: skip
