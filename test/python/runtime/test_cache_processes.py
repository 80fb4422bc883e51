"""Processes that share a cache, and processes that die."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from reference import sim_only

pytestmark = sim_only


@pytest.fixture
def run(tmp_path):
    def call(*args, **variables) -> dict:
        environment = {
            **os.environ, "TILE_CACHE_DIR": str(tmp_path / "cache"), "TILE_DRIVER": "sim",
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **variables,
        }  # fmt: skip
        program = Path(__file__).parent / "many_processes.py"
        done = subprocess.run(
            [sys.executable, str(program), *map(str, args)],
            env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return call


def test_one_cold_cache_for_32_processes(run):
    found = run("cold", 32)
    assert len(found["results"]) == 32
    assert all(r["right"] for r in found["results"])
    built = [key for r in found["results"] for key in r["built"]]
    assert len(built) == len(set(built)) == 3, "kernels were compiled more than once"
    assert not found["left"]


def test_killed_while_writing(run):
    found = run("killed_while_writing")
    *died, last = found["results"]
    assert [r.get("signal") for r in died[:7]] == [signal.SIGKILL] * 7
    assert last["right"]
    assert not [name for name in found["left"] if name.startswith(".")]


def test_killed_with_the_lock(run):
    found = run("killed_with_the_lock")
    assert found["results"]["waited"] < 2 and found["results"]["other"] < 2
    assert not found["left"]


def test_a_holder_that_hangs(run):
    found = run("hung_holder", TILE_CACHE_LOCK_TIMEOUT="0.3")
    assert found["results"]["made"] == "made"
    assert 0.25 < found["results"]["waited"] < 5


def test_forked_while_compiling(run):
    assert run("forked_while_compiling")["results"]["waited"] < 2


def test_forked_after_use(run):
    results = run("forked_after_use")["results"]
    assert all(r["right"] and r["new"] and not r["built"] for r in results), results


def installed(folder: Path) -> Path:
    """A copy of the package, with its backends, as a wheel has it."""
    import tile
    from tile.backends import folders

    package = folder / "tile"
    source, no_binaries = Path(tile.__file__).parent, shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(source, package, ignore=no_binaries)
    native = Path(tile._C.__file__)
    (package / native.name).symlink_to(native)
    for name, backend in folders().items():
        if not (package / "backends" / name).exists():
            shutil.copytree(backend, package / "backends" / name, ignore=no_binaries)
    return package


def test_two_versions_side_by_side(run, tmp_path):
    """Each finds in one cache what it compiled itself, and nothing of the other."""
    paths = []
    for version in ("old", "new"):
        package = installed(tmp_path / version)
        with (package / "language" / "math.py").open("a") as file:
            file.write(f"\n#: {version}\n")
        paths.append(os.pathsep.join([str(tmp_path / version), *(p for p in sys.path if p)]))
    built = []
    for path in (*paths, paths[0]):
        (result,) = run("cold", 1, PYTHONPATH=path)["results"]
        assert result["right"]
        built.append(result["built"])
    assert [len(keys) for keys in built] == [3, 3, 0]
    assert not set(built[0]) & set(built[1])


@pytest.fixture(scope="session")
def network_file_system(tmp_path_factory) -> Path:
    """A library that gives a folder the manners of one, loaded before the C library."""
    source = Path(__file__).parent / "network_file_system.c"
    library = tmp_path_factory.mktemp("network") / "network_file_system.so"
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    return library


@pytest.mark.parametrize("locks", ["", "1"], ids=["without locks", "with locks"])
def test_a_network_file_system_costs_time_only(run, network_file_system, tmp_path, locks):
    """Lost replies, stale handles, files that are not seen yet, a server's clock two hours off."""
    variables = {"LD_PRELOAD": str(network_file_system), "NFS_FOLDER": str(tmp_path / "cache")}
    if locks:
        variables["NFS_HAS_LOCKS"] = locks
    for _ in range(2):
        found = run("cold", 4, **variables)
        assert all(r["right"] for r in found["results"])
        assert not [name for name in found["left"] if not name.startswith(".trash-")]
    (result,) = run("cold", 1)["results"]
    assert result["right"] and len(result["built"]) <= 3


def test_readers_see_all_or_nothing(run):
    results = run("writers_and_readers")["results"]
    assert all(r["wrote"] > 3 for r in results[:2])
    assert all(r["read"] > 3 and r["torn"] == 0 for r in results[2:])
