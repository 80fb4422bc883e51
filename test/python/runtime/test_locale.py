"""Programs with names of all languages, also where the locale knows none of their letters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from reference import sim_only

pytestmark = sim_only

PROGRAM = """
import sys
import numpy as np
import tile
import tile.language as tl

@tile.jit(noinline=True)
def verdreifaßt(ж):
    return ж * 3  # 三倍

@tile.jit
def füllen(p, N: tl.constexpr):
    tl.static_assert(N > 0, "zu wenig für größe")
    tl.store(p + tl.arange(0, N), verdreifaßt(tl.program_id(0)) + 5)

@tile.jit
def falsch(p):
    tl.store(p, größe)  # прямо здесь

x = np.zeros(64, np.int32)
kernel = füllen[(1,)](x, N=64)
assert (x == 5).all()
if not tile.knobs.interpreting():
    assert kernel.metadata.name == "f_llen"
try:
    falsch[(1,)](x)
except (tile.TileError, NameError) as error:
    interpreted = isinstance(error, NameError)
    assert "größe" in str(error) and (interpreted or "прямо здесь" in str(error)), ascii(str(error))
    print("ok", sys.getfilesystemencoding())
"""
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(program: Path, encoding: str, **variables: str) -> None:
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "TILE_DRIVER": "sim",
        **({"PYTHONUTF8": "1"} if encoding == "utf-8" else ASCII), **variables,
    }  # fmt: skip
    command = [sys.executable, os.fsencode(program)]
    done = subprocess.run(command, env=environment, capture_output=True)
    assert done.stdout.decode() == f"ok {encoding}\n", done.stderr.decode(errors="replace")


def test_programs_in_words_of_their_own(tmp_path):
    program = tmp_path / "größe" / "ядро.py"
    program.parent.mkdir()
    program.write_text(PROGRAM, encoding="utf-8")
    folders = {"TILE_CACHE_DIR": str(tmp_path / "cache"), "TILE_DUMP_DIR": str(tmp_path / "dump")}
    run(program, "utf-8", **folders)
    run(program, "ascii", **folders, TILE_KERNEL_DUMP="1", TILE_ALWAYS_COMPILE="1")
    (dumped,) = (tmp_path / "dump").glob("*/*.ttir")
    assert r"/gr\C3\B6\C3\9Fe/\D1\8F" in dumped.read_text(encoding="utf-8")
    override = {"TILE_KERNEL_OVERRIDE": "1", "TILE_OVERRIDE_DIR": str(tmp_path / "dump")}
    run(program, "ascii", **folders, **override)
    run(program, "ascii", **folders, TILE_INTERPRET="1")
