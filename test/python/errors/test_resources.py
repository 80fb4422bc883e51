"""Kernels that need more than a device has, and what compiled kernels say they need."""

from __future__ import annotations

import pickle
from typing import ClassVar

import numpy as np
import pytest
from frontend import without_page
from machines import run_on
from reference import sim_only

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import ASTSource
from tile.compiler.errors import from_diagnostics
from tile.errors import OutOfResources


@tile.jit
def matmul(a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, cols, ks = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * K + (k + ks)[None, :])
        b = tl.load(b_ptr + (k + ks)[:, None] * BN + cols[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * BN + cols[None, :], acc)


def arguments(bm, bn, k):
    a, b = np.ones((bm, k), np.float16), np.ones((k, bn), np.float16)
    return a, b, np.zeros((bm, bn), np.float32), k


def line_of(text: str) -> int:
    """The line of this file that contains the text."""
    with open(__file__) as file:
        return next(i for i, line in enumerate(file, 1) if text in line)


@pytest.mark.nvidia("there each stage has a buffer")
def test_too_much_shared_memory(monkeypatch):
    run_on("cuda:90", monkeypatch)
    # A buffer for each stage: 6 * (128 + 128) * 128 * 2 bytes.
    with pytest.raises(OutOfResources) as caught:
        matmul[(1,)](*arguments(128, 128, 128), BM=128, BN=128, BK=128, num_stages=6)
    error = caught.value
    line = line_of("a = tl.load(a_ptr")
    assert (error.required, error.limit, error.name) == (393216, 232448, "shared memory")
    blamed = "tl.load(a_ptr + rows[:, None] * K + (k + ks)[None, :])"
    assert without_page(str(error)) == (
        "out of resource: shared memory, Required: 393216 bytes, "
        "Hardware limit: 232448 bytes, in `matmul`; "
        "smaller blocks or a smaller num_stages need less\n"
        f'  File "{__file__}", line {line}, in matmul\n'
        f"    a = {blamed}\n"
        f"        {'^' * len(blamed)}"
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@sim_only
def test_the_limit_is_that_of_the_target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:86")
    with pytest.raises(
        OutOfResources, match="Required: 131072 bytes, Hardware limit: 101376 bytes"
    ):
        matmul[(1,)](*arguments(128, 128, 128), BM=128, BN=128, BK=128, num_stages=3)


@pytest.mark.nvidia("there each stage has a buffer")
def test_the_autotuner_passes_over_what_does_not_fit():
    if not tl.target_info.cuda_capability_geq(8):
        pytest.skip("without asynchronous copies no stage has a buffer")
    if tl.target_info.cuda_capability_geq(10) and not tl.target_info.cuda_capability_geq(12):
        pytest.skip("a dot with sums in tensor memory takes fewer stages where these do not fit")
    tuned = tile.autotune(
        configs=[
            tile.Config({"BK": 128}, num_stages=6),
            tile.Config({"BK": 32}, num_stages=2),
        ],
        key=["K"],
    )(matmul)
    a, b, c, k = arguments(128, 128, 128)
    tuned[(1,)](a, b, c, k, BM=128, BN=128)
    np.testing.assert_array_equal(c, np.full((128, 128), 128, np.float32))
    assert tuned.best_config.kwargs == {"BK": 32}


def compiled(**options):
    signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp32", "K": "i32"}
    signature |= dict.fromkeys(("BM", "BN", "BK"), "constexpr")
    source = ASTSource(
        fn=matmul,
        signature=signature,
        constexprs={"BM": 64, "BN": 64, "BK": 32},
        attrs={(i,): [["tt.divisibility", 16]] for i in range(4)},
    )
    return tile.compile(source, target=GPUTarget("cuda", 80, 32), options=options)


needs_ptxas = pytest.mark.skipif(
    "cubin" not in compiled().asm, reason="ptxas counts registers, and there is none"
)


@needs_ptxas
def test_resources_of_a_kernel():
    kernel = compiled(num_stages=3)
    assert 32 < kernel.n_regs <= 255
    assert kernel.n_spills == 0
    # Two buffers for each operand.
    assert kernel.metadata.shared == kernel.shared == 2 * (64 * 32 + 32 * 64) * 2
    assert kernel.metadata.n_regs == kernel.n_regs
    rounded = -(-kernel.n_regs // 8) * 8
    assert kernel.n_max_threads == min(1024, 65536 // rounded // 32 * 32)
    # What a launch in the simulator compiles without ptxas is counted when asked.
    launched = matmul[(1,)](*arguments(64, 64, 32), BM=64, BN=64, BK=32)
    assert 32 < launched.n_regs <= 255


@needs_ptxas
def test_spills_are_counted():
    kernel = compiled(maxnreg=32, num_warps=1)
    assert kernel.n_regs <= 32
    assert kernel.n_spills > 0


@needs_ptxas
def test_too_few_registers():
    with pytest.raises(OutOfResources) as caught:
        compiled(maxnreg=16)
    required, limit = caught.value.required, caught.value.limit
    assert required > limit >= 16
    assert without_page(str(caught.value)) == (
        f"out of resource: registers, Required: {required}, Hardware limit: {limit}, in `matmul`; "
        "smaller blocks or more warps need fewer, a larger maxnreg allows for more"
    )


def test_no_clusters_before_hopper():
    with pytest.raises(tile.TileError) as caught:
        compiled(num_ctas=2)
    assert str(caught.value) == (
        "num_ctas > 1 requires NVIDIA SM90+ (Hopper): cuda:80 has no clusters of blocks"
    )


def test_an_operation_that_nothing_lowers():
    class Refusal(Exception):
        diagnostics: ClassVar = [
            {
                "severity": "error",
                "message": "failed to legalize operation 'tt.x' that was explicitly marked illegal",
                "places": [],
                "notes": [
                    {"message": "see current operation:\n  a page of IR", "places": []},
                    {"message": "no pairs", "places": []},
                    {"message": "unsupported element type", "places": []},
                ],
            }
        ]

    assert str(from_diagnostics(Refusal(), "while making the llir of `f`")) == (
        "error: `tt.x` cannot be compiled for this target: unsupported element type\n"
        "note: while making the llir of `f`\n"
        "note: no pairs"
    )


def test_what_llvm_cannot_select_does_not_end_python(tmp_path):
    path = tmp_path / "kernel.llir"
    path.write_text("""
        target triple = "nvptx64-nvidia-cuda"
        declare i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
        define ptx_kernel void @kernel(ptr addrspace(1) %p) {
          %rank = call i32 @llvm.nvvm.read.ptx.sreg.cluster.ctarank()
          store i32 %rank, ptr addrspace(1) %p
          ret void
        }
    """)
    for _ in range(2):  # And it goes on working.
        with pytest.raises(tile.CompilationError) as caught:
            tile.compile(str(path), target=GPUTarget("cuda", 80, 32))
        message = str(caught.value)
        assert "LLVM cannot compile this: Cannot select: intrinsic %llvm.nvvm" in message
        assert "note: while making the ptx of `kernel`" in message
        assert (
            ".visible .entry kernel"
            in tile.compile(str(path), target=GPUTarget("cuda", 90, 32), stop_at="ptx").asm["ptx"]
        )
