"""The driver for AMD GPUs, on a run time that only records calls."""

from __future__ import annotations

import ctypes
import json
import shutil
import struct
import subprocess
import sys
import types
from pathlib import Path

import pytest

import tile
import tile.language as tl
import tile.profiler as proton
import tile.profiler.language as pl
from tile.backends import drivers
from tile.compiler import ASTSource
from tile.runtime.driver import driver as active

COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
LOAD, FUNCTION, LAUNCH, UNLOAD = 1, 2, 3, 4


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("hip") / "libamdhip64.so"
    source = Path(__file__).parent / "fake_hip.c"
    subprocess.run([COMPILER, "-shared", "-fPIC", source, "-o", target], check=True)
    return target


@pytest.fixture
def library(path: Path, monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    """The run time, which the driver uses, with one MI300."""
    fake = ctypes.CDLL(str(path))
    fake.fake_set(b"gfx942:sramecc+:xnack-", 1)
    fake.fake_fail(0, 0)
    ctypes.c_int.in_dll(fake, "fake_count").value = 0
    monkeypatch.setenv("TILE_LIBHIP_PATH", str(path))
    forget = vars(drivers()["hip"])["is_active"].__func__.__globals__["libamdhip"].cache_clear
    forget()
    active.reset_active()
    yield fake
    forget()
    active.reset_active()


class Tensor:
    """Memory of the GPU, as a tensor of PyTorch looks like."""

    is_cuda = True
    dtype = "float32"

    def __init__(self, address: int, where: str = "cuda") -> None:
        self.address, self.is_cuda, self.device = address, where == "cuda", where

    def data_ptr(self) -> int:
        return self.address


@tile.jit
def scaled(x_ptr, out_ptr, n, factor, half, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x * factor + half))


def compile_for(driver: object) -> tile.compiler.CompiledKernel:
    signature = {
        "x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "factor": "fp32", "half": "bf16"
    }  # fmt: skip
    source = ASTSource(scaled, signature, {"BLOCK": 512})
    return tile.compile(source, target=driver.get_current_target(), options={"num_warps": 2})


def test_a_launch_has_the_arguments_of_the_kernel(library):
    driver = drivers()["hip"]()
    kernel = compile_for(driver)
    launch = driver.make_launcher(
        kernel, {"x": "*fp32", "out": "*fp32", "n": "i32", "factor": "fp32", "half": "bf16"}
    )
    ctypes.c_int.in_dll(library, "fake_count").value = 5
    (ctypes.c_int * 8).in_dll(library, "fake_sizes")[:5] = [8, 8, 4, 4, 2]
    launch(7, 2, 1, 0, (Tensor(0x1000), Tensor(0x2000), -3, 1.5, 2.0))
    geometry = list((ctypes.c_uint32 * 7).in_dll(library, "fake_geometry"))
    assert geometry == [7, 2, 1, 128, 1, 1, kernel.shared] and kernel.shared > 0
    found = list((ctypes.c_uint64 * 8).in_dll(library, "fake_arguments"))[:5]
    assert found[:3] == [0x1000, 0x2000, 2**32 - 3]
    assert struct.pack("<I", found[3]) == struct.pack("<f", 1.5)
    assert found[4] == 0x4000  # 2.0 as bf16
    # Rounded once: by way of fp32, this would be 1.
    launch(1, 1, 1, 0, (Tensor(0x1000), Tensor(0x2000), 1, 1.5, 1 + 2**-8 + 2**-40))
    assert (ctypes.c_uint64 * 8).in_dll(library, "fake_arguments")[4] == 0x3F81
    with pytest.raises(tile.LaunchError, match="`n`: 2147483648 does not fit in i32"):
        launch(1, 1, 1, 0, (Tensor(0x1000), Tensor(0x2000), 2**31, 1.5, 2.0))


