"""One kernel in the cache: its files, checked when they are read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .lock import exclusive
from .manager import GROUP_PREFIX, CacheManager, FileCacheManager, get_cache_manager
from .prune import used, written

_CHECKSUMS = "checksums"
_LONGEST_NAME = 200


class Damaged(Exception):
    """A file of an entry is not what was written."""


def checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class CachedFile:
    """A file of an entry; looked at when somebody wants its contents."""

    def __init__(self, path: str, digest: str) -> None:
        self.path = path
        self.digest = digest

    def read(self) -> bytes:
        """The contents. Raises Damaged where they are not what was written."""
        try:
            data = Path(self.path).read_bytes()
        except OSError as error:
            raise Damaged(f"{self.path}: {error.strerror}") from None
        if checksum(data) != self.digest:
            raise Damaged(f"{self.path} is damaged")
        return data


class CacheEntry:
    """Where the kernel with a key is, or will be."""

    def __init__(self, key: str, name: str) -> None:
        self.key = key
        self.name = name[:_LONGEST_NAME]
        self._manager: CacheManager | None = None

    @property
    def manager(self) -> CacheManager:
        if self._manager is None:
            self._manager = get_cache_manager(self.key)
        return self._manager

    @property
    def _metadata_file(self) -> str:
        return f"{self.name}.json"

    def load(self) -> tuple[dict[str, Any], dict[str, CachedFile]] | None:
        """The metadata and the stages, None where there is no sound entry."""
        group = self.manager.get_group(self._metadata_file)
        if group is None:
            return None
        try:
            record, stages = _read(group, self._metadata_file)
        except Damaged:
            return None
        if record.get("hash") != self.key:
            return None  # Copied here from another entry.
        used(group[self._metadata_file])
        return record, stages

    def files(self) -> dict[str, str]:
        """The paths of the entry's files, by their names; empty where there is none."""
        return self.manager.get_group(self._metadata_file) or {}

    def store(self, metadata: dict[str, Any], asm: dict[str, Any]) -> None:
        """Writes the kernel; a cache that cannot be written is no error."""
        with contextlib.suppress(OSError):
            manager = self.manager
            # Whoever reads meanwhile sees no entry, rather than a mixture of two.
            manager.remove_group(self._metadata_file)
            group, sums, size = {}, {}, 0
            for stage in asm:
                content = asm[stage]
                data = content if isinstance(content, bytes) else content.encode()
                filename = f"{self.name}.{stage}"
                group[filename] = manager.put(data, filename)
                sums[filename] = checksum(data)
                size += len(data)
            plain = json.loads(json.dumps(metadata, default=str))
            own = {self._metadata_file: _metadata_checksum(plain, sums)}
            text = json.dumps({**plain, _CHECKSUMS: {**sums, **own}}, indent=1)
            group[self._metadata_file] = manager.put(text, self._metadata_file, binary=False)
            manager.put_group(self._metadata_file, group)
            written(size + len(text))

    def load_or_build(self, load: Callable[[], Any], build: Callable[[], Any]) -> Any:
        """What `load` finds or, in one process at a time, what `build` makes."""
        with exclusive(self.key):
            # Another process may have been here since the caller looked.
            found = load()
            return build() if found is None else found


def _metadata_checksum(record: dict[str, Any], sums: dict[str, str]) -> str:
    return checksum(json.dumps([record, sums], sort_keys=True).encode())


def _read(group: dict[str, str], filename: str) -> tuple[dict[str, Any], dict[str, CachedFile]]:
    """The metadata in a group's file and its stages. Raises Damaged."""
    try:
        record = json.loads(Path(group[filename]).read_bytes())
        sums = record.pop(_CHECKSUMS)
        if sums.pop(filename) != _metadata_checksum(record, sums):
            raise Damaged(f"{group[filename]} is damaged")
        stages = {n.rpartition(".")[2]: CachedFile(group[n], sums[n]) for n in sums}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"{filename} of an entry cannot be read: {error}") from None
    return record, stages


def verify(folder: str) -> list[str]:
    """What is wrong with the kernels in a folder of the cache: one line each."""
    wrong = []
    manager = FileCacheManager(os.path.basename(folder), root=os.path.dirname(folder))
    try:
        names = sorted(n for n in os.listdir(folder) if n.startswith(GROUP_PREFIX))
    except OSError as error:
        return [f"{folder}: {error.strerror}"]
    for path in (Path(folder, name) for name in names):
        name = path.name.removeprefix(GROUP_PREFIX)
        try:
            group = manager.get_group(name)
            if group is None:
                raise Damaged(f"{path} is damaged")
            for stage in _read(group, name)[1].values():
                stage.read()
        except Damaged as error:
            wrong.append(str(error))
    return wrong
