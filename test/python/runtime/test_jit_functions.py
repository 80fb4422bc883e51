"""Specialisation, caches, options, stages, drivers, autotuning."""

from __future__ import annotations

import json
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
from tile import knobs
from tile.compiler import ASTSource

TARGET = tile.GPUTarget("cuda", 90, 32)


@tile.jit
def fill_kernel(out_ptr, value, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, value, mask=offsets < n)


@pytest.mark.nvidia("names its stages")
def test_stages():
    kernel = fill_kernel[(1,)](poisoned(64, "fp32"), 1.0, 60)
    assert list(kernel.asm)[:4] == ["ttir", "ttgir", "llir", "ptx"]
    assert "tt.func public @fill_kernel" in kernel.asm["ttir"]
    assert '"ttg.num-warps" = 4' in kernel.asm["ttgir"]
    assert "define" in kernel.asm["llir"]
    assert ".entry fill_kernel" in kernel.asm["ptx"]


@pytest.mark.nvidia("names its stages")
def test_cubin_is_made_on_demand():
    from tile.backends import find_backend

    if not find_backend(TARGET).has_tools_for("cubin"):
        pytest.skip("no ptxas")
    kernel = fill_kernel[(1,)](poisoned(64, "fp32"), 1.0, 61)
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    assert kernel.n_regs > 0


def test_compile_stops_and_starts_at_any_stage(tmp_path):
    source = ASTSource(
        fill_kernel, {"out_ptr": "*fp32", "value": "fp32", "n": "i32"}, {"BLOCK": 64}
    )
    whole = tile.compile(source, target=TARGET, stop_at="ptx")
    assert list(whole.asm) == ["ttir", "ttgir", "llir", "ptx"]
    for stage in ("ttir", "ttgir", "llir"):
        stopped = tile.compile(source, target=TARGET, stop_at=stage)
        assert list(stopped.asm)[-1] == stage
        path = tmp_path / f"fill.{stage}"
        path.write_text(stopped.asm[stage])
        resumed = tile.compile(str(path), target=TARGET, stop_at="ptx")
        assert ".entry fill_kernel" in resumed.asm["ptx"]
        assert next(iter(resumed.asm)) == stage


def test_unknown_stage_target_and_option():
    source = ASTSource(
        fill_kernel, {"out_ptr": "*fp32", "value": "fp32", "n": "i32"}, {"BLOCK": 64}
    )
    with pytest.raises(
        tile.TileError,
        match=r"there is no stage 'asm'; the stages are ttir, ttgir, llir, ptx, cubin",
    ):
        tile.compile(source, target=TARGET, stop_at="asm")
    with pytest.raises(
        tile.TileError, match="no backend compiles for 'metal'; the known targets are cuda"
    ):
        tile.compile(source, target=tile.GPUTarget("metal", 1, 32))
    with pytest.raises(tile.TileError, match="unknown option `warps`"):
        tile.compile(source, target=TARGET, options={"warps": 4})
    with pytest.raises(tile.TileError, match="num_warps must be a power of 2 up to 32, not 3"):
        tile.compile(source, target=TARGET, options={"num_warps": 3})
    with pytest.raises(tile.TileError, match="11"):
        tile.compile(source, target=tile.GPUTarget("cuda", 11, 32))


def test_source_must_fit_the_kernel(tmp_path):
    with pytest.raises(
        tile.TileError, match="names `x`, which is not a parameter of `fill_kernel`"
    ):
        ASTSource(fill_kernel, {"x": "*fp32"})
    source = ASTSource(fill_kernel, {"out_ptr": "*fp32"}, {"BLOCK": 64})
    with pytest.raises(tile.TileError, match="lacks the parameter `value`"):
        tile.compile(source, target=TARGET)
    source = ASTSource(
        fill_kernel, {"out_ptr": "*fp12", "value": "fp32", "n": "i32"}, {"BLOCK": 64}
    )
    with pytest.raises(tile.TileError, match="unknown type 'fp12' in a signature"):
        tile.compile(source, target=TARGET)
    (tmp_path / "kernel.foo").write_text("")
    with pytest.raises(
        tile.TileError,
        match=r"a compile starts from \.ttir, \.glir, \.ttgir, \.llir, \.amdgcn, \.ptx",
    ):
        tile.compile(str(tmp_path / "kernel.foo"), target=TARGET)
    with pytest.raises(tile.TileError, match="No such file"):
        tile.compile(str(tmp_path / "missing.ttir"), target=TARGET)


