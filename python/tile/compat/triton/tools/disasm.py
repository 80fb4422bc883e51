"""Machine code as text."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from tile import knobs
from tile.errors import CompilerToolError


def path_to_cuobjdump() -> str:
    """Where cuobjdump is."""
    found = knobs.nvidia.cuobjdump or shutil.which("cuobjdump")
    if found is None and os.path.exists("/usr/local/cuda/bin/cuobjdump"):
        found = "/usr/local/cuda/bin/cuobjdump"
    if found is None:
        raise CompilerToolError(
            "no cuobjdump: put it on the PATH, or name it in TILE_CUOBJDUMP_PATH"
        )
    return found


def extract(file_path: str, fun: str | None = None) -> str:
    """The machine code in a cubin file, of one kernel or of all."""
    command = [path_to_cuobjdump(), "-sass"]
    if fun is not None:
        command += ["-fun", fun]
    result = subprocess.run(
        [*command, file_path], capture_output=True, encoding="utf-8", errors="replace"
    )
    if result.returncode != 0:
        raise CompilerToolError(f"cuobjdump failed: {result.stderr.strip()}")
    return result.stdout


def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """The machine code of a cubin."""
    with tempfile.NamedTemporaryFile(suffix=".cubin", delete=False) as file:
        file.write(cubin_asm)
    try:
        return extract(file.name, fun)
    finally:
        os.remove(file.name)


__all__ = ["extract", "get_sass", "path_to_cuobjdump"]
