"""Tests on a GPU, of which some measure times: one runs at a time, also beside those of other
processes, as with `pytest -n 8`."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def alone_on_the_gpu() -> Iterator[None]:
    name = f"tile-test-gpu-{os.getuid()}.lock"
    with (Path(tempfile.gettempdir()) / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