@pytest.mark.parametrize(
    ("grid", "text"),
    [
        ((), "must have 1 to 3 dimensions, not 0"),
        ((1, 1, 1, 1), "must have 1 to 3 dimensions, not 4"),
        ((1.5,), "has the extent 1.5"),
        ((-1,), "has the extent -1"),
        ((1, 70000), "but a GPU allows at most"),
        ("1", "must be a tuple of 1 to 3 integers"),
    ],
)
def test_wrong_grids(grid, text):
    with pytest.raises(tile.TileError, match=text):
        fill_kernel[grid](poisoned(64, "fp32"), 1.0, 60)


@pytest.mark.parametrize("grid", [(0,), (3, 0), (2, 1, 0), lambda meta: (0, 2)])
def test_an_empty_grid_runs_nothing(grid):
    """However the kernel is launched."""
    out = poisoned(64, "fp32")
    before = out.copy()
    kernel = fill_kernel[grid](out, 1.0, 60)
    if kernel is not None:  # The interpreter has none.
        kernel[grid](out, 1.0, 60)
        extents = grid if isinstance(grid, tuple) else grid({})
        kernel.run(*(*extents, 1, 1)[:3], 0, None, None, None, None, None, out, 1.0, 60, 64)
        report = fill_kernel.simulate(out, 1.0, 60, grid=grid)
        assert report.ok and report.warp_instructions == 0
        assert str(report) and report.to_dict()["ok"]
    fill_kernel.warmup(out, 1.0, 60, grid=grid)
    np.testing.assert_array_equal(out.view(np.uint8), before.view(np.uint8))


def test_missing_and_unknown_arguments():
    with pytest.raises(
        tile.TileError, match=r"`fill_kernel` missing 2 required positional arguments"
    ):
        fill_kernel[(1,)](poisoned(64, "fp32"))
    with pytest.raises(tile.TileError, match="`fill_kernel` has no parameter `blok`"):
        fill_kernel[(1,)](poisoned(64, "fp32"), 1.0, 5, blok=3)


def test_a_kernel_is_not_called_directly():
    with pytest.raises(tile.TileError, match=r"launch it as fill_kernel\[grid\]"):
        fill_kernel(None, 1.0, 5)
    with pytest.raises(
        tile.TileError, match=r"tl.arange works only inside a function decorated with @tile.jit"
    ):
        tl.arange(0, 4)


@sim_only
def test_warmup_compiles_without_running():
    out = poisoned(64, "fp32")
    before = out.copy()
    kernel = fill_kernel.warmup(out, 1.0, 60, grid=(1,))
    assembly = list(kernel.asm)[3]
    assert "fill_kernel" in kernel.asm[assembly]
    np.testing.assert_array_equal(out.view(np.uint8), before.view(np.uint8))
    by_type = fill_kernel.warmup(tl.float32, 1.0, 60, grid=(1,))
    assert by_type.asm[assembly] == kernel.asm[assembly]


def test_constants_are_told_apart_by_type():
    @tile.jit
    def kernel(out_ptr, X: tl.constexpr):
        tl.store(out_ptr, 2.0 if isinstance(X, bool) else 3.0 if isinstance(X, int) else 4.0)

    out = poisoned(1, "fp32")
    seen = []
    for x in (1, True, 1.0):
        kernel[(1,)](out, x)
        seen.append(float(out[0]))
    assert seen == [3.0, 2.0, 4.0]


@tile.jit
def _double(x):
    return x * 2


def test_functions_and_types_as_constants():
    @tile.jit
    def kernel(out_ptr, F: tl.constexpr, T: tl.constexpr, SHAPE: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, SHAPE[0]), F(tl.full(SHAPE, 3, T)))

    out = poisoned(4, "fp32")
    kernel[(1,)](out, _double, tl.int32, (4,))
    np.testing.assert_array_equal(out, [6.0] * 4)


def test_tuples_as_arguments():
    @tile.jit
    def kernel(pointers, sizes, n):
        a, b = pointers
        tl.store(a, sizes[0] + n)
        tl.store(b, sizes[1])

    a, b = poisoned(1, "i32"), poisoned(1, "i32")
    kernel[(1,)]((a, b), (5, 1), 7)
    assert (a[0], b[0]) == (12, 1)


PROGRAM = """
import sys
import numpy as np
import tile
import tile.language as tl

@tile.jit
def kernel(out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), VALUE)

out = np.zeros(16, np.float32)
compiled = kernel[(1,)](out, N=16)
print(compiled.hash, out[0])
"""


def run_program(path: Path, value: str, cache: Path) -> list[str]:
    path.write_text(PROGRAM.replace("VALUE", value))
    environment = {**os.environ, "TILE_CACHE_DIR": str(cache), "TILE_DRIVER": "sim"}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        [sys.executable, str(path)], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


