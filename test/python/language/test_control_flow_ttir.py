"""Branches, loops and returns as structured control flow."""

from __future__ import annotations

from frontend import operations, raw_ttir, ttir

import tile
import tile.language as tl

SIGNATURE = {"p": "*fp32", "n": "i32"}


def test_constant_conditions_leave_no_branch():
    @tile.jit
    def kernel(p, n, FLAG: tl.constexpr):
        if FLAG:
            tl.store(p, 1.0)
        else:
            tl.store(p, undefined_name)  # noqa: F821

    assert "scf.if" not in raw_ttir(kernel, SIGNATURE, {"FLAG": True})


def test_early_return_guards_the_rest():
    @tile.jit
    def kernel(p, n):
        if n > 3:
            return
        tl.store(p, 1.0)

    text = ttir(kernel, SIGNATURE)
    assert operations(text).count("scf.if") == 1
    assert text.index("scf.if") < text.index("tt.store")


def test_early_returns_of_values_nest():
    @tile.jit
    def choose(x):
        if x > 10:
            return x * 2
        if x > 5:
            return x + 1
        return x - 1

    @tile.jit
    def kernel(p, n):
        tl.store(p, choose(n).to(tl.float32))

    text = ttir(kernel, SIGNATURE)
    assert text.count("-> (i32)") == 2


def test_variables_that_a_branch_changes_are_joined():
    @tile.jit
    def kernel(p, n):
        x = 1.0
        y = 2.0
        if n > 3:
            x = 5.0
        else:
            y = tl.load(p)
        tl.store(p, x + y)

    assert "-> (f32, f32)" in raw_ttir(kernel, SIGNATURE)


def test_unchanged_variables_are_not_joined():
    @tile.jit
    def kernel(p, n):
        x = tl.load(p)
        if n > 3:
            x = x
            tl.store(p + 1, x)
        tl.store(p, x)

    text = ttir(kernel, SIGNATURE)
    assert "scf.if" in text
    assert "->" not in text.split("scf.if")[1].split("{")[0]


def test_loop_carries_only_what_it_assigns():
    @tile.jit
    def kernel(p, n):
        s = 0
        k = 7
        for i in range(n):
            t = i * k
            s += t
        tl.store(p, s + k)

    text = ttir(kernel, SIGNATURE)
    assert "iter_args(%s" in text
    assert "-> (i32)  : i32" in text


def test_loop_hints():
    @tile.jit
    def kernel(p, n):
        for i in tl.range(0, n, num_stages=4, loop_unroll_factor=2, flatten=True,
                          warp_specialize=True,                          disallow_acc_multi_buffer=True, disable_licm=True):  # fmt: skip  # noqa: E501
            tl.store(p + i, 1.0)

    text = raw_ttir(kernel, SIGNATURE)
    for hint in ("tt.num_stages = 4 : i32", "tt.loop_unroll_factor = 2 : i32", "tt.flatten",
                 "tt.warp_specialize",
                 "tt.disallow_acc_multi_buffer", "llvm.loop_annotation"):  # fmt: skip
        assert hint in text


def test_wide_and_unsigned_bounds():
    @tile.jit
    def kernel(p, n, m):
        for i in range(n):
            tl.store(p + i, 1.0)
        for i in range(m):
            tl.store(p + i, 1.0)

    text = raw_ttir(kernel, {"p": "*fp32", "n": "i64", "m": "u32"})
    assert ": i64 {" in text
    assert "scf.for unsigned" in text


def test_descending_range():
    @tile.jit
    def kernel(p, n):
        for i in range(n, 0, -2):
            tl.store(p + i, 1.0)

    text = ttir(kernel, SIGNATURE)
    assert "step %c2_i32" in text
    assert "arith.subi %n" in text


def test_static_range_unrolls_with_break_and_continue():
    @tile.jit
    def kernel(p, n):
        for i in tl.static_range(10):
            if i == 1:
                continue
            if i == 3:
                break
            tl.store(p + i, 1.0)

    assert operations(raw_ttir(kernel, SIGNATURE)).count("tt.store") == 2


def test_continue_in_a_run_time_loop():
    @tile.jit
    def kernel(p, n):
        s = 0.0
        for i in range(n):
            if i % 2 == 0:
                continue
            s += tl.load(p + i)
        tl.store(p, s)

    text = ttir(kernel, SIGNATURE)
    assert operations(text).count("scf.if") == 1


def test_break_in_a_run_time_loop():
    @tile.jit
    def kernel(p, n):
        s = 0.0
        for i in range(n):
            if s > 10.0:
                break
            s += tl.load(p + i)
        while s > 1.0:
            s = s - 1.0
            if s == 5.0:
                break
            tl.store(p, s)
        tl.store(p, s)

    text = ttir(kernel, SIGNATURE)
    assert operations(text).count("scf.while") == 2


def test_while():
    @tile.jit
    def kernel(p, n):
        while tl.atomic_cas(p, 0, 1) == 1:
            pass
        m = n
        while m > 1:
            m = m // 2
        tl.store(p, m)

    text = ttir(kernel, {"p": "*i32", "n": "i32"})
    assert operations(text).count("scf.while") == 2
    assert "scf.while : () -> ()" in text


def test_a_name_that_changes_type_may_be_reused_in_a_loop():
    @tile.jit
    def kernel(p, n):
        t = tl.arange(0, 16)
        tl.store(p + t, 1.0)
        for i in range(n):
            t = i * 2
            tl.store(p + t, 2.0)

    assert "iter_args" not in ttir(kernel, SIGNATURE)


def test_conditional_expressions_and_short_circuits():
    @tile.jit
    def kernel(p, n, FLAG: tl.constexpr):
        x = 1.0 if FLAG else undefined_name  # noqa: F821
        y = tl.load(p) if n > 2 else x
        if FLAG is None or FLAG.bit_count() == 1:
            y += 1
        if 0 < n < 10 and not n == 5:
            y += 2
        tl.store(p, y)

    text = ttir(kernel, SIGNATURE, {"FLAG": 4})
    assert operations(text).count("scf.if") == 2


def test_comprehensions_lambdas_and_local_functions():
    @tile.jit
    def kernel(p, n):
        def twice(x):
            return x + x

        parts = [twice(n) + i for i in range(3) if i != 1]
        total = sum(parts)
        product = tl.reduce(tl.arange(0, 16), 0, lambda a, b: a * b)
        tl.store(p, total + product + max(n, 4) + len(parts))

    text = ttir(kernel, SIGNATURE)
    assert "arith.maxsi" in text
    assert "arith.muli" in text
