"""The whole text of what users are told when a kernel is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from frontend import kernel_of_text, refusal, without_page

import tile
import tile.language as tl

BLOCK = 128
SIGNATURE = {"p": "*fp32", "n": "i32"}


def message(fn, signature=None, constants=None) -> str:
    """The error, without the page that explains it, and with this file's name cut out."""
    error = refusal(fn, signature or SIGNATURE, constants)
    return without_page(str(error)).replace(__file__, "FILE")


def where(fn, offset: int) -> int:
    return fn.fn.__code__.co_firstlineno + offset


def expect(
    fn, offset: int, line: str, carets: str, text: str, signature=None, constants=None
) -> None:
    """One place: the line, what is underlined, and the sentence."""
    start = line.index(carets)
    expected = (
        f'\n  File "FILE", line {where(fn, offset)}, in {fn.__name__}\n'
        f"    {line}\n    {' ' * start}{'^' * len(carets)}\nerror: {text}"
    )
    assert message(fn, signature, constants) == expected


def test_run_time_shape():
    @tile.jit
    def kernel(p, n):
        x = tl.zeros((n,), tl.float32)
        tl.store(p, x)

    expect(
        kernel, 2, "x = tl.zeros((n,), tl.float32)", "tl.zeros((n,), tl.float32)",
        "a block's shape must be known at compile time, but this extent is a run-time value; "
        "pass it as a tl.constexpr",
    )  # fmt: skip


def test_shape_without_elements():
    @tile.jit
    def kernel(p, n):
        tl.zeros([0, 4], tl.float32)

    expect(
        kernel, 2, "tl.zeros([0, 4], tl.float32)", "tl.zeros([0, 4], tl.float32)",
        "block shape [0, 4] has the extent 0; a block has elements in every dimension",
    )  # fmt: skip


def test_merge_that_is_no_power_of_two():
    @tile.jit
    def kernel(p, n):
        tl.bitonic_merge(tl.arange(0, 6))

    expect(
        kernel, 2, "tl.bitonic_merge(tl.arange(0, 6))", "tl.bitonic_merge(tl.arange(0, 6))",
        "static assertion failed: bitonic_merge takes a power of two of elements; tl.sort takes "
        "any number",
    )  # fmt: skip


def test_block_that_is_too_large():
    @tile.jit
    def kernel(p, n):
        tl.zeros([2048, 2048], tl.float32)

    expect(
        kernel, 2, "tl.zeros([2048, 2048], tl.float32)", "tl.zeros([2048, 2048], tl.float32)",
        "a block of shape [2048, 2048] has 4194304 elements, more than the limit of 1048576",
    )  # fmt: skip


def test_incompatible_shapes():
    @tile.jit
    def kernel(p, n):
        x = tl.arange(0, 128) + tl.arange(0, 64)
        tl.store(p, x)

    expect(
        kernel, 2, "x = tl.arange(0, 128) + tl.arange(0, 64)", "tl.arange(0, 128) + tl.arange(0, 64)",  # noqa: E501
        "shapes [128] and [64] do not fit together: 128 and 64 elements in dimension 0",
    )  # fmt: skip


def test_global_that_is_not_constant():
    @tile.jit
    def kernel(p, n):
        tl.store(p, BLOCK)

    expect(
        kernel, 2, "tl.store(p, BLOCK)", "BLOCK",
        "Cannot access global variable `BLOCK`: it is not a constant, and a kernel is compiled "
        "once and would not see it change; "
        "declare it `BLOCK = tl.constexpr(...)` or pass it as an argument",
    )  # fmt: skip


def test_undefined_name():
    @tile.jit
    def kernel(p, n):
        tl.store(p, missing)  # noqa: F821

    expect(kernel, 2, "tl.store(p, missing)  # noqa: F821", "missing", "`missing` is not defined")


def test_name_of_one_branch():
    @tile.jit
    def kernel(p, n):
        if n > 3:
            y = 1
        tl.store(p, y)

    expect(
        kernel, 4, "tl.store(p, y)", "y",
        "`y` may be undefined here: it is assigned only when the condition on line "
        f"{where(kernel, 2)} holds",
    )  # fmt: skip


def test_name_of_a_loop():
    @tile.jit
    def kernel(p, n):
        for i in range(n):
            y = i
        tl.store(p, y)

    expect(
        kernel, 4, "tl.store(p, y)", "y",
        f"`y` may be undefined here: it is assigned in the loop on line {where(kernel, 2)}, "
        "which may run zero times; "
        "give it a value before the loop",
    )  # fmt: skip