@sim_only
def test_disk_cache(tmp_path):
    cache, program = tmp_path / "cache", tmp_path / "program.py"
    first = run_program(program, "1.5", cache)
    assert first[1] == "1.5"
    entries = list(cache.glob("*/kernel.json"))
    assert len(entries) == 1
    stamp = entries[0].stat().st_mtime_ns
    assert run_program(program, "1.5", cache) == first
    assert entries[0].stat().st_mtime_ns == stamp, "the kernel was compiled again"
    changed = run_program(program, "2.5", cache)
    assert changed[1] == "2.5" and changed[0] != first[0]
    assert not list(cache.glob("**/.tmp-*")), "temporary folders stay behind"


@sim_only
def test_damaged_cache_entries_are_replaced(tmp_path):
    cache, program = tmp_path / "cache", tmp_path / "program.py"
    first = run_program(program, "1.5", cache)
    (entry,) = cache.glob("*/kernel.json")
    entry.write_text("{ not json")
    assert run_program(program, "1.5", cache) == first
    assert json.loads(entry.read_text())["name"] == "kernel"


def test_cache_key_follows_called_functions():
    namespace = {}

    def make(body: str):
        import linecache

        name = f"<test {body}>"
        text = f"@tile.jit\ndef callee(x):\n    return {body}\n\n@tile.jit\ndef kernel(p):\n    callee(p)\n"  # noqa: E501
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        namespace.clear()
        namespace.update(tile=tile, tl=tl)
        exec(compile(text, name, "exec"), namespace)
        return namespace["kernel"].cache_key

    assert make("x + 1") != make("x + 2")


def test_knobs(monkeypatch):
    assert knobs.compilation.always_compile is False
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    assert knobs.compilation.always_compile is True
    monkeypatch.setenv("TILE_ALWAYS_COMPILE", "0")
    assert knobs.compilation.always_compile is False
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        assert knobs.compilation.always_compile is True
    assert knobs.compilation.always_compile is False


def test_unknown_driver(monkeypatch):
    from tile.runtime.driver import DriverConfig

    monkeypatch.setenv("TILE_DRIVER", "gpu")
    with pytest.raises(tile.DriverError, match="TILE_DRIVER is one of cuda, hip, sim, not 'gpu'"):
        DriverConfig().active  # noqa: B018


def test_no_gpu(monkeypatch):
    from tile.backends import drivers
    from tile.runtime.driver import DriverConfig

    if drivers()["cuda"].is_active():
        pytest.skip("there is a GPU")
    monkeypatch.setenv("TILE_DRIVER", "cuda")
    with pytest.raises(tile.DriverError, match="no NVIDIA GPU"):
        DriverConfig().active  # noqa: B018


def test_ptxas_that_does_not_exist(monkeypatch):
    monkeypatch.setenv("TILE_PTXAS_PATH", "/nowhere/ptxas")
    source = ASTSource(
        fill_kernel, {"out_ptr": "*fp32", "value": "fp32", "n": "i32"}, {"BLOCK": 64}
    )
    with pytest.raises(tile.CompilerToolError, match="/nowhere/ptxas, which does not exist"):
        tile.compile(source, target=TARGET)


def test_autotune_chooses_and_remembers():
    calls = []

    def bench(call, quantiles):
        call()
        return (float(len(calls)), 0.0, 0.0)

    @tile.autotune(
        configs=[
            tile.Config({"BLOCK": 64}),
            tile.Config({"BLOCK": 32}, num_warps=2, pre_hook=calls.append),
        ],
        key=["n"],
        do_bench=bench,
    )
    @tile.jit
    def kernel(out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, BLOCK, mask=offsets < n)

    out = poisoned(128, "i32")
    kernel[lambda meta: (tile.cdiv(128, meta["BLOCK"]),)](out, 128)
    assert kernel.best_config.kwargs == {"BLOCK": 64}
    assert out.tolist() == [64] * 128
    assert len(calls) == 1
    kernel[lambda meta: (tile.cdiv(128, meta["BLOCK"]),)](out, 128)
    assert len(calls) == 1, "it was measured again"
    kernel[lambda meta: (tile.cdiv(100, meta["BLOCK"]),)](out, 100)
    assert len(calls) == 2


def test_autotune_refuses_what_it_chooses():
    @tile.autotune(configs=[tile.Config({"BLOCK": 64}), tile.Config({"BLOCK": 32})], key=["n"])
    @tile.jit
    def kernel(out_ptr, n, BLOCK: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, BLOCK), 0.0)

    with pytest.raises(tile.TileError, match="`BLOCK` is chosen by autotuning"):
        kernel[(1,)](poisoned(64, "fp32"), 5, BLOCK=16)


