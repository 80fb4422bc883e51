"""A pytest plugin that keeps the assembly that tests launch, as a seed corpus of simulator_fuzzer.

PYTHONPATH=test/fuzz python -m pytest test/python/sim -p simulator_seeds --seeds seeds
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

import tile.sim
import tile.sim.launcher as launcher

_texts: dict[tuple[str, ...], str] = {}
_load = launcher.load

# Longer texts slow the fuzzer down and teach it nothing new.
_LIMIT = 3500


def _recording(ptx: str):
    if len(ptx) <= _LIMIT:
        # One text for each set of instructions: tests run most of them with many values.
        opcodes = tuple(
            sorted(set(re.findall(r"^\s*(?:@\S+\s+)?([a-z]\S*)|; *([a-z]\S*)", ptx, re.M)))
        )
        key = tuple(str(o) for o in opcodes)
        if key not in _texts or len(ptx) < len(_texts[key]):
            _texts[key] = ptx
    return _load(ptx)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", default="build-fuzz/seeds")


def pytest_configure(config: pytest.Config) -> None:
    launcher.load = tile.sim.load = _recording


def pytest_unconfigure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ and not _texts:
        return
    folder = Path(config.getoption("--seeds"))
    folder.mkdir(parents=True, exist_ok=True)
    for text in _texts.values():
        name = hashlib.sha1(text.encode()).hexdigest()[:16]
        (folder / f"{name}.s").write_text(text)