def test_a_launch_that_hangs_is_an_error(library, monkeypatch):
    monkeypatch.setattr(tile.knobs.runtime, "launch_timeout", 1)
    driver = drivers()["hip"]()
    kernel = compile_for(driver)
    parameters = {"x": "*fp32", "out": "*fp32", "n": "i32", "factor": "fp32", "half": "bf16"}
    launch = driver.make_launcher(kernel, parameters)
    arguments = (Tensor(0x1000), Tensor(0x2000), -3, 1.5, 2.0)
    library.fake_stay_busy(20)
    launch(7, 2, 1, 0, arguments)
    library.fake_stay_busy(-1)
    with pytest.raises(tile.DriverError) as error:
        launch(7, 2, 1, 0, arguments)
    library.fake_stay_busy(0)
    said = str(error.value)
    assert "`scaled` did not end within 1 s: grid (7, 2, 1), 2 warps, target hip:gfx942" in said
    assert "a barrier, " in said and "tile debug" in said


@pytest.mark.parametrize(
    "name, wave", [(b"gfx942:sramecc+:xnack-", 64), (b"gfx1100", 32), (b"gfx90a:sramecc+", 64)]
)
def test_the_target_is_the_processor_of_the_device(name, wave, library):
    library.fake_set(name, 1)
    target = drivers()["hip"]().get_current_target()
    assert target == tile.GPUTarget("hip", name.decode().split(":")[0], wave)


def test_properties(library):
    found = drivers()["hip"]().device_properties(0)
    assert found["warpSize"] == 64 and found["max_shared_mem"] == 64 * 1024
    assert found["max_num_regs"] == 65536
    assert found["multiprocessor_count"] == 63  # The attribute's number: what the fake answers.


def test_other_processors_are_refused(library):
    library.fake_set(b"gfx803", 1)
    with pytest.raises(tile.TileError, match="unknown target hip:gfx803"):
        drivers()["hip"]().get_current_target()


def test_without_a_device_there_is_no_driver(library):
    library.fake_set(b"gfx942", 0)
    assert not drivers()["hip"].is_active()
    with pytest.raises(tile.TileError, match="no AMD GPU"):
        drivers()["hip"]()


@pytest.mark.parametrize(
    "call, message", [(LOAD, "cannot load `scaled`"), (FUNCTION, "cannot find `scaled`")]
)
def test_what_cannot_be_loaded_is_said(call, message, library):
    driver = drivers()["hip"]()
    kernel = compile_for(driver)
    library.fake_fail(call, 98)
    before = ctypes.c_int.in_dll(library, "fake_unloads").value
    with pytest.raises(tile.TileError, match=f"{message}: invalid device function .HIP error 98."):
        driver.load(kernel, 0)
    assert ctypes.c_int.in_dll(library, "fake_unloads").value == before + (call == FUNCTION)


def test_what_cannot_be_launched_is_said(library):
    driver = drivers()["hip"]()
    kernel = compile_for(driver)
    launch = driver.make_launcher(
        kernel, {"x": "*fp32", "out": "*fp32", "n": "i32", "factor": "fp32", "half": "bf16"}
    )
    library.fake_fail(LAUNCH, 98)
    parameters = (Tensor(0x1000), Tensor(0x2000), 1, 1.5, 2.0)
    assert launch(1, 1, 1, 0, parameters) == 98
    with pytest.raises(tile.TileError, match="cannot launch `scaled`: invalid device function"):
        driver.raise_launch_error(98, "scaled")


def test_tensors_elsewhere_are_refused(library):
    driver = drivers()["hip"]()
    launch = driver.make_launcher(compile_for(driver), {"x": "*fp32"})
    with pytest.raises(tile.TileError, match="this tensor is on cpu, but kernels run on the GPU"):
        launch(1, 1, 1, 0, (Tensor(0x1000, "cpu"),))


@tile.jit
def fill(out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), n)


@pytest.fixture
def two_devices(library, monkeypatch) -> ctypes.CDLL:
    monkeypatch.setenv("TILE_DRIVER", "hip")
    library.fake_set(b"gfx942:sramecc+:xnack-", 2)
    active.reset_active()
    yield library
    ctypes.c_int.in_dll(library, "fake_device").value = 0


