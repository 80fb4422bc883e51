"""The table of GPUs, and that all who need a fact of it read it there."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile import _C
from tile.backends import drivers, find_backend
from tile.compiler import ASTSource
from tile.tools.tensor_descriptor import TensorDescriptor

TARGETS = _C.targets.known("cuda")
CAPABILITIES = [target.compute_capability for target in TARGETS]


@tile.jit
def total(x_ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, N))))


def test_rows_are_found_by_their_capability():
    assert CAPABILITIES == sorted(set(CAPABILITIES))
    for target in TARGETS:
        found = _C.targets.lookup(str(target))
        assert str(found) == str(target) == f"cuda:{target.compute_capability}"
        assert {name: getattr(found, name) for name in dir(found)} == {
            name: getattr(target, name) for name in dir(target)
        }
    assert _C.targets.lookup("cuda:12") is None
    assert _C.targets.known("vax") == []


def test_rows_have_every_column():
    assert all(dir(target) == dir(TARGETS[0]) for target in TARGETS)
    hopper = _C.targets.lookup("cuda:90")
    assert (hopper.processor, hopper.has_wgmma, hopper.max_shared_memory) == (
        "sm_90a", True, 232448,
    )  # fmt: skip
    with pytest.raises(AttributeError, match="cuda:90 has no fact 'has_wings'"):
        hopper.has_wings  # noqa: B018


@pytest.mark.parametrize("arch", CAPABILITIES)
def test_every_target_compiles(arch):
    source = ASTSource(total, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 1024})
    kernel = tile.compile(source, target=tile.GPUTarget("cuda", arch, 32))
    assert re.search(rf"^\.target sm_{arch}a?$", kernel.asm["ptx"], re.MULTILINE)
    if "cubin" in kernel.asm:  # ptxas, where it is installed, knows them all.
        assert kernel.asm["cubin"][:4] == b"\x7fELF"


def test_a_renamed_target():
    source = ASTSource(total, {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"N": 1024})
    wanted = "^unknown target cuda:101: it is named cuda:110 now$"
    with pytest.raises(tile.TileError, match=wanted):
        tile.compile(source, target=tile.GPUTarget("cuda", 101, 32))


def test_what_each_has():
    """Dots with scales are those of sm_120 and sm_121, wide accesses those of all since 100."""
    assert [t.compute_capability for t in TARGETS if t.has_block_scaled_mma] == [120, 121]
    wide = [t.compute_capability for t in TARGETS if t.max_global_access_bits == 256]
    assert wide == [100, 103, 110, 120, 121]
    shared = {t.compute_capability: t.max_shared_memory for t in TARGETS}
    assert [shared[n] for n in wide] == [232448] * 3 + [101376] * 2
    held = [(t.max_threads_per_sm, t.max_blocks_per_sm) for t in TARGETS][-5:]
    assert held == [(2048, 32)] * 2 + [(1536, 24)] * 3


@tile.jit
def hinted(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    first = tl.load(x_ptr + at, eviction_policy="evict_first")
    last = tl.load(x_ptr + N + at, eviction_policy="evict_last", cache_modifier=".cg")
    tl.store(out_ptr + at, first, eviction_policy="evict_first")
    tl.store(out_ptr + N + at, last, eviction_policy="evict_last", cache_modifier=".cs")


@sim_only
@pytest.mark.parametrize("arch", CAPABILITIES)
def test_every_target_takes_hints_of_eviction(arch, monkeypatch):
    """Their instructions are in PTX of a later version than what knows Ampere."""
    monkeypatch.setenv("TILE_SIM_TARGET", f"cuda:{arch}")
    x, out = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    kernel = hinted[(1,)](x, out, N=512)
    np.testing.assert_array_equal(out, x)
    if "cubin" in kernel.asm:
        assert kernel.asm["cubin"][:4] == b"\x7fELF"


@tile.jit
def product_of_tiles(a_desc, b_ptr, c_desc, K, N: tl.constexpr):
    """Of everything that is made for Hopper alone something."""
    tl.extra.cuda.gdc_wait()
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [32, N])
    for t in tl.range(0, 2, flatten=True, warp_specialize=True):
        acc = tl.zeros((64, N), tl.float32)
        for k in range(0, K, 32):
            acc = tl.dot(a_desc.load([t * 64, k]), b_desc.load([k, 0]), acc)
        c_desc.store([t * 64, 0], acc.to(c_desc.dtype))


@sim_only
@pytest.mark.parametrize("arch", [a for a in CAPABILITIES if a >= 90])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.float8_e4m3fn])
def test_products_since_hopper(arch, dtype, monkeypatch):
    """All copy as Hopper does. Those without a unit of their own for dots multiply as Ampere does:
    docs/howto/fast-blackwell.md."""
    monkeypatch.setenv("TILE_SIM_TARGET", f"cuda:{arch}")
    rng = np.random.default_rng(arch)
    a, b = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((128, 96), (96, 64)))
    out = np.zeros((128, 64), np.float32)
    a_desc = TensorDescriptor.from_tensor(a, [64, 32])
    kernel = product_of_tiles[(1,)](
        a_desc, b, TensorDescriptor.from_tensor(out, [64, 64]), 96, 64, launch_pdl=True
    )
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))
    ptx = kernel.asm["ptx"]
    assert "cp.async.bulk.tensor" in ptx
    unit = {90: "wgmma", 100: "tcgen05.mma", 103: "tcgen05.mma", 110: "tcgen05.mma"}
    assert ("ttg.warp_specialize" in kernel.asm["ttgir"]) == (arch in unit)
    for name in ("wgmma", "tcgen05.mma", "mma.sync"):
        assert (name in ptx) == (name == unit.get(arch, "mma.sync"))
    if "cubin" in kernel.asm:
        assert kernel.asm["cubin"][:4] == b"\x7fELF"


@sim_only
@pytest.mark.parametrize(
    ("arch", "shared", "processors"),
    [
        (75, 65536, 132), (80, 166912, 108), (86, 101376, 132), (90, 232448, 132),
        (100, 232448, 148), (110, 232448, 132), (120, 101376, 170),
    ],
)  # fmt: skip
def test_the_simulator_has_what_the_target_has(arch, shared, processors, monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", f"cuda:{arch}")
    properties = tile.runtime.driver.active.utils.get_device_properties(0)
    assert properties["max_shared_mem"] == shared
    assert properties["max_num_regs"] == 65536
    assert properties["multiprocessor_count"] == processors
    x, out = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    total[(1,)](x, out, N=64)
    assert out[0] == x.sum()
    # Cycles of the model are those of the device, whoever turns them into seconds.
    model = tile.runtime.driver.active.last_report.roofline()
    assert model["clock"] == 1000 * properties["sm_clock_rate"]


@pytest.mark.parametrize("arch", [60, 70, 72])
def test_older_gpus_are_refused(arch, monkeypatch):
    wanted = rf"^cuda:{arch} is not supported: GPUs older than Turing \(cuda:75\), such as Volta, "
    with pytest.raises(tile.TileError, match=wanted):
        find_backend(tile.GPUTarget("cuda", arch, 32)).parse_options({})
    monkeypatch.setenv("TILE_SIM_TARGET", f"cuda:{arch}")
    with pytest.raises(tile.TileError, match=wanted.removeprefix("^")):
        drivers()["sim"]().get_current_target()


@pytest.mark.parametrize("arch", [0, 91, 102])
def test_unknown_targets_are_refused(arch, monkeypatch):
    wanted = rf"unknown target cuda:{arch}: known ones are cuda:75, cuda:80, .*cuda:121"
    with pytest.raises(tile.TileError, match=wanted):
        find_backend(tile.GPUTarget("cuda", arch, 32))
    monkeypatch.setenv("TILE_SIM_TARGET", f"cuda:{arch}")
    with pytest.raises(tile.TileError, match=wanted):
        drivers()["sim"]().get_current_target()


@pytest.mark.parametrize("arch", CAPABILITIES)
def test_options_follow_the_table(arch):
    facts = _C.targets.lookup(f"cuda:{arch}")
    backend = find_backend(tile.GPUTarget("cuda", arch, 32))
    options = backend.parse_options({})
    assert ("fp8e4nv" in options.supported_fp8_dtypes) == facts.has_native_fp8_cvt
    assert (options.max_num_imprecise_acc_default > 0) == facts.has_wgmma
    most = facts.max_registers_per_thread
    assert backend.parse_options({"maxnreg": most}).maxnreg == most
    with pytest.raises(tile.TileError, match=f"from 16 to {most}, not {most + 1}"):
        backend.parse_options({"maxnreg": most + 1})
    if facts.has_clusters:
        assert backend.parse_options({"num_ctas": 2}).num_ctas == 2
    else:
        with pytest.raises(tile.TileError, match=f"cuda:{arch} has no clusters"):
            backend.parse_options({"num_ctas": 2})


@pytest.mark.parametrize("arch", CAPABILITIES)
def test_limits_of_registers_are_stated_where_they_say_something(arch):
    """`.maxnreg` stops ptxas from weighing registers against resident blocks."""

    def stated(num_warps: int, size: int = 1024, **options: int) -> list[str]:
        source = ASTSource(
            total, {"x_ptr": "*fp32", "out_ptr": "*fp32", "N": "constexpr"}, {"N": size}
        )
        target = tile.GPUTarget("cuda", arch, 32)
        options = {"num_warps": num_warps, **options}
        ptx = tile.compile(source, target, options, stop_at="ptx").asm["ptx"]
        return re.findall(r"\.maxnreg (\d+)", ptx)

    # Without one ptxas might settle for 32 where it needs more than there are.
    assert stated(16, 65536) == ["128"]
    assert stated(16) == []
    assert stated(4, maxnreg=96) == ["96"]
    # With more of them than there are the block could not be launched.
    assert stated(16, maxnreg=255) == ["128"]
    assert stated(32, maxnreg=96) == ["64"]
    assert stated(4) == []