def test_loop_that_changes_a_type():
    @tile.jit
    def kernel(p, n):
        acc = 0
        for i in range(n):
            acc = acc + 1.5 * i
        tl.store(p, acc)

    expect(
        kernel, 4, "acc = acc + 1.5 * i", "acc",
        "Loop-carried variable acc has initial type int32, but fp32 after an iteration of the loop "
        f"on line {where(kernel, 3)}; a variable "
        "keeps its type through a loop, so convert it with .to() or tl.broadcast_to\n"
        f"note: `acc` is int32 from here:\n  File \"FILE\", line {where(kernel, 2)}, in kernel\n"
        "    acc = 0\n    ^^^",
    )  # fmt: skip


def test_branches_that_disagree():
    @tile.jit
    def kernel(p, n):
        x = tl.zeros((4,), tl.float32)
        if n > 2:
            x = n
        tl.store(p, x)

    expect(
        kernel, 3, "if n > 2:", "if n > 2:",
        "Mismatched type for x: it is int32 in one branch and <[4], fp32> in the other; both "
        "branches must agree",
    )  # fmt: skip


def test_condition_that_is_a_block():
    @tile.jit
    def kernel(p, n):
        if tl.arange(0, 4) > 2:
            tl.store(p, 1.0)

    expect(
        kernel, 2, "if tl.arange(0, 4) > 2:", "tl.arange(0, 4) > 2",
        "the condition of `if` must be a scalar, but it is a block (<[4], int1>); reduce it "
        "first, or use tl.where to "
        "choose element by element",
    )  # fmt: skip


@tile.jit
def _inner(x):
    return tl.exp(x)


def test_error_in_a_called_function_shows_the_chain():
    @tile.jit
    def kernel(p, n):
        tl.store(p, _inner(tl.load(p).to(tl.float16)))

    assert message(kernel) == (
        f'\n  File "FILE", line {where(kernel, 2)}, in kernel\n'
        "    tl.store(p, _inner(tl.load(p).to(tl.float16)))\n"
        "                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f'  File "FILE", line {where(_inner, 2)}, in _inner\n'
        "    return tl.exp(x)\n"
        "           ^^^^^^^^^\n"
        "error: Expected dtype fp32 or fp64 in tl.exp, not fp16; convert with .to()"
    )


def test_error_in_the_library_shows_the_users_call():
    @tile.jit
    def kernel(p, n):
        tl.store(p, tl.softmax(tl.arange(0, 16)))

    expect(
        kernel, 2, "tl.store(p, tl.softmax(tl.arange(0, 16)))", "tl.softmax(tl.arange(0, 16))",
        "Expected dtype fp32 or fp64 in tl.exp, not int32; convert with .to()",
    )  # fmt: skip


def _plain(x):
    return x


def test_plain_function():
    @tile.jit
    def kernel(p, n):
        tl.store(p, _plain(n))

    expect(
        kernel, 2, "tl.store(p, _plain(n))", "_plain(n)",
        "`_plain` is a plain Python function: decorate it with @tile.jit to call it from a "
        "kernel, or with "
        "@tile.constexpr_function to run it on constants while compiling",
    )  # fmt: skip


@tile.jit
def _recursive(x):
    return _recursive(x)