def test_each_device_loads_a_kernel_once(two_devices):
    loads, device = (ctypes.c_int.in_dll(two_devices, f"fake_{n}") for n in ("loads", "device"))
    before = loads.value
    for current in (0, 1, 0, 1):
        device.value = current
        fill[(1,)](Tensor(0x1000), 7, BLOCK=64)
    assert loads.value == before + 2


def test_devices_that_are_not_alike_have_code_of_their_own(two_devices):
    device = ctypes.c_int.in_dll(two_devices, "fake_device")
    kernels = []
    for current, processor in enumerate((b"gfx942:sramecc+:xnack-", b"gfx1100")):
        device.value = current
        two_devices.fake_set(processor, 2)
        kernels.append(fill[(1,)](Tensor(0x1000), 7, BLOCK=64))
    assert [k.metadata.target.arch for k in kernels] == ["gfx942", "gfx1100"]
    assert list((ctypes.c_uint32 * 7).in_dll(two_devices, "fake_geometry"))[3] == 128


def test_launches_go_to_the_current_stream_of_torch(two_devices, monkeypatch):
    stream = ctypes.c_uint64.in_dll(two_devices, "fake_stream")
    fill[(1,)](Tensor(0x1000), 7, BLOCK=64)
    assert stream.value == 0
    torch = types.SimpleNamespace(
        cuda=types.SimpleNamespace(is_initialized=lambda: True),
        _C=types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 0x500 + device),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    ctypes.c_int.in_dll(two_devices, "fake_device").value = 1
    fill[(1,)](Tensor(0x1000), 7, BLOCK=64)
    assert stream.value == 0x501


def test_errors_of_the_run_time_are_said_where_they_come_up(two_devices):
    two_devices.fake_fail(LAUNCH, 98)
    with pytest.raises(tile.TileError, match="cannot launch `fill`: invalid device function"):
        fill[(1,)](Tensor(0x1000), 7, BLOCK=64)
    fill[(1,)](Tensor(0x1000), 7, BLOCK=64)  # The next one goes well.


@tile.jit
def with_scope(x_ptr, BLOCK: tl.constexpr):
    with pl.scope("all"):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


def test_records_are_read_when_they_are_asked_for(library, tmp_path):
    """The kernel does nothing here: what is read is the header of each warp, without records."""
    fakes = {n: ctypes.c_int.in_dll(library, f"fake_{n}") for n in ("waits", "memories")}
    ctypes.c_int.in_dll(library, "fake_count").value = 2
    (ctypes.c_int * 8).in_dll(library, "fake_sizes")[:2] = [8, 8]
    active.set_active(drivers()["hip"]())
    session = proton.start(str(tmp_path / "p"), backend="instrumentation")
    try:
        waits = fakes["waits"].value
        for _ in range(3):
            with_scope[(2,)](Tensor(0x1000), BLOCK=128)
        assert (fakes["waits"].value, fakes["memories"].value) == (waits, 1)
        x, records = list((ctypes.c_uint64 * 8).in_dll(library, "fake_arguments"))[:2]
        assert x == 0x1000 and records % 16 == 0 and records > 0x1000
        ctypes.c_int.in_dll(library, "fake_capturing").value = 1
        with pytest.raises(tile.TileError, match="cannot be captured into a graph"):
            with_scope[(2,)](Tensor(0x1000), BLOCK=128)
    finally:
        ctypes.c_int.in_dll(library, "fake_capturing").value = 0
        proton.finalize(session)
    assert fakes["memories"].value == 0
    root, devices = json.loads((tmp_path / "p.hatchet").read_text())
    (kernel,) = root["children"]
    assert kernel["metrics"]["count"] == 3 and kernel["metrics"]["device_type"] == "HIP"
    assert devices["HIP"]["0"]["arch"] == "gfx942"
