"""A GPU that is not there: a libcuda that records launches, and tensors in its memory.

`build(folder)` compiles both; `FakeGPU` makes the driver `cuda` use them.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def build(folder: Path) -> tuple[Path, Any] | None:
    """The library, and the class of tensors; None on a machine without a C compiler."""
    compiler = shutil.which("cc")
    include = sysconfig.get_paths()["include"]
    if compiler is None or not Path(include, "Python.h").exists():
        return None
    made = []
    for source, target in (
        ("fake_cuda.c", "libcuda.so.1"),
        ("fake_tensor.c", f"fake_tensor{sysconfig.get_config_var('EXT_SUFFIX')}"),
    ):
        made.append(folder / target)
        command = [compiler, "-O2", "-shared", "-fPIC", f"-I{include}"]
        subprocess.run([*command, str(HERE / source), "-o", str(made[-1])], check=True)
    spec = importlib.util.spec_from_file_location("fake_tensor", made[1])
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return made[0], module.FakeTensor


class Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint),
    )  # fmt: skip


Callback = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(Config), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
)


class FakeGPU:
    """While it is entered, kernels run (that is: do nothing) on GPUs that are not there."""

    def __init__(self, library: Path, tensor: Any, devices: int = 1) -> None:
        self.path = library
        self.library = ctypes.CDLL(str(library))
        self.library.fake_make_accessible.argtypes = [ctypes.c_uint64]
        self.tensor = tensor
        self.devices = devices
        self._callback: Any = None

    def __enter__(self) -> FakeGPU:
        from tile import knobs
        from tile.backends import drivers
        from tile.runtime.driver import driver

        self._before = driver._active
        cls = drivers()["cuda"]
        self._module = __import__(cls.__module__, fromlist=["libcuda"])
        knobs.nvidia.libcuda_path = str(self.path)
        self._forget_library()
        self.library.fake_set(self.devices, None, 0)
        self.library.fake_switch_device(-1)
        driver.set_active(cls())
        return self

    def __exit__(self, *error: Any) -> None:
        from tile import knobs
        from tile.runtime.driver import driver

        del knobs.nvidia.libcuda_path
        self._forget_library()
        driver.set_active(self._before)
        self.library.fake_set(1, None, 0)

    def _forget_library(self) -> None:
        """The driver looks for libcuda once."""
        self._module._load.cache_clear()
        self._module.libcuda.cache_clear()

    def on_launch(self, call: Any, sleep_us: int = 0) -> None:
        """Calls `call(config, function, parameters)` at each launch."""
        self._callback = Callback(call) if call is not None else None
        self.library.fake_set(self.devices, self._callback, sleep_us)

    def counter(self, name: str) -> int:
        return ctypes.c_int.in_dll(self.library, f"fake_{name}").value

    def record(self, count: int) -> list[Any]:
        """From now on, each launch appends (config, attributes, parameters) to this list; the last
        are the first 8 bytes of each of `count` parameters."""
        launches: list[Any] = []

        def append(config: Any, function: Any, parameters: Any) -> None:
            c = config.contents
            copy = {
                "grid": tuple(c.grid), "block": tuple(c.block), "shared": c.shared,
                "stream": c.stream or 0,
            }  # fmt: skip
            attributes = {}
            for i in range(c.count):
                words = (ctypes.c_uint32 * 18).from_address(c.attributes + 72 * i)
                attributes[words[0]] = tuple(words[2:5])
            given = [ctypes.string_at(parameters[i], 8) for i in range(count)]
            launches.append((copy, attributes, given))

        self.on_launch(append)
        return launches
