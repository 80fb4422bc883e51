"""What the compiler says it could not make fast: where, why, and nothing else."""

from __future__ import annotations

import re

import pytest

import tile
import tile.language as tl
from tile import _C
from tile.compiler import ASTSource

pytestmark = pytest.mark.compiled

A100 = tile.GPUTarget("cuda", 80, 32)
H100 = tile.GPUTarget("cuda", 90, 32)


@tile.jit
def matmul(a_ptr, b_ptr, c_ptr, K, PRECISION: tl.constexpr, STEP: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for k in range(0, K, N):
        ks = k + tl.arange(0, N)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :] * STEP)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


@tile.jit
def rewrites(a_ptr, c_ptr, K, N: tl.constexpr):
    rows, cols = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    places = a_ptr + rows[:, None] * N + cols[None, :]
    for _ in range(K):
        a = tl.load(places)
        acc = tl.dot(a, a, acc)
        tl.store(places, acc.to(tl.float16))
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


@tile.jit
def divided(a_ptr, c_ptr, K, N: tl.constexpr):
    rows, cols = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for k in tl.range(K, warp_specialize=True):
        a = tl.load(a_ptr + k * N * N + rows[:, None] * N + cols[None, :])
        acc = tl.dot(a, a, acc)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


@tile.jit
def chases(a_ptr, next_ptr, c_ptr, K, N: tl.constexpr):
    rows, cols = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    places = rows[:, None] * N + cols[None, :]
    for _ in range(K):
        a = tl.load(a_ptr + places)
        acc = tl.dot(a, a, acc)
        a_ptr += tl.max(tl.max(a, 0), 0).to(tl.int32) * 16
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


def line_of(text: str) -> int:
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if text in line)


def remarks(
    kernel, signature, constants, capfd, monkeypatch, pattern="1", target=A100, **options
) -> list[tuple]:
    """(kind, line, pass, text) of each remark that the compile prints."""
    monkeypatch.setenv("MLIR_ENABLE_REMARK", pattern)
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    attributes = {
        (i,): [["tt.divisibility", 16]] for i, ty in enumerate(signature.values()) if ty != "fp32"
    }
    source = ASTSource(kernel, signature, constants, attributes)
    tile.compile(source, target=target, options=options, stop_at="llir").asm["llir"]
    found = re.findall(
        r'File "([^"]+)", line (\d+), in (\w+)\n    [^\n]+\n +\^+\n'
        r"remark: ([\w-]+): ([^\n]*) \[([\w-]+)\]\n",
        capfd.readouterr().err,
    )
    assert all(file == __file__ and fn == kernel.__name__ for file, _, fn, *_ in found)
    return [(kind, int(line), name, text) for _, line, _, kind, text, name in found]


def matmul_remarks(capfd, monkeypatch, element="fp16", precision="tf32", step=1, pattern="1"):
    signature = {"a_ptr": f"*{element}", "b_ptr": f"*{element}", "c_ptr": "*fp32", "K": "i32"}
    constants = {"PRECISION": precision, "STEP": step, "N": 64}
    return remarks(matmul, signature, constants, capfd, monkeypatch, pattern)


def test_nothing_is_said_of_what_is_fast(capfd, monkeypatch):
    assert matmul_remarks(capfd, monkeypatch) == []
    assert matmul_remarks(capfd, monkeypatch, "fp32") == []


def test_a_product_without_tensor_cores(capfd, monkeypatch):
    assert matmul_remarks(capfd, monkeypatch, "fp32", "ieee") == [
        (
            "scalar-product",
            line_of("acc = tl.dot(a, b, acc,"),
            "tritongpu-accelerate-matmul",
            "the target has no matrix instruction for f32 * f32 -> f32 of input precision ieee",
        )
    ]


def test_loads_of_single_elements(capfd, monkeypatch):
    line = line_of("b = tl.load(b_ptr + ks")
    found = matmul_remarks(capfd, monkeypatch, step=3)
    assert [remark[:3] for remark in found] == [
        ("single-elements", line, "tritongpu-coalesce"),
        ("load-not-pipelined", line, "tritongpu-assign-latencies"),
    ]
    assert found[1][3].startswith("only 16 bits are known to lie together")


def test_a_pattern_chooses_the_passes(capfd, monkeypatch):
    found = matmul_remarks(capfd, monkeypatch, step=3, pattern=".*coalesce")
    assert [remark[2] for remark in found] == ["tritongpu-coalesce"]
    with pytest.raises(ValueError, match="not a regular expression"):
        matmul_remarks(capfd, monkeypatch, pattern="(")


def test_a_loop_that_writes_what_it_reads(capfd, monkeypatch):
    signature = {"a_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32"}
    assert remarks(rewrites, signature, {"N": 64}, capfd, monkeypatch) == [
        (
            "load-not-pipelined",
            line_of("a = tl.load(places)"),
            "tritongpu-assign-latencies",
            "the loop may change what it reads",
        )
    ]


def test_a_loop_that_is_not_divided(capfd, monkeypatch):
    signature = {"a_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32"}
    assert remarks(divided, signature, {"N": 64}, capfd, monkeypatch) == [
        (
            "loop-not-specialized",
            line_of("for k in tl.range(K, warp_specialize=True)"),
            "tritongpu-partition-scheduling",
            "no loops are divided among warps for this target",
        )
    ]


