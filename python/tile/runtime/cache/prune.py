"""Keeps the cache below its size: what was used last stays."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from ... import knobs
from .lock import FOLDER as LOCKS
from .lock import is_held
from .manager import TEMPORARY_PREFIX

_TRASH_PREFIX = ".trash-"
_STAMP = ".pruned"
_HOUR = 3600.0
#: Entries are removed until the cache has this part of its limit.
_KEEP = 0.9
#: Bytes that this process wrote since it last looked at the whole cache.
_written = 0


@dataclass(frozen=True)
class EntryInfo:
    """A folder of the cache."""

    path: str
    size: int
    last_use: float
    #: The names of the kernels in it.
    kernels: tuple[str, ...]


def used(path: str) -> None:
    """Notes that the entry with this file was used; an hour is fine enough."""
    with contextlib.suppress(OSError):
        if abs(time.time() - os.stat(path).st_mtime) > _HOUR:
            os.utime(path)


def written(size: int) -> None:
    """Notes that the cache grew. Now and then its size is looked at."""
    global _written
    _written += size
    limit = knobs.cache.size_limit
    if limit <= 0:
        return
    root = knobs.cache.dir
    if _written < limit / 16 and not _is_due(root):
        return
    _written = 0
    with contextlib.suppress(OSError):
        prune(limit)


def _is_due(root: str) -> bool:
    """Whether no process has looked for an hour."""
    try:
        return abs(time.time() - os.stat(os.path.join(root, _STAMP)).st_mtime) > _HOUR
    except OSError:
        return True


def entries(root: str | None = None) -> Iterator[EntryInfo]:
    """All entries of the cache."""
    root = knobs.cache.dir if root is None else root
    with contextlib.suppress(FileNotFoundError), os.scandir(root) as folders:
        for folder in folders:
            if not folder.name.startswith(".") and folder.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    yield _describe(folder.path)


def _describe(path: str) -> EntryInfo:
    size, last_use, kernels = 0, 0.0, []
    with os.scandir(path) as files:
        for file in files:
            stat = file.stat()
            size += stat.st_size
            last_use = max(last_use, stat.st_mtime)
            if file.name.startswith("__grp__"):
                kernels.append(file.name.removeprefix("__grp__").removesuffix(".json"))
    return EntryInfo(path, size, last_use, tuple(sorted(kernels)))


def prune(limit: int) -> tuple[int, int]:
    """Removes what was not used for the longest time until the cache has less than `limit`
    bytes, and what processes that died left behind. Returns how many entries and bytes went."""
    root = knobs.cache.dir
    if not os.path.isdir(root):
        return 0, 0
    _sweep(root)
    with open(os.path.join(root, _STAMP), "wb"):
        pass
    known = list(entries(root))
    total = sum(entry.size for entry in known)
    if total <= limit:
        return 0, 0
    removed = freed = 0
    # A clock that ran ahead must not keep an entry forever.
    now = time.time()
    for entry in sorted(known, key=lambda e: (min(e.last_use, now), e.path)):
        if total - freed <= _KEEP * limit:
            break
        if _remove(root, entry.path):
            removed += 1
            freed += entry.size
    return removed, freed


def clear() -> tuple[int, int]:
    """Removes all entries."""
    root = knobs.cache.dir
    known = list(entries(root))
    gone = [entry for entry in known if _remove(root, entry.path)]
    if os.path.isdir(root):
        _sweep(root)
    return len(gone), sum(entry.size for entry in gone)


def _remove(root: str, path: str) -> bool:
    """Takes an entry away at once, so that nobody reads half of it."""
    trash = os.path.join(root, f"{_TRASH_PREFIX}{os.urandom(16).hex()}")
    try:
        os.rename(path, trash)
    except OSError:
        return False
    _remove_tree(trash)
    return True


def _remove_tree(path: str) -> None:
    from shutil import rmtree  # Not part of what `import tile` costs.

    rmtree(path, ignore_errors=True)


def _sweep(root: str) -> None:
    """Removes what processes that died left behind."""
    old = time.time() - _HOUR
    for entry in os.scandir(root):
        with contextlib.suppress(OSError):
            if entry.name.startswith(_TRASH_PREFIX):
                _remove_tree(entry.path)
            elif entry.name == LOCKS:
                for lock in os.scandir(entry.path):
                    if lock.stat().st_mtime < old and not is_held(lock.path):
                        os.unlink(lock.path)
            elif entry.is_dir(follow_symlinks=False):
                for file in os.scandir(entry.path):
                    if file.name.startswith(TEMPORARY_PREFIX) and file.stat().st_mtime < old:
                        os.unlink(file.path)
