"""`tile env`"""

from __future__ import annotations

import importlib.metadata
import platform
import sys

import click

from .. import __version__, knobs
from ..errors import TileError
from .progress import working
from .table import print_json, show, with_json


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _drivers() -> list[tuple[str, str]]:
    from ..backends import drivers

    rows = []
    for name, cls in sorted(drivers().items(), key=lambda item: item[1].priority):
        rows.append((f"driver {name}", "can be used" if cls.is_active() else "no device"))
    return rows


def _choice() -> str:
    from ..runtime.driver import driver

    try:
        active = driver.active
        target = active.get_current_target()
    except TileError as error:
        return f"none: {error}"
    if knobs.interpreting():
        return "none: kernels are interpreted (TILE_INTERPRET)"
    why = "TILE_DRIVER says so" if knobs.runtime.driver else "the first that can be used"
    return f"{active.name}, for {target}: {why}"


def _self_test() -> str:
    """Runs a kernel and checks what it stored."""
    import numpy as np

    from ._self_test import double

    x = np.arange(100, dtype=np.float32)
    out = np.full(128, -1, np.float32)
    try:
        report = double.simulate(x, out, 100, grid=(1,), BLOCK=128)
    except TileError as error:
        return f"failed: {error}"
    if not report.ok or (out[:100] != x * 2).any() or (out[100:] != -1).any():
        return "failed: wrong results"
    return "passed: a kernel was compiled, and ran in the simulator with all checks"


@click.command("env")
@click.option("--no-test", is_flag=True, help="Leave the self test out.")
@with_json
def command(no_test: bool, as_json: bool) -> int:
    """Show what is installed, which driver is used and why, and run a self test."""
    from ..backends import backends

    rows = [
        ("tile", __version__),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        ("platform", platform.platform()),
        *((name, _version(name)) for name in ("numpy", "torch", "cuda-python", "redis")),
    ]
    for backend in backends().values():
        rows += backend.describe_tools()
    rows += [*_drivers(), ("driver in use", _choice()), ("cache", knobs.cache.dir)]
    with working("Running the self test"):
        result = "left out" if no_test else _self_test()
    rows.append(("self test", result))
    if as_json:
        print_json(dict(rows))
    else:
        show(("what", "which"), rows)
    return 1 if result.startswith("failed") else 0
