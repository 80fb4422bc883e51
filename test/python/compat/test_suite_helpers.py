"""What public test suites import beside the language: processes, comments with checks, data."""

from __future__ import annotations

import itertools
import os
import re
import time

import numpy as np
import pytest

import tile
import tile.language as tl
from tile import knobs
from tile.backends import GPUTarget
from tile.compat.triton import _filecheck
from tile.compat.triton._C.libtriton.gluon_ir import make_cga_layout
from tile.compat.triton._test_processes import run_in_process, use_process_pool
from tile.compiler import ASTSource
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.runtime.jit import MockTensor

# Comments with checks.


@tile.jit
def with_a_sum(x_ptr):
    # CHECK-LABEL: with_a_sum
    x = tl.load(x_ptr)
    # CHECK: %[[SUM:.*]] = arith.addi
    y = x + 3
    # CHECK: tt.store {{.*}}, %[[SUM]]
    tl.store(x_ptr, y)


@tile.jit
def with_a_product(x_ptr):
    # CHECK: arith.mulf
    tl.store(x_ptr, tl.load(x_ptr) + 3)


@tile.jit
def without_checks(x_ptr):
    tl.store(x_ptr, 0)


@_filecheck.filecheck_test
@tile.jit
def test_of_a_kernel_without_parameters():
    # CHECK: tt.get_program_id y
    tl.device_print("", tl.program_id(1))


@gluon.jit
def inner(LAYOUT: gl.constexpr):
    gl.device_print("", gl.arange(0, 128, layout=LAYOUT))


@gluon.jit
def outer(WARPS: gl.constexpr):
    inner(gl.BlockedLayout([1], [32], [WARPS], [0]))


@_filecheck.filecheck_test
@gluon.jit
def test_functions_of_partitions():
    """Each function is below those that call it, and says on how many warps it runs."""
    # CHECK: tt.func public @test_functions_of_partitions()
    # CHECK: partition0(){{.*}} num_warps(2)
    # CHECK-NEXT: tt.call @{{.*}}outer__c2_NW2()

    # CHECK: tt.func private @{{.*}}outer__c4() attributes {noinline = false}
    # CHECK: tt.func private @{{.*}}inner__{{.*}} attributes {noinline = false}

    # CHECK: tt.func private @{{.*}}outer__c2_NW2() attributes {{{.*}}"ttg.num-warps" = 2
    # CHECK: tt.func private @{{.*}}inner__{{.*}}_NW2() attributes {{{.*}}"ttg.num-warps" = 2
    outer(4)
    gl.warp_specialize([(outer, (4,)), (outer, (2,))], [2], [24])


def pointer():
    return MockTensor(tl.int32)


@pytest.fixture(params=["FileCheck", "filecheck"])
def program(request, monkeypatch):
    """What compares: LLVM's program or the package of PyPI."""
    if request.param == "filecheck":
        pytest.importorskip("filecheck")
        hide_filecheck(monkeypatch)
    elif not _filecheck._find_filecheck.__wrapped__()[0].rpartition("/")[2].startswith("FileCheck"):
        pytest.skip("there is no FileCheck")
    _filecheck._find_filecheck.cache_clear()
    yield
    _filecheck._find_filecheck.cache_clear()


def hide_filecheck(monkeypatch):
    monkeypatch.delenv("TILE_FILECHECK", raising=False)
    monkeypatch.setattr(_filecheck.os, "get_exec_path", list)
    monkeypatch.setattr(_filecheck.shutil, "which", lambda name: None)
    monkeypatch.setattr(_filecheck.glob, "glob", lambda pattern: [])


def test_checks_that_hold(program):
    _filecheck.run_filecheck_test(with_a_sum, (pointer(),))
    _filecheck.run_filecheck_test(
        with_a_sum, (pointer(),), {"num_warps": 8}, target=GPUTarget("hip", "gfx942", 64)
    )


def test_checks_that_do_not_hold(program):
    with pytest.raises(ValueError, match=r"arith\.mulf") as e:
        _filecheck.run_filecheck_test(with_a_product, (pointer(),))
    assert "tt.func public @with_a_product" in str(e.value)
    with pytest.raises(ValueError, match="`without_checks` has no comment"):
        _filecheck.run_filecheck_test(without_checks, (pointer(),))


def test_filecheck_is_said_to_be_missing(monkeypatch):
    hide_filecheck(monkeypatch)
    monkeypatch.setattr(_filecheck.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(tile.TileError, match="TILE_FILECHECK"):
        _filecheck._find_filecheck.__wrapped__()


def test_parser_knows_the_target_and_the_options():
    module = _filecheck.run_parser(with_a_sum, (pointer(),))
    assert "tt.func public @with_a_sum" in str(module)
    with pytest.raises(tile.TileError, match="num_warps"):
        _filecheck.run_parser(with_a_sum, (pointer(),), {"num_warps": 5})


# The text of stages.


@tile.jit
def dot_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * BLOCK + i[None, :])
    tl.store(out_ptr + i[:, None] * BLOCK + i[None, :], tl.dot(x, x))


