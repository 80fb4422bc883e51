"""What clients ask torch about a GPU, answered for the one that the simulator stands for.

Many libraries refuse to be imported, or to launch, without a CUDA device. Their kernels run on CPU
tensors in the simulator all the same, once these questions have an answer.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch


class _Device(contextlib.nullcontext):
    """``with torch.cuda.device(...)``: there is one."""

    def __init__(self, device: Any = None) -> None:
        super().__init__()
        self.idx = 0
        self.prev_idx = 0


def a_gpu_is_there() -> None:
    """Answers from now on in this process; there must be none."""
    if torch.cuda.is_available():
        return
    properties = SimpleNamespace(
        name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, warp_size=32,
        total_memory=141 << 30, shared_memory_per_block_optin=232448, gcnArchName="",
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, L2_cache_size=50 << 20,
    )  # fmt: skip
    answers = {
        "get_device_name": lambda device=None: properties.name,
        "get_device_properties": lambda device=None: properties,
        "get_device_capability": lambda device=None: (9, 0),
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "synchronize": lambda device=None: None,
        "device": _Device,
        "device_of": _Device,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, answer)


#: What makes tensors and takes a device.
_FACTORIES = ("arange", "empty", "full", "ones", "rand", "randint", "randn", "tensor", "zeros")


def its_tensors_are_here() -> None:
    """From now on in this process, what is made for a GPU is on the CPU, as all other tensors."""
    if torch.cuda.is_available():
        return
    for name in _FACTORIES:
        setattr(torch, name, _on_the_cpu(getattr(torch, name)))


def _on_the_cpu(make: Callable) -> Callable:
    @functools.wraps(make)
    def made(*arguments: Any, **options: Any) -> torch.Tensor:
        if str(options.get("device")).startswith("cuda"):
            options["device"] = "cpu"
        return make(*arguments, **options)

    return made
