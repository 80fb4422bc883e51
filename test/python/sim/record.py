"""A pytest plugin that keeps what the simulator tests launch, so that a GPU can run the same.

    export PYTHONPATH=test/python/sim
    python -m pytest test/python/sim -p record --record-launches launches.pkl.xz
    python test/gpu/replay_simulated.py launches.pkl.xz          # on a machine with a GPU

Only launches without findings are kept, the first of each kernel and shape; each with its arguments
before and its arrays after.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import pickle

import numpy as np

import tile.sim
import tile.sim.launcher as launcher

_launches: list[dict] = []
_seen: set[bytes] = set()
_original = launcher.launch


def _recording(ptx, entry, grid, block, args, **options):
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    allocations = options.get("allocations", ())
    memory = list(allocations.values() if isinstance(allocations, dict) else allocations)
    extra = [a.copy() for a in memory]
    report = _original(ptx, entry, grid, block, args, **options)
    kind = hashlib.sha1(repr((ptx, entry, grid, block, options.get("cluster"))).encode()).digest()
    if report.ok and kind not in _seen and ".amdgcn_target" not in ptx:
        _seen.add(kind)
        test = os.environ.get("PYTEST_CURRENT_TEST", "?").split(" ")[0]
        entry_data = {
            "test": test,
            "ptx": ptx,
            "entry": entry,
            "grid": grid,
            "block": block,
            "cluster": options.get("cluster", (1, 1, 1)),
            "dynamic_shared": options.get("dynamic_shared", 0),
            "before": before,
            "after": [a.copy() if isinstance(a, np.ndarray) else None for a in args],
            "address": [
                a.__array_interface__["data"][0] if isinstance(a, np.ndarray) else None
                for a in args
            ],
            "extra": extra,
            "extra_after": [a.copy() for a in memory],
            "extra_address": [a.__array_interface__["data"][0] for a in memory],
            "params": tile.sim.load(ptx).params(entry),
        }
        _launches.append(entry_data)
    return report


def pytest_addoption(parser):
    parser.addoption("--record-launches", default="launches.pkl.xz")


def pytest_configure(config):
    launcher.launch = tile.sim.launch = _recording


def pytest_unconfigure(config):
    # Arrays after a launch are mostly those before it: xz sees that, gzip does not.
    with lzma.open(config.getoption("--record-launches"), "wb") as file:
        pickle.dump(_launches, file)
    print(f"{len(_launches)} launches recorded")