def test_the_dialect_has_the_name_of_triton_under_the_switch(monkeypatch, tmp_path):
    """Programs look for operations in the text of stages; it can be read again."""
    source = ASTSource(
        dot_kernel, {"x_ptr": "*fp16", "out_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64}
    )
    target = GPUTarget("cuda", 90, 32)
    own = tile.compile(source, target=target, stop_at="ptx")
    monkeypatch.setenv("TILE_COMPAT", "1")
    theirs = tile.compile(source, target=target, stop_at="ptx")
    text = theirs.asm["ttgir"]
    assert "= ttng.warp_group_dot" in text and "ttnvgpu" not in text
    assert text.replace("ttng.", "ttnvgpu.") == own.asm["ttgir"]
    file = tmp_path / "again.ttgir"
    file.write_text(text)
    again = tile.compile(str(file), target=target, stop_at="ptx")
    assert again.asm["ttgir"] == text and again.asm["ptx"].count("wgmma.mma_async") == 4


def test_attributes_of_ours_keep_their_names():
    from tile.compiler.stages import _OF_NVIDIA

    line = (
        "    %x = ttnvgpu.f %y {ttnvgpu.all_blocks, a = #ttnvgpu.m} : !ttnvgpu.t\n    ttnvgpu.g\n"
    )
    assert _OF_NVIDIA.sub(r"\1ttng.", line) == (
        "    %x = ttng.f %y {ttnvgpu.all_blocks, a = #ttng.m} : !ttng.t\n    ttng.g\n"
    )


@tile.jit
def block_kernel(desc, other, out_ptr, N: tl.constexpr):
    x = desc.load([0, 0]) + other.load([0, 0]).to(tl.float32)
    tl.store(out_ptr + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :], x)


@pytest.mark.parametrize("release", ["", "3.6.0", "3.7.1", "3.8.0", "3.9.0", "3.10.0", "4.0"])
def test_descriptors_are_written_as_the_release_does(release, monkeypatch, tmp_path):
    """Up to 3.7 the type names a tensor. Both can be read again."""
    if release:
        monkeypatch.setenv("TILE_COMPAT", "1")
        monkeypatch.setenv("TILE_COMPAT_VERSION", release)
    source = ASTSource(
        block_kernel,
        {"desc": "tensordesc<fp32[64, 64]>", "other": "tensordesc<fp8e4nv[64, 64]>",
         "out_ptr": "*fp32", "N": "constexpr"},
        {"N": 64},
    )  # fmt: skip
    target = GPUTarget("cuda", 90, 32)
    kernel = tile.compile(source, target=target, stop_at="ptx")
    names_tensor = release in ("", "3.6.0", "3.7.1")
    for stage, layout in (("ttir", ""), ("ttgir", r", #shared\d*")):
        text = kernel.asm[stage]
        for element in ("f32", "f8E4M3FN"):
            block = f"64x64x{element}{layout}"
            assert bool(re.search(f"!tt.tensordesc<tensor<{block}>>", text)) == names_tensor
            assert bool(re.search(f"!tt.tensordesc<{block}>", text)) != names_tensor
        file = tmp_path / f"again.{stage}"
        file.write_text(text)
        again = tile.compile(str(file), target=target, stop_at="ptx")
        copies = [k.asm["ptx"].count("cp.async.bulk.tensor") for k in (again, kernel)]
        assert copies[0] == copies[1] >= 2
        assert again.asm[stage].count("tensordesc<") == text.count("tensordesc<") > 3


# Processes.


def say_who(suffix: str = "", fail: bool = False) -> None:
    assert "SUITE_HELPERS" not in os.environ
    os.environ["SUITE_HELPERS"] = "left behind"
    os.write(2, f"{os.getpid()}{suffix}".encode())
    if fail:
        raise KeyError("on purpose")


def end_at_once() -> None:
    os._exit(7)


def raise_what_no_pickle_holds() -> None:
    raise type("Local", (Exception,), {})("text")


def fail_unless_set() -> None:
    assert os.environ["SUITE_HELPERS"] == "given"


def test_a_process_for_one_call():
    done = run_in_process(say_who, ("!",))
    assert done.exc is None
    assert done.driver_stderr_output.endswith("!")
    assert int(done.driver_stderr_output[:-1]) != os.getpid()
    assert run_in_process(fail_unless_set, env={"SUITE_HELPERS": "given"}).exc is None
    assert isinstance(run_in_process(fail_unless_set).exc, KeyError)
    assert str(run_in_process(raise_what_no_pickle_holds).exc) == "Local: text"
    assert "code 7" in str(run_in_process(end_at_once).exc)


def test_a_process_that_does_not_end(monkeypatch):
    monkeypatch.setenv("TRITON_TEST_PROCESS_TIMEOUT", "0.1")
    with pytest.raises(TimeoutError, match="test subprocess sleep exceeded"):
        run_in_process(time.sleep, (60,))


