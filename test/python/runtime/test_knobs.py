"""Every setting has an effect, and a test that sees it."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl
from tile import knobs, settings
from tile.compiler import ASTSource, make_backend

pytestmark = sim_only

TARGET = tile.GPUTarget("cuda", 90, 32)
AMD_TARGET = tile.GPUTarget("hip", "gfx942", 64)
BUILD = Path(__file__).parents[3] / "build" / "bin"


@tile.jit
def axpy(x_ptr, out_ptr, a, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, a * x + 1.5, mask=offsets < n)


SIGNATURE = {"x_ptr": "*fp32", "out_ptr": "*fp32", "a": "fp32", "n": "i32"}


def compiled(stop_at: str | None = "ptx", target=TARGET, **options):
    source = ASTSource(axpy, SIGNATURE, {"BLOCK": 128})
    return tile.compile(source, target=target, options=options, stop_at=stop_at)


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """Each test compiles."""
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path / "cache"))


SEEN: dict[str, str] = {}


def sees(*variables: str):
    """Marks the test of these variables."""

    def mark(test):
        SEEN.update(dict.fromkeys(variables, test.__name__))
        return test

    return mark


@sees("MLIR_ENABLE_DUMP")
def test_dump_before_each_pass(monkeypatch, capfd):
    compiled()
    assert "IR Dump" not in capfd.readouterr().err
    monkeypatch.setenv("TILE_ALWAYS_COMPILE", "1")
    for value, prints in (("1", True), ("axpy", True), ("another", False), ("0", False)):
        monkeypatch.setenv("MLIR_ENABLE_DUMP", value)
        compiled()
        text = capfd.readouterr().err
        assert ("IR Dump Before" in text and "tritongpu-coalesce" in text) is prints


@sees("MLIR_DUMP_PATH")
def test_dump_to_a_file(monkeypatch, capfd, tmp_path):
    monkeypatch.setenv("MLIR_ENABLE_DUMP", "1")
    monkeypatch.setenv("MLIR_DUMP_PATH", str(tmp_path / "dump.mlir"))
    compiled()
    text = (tmp_path / "dump.mlir").read_text()
    # All stages end up in it.
    assert text.count("IR Dump Before") > 10
    assert "tt.func public @axpy" in text and "llvm.func" in text
    assert "IR Dump" not in capfd.readouterr().err


@sees("LLVM_IR_ENABLE_DUMP")
def test_llvm_dump(monkeypatch, capfd):
    monkeypatch.setenv("LLVM_IR_ENABLE_DUMP", "1")
    compiled()
    text = capfd.readouterr().err
    assert text.count("LLVM IR Dump Before") > 10 and "define ptx_kernel void @axpy" in text


@sees("TILE_PRINT_AFTER_ALL")
def test_print_after_all(monkeypatch, capfd, tmp_path):
    monkeypatch.setenv("TILE_PRINT_AFTER_ALL", "1")
    compiled()
    assert "IR Dump After" in capfd.readouterr().err
    monkeypatch.setenv("TILE_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TILE_PRINT_AFTER_ALL", str(tmp_path / "tree"))
    compiled()
    assert list((tmp_path / "tree").rglob("*.mlir"))


@sees("MLIR_ENABLE_TIMING", "TILE_TIME_PASSES")
@pytest.mark.parametrize("variable", ["MLIR_ENABLE_TIMING", "TILE_TIME_PASSES"])
def test_timing(monkeypatch, capfd, variable):
    monkeypatch.setenv(variable, "1")
    compiled()
    assert "Execution time report" in capfd.readouterr().err


@sees("LLVM_ENABLE_TIMING")
def test_llvm_timing(monkeypatch, capfd):
    monkeypatch.setenv("LLVM_ENABLE_TIMING", "1")
    compiled()
    assert "InstCombinePass" in capfd.readouterr().err


@sees("MLIR_ENABLE_DIAGNOSTICS")
def test_diagnostics(monkeypatch, capfd):
    """What passes say beside errors is printed when it is asked for."""
    from tile import _C
    from tile.compiler.pipelines import run_pipeline

    module = _C.ir.Module.parse(compiled("ttir").asm["ttir"], _C.ir.Context(), "x.ttir")

    class Manager:
        @staticmethod
        def parse(pipeline, context):
            return Manager()

        def run(self, module):
            return [("warning", "x.py:1", "slow"), ("remark", "x.py:2", "vectorised by 4")]

    monkeypatch.setattr(_C.passes, "PassManager", Manager)
    run_pipeline(module, "cse", "axpy")
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "remarks")
    run_pipeline(module, "cse", "axpy")
    assert capfd.readouterr().err == "x.py:2: remark: vectorised by 4\n"
    monkeypatch.setenv("MLIR_ENABLE_DIAGNOSTICS", "warnings,remarks")
    run_pipeline(module, "cse", "axpy")
    assert "x.py:1: warning: slow\n" in capfd.readouterr().err


@sees("MLIR_ENABLE_REMARK")
def test_remarks(monkeypatch, capfd):
    def said() -> int:
        tile.compile(source, TARGET, options={"num_warps": 2}, stop_at="ttgir").asm["ttgir"]
        return capfd.readouterr().err.count("\nremark: ")

    source = ASTSource(axpy, SIGNATURE, {"BLOCK": 128})
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    assert said() == 0
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "1")
    assert said() == 2  # Nothing is known about where its pointers point.
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "tritongpu-pipeline")
    assert said() == 0


@sees("TRITON_REPRODUCER_PATH")
def test_reproducer(monkeypatch, tmp_path):
    """Each stage writes what tile-opt runs; a failing pass, what fails there in the same way."""
    monkeypatch.setenv("TRITON_REPRODUCER_PATH", str(tmp_path / "failed"))

    @tile.jit
    def too_large(x_ptr, out_ptr):
        rows, columns = tl.arange(0, 256), tl.arange(0, 512)
        x = tl.load(x_ptr + rows[:, None] * 512 + columns[None, :])
        y = tl.load(x_ptr + columns[:, None] * 256 + rows[None, :])
        tl.store(out_ptr + rows[:, None] * 256 + rows[None, :], tl.dot(x, y))

    source = ASTSource(too_large, {"x_ptr": "*fp16", "out_ptr": "*fp32"})
    with pytest.raises(tile.TileError) as raised:
        tile.compile(source, target=TARGET, stop_at="ptx")
    assert "shared memory" in str(raised.value)
    stages = [f"failed.make_{stage}.repro.mlir" for stage in ("llir", "ttgir", "ttir")]
    written = sorted(tmp_path.glob("failed.*"))
    assert [path.name for path in written] == ["failed.llir.mlir", *stages]
    assert all("mlir_reproducer" in path.read_text() for path in written)
    assert "tritongpu-coalesce," in written[2].read_text()
    if not (BUILD / "tile-opt").exists():
        pytest.skip("no tile-opt")

    def replayed(name):
        command = [str(BUILD / "tile-opt"), "-run-reproducer", str(tmp_path / name)]
        return subprocess.run(command, capture_output=True, text=True)

    for name in ("failed.llir.mlir", "failed.make_llir.repro.mlir"):
        done = replayed(name)
        assert done.returncode != 0 and "out of shared memory" in done.stderr, done.stderr
    done = replayed("failed.make_ttgir.repro.mlir")
    assert done.returncode == 0 and "#ttg.nvidia_mma" in done.stdout, done.stderr


@sees("TRITON_LLVM_DEBUG_ONLY")
def test_debug_output(monkeypatch, capfd):
    monkeypatch.setenv("TRITON_LLVM_DEBUG_ONLY", "dialect-conversion,greedy-rewriter")
    settings.warn.cache_clear()
    try:
        compiled()
        text = capfd.readouterr().err
    finally:
        monkeypatch.delenv("TRITON_LLVM_DEBUG_ONLY")
        compiled(num_warps=2)
    # Builds without assertions have none, and say so.
    assert "Legalizing" in text or "has no debug output" in text or "tritongpu" in text or not text


@sees("TILE_PASS_STATISTICS")
def test_statistics(monkeypatch, capfd):
    monkeypatch.setenv("TILE_PASS_STATISTICS", "1")
    compiled()
    assert re.search(r"^ +\d+ tritongpu-coalesce ", capfd.readouterr().err, re.M)


@sees("TILE_DISABLE_PASSES")
def test_disable_passes(monkeypatch):
    aligned = {(i,): [("tt.divisibility", 16)] for i in (0, 1, 3)}
    source = ASTSource(axpy, SIGNATURE, {"BLOCK": 1024}, aligned)
    assert "sizePerThread = [4]" in tile.compile(source, TARGET, stop_at="ttgir").asm["ttgir"]
    monkeypatch.setenv("TILE_DISABLE_PASSES", "tritongpu-coalesce")
    assert "sizePerThread = [4]" not in tile.compile(source, TARGET, stop_at="ttgir").asm["ttgir"]
    monkeypatch.setenv("TILE_DISABLE_PASSES", "tritongpu-colaesce")
    with pytest.raises(tile.TileError, match="there is no pass `tritongpu-colaesce` to leave out"):
        compiled("ttgir")


@sees("USE_IR_LOC")
def test_line_tables_of_a_stage(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    assert "test_knobs.py" in compiled().asm["ptx"]
    for stage in ("ttir", "ttgir"):
        monkeypatch.setenv("USE_IR_LOC", stage)
        ptx = compiled().asm["ptx"]
        (path,) = (tmp_path / "dump").glob(f"*/axpy.lines.{stage}")
        assert path.name in ptx and "test_knobs.py" not in ptx
        # The lines are those of the loads and stores in the file.
        number = next(
            i for i, line in enumerate(path.read_text().splitlines(), 1) if "tt.store" in line
        )
        assert re.search(rf"\.loc\s+\d+ {number} ", ptx)


@sees("TRITON_DISABLE_LINE_INFO")
def test_no_line_info(monkeypatch):
    assert "\t.loc\t" in compiled().asm["ptx"]
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")
    assert "\t.loc\t" not in compiled().asm["ptx"]


@sees("TRITON_FRONT_END_DEBUGGING")
def test_front_end_debugging(monkeypatch):
    @tile.jit
    def wrong(p):
        tl.store(p, tl.arange(0, 3))

    def frames() -> int:
        with pytest.raises(tile.TileError) as raised:
            wrong[(1,)](poisoned(4, "i32"))
        return sum("compiler" in str(entry.path) for entry in raised.traceback)

    assert frames() == 0
    monkeypatch.setenv("TRITON_FRONT_END_DEBUGGING", "1")
    assert frames() > 0


OTHER = 7


@sees("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
def test_globals(monkeypatch):
    @tile.jit
    def kernel(p):
        tl.store(p, OTHER)

    out = poisoned(1, "i32")
    with pytest.raises(tile.TileError, match="Cannot access global variable `OTHER`"):
        kernel[(1,)](out)
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    kernel[(1,)](out)
    assert out[0] == 7


@sees("TRITON_DEBUG")
def test_debug(monkeypatch):
    @tile.jit
    def kernel(p):
        tl.device_assert(tl.load(p) == 1, "not one")

    p = np.zeros(1, np.int32)
    kernel[(1,)](p)
    kernel.forget_kernels()
    monkeypatch.setenv("TRITON_DEBUG", "1")
    with pytest.raises(tile.TileError, match="not one"):
        kernel[(1,)](p)


@sees("TRITON_OVERRIDE_ARCH", "TILE_SIM_TARGET", "TILE_DRIVER")
def test_targets(monkeypatch):
    from tile.backends import drivers
    from tile.runtime.driver import DriverConfig

    monkeypatch.setenv("TILE_DRIVER", "sim")
    driver = DriverConfig().active
    assert isinstance(driver, drivers()["sim"])
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    assert driver.get_current_target().arch == 80
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "sm86")
    assert driver.get_current_target().arch == 86


@sees("TRITON_F32_DEFAULT", "TRITON_DEFAULT_FP_FUSION", "TRITON_FORCE_DISABLE_FP_FUSION")
def test_language(monkeypatch):
    @tile.jit
    def product(a_ptr, c_ptr):
        i = tl.arange(0, 16)
        at = i[:, None] * 16 + i[None, :]
        a = tl.load(a_ptr + at)
        tl.store(c_ptr + at, tl.dot(a, a))

    source = ASTSource(product, {"a_ptr": "*fp32", "c_ptr": "*fp32"})
    assert "tf32" in tile.compile(source, target=TARGET, stop_at="ttir").asm["ttir"]
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")
    assert "tf32" not in tile.compile(source, target=TARGET, stop_at="ttir").asm["ttir"]
    assert "fma.rn.f32" in compiled().asm["ptx"]
    for default, force, requested in itertools.product("01", "01", (None, True, False)):
        monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", default)
        monkeypatch.setenv("TRITON_FORCE_DISABLE_FP_FUSION", force)
        options = {} if requested is None else {"enable_fp_fusion": requested}
        fused = force == "0" and (default == "1" if requested is None else requested)
        assert knobs.language.fp_fusion_enabled(requested) == fused
        for target in (TARGET, AMD_TARGET):
            assert make_backend(target).parse_options(options).enable_fp_fusion == fused
        assert ("fma.rn.f32" in compiled(**options).asm["ptx"]) == fused


@pytest.fixture
def ptxas(tmp_path, monkeypatch):
    """A ptxas that writes its arguments down; returns the file."""
    seen = tmp_path / "arguments"

    def make(name: str) -> str:
        path = tmp_path / name
        path.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && echo "{name} V9" && exit\n'
            f'echo "{name} $@" >> {seen}\necho "ptxas info: Used 10 registers" >&2\n'
            'while [ "$1" != -o ]; do shift; done\nprintf "\\177ELF" > "$2"\n'
        )
        path.chmod(0o755)
        return str(path)

    for variable, name in (("PTXAS", "ptxas"), ("PTXAS_BLACKWELL", "ptxas-blackwell")):
        # Our own names go first, which somebody may have set.
        monkeypatch.delenv(f"TILE_{variable}_PATH", raising=False)
        monkeypatch.setenv(f"TRITON_{variable}_PATH", make(name))
    return seen


@sees("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH", "PTXAS_OPTIONS", "DISABLE_PTXAS_OPT")
def test_ptxas(ptxas, monkeypatch):
    assert compiled(None).asm["cubin"] == b"\x7fELF"
    assert ptxas.read_text().startswith("ptxas -v --gpu-name=sm_90")
    monkeypatch.setenv("PTXAS_OPTIONS", "--warn-on-spills --foo")
    monkeypatch.setenv("DISABLE_PTXAS_OPT", "1")
    assert compiled(None).n_regs == 10
    assert "--opt-level 0 --warn-on-spills --foo" in ptxas.read_text().splitlines()[1]
    compiled(None, tile.GPUTarget("cuda", 100, 32))
    assert ptxas.read_text().splitlines()[2].startswith("ptxas-blackwell -v --gpu-name=sm_100")


@pytest.mark.parametrize(
    "found, chosen",
    [("13.5.37", "found"), ("13.0.88", "found"), ("9.9", "torchs"), (None, "torchs")],
)
def test_the_ptxas_that_inductor_names_is_no_choice(
    nvidia_tools, tmp_path, monkeypatch, found, chosen
):
    """Inductor's workers name torch's, whatever else is installed."""

    def make(folder: Path, version: str) -> str:
        folder.mkdir(parents=True)
        (folder / "ptxas").write_text(f"#!/bin/sh\necho release {version[:4]}, V{version}\n")
        (folder / "ptxas").chmod(0o755)
        return str(folder / "ptxas")

    torchs = make(tmp_path / "torch" / "bin", "13.0.88")
    (tmp_path / "torch" / "_inductor").mkdir()
    other = found and make(tmp_path / "found", found)
    monkeypatch.setattr(nvidia_tools, "_find_ptxas", lambda: other)
    monkeypatch.delenv("TILE_PTXAS_PATH", raising=False)
    monkeypatch.setenv("TRITON_PTXAS_PATH", torchs)
    assert nvidia_tools.ptxas_path() == (other if chosen == "found" else torchs)
    monkeypatch.setenv("TILE_PTXAS_PATH", torchs)
    assert nvidia_tools.ptxas_path() == torchs
    if other:
        monkeypatch.setenv("TRITON_PTXAS_PATH", make(tmp_path / "users", "9.8"))
        monkeypatch.delenv("TILE_PTXAS_PATH")
        assert "users" in nvidia_tools.ptxas_path()


@sees("TRITON_DUMP_PTXAS_LOG", "NVPTX_ENABLE_DUMP")
def test_output_of_tools(ptxas, monkeypatch, capfd):
    compiled(None)
    assert capfd.readouterr().out == ""
    monkeypatch.setenv("TILE_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_DUMP_PTXAS_LOG", "1")
    compiled(None)
    assert "Used 10 registers" in capfd.readouterr().out
    monkeypatch.setenv("NVPTX_ENABLE_DUMP", "1")
    compiled(None)
    assert ".entry axpy" in capfd.readouterr().out


@sees("AMDGCN_ENABLE_DUMP")
def test_assembly_for_amd(monkeypatch, capfd):
    target = tile.GPUTarget("hip", "gfx942", 64)
    compiled("amdgcn", target)
    assert capfd.readouterr().out == ""
    monkeypatch.setenv("TILE_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("AMDGCN_ENABLE_DUMP", "1")
    compiled("amdgcn", target)
    assert "s_endpgm" in capfd.readouterr().out


@sees("TRITON_MOCK_PTX_VERSION")
def test_ptx_version(monkeypatch):
    monkeypatch.setenv("TRITON_MOCK_PTX_VERSION", "84")
    assert ".version 8.4" in compiled().asm["ptx"]
    monkeypatch.setenv("TRITON_MOCK_PTX_VERSION", "new")
    with pytest.raises(tile.TileError, match="TRITON_MOCK_PTX_VERSION is 'new', not an integer"):
        compiled()


@sees("TRITON_NVDISASM_PATH", "TRITON_CUOBJDUMP_PATH")
def test_machine_code(ptxas, nvidia_tools, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "/bin")
    # Tools of the system and of its user are not meant.
    monkeypatch.setattr(nvidia_tools, "_in_cuda", lambda name: None)
    for variable in ("CUOBJDUMP", "NVDISASM"):
        monkeypatch.delenv(f"TILE_{variable}_PATH", raising=False)
    kernel = compiled(None)
    assert "sass" in kernel.asm and "sass" not in list(kernel.asm)
    with pytest.raises(tile.CompilerToolError, match="nvdisasm or cuobjdump"):
        kernel.asm["sass"]
    for variable, name in (("CUOBJDUMP", "cuobjdump"), ("NVDISASM", "nvdisasm")):
        tool = tmp_path / name
        tool.write_text(f'#!/bin/sh\necho {name} "$1"\n')
        tool.chmod(0o755)
        monkeypatch.setenv(f"TRITON_{variable}_PATH", str(tool))
        assert kernel.asm["sass"].startswith(name)


@sees("TRITON_LIBDEVICE_PATH")
def test_libdevice(monkeypatch):
    monkeypatch.setenv("TRITON_LIBDEVICE_PATH", "/nowhere/libdevice.10.bc")
    with pytest.raises(tile.CompilerToolError, match=r"/nowhere/libdevice.10.bc, which does not e"):
        compiled()


@sees("TRITON_HOME")
def test_home(monkeypatch):
    monkeypatch.delenv("TILE_CACHE_DIR")
    monkeypatch.setenv("TRITON_HOME", "/somewhere")
    assert knobs.cache.dir == "/somewhere/.tile/cache"
    assert knobs.cache.dump_dir == "/somewhere/.tile/dump"


OF_NVIDIA = "../../../third_party/nvidia/test/python/kernels"
#: Seen by other tests, each in the file of this name.
ELSEWHERE = {
    "TRITON_CACHE_DIR": "test_cache.py", "TRITON_DUMP_DIR": "test_cache.py",
    "TRITON_OVERRIDE_DIR": "test_cache.py", "TRITON_CACHE_MANAGER": "test_cache.py",
    "TRITON_KERNEL_DUMP": "test_cache.py", "TRITON_KERNEL_OVERRIDE": "test_cache.py",
    "TRITON_STORE_BINARY_ONLY": "test_cache.py", "TRITON_ALWAYS_COMPILE": "test_cache.py",
    "TILE_CACHE_SIZE_LIMIT": "test_cache.py", "TILE_CACHE_LOCK_TIMEOUT": "test_cache_processes.py",
    "TRITON_REMOTE_CACHE_BACKEND": "test_remote_cache.py",
    "TILE_REMOTE_CACHE_DIR": "test_remote_cache.py", "TRITON_REDIS_HOST": "test_remote_cache.py",
    "TRITON_REDIS_PORT": "test_remote_cache.py", "TRITON_REDIS_KEY_FORMAT": "test_remote_cache.py",
    "TRITON_CACHE_AUTOTUNING": "test_autotuner.py", "TRITON_PRINT_AUTOTUNING": "test_autotuner.py",
    "TILE_LAUNCH_TIMEOUT": "test_hangs_on_gpus.py",
    "TILE_GRAPH_LAUNCHES": "test_graph_launches.py", "TILE_BACKENDS": "test_toy_backend.py",
    "TILE_INSERT_PASSES": "test_plugins.py", "TRITON_PLUGIN_PATHS": "test_plugins.py",
    "TILE_UNDEFINED_LANES": "../memory/test_undefined_lanes.py",
    "TRITON_INTERPRET": "test_launch.py", "TRITON_LIBCUDA_PATH": "fake_gpu/__init__.py",
    "TILE_SIM_MAX_INSTRUCTIONS": "../sim/test_order.py",
    "TILE_SIM_SCHEDULE_SEED": "../sim/test_schedules.py",
    "TILE_SIM_SCHEDULES": "../sim/test_schedules.py",
    "TILE_SIM_SUPPRESSIONS": "../sim/test_product.py",
    "TILE_SPECIALIZE_WARPS": f"{OF_NVIDIA}/test_specialized_by_default.py",
    "TILE_TENSOR_MEMORY": f"{OF_NVIDIA}/test_tensor_memory_matmul.py",
    "TILE_RAISE_POINTERS": f"{OF_NVIDIA}/test_raised_pointers.py",
    "TILE_TMA": f"{OF_NVIDIA}/test_tma.py",
    "TILE_COMPAT_VERSION": "../compat/test_switch.py", "TILE_COMPAT": "../compat/test_switch.py",
    "TILE_INTERPRET_MAX_ITERATIONS": "../errors/test_extreme_programs.py",
    "TRITON_LIBHIP_PATH": "../../../third_party/amd/test/python/test_hip_driver.py",
    "TRITON_HIP_USE_BLOCK_PINGPONG": "../../../third_party/amd/test/python/test_block_pingpong.py",
    "TRITON_HIP_USE_ASYNC_COPY": "../../../third_party/amd/test/python/test_gfx950.py",
    "TRITON_INSTRUMENTATION_MODE": "../profiler/test_profiler_records.py",
    "TRITON_PROTON_DISABLE": "../profiler/test_profiler_sessions.py",
    "TRITON_CUPTI_LIB_PATH": "../profiler/test_profiler_cupti.py",
    "TRITON_CUPTI_LIB_BLACKWELL_PATH": "../profiler/test_profiler_cupti.py",
    "TRITON_ENABLE_NVTX": "../profiler/test_profiler_cupti.py",
    "TRITON_ENABLE_HW_TRACE": "../profiler/test_profiler_cupti.py",
    "TRITON_PROFILE_BUFFER_SIZE": "../profiler/test_profiler_cupti.py",
    "TILE_PROFILE_LAUNCHES": "../profiler/test_profiler_device_records.py",
}  # fmt: skip


def test_every_setting_has_a_test():
    declared = {
        name
        for group in knobs.groups().values()
        for knob in group.settings().values()
        if knob.honoured
        for name in (knob.variable, knob.also)
        if name
    }
    assert declared - SEEN.keys() - ELSEWHERE.keys() == set()
    for variable, file in ELSEWHERE.items():
        text = (Path(__file__).parent / file).read_text()
        name = variable.removeprefix("TRITON_").removeprefix("TILE_")
        assert name in text or name.lower() in text, f"{file} does not look at {variable}"
    for group in knobs.groups().values():
        for knob in group.settings().values():
            assert knob.doc, knob.variable


def test_variables_that_mean_nothing():
    """Each is named once; those of other programs are left alone."""
    program = (
        "import tile\nfrom tile import knobs\n"
        "knobs.warn_of_unknown_variables()\nknobs.warn_of_unknown_variables()\n"
        "knobs.amd.use_in_thread_transpose = True\n"
    )
    environment = {
        "PYTHONPATH": ":".join(p for p in sys.path if p), "TRITON_CACHE_DRI": "x", "CC": "gcc",
        "TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "1", "TILE_CACHE_DIR": "x", "LLVM_DIR": "x",
        "MLIR_ENABLE_DUPM": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    named = re.findall(r"the variable (\w+) means nothing", done.stderr)
    assert named == ["MLIR_ENABLE_DUPM", "TRITON_CACHE_DRI", "TRITON_HIP_USE_IN_THREAD_TRANSPOSE"]
    assert done.stderr.count("the setting `use_in_thread_transpose` means nothing") == 1


#: Settings that take words of their own, and one that they do not take.
WORDS = {"TRITON_OVERRIDE_ARCH": "volta", "TILE_SIM_TARGET": "cuda:x", "TRITON_F32_DEFAULT": "tf33"}


@pytest.mark.parametrize("form", ["maybe", "-1x", "12 monkeys"])
def test_variables_with_values_that_mean_nothing(monkeypatch, form):
    """One message that names the variable, whatever it is for."""
    for group in knobs.groups().values():
        for name, knob in group.settings().items():
            if not knob.honoured or knob.read is str:
                continue
            monkeypatch.setenv(knob.variable, form)
            with pytest.raises(tile.TileError) as raised:
                getattr(group, name)
            text = str(raised.value)
            assert text.startswith(f"{knob.variable} is {form!r}, not ") and "\n" not in text
            monkeypatch.delenv(knob.variable)


@pytest.mark.nvidia("names of architectures, precisions of its products")
@pytest.mark.parametrize("variable", WORDS)
def test_words_that_mean_nothing(monkeypatch, variable):
    monkeypatch.setenv(variable, WORDS[variable])
    with pytest.raises(tile.TileError, match=f"not {WORDS[variable]!r}"):
        axpy[(1,)](np.zeros(16, np.float32), np.zeros(16, np.float32), 2.0, 16, 16)


@pytest.mark.parametrize(
    ("folder", "switch"),
    [("TILE_DUMP_DIR", "TILE_KERNEL_DUMP"), ("MLIR_DUMP_PATH", "MLIR_ENABLE_DUMP")],
)
def test_folders_that_cannot_be_written(monkeypatch, folder, switch):
    monkeypatch.setenv(folder, "/dev/null/x")
    monkeypatch.setenv(switch, "1")
    with pytest.raises(tile.TileError, match=folder):
        compiled("ttir")


def test_values(monkeypatch):
    class Group(settings.Group):
        number = settings.Knob("TRITON_TEST_NUMBER", 1, int, "A number.", also="OTHER_NUMBER")

    group = Group()
    assert group.number == 1
    monkeypatch.setenv("OTHER_NUMBER", "2")
    assert group.number == 2
    monkeypatch.setenv("TRITON_TEST_NUMBER", "3")
    assert group.number == 3
    monkeypatch.setenv("TILE_TEST_NUMBER", "4")
    assert group.number == 4
    group.number = 5
    assert group.number == 5
    with group.scope():
        group.number = 6
    assert group.number == 5
    del group.number
    monkeypatch.setenv("TILE_TEST_NUMBER", "many")
    with pytest.raises(
        tile.TileError, match=r"TILE_TEST_NUMBER is 'many', not an integer: A number"
    ):
        group.number  # noqa: B018


@pytest.fixture
def propagating(monkeypatch):
    """Under the compatibility switch, what Python sets is written to the environment."""
    monkeypatch.setattr(knobs, "propagate_env", True, raising=False)


def test_settings_reach_the_environment(propagating, monkeypatch):
    for name in ("TILE_DEBUG", "TRITON_REDIS_PORT", "TRITON_HOME", "USE_IR_LOC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TRITON_DEBUG", "0")
    with knobs.runtime.scope(), knobs.redis.scope(), knobs.compilation.scope():
        knobs.runtime.debug = True
        knobs.redis.port = 7000
        knobs.compilation.use_ir_loc = "ttir"
        values = {n: os.environ.get(n) for n in ("TRITON_DEBUG", "TRITON_REDIS_PORT", "USE_IR_LOC")}
        assert values == {
            "TRITON_DEBUG": "1", "TRITON_REDIS_PORT": "7000", "USE_IR_LOC": "ttir",
        }  # fmt: skip
        knobs.compilation.use_ir_loc = None
        assert "USE_IR_LOC" not in os.environ
        # What is no text stays in the process.
        knobs.compilation.listener = print
    assert os.environ["TRITON_DEBUG"] == "0" and "TRITON_REDIS_PORT" not in os.environ


def test_a_setting_wins_over_the_other_spelling(propagating, monkeypatch):
    """A process that starts later must not see the spelling that was there before."""
    monkeypatch.setenv("TILE_DEBUG", "0")
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        del knobs.runtime.debug
        assert knobs.runtime.debug is True
    assert os.environ["TILE_DEBUG"] == "0" and knobs.runtime.debug is False


def test_without_the_switch_the_environment_stays(monkeypatch):
    monkeypatch.setattr(knobs, "propagate_env", False, raising=False)
    monkeypatch.setenv("TRITON_DEBUG", "0")
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        assert os.environ["TRITON_DEBUG"] == "0"


def test_back_to_the_environment(monkeypatch):
    """`knobs.env`, as the value of a setting, takes back what was set."""
    monkeypatch.setenv("TRITON_REDIS_PORT", "6381")
    with knobs.redis.scope():
        knobs.redis.port = 1
        knobs.redis.port = knobs.env
        assert knobs.redis.port == 6381 and repr(knobs.env) == "env"


def test_groups_of_others():
    """Programs write groups of their own; `knobs` has the values."""

    class Mine(knobs.Group):
        word = settings.text("MY_WORD", "default")
        flag = settings.flag("MY_FLAG", None)

    mine = Mine()
    assert mine.knobs == {"word": "default", "flag": None}
    mine.flag = True
    other = mine.copy()
    other.word = "another"
    assert mine.knobs == {"word": "default", "flag": True} and other.flag is True
    assert other.reset().knobs == {"word": "default", "flag": None}


def test_folders_of_the_build(monkeypatch):
    monkeypatch.setenv("TRITON_CUDACRT_PATH", "/a")
    monkeypatch.delenv("TRITON_CUDART_PATH", raising=False)
    assert knobs.build.backend_dirs == {"/a"}


def test_a_choice_that_nobody_made(monkeypatch):
    monkeypatch.delenv("TRITON_HIP_USE_BLOCK_PINGPONG", raising=False)
    assert knobs.amd.use_block_pingpong is None
    monkeypatch.setenv("TRITON_HIP_USE_BLOCK_PINGPONG", "0")
    assert knobs.amd.use_block_pingpong is False
