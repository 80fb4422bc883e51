"""The cache of compiled kernels on disk.

A kernel is a folder, named after its key, with one file a stage, its metadata in ``<kernel>.json``
and the list of them in ``__grp__<kernel>.json``, which is written last. What is read is checked
against checksums in the metadata. So an entry that is cut, has a wrong bit, is another kernel's or
is written by half counts as missing. The kernel is compiled again, and the entry is replaced.
"""

from __future__ import annotations

from .entry import CachedFile, CacheEntry, Damaged
from .manager import (
    CacheManager,
    FileCacheManager,
    folder_of,
    get_cache_manager,
    get_dump_manager,
    get_override_manager,
)
from .prune import clear, entries, prune
from .remote import (
    FileRemoteCacheBackend,
    RedisRemoteCacheBackend,
    RemoteCacheBackend,
    RemoteCacheManager,
)

__all__ = [
    "CacheEntry", "CacheManager", "CachedFile", "Damaged", "FileCacheManager",
    "FileRemoteCacheBackend", "RedisRemoteCacheBackend", "RemoteCacheBackend", "RemoteCacheManager",
    "clear", "entries", "folder_of", "get_cache_manager", "get_dump_manager",
    "get_override_manager", "prune",
]  # fmt: skip
