"""The cache of compiled kernels on disk.

A kernel is a folder with one file a stage and its metadata. It is written
under another name and moved into place, so that other processes, also over a
network file system, see all of it or nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from .. import knobs

_METADATA = "kernel.json"


class CacheEntry:
    """Where the kernel with a key is, or will be."""

    def __init__(self, key: str) -> None:
        self.path = Path(knobs.cache.dir) / key[:2] / key

    def load(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The metadata, and the files of the stages."""
        try:
            record = json.loads((self.path / _METADATA).read_bytes())
            stages = {stage: self.path / name for stage, name in record["files"].items()}
            return record["metadata"], stages
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, metadata: dict[str, Any], asm: dict[str, Any]) -> None:
        """Writes the kernel; a cache that cannot be written is no error."""
        temporary = None
        try:
            parent = self.path.parent
            parent.mkdir(parents=True, exist_ok=True)
            temporary = Path(tempfile.mkdtemp(prefix=".tmp-", dir=parent))
            files = {}
            for stage, content in asm.items():
                if knobs.compilation.store_binary_only and stage not in ("cubin", "ptx"):
                    continue
                files[stage] = f"{metadata['name'][:100]}.{stage}"
                data = content if isinstance(content, bytes) else content.encode()
                (temporary / files[stage]).write_bytes(data)
            record = {"metadata": metadata, "files": files}
            (temporary / _METADATA).write_text(json.dumps(record, indent=1, default=str))
            self._publish(temporary)
        except OSError:
            pass
        finally:
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)

    def _publish(self, temporary: Path) -> None:
        try:
            os.rename(temporary, self.path)
        except OSError:
            # Another process was first, or a damaged entry is in the way.
            if self.load() is None or knobs.compilation.always_compile:
                old = Path(tempfile.mkdtemp(prefix=".old-", dir=self.path.parent))
                os.rename(self.path, old / "entry")
                os.rename(temporary, self.path)
                shutil.rmtree(old, ignore_errors=True)


def open_cache(key: str) -> CacheEntry:
    """The entry of a key."""
    return CacheEntry(key)
