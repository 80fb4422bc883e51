"""Where the files of a key are kept: in a folder on disk, or wherever a class of the user's
keeps them (TRITON_CACHE_MANAGER)."""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import os
import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from ... import knobs
from ...errors import TileError

GROUP_PREFIX = "__grp__"
#: What files are called while they are written.
TEMPORARY_PREFIX = ".tmp-"


class CacheManager(ABC):
    """Keeps the files of one key. A group is a set of files that belong together."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a file, None if there is none."""

    @abstractmethod
    def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
        """Keeps a file, and returns its path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """The paths of a group's files by their names, None if there is no such group."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Makes a group of files that were put before."""

    def remove_group(self, filename: str) -> None:  # noqa: B027
        """Forgets a group, whose files are about to be replaced."""


def folder_of(key: str) -> str:
    """The name of a key's folder: the bytes of the key in base32, or the key itself where it is
    not a hash."""
    try:
        return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")
    except ValueError:
        return key


class FileCacheManager(CacheManager):
    """Keeps files in ``<cache>/<key>/``; each appears as a whole."""

    def __init__(
        self, key: str, override: bool = False, dump: bool = False, *, root: str | None = None
    ) -> None:
        super().__init__(key, override, dump)
        settings = knobs.cache
        if root is None:
            root = (
                settings.dump_dir if dump else settings.override_dir if override else settings.dir
            )
        if not root:
            raise TileError("there is no folder for the cache: TILE_CACHE_DIR is empty")
        self.cache_dir = os.path.join(root, folder_of(key))

    def _path(self, filename: str) -> str:
        # Where the locale has no name for the file of a kernel, it gets another one.
        coding = sys.getfilesystemencoding()
        name = filename.encode(coding, "xmlcharrefreplace").decode(coding)
        return os.path.join(self.cache_dir, name)

    def has_file(self, filename: str) -> bool:
        return os.path.exists(self._path(filename))

    def get_file(self, filename: str) -> str | None:
        return self._path(filename) if self.has_file(filename) else None

    def put(self, data: Any, filename: str, binary: bool = True) -> str:
        content = data if isinstance(data, (bytes, bytearray)) else str(data).encode()
        os.makedirs(self.cache_dir, exist_ok=True)
        path = self._path(filename)
        temporary = self._path(f"{TEMPORARY_PREFIX}{os.getpid()}-{os.urandom(16).hex()}")
        try:
            with open(temporary, "wb") as file:
                file.write(content)
            # Also over a network file system, readers see the old file or the new one.
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        return path

    def get_group(self, filename: str) -> dict[str, str] | None:
        try:
            record = json.loads(Path(self._path(GROUP_PREFIX + filename)).read_bytes())
            recorded = dict(record["child_paths"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        group = {name: self._path(os.path.basename(name)) for name in recorded}
        if not all(map(os.path.exists, group.values())):
            return None  # Somebody removed a file: what is left makes no kernel.
        if group != recorded:
            # The cache was moved. Other programs read the paths in the record.
            with contextlib.suppress(OSError):
                self.put_group(filename, group)
        return group

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        if not isinstance(filename, str):
            raise TypeError(f"the name of a group is a string, not {filename!r}")
        record = json.dumps({"child_paths": group}, sort_keys=True)
        return self.put(record, GROUP_PREFIX + filename, binary=False)

    def remove_group(self, filename: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path(GROUP_PREFIX + filename))
        self.sweep()

    def sweep(self) -> None:
        """Removes what a process that died while it wrote left behind."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.cache_dir):
                if name.startswith(TEMPORARY_PREFIX):
                    os.unlink(self._path(name))


def load_class(name: str, variable: str) -> Any:
    """The class that a variable names as ``module:Class``."""
    module, colon, cls = name.partition(":")
    if not colon:
        raise TileError(f"{variable} is a class as module:Class, not {name!r}")
    # Under the names that programs written for Triton use, these classes are ours.
    module = "tile" + module.removeprefix("triton") if module.split(".")[0] == "triton" else module
    try:
        return getattr(importlib.import_module(module), cls)
    except (ImportError, AttributeError) as error:
        raise TileError(f"{variable} names {name}, which cannot be imported: {error}") from error


def get_cache_manager(key: str) -> CacheManager:
    """The manager that keeps the files of a key."""
    named = knobs.cache.manager_class
    if named:
        cls = load_class(named, "TILE_CACHE_MANAGER") if isinstance(named, str) else named
        return cls(key)
    if knobs.cache.remote_manager_class:
        from .remote import RemoteCacheManager

        return RemoteCacheManager(key)
    return FileCacheManager(key)


def get_override_manager(key: str) -> FileCacheManager:
    """The files that stand for what a compile would make (TRITON_KERNEL_OVERRIDE)."""
    return FileCacheManager(key, override=True)


def get_dump_manager(key: str) -> FileCacheManager:
    """Where the stages of a compile are dumped (TRITON_KERNEL_DUMP)."""
    return FileCacheManager(key, dump=True)
