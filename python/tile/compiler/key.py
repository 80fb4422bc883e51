"""What identifies this compiler in the keys of compiled kernels.

Keys come from contents alone: the same wheel on two machines, or unpacked twice, finds what it
compiled before.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from .. import _C

#: The parts of the Python half that decide about what is compiled.
_FOLDERS = ("backends", "compiler", "experimental", "language", "runtime")


@functools.lru_cache(maxsize=1)
def compiler_key() -> str:
    """Identifies this build of the compiler."""
    from ..backends import folders

    package = Path(__file__).resolve().parents[1]
    hasher = hashlib.sha256()
    native = _C.build_id()
    hasher.update(native.encode() if native else Path(_C.__file__).read_bytes())
    roots = {name: package / name for name in _FOLDERS}
    roots.update({f"backends/{name}": folder for name, folder in folders().items()})
    for name, root in sorted(roots.items()):
        for path in sorted(root.rglob("*.py")):
            text = path.read_bytes()
            hasher.update(f"\0{name}/{path.relative_to(root)}:{len(text)}\0".encode())
            hasher.update(text)
    return hasher.hexdigest()
