"""What ``triton.compiler.compiler`` has beside our own names."""

from __future__ import annotations

import re
from typing import Any

from triton._C.libtriton import (
    get_cache_invalidating_env_vars as get_cache_invalidating_env_vars,
)
from triton.backends import backends as backends

from tile.compiler.compiler import LazyDict
from tile.runtime.driver import driver as driver

AsmDict = LazyDict


def max_shared_mem(device: int) -> int:
    """The most shared memory that a block of a device can have."""
    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


def convert_type_repr(x: str) -> str:
    """The signature's name of a type of the IR."""
    pointer = re.search(r"!tt\.ptr<([^,]+)", x)
    return "*" + convert_type_repr(pointer.group(1)) if pointer else x


def filter_traceback(e: BaseException) -> None:
    """Nothing to do: our errors carry no frames of the compiler."""


def parse(full_name: str, ext: str, context: Any) -> Any:
    """What a file of a stage holds."""
    from tile.compiler.compiler import IRSource

    return IRSource(full_name).make_ir(None, context)