def test_recursion():
    @tile.jit
    def kernel(p, n):
        _recursive(n)

    assert "error: `_recursive` calls itself; recursion is not supported in kernels" in message(
        kernel
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "try:\n        pass\n    finally:\n        pass",
            "`try` cannot be used in kernels; kernels have no exceptions; test with `if`",
        ),
        (
            "with p:\n        pass",
            "`with` cannot be used in kernels, but for scopes of the profiler: "
            "`with pl.scope(name):`",
        ),
        ("import os", "`import` cannot be used in kernels; import in the module of the kernel"),
        (
            "raise ValueError",
            "`raise` cannot be used in kernels; use tl.device_assert, or tl.static_assert for a "
            "constant",
        ),
        (
            "y = (k := n) if n > 3 else 5\n    n = k",
            "`k` may be undefined here: it is assigned on one side of a condition only",
        ),
        ("x = {1, 2}", "sets cannot be used in kernels; use a tuple"),
        ("x = p @ p", "the operator @ is not for kernels; use tl.dot for matmuls"),
        ("return n", "a kernel returns nothing; store its results through pointers"),
        ("tl.store(n, 1)", "store takes a pointer or a block of pointers, not int32"),
        ("tl.store(p, tl.arange(0, 16))", "cannot store through the scalar pointer pointer<fp32>: the value is a block; add offsets to the pointer, such as p + tl.arange(0, BLOCK)"),  # noqa: E501
        ("tl.load(p + tl.arange(0, 4), other=1.0)", "other is what masked-off elements read as, so it needs a mask"),  # noqa: E501
        ("tl.load(p, cache_modifier='.zz')", "cache_modifier is one of '', '.ca', '.cg', '.cs', '.cv', not '.zz'"),  # noqa: E501
        ("tl.load(p, msk=1)", "load() got an unexpected keyword argument 'msk'; did you mean `mask`?"),  # noqa: E501
        ("tl.load(p, nothing=1)", "load() got an unexpected keyword argument 'nothing'"),
        ("for i in tl.range(n, num_stage=2):\n        pass", "range() got an unexpected keyword argument 'num_stage'; did you mean `num_stages`?"),  # noqa: E501
        ("tl.store(p, f'{n}')", "expected a number or a tensor, not str"),
        ("tl.sum((n, n), axis=0)", "expected a number or a tensor, not tuple"),
        ("p + p", "cannot add the pointers pointer<fp32> and pointer<fp32>"),
        ("p + 1.5", "a pointer moves by an integer, not by float"),
        ("n & 1.5", "invalid operands of type int32 and float: & takes integers"),
        ("n // 1.5", "// takes integers, not fp32; use tl.floor(x / y) for floats"),
        ("tl.arange(0, n)", "arange needs constants, but its end is int32; a parameter that is known at launch is one as `name: tl.constexpr`, and a run-time offset is added to the range"),  # noqa: E501
        ("tl.arange(0, 64.0)", "arange needs integers, but its end is a float; write 64 for 64.0, and // for a division"),  # noqa: E501
        ("tl.arange(0, 'x')", "arange needs integers, but its end is a str"),
        ("tl.store(p + tl.arange(0, 4), tl.zeros([1, 4], tl.float32))", "cannot store <[1, 4], fp32> through pointers of shape [4]: the ranks differ; bring the value to their shape, as in x.reshape(4)"),  # noqa: E501
        ("tl.program_id(3)", "program_id axis must be 0, 1, or 2 but got 3"),
        ("tl.dot(n, n)", "dot takes blocks, not int32"),
        (
            "tl.dot(tl.zeros((16, 16), tl.uint8), tl.zeros((16, 16), tl.uint8))",
            "dot of integers takes int8, not uint8",
        ),
        ("tl.sum(n, axis=0)", "reduce takes blocks, not the scalar int32"),
        ("tl.reshape(tl.arange(0, 16), 4, 8)", "cannot reshape [16] (16 elements) to [4, 8] (32 elements)"),  # noqa: E501
        ("tl.arange(0, 16)[16]", "index 16 is out of range for dimension 0, which has 16 elements"),
        ("tl.expand_dims(tl.arange(0, 4), 5)", "invalid axis 5: the block of expand_dims has 2 dimensions, so the axis is from -2 to 1"),  # noqa: E501
        ("tl.static_assert(n > 1)", "static_assert takes a constant condition; use tl.device_assert for a run-time one"),  # noqa: E501
        ("tl.static_assert(1 > 2, 'no')", "static assertion failed: no"),
        ("tl.nothing()", "module `tile.language` has no attribute `nothing`"),
        ("tl.stor(p, 1)", "module `tile.language` has no attribute `stor`; did you mean `store`?"),
        ("count = 1\n    tl.store(p, cuont)", "`cuont` is not defined; did you mean `count`?"),
        ("x = p[0]", "unsupported tensor index: a pointer has no elements; use tl.load(pointer + index)"),  # noqa: E501
        ("p[0] = 1.0", "a pointer has no elements; use tl.store(pointer + index, value)"),
        ("x = tl.arange(0, 4)\n    x[0] = 1", "elements of a <[4], int32> cannot be assigned; x = x.at[index].set(value) makes a block with others, and tl.store writes to memory"),  # noqa: E501
        ("print(f'n is {n}')", "text is made while the kernel is compiled, when its run-time values are not known; "  # noqa: E501
         'pass them after the text, as in print("x:", x)'),
        ("tl.load(p, p < n)", "< compares a pointer with a pointer, not with int32"),
        ("tl.program_id(n)", "program_id axis must be 0, 1, or 2 but got int32"),
        ("tl.maximum(n, 2, 3)", "propagate_nan is tl.PropagateNan.NONE or tl.PropagateNan.ALL, not 3"),  # noqa: E501
        ("x = []\n    x.append(n)", "`append` works on constants only; a tuple holds run-time values: items = items + (value,)"),  # noqa: E501
        ("n.nothing()", "an int32 has no attribute `nothing`"),
        ("int(n)", "int() works on constants; use .to(tl.int32) for run-time values"),
        ("n.to(tl.float32).nothing()", "an fp32 has no attribute `nothing`"),
        ("(1, 2)[n]", "a tuple is indexed with constants, not with a run-time value"),
        ("[1, 2][n]", "a list is indexed with constants, not with a run-time value"),
        ("len(p)", "a pointer has no length; pass the size of an array as an argument"),
        ("len(n)", "a scalar has no length; pass the size of an array as an argument"),
        ("a, b = 1, 2, 3", "too many values to unpack (expected 2, got 3)"),
        ("n.to(tl.float32, fp_downcast_rounding='up')", "fp_downcast_rounding applies to a conversion to a narrower float, "  # noqa: E501
         "not from int32 to fp32"),
        ("1 // 0", "division by zero in a constant expression"),
        ("tl.arange(0, 4).to(tl.uint8) + 300", "the constant 300 is out of range for type uint8"),
    ],
)  # fmt: skip
def test_one_sentence(body, text, tmp_path):
    head = "import tile\nimport tile.language as tl\n\n\n@tile.jit\ndef kernel(p, n):\n"
    error = refusal(kernel_of_text(f"{head}    {body}\n", tmp_path), SIGNATURE)
    assert error.error_message == text
    assert error.places[-1].file == str(tmp_path / "kernel_of_text.py")
    assert error.places[-1].line >= 6


