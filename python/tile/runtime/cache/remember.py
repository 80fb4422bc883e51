"""What takes a while to find out about a file, remembered until the file changes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from .manager import FileCacheManager


@functools.lru_cache(maxsize=16)
def _remembered(what: str, path: str, stamp: str, find: Callable[[str], str]) -> str:
    key = hashlib.sha256(f"{what}\0{path}\0{stamp}".encode()).hexdigest()
    manager = FileCacheManager(key)
    name = f"{what}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(Path(manager.cache_dir, name).read_bytes())
        if found["sum"] == hashlib.sha256(found["value"].encode()).hexdigest():
            return found["value"]
    value = find(path)
    record = {"value": value, "sum": hashlib.sha256(value.encode()).hexdigest()}
    manager.sweep()
    with contextlib.suppress(OSError):
        manager.put(json.dumps(record), name, binary=False)
    return value


def remembered(what: str, path: str, find: Callable[[str], str]) -> str:
    """`find(path)`, which is called again when the file is another one."""
    stat = os.stat(path)
    stamp = f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ino}"
    return _remembered(what, path, stamp, find)