@tile.jit
def several(a_ptr, c_ptr, K, WAY: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    places = a_ptr + rows[:, None] * N + cols[None, :]
    if WAY == "jump":
        for k in tl.range(K, warp_specialize=True):  # a jump
            if k == 5:
                break
            a = tl.load(places + k * N * N)
            acc = tl.dot(a, a, acc)
    elif WAY == "condition":
        for k in tl.range(K, warp_specialize=True):
            if k % 3 != 1:
                a = tl.load(places + k * N * N)  # under a condition
                acc = tl.dot(a, a, acc)
    elif WAY == "carried":
        a = tl.load(places)
        for k in tl.range(1, K, warp_specialize=True):
            acc = tl.dot(a, a, acc)
            a = tl.load(places + k * N * N)  # goes on
    elif WAY == "while":
        for t in tl.range(2, warp_specialize=True):  # a while
            k = t
            while k < K:
                a = tl.load(places + k * N * N)
                acc = tl.dot(a, a, acc)
                k += 2
    else:
        for _ in tl.range(K, warp_specialize=True):  # no load
            acc = tl.dot(acc.to(tl.float16), acc.to(tl.float16), acc)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


@pytest.mark.parametrize(
    ("way", "where", "name", "why"),
    [
        ("jump", "# a jump", "front-end", "it may end early: a jump leaves it"),
        ("condition", "# under a condition", "", "this load of it runs under a condition"),
        ("carried", "# goes on", "", "what this load of it reads goes on to the next iteration"),
        ("while", "# a while", "", "no loop in it has a count of iterations"),
        ("nothing", "# no load", "", "it has no load that other warps could do"),
    ],
)
def test_why_a_loop_is_not_divided(way, where, name, why, capfd, monkeypatch):
    signature = {"a_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32"}
    constants = {"WAY": way, "N": 64}
    found = remarks(several, signature, constants, capfd, monkeypatch, target=H100)
    kind, line = "loop-not-specialized", line_of(where)
    assert (kind, line, name or "tritongpu-partition-scheduling", why) in found
    # A pattern chooses among the front end's, too.
    assert remarks(several, signature, constants, capfd, monkeypatch, "coalesce", H100) == []


@tile.jit
def asserts(a_ptr, c_ptr, K, limit, INDEX: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for k in tl.range(K, warp_specialize=True):
        a = tl.load(a_ptr + k * N * N + rows[:, None] * N + cols[None, :])  # asserted
        tl.device_assert(k < limit if INDEX else acc < 5, "less")
        acc = tl.dot(a, a, acc)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc)


@pytest.mark.parametrize("index", [False, True])
def test_assertions_keep_what_they_guard(index, capfd, monkeypatch):
    """Only those about what addresses are computed from."""
    signature = {"a_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32", "limit": "i32"}
    constants = {"INDEX": index, "N": 64}
    found = remarks(
        asserts, signature, constants, capfd, monkeypatch, target=H100, debug=True,
        sanitize_overflow=False,
    )  # fmt: skip
    if not index:
        assert found == []
        return
    why = "the assertion 'less' in the loop may be about its address"
    line = line_of("# asserted")
    assert set(found) == {
        ("load-not-pipelined", line, "tritongpu-assign-latencies", why),
        ("loop-not-specialized", line, "tritongpu-partition-scheduling", why),
    }


@pytest.mark.parametrize("arch", [90, 100, 120])
@pytest.mark.parametrize("memory", [True, False])
def test_what_came_after_hopper_is_used_like_ampere(memory, arch, capfd, monkeypatch):
    signature = {"a_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32"}
    target = tile.GPUTarget("cuda", arch, 32)
    found = remarks(
        divided, signature, {"N": 64}, capfd, monkeypatch, target=target, tensor_memory=memory
    )
    kinds = [kind for kind, *_ in found]
    assert ("product-as-on-ampere" in kinds) == (arch == 120 or (arch == 100 and not memory))
    assert ("loop-not-specialized" in kinds) == (arch == 120 or (arch == 100 and not memory))


@tile.jit
def multiplies(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@tile.jit
def multiplies_in_stages(
    a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr
):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    acc = tl.zeros((M, N), tl.float32)
    for start in tl.range(0, K, BK, num_stages=3):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize(
    ("kernel", "stages", "kind"),
    [
        (multiplies, 2, None),
        (multiplies, 3, "loop-with-fewer-stages"),
        # The loop has its own number.
        (multiplies_in_stages, 3, "product-in-registers"),
    ],
)
def test_dots_that_need_too_much_shared_memory(kernel, stages, kind, capfd, monkeypatch):
    signature = {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", "K": "i32"}
    constants, target = {"M": 128, "N": 256, "BK": 64}, tile.GPUTarget("cuda", 100, 32)
    found = remarks(
        kernel, signature, constants, capfd, monkeypatch, target=target, num_warps=8,
        num_stages=stages,
    )  # fmt: skip
    kinds = ("loop-with-fewer-stages", "product-in-registers")
    said = [(what, why) for what, _, _, why in found if what in kinds]
    assert [what for what, _ in said] == [kind] * (kind is not None)
    for _, why in said:
        assert "out of shared memory" in why and "has at most 232448" in why


def test_a_loop_that_waits_for_its_loads(capfd, monkeypatch):
    signature = {"a_ptr": "*fp16", "next_ptr": "*i32", "c_ptr": "*fp32", "K": "i32"}
    found = remarks(chases, signature, {"N": 64}, capfd, monkeypatch)
    assert [(kind, name) for kind, _, name, _ in found] == [
        ("loop-not-pipelined", "tritongpu-schedule-loops")
    ]
    assert found[0][3] == "addresses of its loads depend on what they loaded before"


def test_no_remarks_unless_asked():
    module = _C.ir.Module.parse("module {}", _C.ir.Context())
    manager = _C.passes.PassManager.parse("canonicalize", module.context)
    manager.run(module)
    assert manager.remarks == []
