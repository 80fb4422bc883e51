"""What runs the kernels of tests, wherever these are: for conftest.py."""

from __future__ import annotations

import functools
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

# Kernels run in the simulator unless the caller chose another driver.
os.environ.setdefault("TILE_DRIVER", "sim")
# There is a process of tests for each core; threads of NumPy's dots would only wait for one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


#: Whether the whole session runs kernels on a GPU.
ON_GPU = os.environ["TILE_DRIVER"] == "cuda"
if ON_GPU:
    import on_device

    on_device.install()


def interpreting() -> bool:
    """Whether the whole session runs kernels in the interpreter."""
    return os.environ.get("TILE_INTERPRET", "0") != "0"


#: Waves of 64 and of 32 lanes, MFMA and WMMA.
AMD_TARGETS = ["hip:gfx942", "hip:gfx1100"]


def asked_target() -> str:
    """The target that the whole session runs kernels on, where the caller chose one."""
    return os.environ.get("TILE_SIM_TARGET", "")


def run_on(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of this test run on a target, simulated; a GPU that is there is what it is."""
    if os.environ["TILE_DRIVER"] != "sim":
        from tile.runtime import driver

        there = driver.active.get_current_target()
        if target != f"{there.backend}:{there.arch}":
            pytest.skip("needs the simulator")
    monkeypatch.setenv("TILE_SIM_TARGET", target)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "both_ways: runs kernels compiled, and again in the interpreter"
    )
    config.addinivalue_line("markers", "slow: one of many alike; `make test-all` runs them, too")
    config.addinivalue_line(
        "markers",
        "sweep(colors=2): of the combinations of its parameters those of one color stay, as on a "
        "chequerboard; the others are slow",
    )
    config.addinivalue_line("markers", "two_gpus: needs two GPUs that reach each other's memory")
    config.addinivalue_line(
        "markers", "nvidia(reason): is about NVIDIA's GPUs alone; skipped where AMD's are asked for"
    )
    config.addinivalue_line(
        "markers", "every_target: runs kernels for a GPU of each vendor and each width of warps"
    )
    config.addinivalue_line("markers", "compiled: looks at what the compiler makes of a kernel")
    config.addinivalue_line(
        "markers", "simulator: needs the simulator; a launch that fails would end a GPU's context"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    several = any(map(metafunc.definition.get_closest_marker, ("both_ways", "every_target")))
    several &= "machine" in metafunc.fixturenames and "target" not in metafunc.fixturenames
    if several and os.environ["TILE_DRIVER"] == "sim":
        both = metafunc.definition.get_closest_marker("both_ways") and not (
            interpreting() or asked_target()
        )
        ways = ["compiled", "interpreter"] if both else ["compiled"]
        if metafunc.definition.get_closest_marker("compiled"):
            ways = ["compiled"]
        if metafunc.definition.get_closest_marker("every_target") and not interpreting():
            ways += [] if asked_target() else AMD_TARGETS
        metafunc.parametrize("machine", ways, indirect=True)


def square(item: pytest.Item) -> dict[str, int]:
    """Where a combination of parameters lies, those of fixtures included: the number of each
    value. Names that get their values together have one."""
    indices, params = dict(item.callspec.indices), item.callspec.params
    for mark in item.iter_markers("parametrize"):
        names, values = mark.args
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
        chosen = [params[name] for name in names]
        for name in names:
            del indices[name]
        for i, value in enumerate(values):
            marked = isinstance(value, type(pytest.param(0)))
            parts = value.values if marked else [value] if len(names) == 1 else value
            if all(a is b for a, b in zip(parts, chosen, strict=True)):
                indices[names[0]] = i
    return indices


def color(item: pytest.Item, colors: int) -> int:
    """The color of the square on which a combination of parameters lies: the next value of each
    parameter is of the next color."""
    return sum(square(item).values()) % colors


#: The squares of each sweep, and whether `make test` keeps them.
SWEEPS = pytest.StashKey[dict[str, list[tuple[dict[str, int], bool]]]]()


def lost_by(sweep: list[tuple[dict[str, int], bool]]) -> set[tuple[tuple[str, int], ...]]:
    """What no square that is kept has: of two parameters a value, of more a pair of values. Seeds
    are samples: one is as good as another."""
    names = {name for place, _ in sweep for name in place} - {"seed"}
    moving = {n for n in names if len({place.get(n) for place, _ in sweep}) > 1}
    size = min(2, len(moving) - 1)
    if size < 1:
        return set()
    groups = [
        {part for part in itertools.combinations(sorted(place.items()), size)
         if moving.issuperset(name for name, _ in part)}
        for place, _ in sweep
    ]  # fmt: skip
    kept = [group for group, (_, keeps) in zip(groups, sweep, strict=True) if keeps]
    return set().union(*groups) - set().union(*kept)


#: Whether the tests were marked: each conftest.py that takes the hook is asked to.
_MARKED = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.stash.get(_MARKED, False):
        return
    config.stash[_MARKED] = True
    sweeps = config.stash.setdefault(SWEEPS, {})
    for item in items:
        sweep = item.get_closest_marker("sweep")
        if sweep and not item.get_closest_marker("slow"):
            keeps = color(item, *(sweep.args or (2,))) == 0
            sweeps.setdefault(item.nodeid.split("[")[0], []).append((square(item), keeps))
            if not keeps:
                item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("simulator") and os.environ["TILE_DRIVER"] != "sim":
            item.add_marker(pytest.mark.skip(reason="needs the simulator"))
        ways = getattr(item, "callspec", None)
        target = ways.params.get("machine", "") if ways else ""
        mark = item.get_closest_marker("nvidia")
        if mark and "hip:" in (asked_target() + target):
            item.add_marker(pytest.mark.skip(reason=f"for NVIDIA's GPUs: {mark.args[0]}"))
    if not interpreting():
        return
    for item in items:
        marked = item.get_closest_marker("both_ways") or not {"kernels", "interpreter"}.isdisjoint(
            item.path.parts
        )
        if item.get_closest_marker("compiled") or not marked:
            item.add_marker(pytest.mark.skip(reason="not for the interpreter"))


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    """What a test sets in `tile.knobs` ends with it, and so does its allocator."""
    from tile import knobs, set_allocator
    from tile.settings import Group

    # Modules of tests that import tile.compat turn it on for all; texts of errors depend on it.
    os.environ.pop("TILE_COMPAT", None)
    with ExitStack() as scopes:
        for group in vars(knobs).values():
            if isinstance(group, Group):
                scopes.enter_context(group.scope())
        yield
    set_allocator(None)


@pytest.fixture(autouse=True)
def surviving_context(request: pytest.FixtureRequest) -> Iterator[None]:
    """An assertion that fails, or an access to other memory, ends the context of a GPU: all later
    tests of the process fail. So tests with such launches have the mark `simulator`. One that lacks
    it fails here, in the simulator, and is what fails on a GPU, too."""
    failed_launches.clear()
    yield
    if ON_GPU:
        on_device.check_context(request.node.nodeid)
    elif failed_launches and not request.node.get_closest_marker("simulator"):
        pytest.fail(
            "a launch failed, which on a GPU would end the context for all later tests: give this "
            f"test the mark `simulator`\n{failed_launches[0]}"
        )


#: Why launches of the current test failed.
failed_launches: list[str] = []


def note_failed_launches() -> None:
    """Has launches in the simulator that fail noted in `failed_launches`. Tests that call the
    simulator themselves are no launches of a driver."""
    from tile.sim import SimulationError

    begin = SimulationError.__init__

    @functools.wraps(begin)
    def noting(self: SimulationError, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        if sys._getframe(1).f_globals["__name__"] == "tile.backends.sim_driver":
            failed_launches.append(str(self))

    SimulationError.__init__ = noting  # type: ignore[method-assign]


if os.environ["TILE_DRIVER"] == "sim":
    note_failed_launches()


@pytest.fixture(autouse=True)
def machine(
    request: pytest.FixtureRequest, own_settings: None, monkeypatch: pytest.MonkeyPatch
) -> str:
    """What runs the kernels of a test; both, one after the other, where a module is marked so."""
    way = getattr(request, "param", "compiled")
    if way == "interpreter":
        monkeypatch.setenv("TILE_INTERPRET", "1")
    elif way != "compiled":
        monkeypatch.setenv("TILE_SIM_TARGET", way)
    return way


@pytest.fixture(autouse=True, scope="session")
def private_cache() -> Iterator[None]:
    """Tests neither read nor leave compiled kernels in the user's cache. Theirs is in memory where
    it can be: thousands of small files are a tenth of what compiles of small kernels take."""
    if "TILE_CACHE_DIR" in os.environ:
        yield
        return
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tile-tests-", dir=place) as folder:
        os.environ["TILE_CACHE_DIR"] = folder
        yield
