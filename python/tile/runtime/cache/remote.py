"""Caches that several machines share, behind the cache on disk.

TRITON_REMOTE_CACHE_BACKEND names the class that talks to one, as ``module:Class``. A remote cache
that fails costs time only: the first error is printed, and the process goes on without it.
"""

from __future__ import annotations

import contextlib
import json
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from ... import knobs
from ...errors import TileError
from .manager import GROUP_PREFIX, CacheManager, FileCacheManager, load_class


class RemoteCacheBackend(ABC):
    """The files of one key, somewhere else."""

    def __init__(self, key: str) -> None:
        self.key = key

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """The contents of those among the files that exist."""

    @abstractmethod
    def put(self, filename: str, data: bytes) -> None: ...


class FileRemoteCacheBackend(RemoteCacheBackend):
    """Files in a folder that machines share (TILE_REMOTE_CACHE_DIR)."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        root = knobs.cache.remote_dir
        if not root:
            raise TileError("TILE_REMOTE_CACHE_DIR names the folder of the remote cache")
        self._files = FileCacheManager(key, root=root)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = {}
        for name in filenames:
            with contextlib.suppress(FileNotFoundError):
                found[name] = Path(self._files.cache_dir, name).read_bytes()
        return found

    def put(self, filename: str, data: bytes) -> None:
        self._files.put(data, filename)


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """A Redis server (``pip install redis``)."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError:
            raise TileError(
                "the Redis cache needs the package `redis`: pip install redis"
            ) from None
        settings = knobs.redis
        self._format = settings.key_format
        # A server that is gone is not waited for.
        self._redis = redis.Redis(
            settings.host, settings.port, socket_timeout=10, retry=Retry(NoBackoff(), 0)
        )

    def _key(self, filename: str) -> str:
        return self._format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        values: Any = self._redis.mget([self._key(name) for name in filenames])
        return {n: v for n, v in zip(filenames, values, strict=True) if v is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._redis.set(self._key(filename), data)


#: Backends that failed in this process, by name.
_failed: set[str] = set()


class RemoteCacheManager(CacheManager):
    """A folder on disk, filled from a remote cache and written through to it."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        self._local = FileCacheManager(key, override, dump)
        named = knobs.cache.remote_manager_class or ""
        self._name = named if isinstance(named, str) else named.__qualname__
        self._backend: Any = None
        if override or dump:
            return
        if not self._name:
            raise TileError(
                "TILE_REMOTE_CACHE_BACKEND names the class of the remote cache, as module:Class"
            )
        cls = load_class(named, "TILE_REMOTE_CACHE_BACKEND") if isinstance(named, str) else named
        self._backend = self._try(lambda: cls(key))

    def _try(self, call: Any) -> Any:
        if self._name in _failed:
            return None
        try:
            return call()
        except TileError:
            raise
        except Exception as error:
            _failed.add(self._name)
            print(f"tile: going on without the cache {self._name}: {error}", file=sys.stderr)
            return None

    def _fetch(self, filenames: list[str]) -> dict[str, bytes]:
        if self._backend is None or not filenames:
            return {}
        return self._try(lambda: self._backend.get(filenames)) or {}

    def get_file(self, filename: str) -> str | None:
        path = self._local.get_file(filename)
        if path is None:
            for name, data in self._fetch([filename]).items():
                path = self._local.put(data, name)
        return path

    def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
        path = self._local.put(data, filename, binary)
        content = data if isinstance(data, (bytes, bytearray)) else str(data).encode()
        if self._backend is not None:
            self._try(lambda: self._backend.put(filename, bytes(content)))
        return path

    def get_group(self, filename: str) -> dict[str, str] | None:
        found = self._local.get_group(filename)
        if found is not None:
            return found
        record = self._fetch([GROUP_PREFIX + filename])
        try:
            names = list(json.loads(record[GROUP_PREFIX + filename])["child_paths"])
        except (KeyError, ValueError, TypeError):
            return found
        files = self._fetch(names)
        if len(files) != len(names):
            return found
        paths = {name: self._local.put(data, name) for name, data in files.items()}
        self._local.put_group(filename, paths)
        return paths

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        path = self._local.put_group(filename, group)
        data = Path(path).read_bytes()
        if self._backend is not None:
            self._try(lambda: self._backend.put(GROUP_PREFIX + filename, data))
        return path

    def remove_group(self, filename: str) -> None:
        self._local.remove_group(filename)