def test_heuristics():
    @tile.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
    @tile.jit
    def kernel(out_ptr, n, EVEN: tl.constexpr):
        tl.store(out_ptr, 1 if EVEN else 2)

    out = poisoned(1, "i32")
    kernel[(1,)](out, 4)
    assert out[0] == 1
    kernel[(1,)](out, 5)
    assert out[0] == 2


def test_reinterpret():
    raw = np.arange(16, dtype=np.float32).view(np.int32)
    out = poisoned(16, "fp32")

    @tile.jit
    def kernel(x_ptr, out_ptr):
        offsets = tl.arange(0, 16)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2)

    kernel[(1,)](tile.reinterpret(raw, tl.float32), out)
    np.testing.assert_array_equal(out, np.arange(16) * 2)


@sim_only
def test_simulate_returns_a_report():
    out = poisoned(64, "fp32")
    report = fill_kernel.simulate(out, 2.0, 64, grid=(1,))
    assert report.ok
    assert report.warp_instructions > 0
    assert (out == 2.0).all()


def test_kernel_names():
    @tile.jit(repr=lambda s: f"named_{s.constants['N']}")
    def kernel(out_ptr, N: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, N), 0.0)

    compiled = kernel[(1,)](poisoned(8, "fp32"), N=8)
    assembly = compiled.asm[list(compiled.asm)[3]]
    assert re.search(r"^(\.visible \.entry )?named_8\b", assembly, re.M)


def test_compiles_are_deterministic():
    source = ASTSource(
        fill_kernel, {"out_ptr": "*fp32", "value": "fp32", "n": "i32"}, {"BLOCK": 64}
    )
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        first = tile.compile(source, target=TARGET, stop_at="ptx")
        second = tile.compile(source, target=TARGET, stop_at="ptx")
    assert dict(first.asm) == dict(second.asm)


@tile.jit
def one_too_many(x_ptr, out_ptr, n: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, n), tl.load(x_ptr))


@sim_only
def test_a_finding_names_the_argument():
    x, out = np.ones(1, np.float32), np.ones(7, np.float32)
    with pytest.raises(tile.sim.SimulationError, match="past the end of 'argument out_ptr'"):
        one_too_many[(1,)](x, out, 8)


class _Tensor:
    """As much of torch's as a wrapper hands on."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape, self.dtype, self.device = array.shape, array.dtype, "here"

    @property
    def data(self) -> _Tensor:
        return self

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def element_size(self) -> int:
        return self.array.itemsize

    def stride(self, dim: int | None = None):
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        return strides if dim is None else strides[dim]

    def is_contiguous(self) -> bool:
        return self.array.flags.c_contiguous

    def new_empty(self, *size, **_):
        return _Tensor(np.empty(size, self.array.dtype))

    new_zeros = new_empty

    def clone(self):
        return _Tensor(self.array.copy())

    def to(self, device):
        return self.clone()

    cpu = contiguous = clone

    def copy_(self, other) -> None:
        self.array[...] = getattr(other, "array", other)

    def zero_(self) -> None:
        self.array[...] = 0


@pytest.mark.parametrize("wrap", [lambda a: a, _Tensor])
def test_what_a_reinterpreted_tensor_has(wrap):
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    base = wrap(array)
    wrapped = tile.reinterpret(base, tl.float16)
    assert wrapped.dtype == tl.float16 and wrapped.base is base
    assert wrapped.data_ptr() == wrapped.data.data_ptr() == array.ctypes.data
    assert wrapped.data is (base if wrap is _Tensor else wrapped)
    wrapped.data = wrapped.data
    assert wrapped.base is base and wrapped.shape == (3, 4)
    assert wrapped.element_size() == 2 and wrapped.numel() == 12
    assert (wrapped.dim(), wrapped.ndim, wrapped.size(), wrapped.size(1)) == (2, 2, (3, 4), 4)
    assert wrapped.stride() == (4, 1) and wrapped.stride(0) == 4 and wrapped.is_contiguous()
    copy = wrapped.clone()
    assert copy.dtype == tl.float16 and copy.data_ptr() != wrapped.data_ptr()
    copy.zero_()
    assert wrapped.copy_(copy) is wrapped and not array.any()
    if wrap is _Tensor:
        for made in (wrapped.cpu(), wrapped.to("there"), wrapped.contiguous()):
            assert made.dtype == tl.float16 and made.shape == (3, 4)
        for made in (wrapped.new_empty(2, 5), wrapped.new_zeros(2, 5)):
            assert made.dtype == tl.float16 and made.shape == (2, 5)