@tile.jit
def numpys(p, n):
    tl.store(p, np.sqrt(tl.load(p)))


@tile.jit
def pythons(p, n):
    tl.store(p, math.sqrt(tl.load(p)))


def test_functions_of_other_libraries():
    assert refusal(numpys, SIGNATURE).error_message == (
        "`sqrt` of numpy is not for kernels; use tl.sqrt"
    )
    assert refusal(pythons, SIGNATURE).error_message == (
        "`sqrt` works on constants only; use tl.sqrt for run-time values"
    )


def test_errors_of_passes_name_the_source_line(tmp_path):
    path = tmp_path / "broken.ttir"
    path.write_text(
        "module {\n  tt.func public @k(%p: !tt.ptr<f32>) {\n    tt.wrong\n    tt.return\n  }\n}\n"
    )
    with pytest.raises(tile.CompilationError) as caught:
        tile.compile(str(path), target=tile.GPUTarget("cuda", 90, 32))
    assert caught.value.places[0].line == 3
    assert "tt.wrong" in str(caught.value)


def test_errors_pickle():
    import pickle

    @tile.jit
    def kernel(p, n):
        tl.store(p, missing)  # noqa: F821

    error = refusal(kernel, SIGNATURE)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert type(again) is type(error)


def test_recursion_shows_the_chain():
    @tile.jit
    def kernel(p, n):
        _recursive(n)

    assert message(kernel) == (
        f'\n  File "FILE", line {where(kernel, 2)}, in kernel\n'
        "    _recursive(n)\n    ^^^^^^^^^^^^^\n"
        f'  File "FILE", line {where(_recursive, 2)}, in _recursive\n'
        "    return _recursive(x)\n           ^^^^^^^^^^^^^\n"
        "error: `_recursive` calls itself; recursion is not supported in kernels"
    )


def test_mask_that_is_no_condition():
    @tile.jit
    def kernel(p, n):
        o = tl.arange(0, 4)
        tl.store(p + o, 1.0, mask=o)

    expect(
        kernel, 3, "tl.store(p + o, 1.0, mask=o)", "tl.store(p + o, 1.0, mask=o)",
        "the mask must be a condition (int1), not <[4], int32>; compare it with something",
    )  # fmt: skip


def test_other_of_the_wrong_type():
    @tile.jit
    def kernel(p, n):
        x = tl.load(p, mask=n > 1, other=p)
        tl.store(p, x)

    expect(
        kernel, 2, "x = tl.load(p, mask=n > 1, other=p)", "tl.load(p, mask=n > 1, other=p)",
        "other is pointer<fp32>, but the elements are fp32",
    )  # fmt: skip


def test_pointer_of_the_wrong_type():
    @tile.jit
    def kernel(p, n):
        tl.store(p, p)

    expect(
        kernel, 2, "tl.store(p, p)", "tl.store(p, p)",
        "a pointer converts to a 64-bit integer or to another pointer, not to fp32",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ("tl.exp(n)", "Expected dtype fp32 or fp64 in tl.exp, not int32; convert with .to()"),
        ("tl.math.sqrt_rn(n)", "Expected dtype fp32 in tl.sqrt_rn, not int32; convert with .to()"),
        ("tl.umulhi(1.5, n)", "tl.umulhi takes int32, uint32, int64 or uint64, not fp32"),
        ("tl.floor(n)", "Expected dtype fp32 or fp64 in tl.floor, not int32; convert with .to()"),
        ("tl.abs(p)", "tl.abs takes numbers, not pointer<fp32>"),
        ("tl.extra.libdevice.sin(n)", "libdevice.sin takes fp32 or fp64, not int32"),
    ],
)  # fmt: skip
def test_mathematics_says_which_types_it_takes(call, allowed, tmp_path):
    test_one_sentence(call, allowed, tmp_path)
