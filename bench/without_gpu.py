"""Rows of public kernels in a process without a GPU: each launch only compiles.

Tensors have shapes and no contents, so that the sizes of real models fit any machine.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

#: What is compiled for: (kind, architecture, lanes of a warp).
TARGET = ("cuda", 90, 32)


class _OnTheHost(TorchFunctionMode):
    """What asks for a GPU gets tensors of the host: autograd needs a driver for the others."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = {k: self._host(v) for k, v in (kwargs or {}).items()}
        return function(*map(self._host, args), **named)

    def _host(self, value: Any) -> Any:
        if isinstance(value, (str, torch.device)) and str(value).split(":")[0] == "cuda":
            return torch.device("cpu")
        return value


class _Contents(TorchDispatchMode):
    """Answers what libraries ask of the contents of a tensor: it is 1, and equal to all others."""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if function is torch.ops.aten._local_scalar_dense.default:
            kind = args[0].dtype
            return 1.0 if kind.is_floating_point else kind == torch.bool or 1
        if function is torch.ops.aten.equal.default:
            return True
        return function(*args, **(kwargs or {}))


class _Driver:
    """As much of Triton's driver as a compile asks."""

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget(*TARGET)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_benchmarker(self) -> Any:
        return lambda *args, **kwargs: [1.0, 1.0, 1.0]

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        return torch.cuda


def compile_only(who: str) -> None:
    """Launches of this process compile from now on, and write nothing."""
    import pretend
    from triton.runtime import driver
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    pretend.a_gpu_is_there()
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # Then vLLM does not look for an active driver.
    torch.cuda.is_available = lambda: True
    torch.Tensor.is_cuda = property(lambda self: True)
    warnings.filterwarnings("ignore", message="Accessing the data pointer")
    # FlagGems measures what it has one configuration of, too.
    Autotuner._bench = lambda *args, **kwargs: [1.0, 1.0, 1.0]
    if who == "peer":
        driver.set_active(_Driver())
    run = JITFunction.run

    def compiled(function: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        return run(function, *args, grid=grid, warmup=True, **kwargs)

    JITFunction.run = compiled
    fake_tensor.FakeTensorMode(allow_non_fake_inputs=True).__enter__()
    _Contents().__enter__()
    _OnTheHost().__enter__()
