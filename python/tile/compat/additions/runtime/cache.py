"""What ``triton.runtime.cache`` has beside our own names."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from tile.compiler.key import compiler_key


def _base32(key: str) -> str:
    """The name of a key's folder."""
    return base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")


def triton_key() -> str:
    """Identifies the compiler in cache keys."""
    return compiler_key()


def get_cache_key(src: Any, backend: Any, backend_options: Any, env_vars: dict) -> str:
    """Under which key a compile is kept."""
    parts = [triton_key(), src.hash(), backend.hash(), backend_options.hash()]
    return "-".join([*parts, str(sorted(env_vars.items()))])


def make_so_cache_key(
    version_hash: str, signature: dict, constants: dict, ids: Any, **kwargs: Any
) -> str:
    """The key of a launcher that was built for a signature."""
    parts = [version_hash, *map(str, signature.values()), str(constants), str(ids)]
    parts += [str(kwargs[name]) for name in kwargs]
    return hashlib.sha256("-".join(parts).encode()).hexdigest()