def test_a_process_serves_until_a_call_fails():
    with use_process_pool(__name__):
        first, second = (run_in_process(say_who).driver_stderr_output for _ in range(2))
        failed = run_in_process(say_who, kwargs={"fail": True})
        after = run_in_process(say_who).driver_stderr_output
    assert first == second == failed.driver_stderr_output
    assert isinstance(failed.exc, KeyError)
    assert after != first
    assert run_in_process(say_who).driver_stderr_output != after


# Layouts of clusters.


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_blocks_of_a_cluster_share_each_dimension(rank):
    """The part of each block, from the bases, against counting in mixed radix."""
    for ctas in itertools.product((1, 2, 4), repeat=rank):
        for split in itertools.product((1, 2, 4), repeat=rank):
            if any(s > c for s, c in zip(split, ctas, strict=True)):
                continue
            for order in itertools.permutations(range(rank)):
                bases = make_cga_layout(ctas, split, order)
                for block in range(np.prod(ctas)):
                    at = np.zeros(rank, int)
                    for i, basis in enumerate(bases):
                        at += np.array(basis) * (block >> i & 1)
                    rest, expected = block, np.zeros(rank, int)
                    for dim in order:
                        rest, digit = divmod(rest, ctas[dim])
                        expected[dim] = digit % split[dim]
                    assert (at == expected).all()


# Data and devices; these need torch.


@pytest.fixture
def testing():
    pytest.importorskip("torch")
    from tile.compat.triton import _internal_testing

    return _internal_testing


TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "bfloat16", "float8e5", "float8e4nv",
]  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_random_data_goes_to_a_tensor_and_back(testing, name):
    x = testing.numpy_random((7, 5), name)
    assert (x == testing.numpy_random((7, 5), name)).all()
    assert x.shape == (7, 5) and len(np.unique(x)) > 1
    if name in testing.integral_dtypes:
        assert x.dtype == name and (x != 0).all()
    tensor = testing.to_triton(x, "cpu", name)
    assert testing.torch_dtype_name(tensor.dtype) in (name, name.replace("float8", "fp8"))
    if "float8" in name:
        values = testing.unwrap_tensor(tensor).view(getattr(testing.torch, FLOAT8[name]))
        assert values.float().isfinite().all()
    else:
        assert (testing.to_numpy(tensor) == x).all()
    assert testing.unwrap_tensor(tensor).shape == (7, 5)


FLOAT8 = {"float8e5": "float8_e5m2", "float8e4nv": "float8_e4m3fn"}


def test_random_integers_keep_their_limits(testing):
    x = testing.numpy_random(1000, "int8", np.random.RandomState(3), low=-3, high=4)
    assert set(np.unique(x)) == {-3, -2, -1, 1, 2, 3}
    assert testing.numpy_random(9, "uint8", low=-5, high=1000).dtype == np.uint8


@pytest.mark.parametrize(
    ("target", "true"),
    [
        (("cuda", 80, 32), {"is_cuda", "is_ampere_or_newer"}),
        (
            ("cuda", 90, 32),
            {
                "is_cuda", "is_ampere_or_newer", "is_hopper", "is_hopper_or_newer", "supports_tma",
                "supports_ws",
            },
        ),
        (
            ("cuda", 120, 32),
            {
                "is_cuda", "is_ampere_or_newer", "is_hopper_or_newer", "is_sm12x", "supports_tma",
                "supports_clc",
            },
        ),
        (("hip", "gfx942", 64), {"is_hip", "is_hip_cdna", "is_hip_cdna3", "is_hip_cdna3_or_newer"}),
        (("hip", "gfx1100", 32), {"is_hip", "is_hip_rdna", "is_hip_rdna3"}),
        (("hip", "gfx1201", 32), {"is_hip", "is_hip_rdna", "is_hip_rdna4"}),
    ],
)  # fmt: skip
def test_questions_about_devices(testing, monkeypatch, target, true):
    if knobs.runtime.interpret:
        pytest.skip("an interpreted kernel has no device")
    monkeypatch.setattr(testing, "get_current_target", lambda: GPUTarget(*target))
    asked = {n for n in vars(testing) if n.startswith(("is_", "supports_"))}
    assert {n for n in asked if getattr(testing, n)()} == true


def test_fresh_settings(testing, monkeypatch):
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    monkeypatch.setattr(knobs.language, "fp32_default", "ieee")
    fresh, reset = testing._fresh_knobs_impl(skipped_attr={"build", "language"})
    found = fresh()
    assert found.autotuning.print is False and found.language.fp32_default == "ieee"
    monkeypatch.setenv("TRITON_DEBUG", "1")
    found.autotuning.cache = False
    reset()
    assert knobs.autotuning.print is True and knobs.autotuning.cache is True
    assert "TRITON_DEBUG" not in os.environ


def test_numbers_come_from_the_generator_of_torch(testing):
    torch = testing.torch
    torch.manual_seed(5)
    found = testing.random_int(3, 9), testing.random_float(warmup_value=1.0)
    torch.manual_seed(5)
    assert found == (int(torch.randint(3, 9, ()).item()), float(torch.rand(()).item()))
