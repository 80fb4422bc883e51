"""A backend outside of tile is found and used like those inside of it: nothing in python/tile names
what it has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tile
from tile.backends import all_stages, folders

CHECKOUT = Path(__file__).resolve().parents[3]
FOLDER = CHECKOUT / "test/backends/toy"

PROGRAM = """
import pickle, sys, tile, tile.language as tl
from tile.backends import GPUTarget, parse_target, kinds
from tile.compiler import ASTSource

@tile.jit
def add(x, y, n: tl.constexpr):
    at = tl.arange(0, n)
    tl.store(y + at, tl.load(x + at) + 1.0)

@tile.jit
def loop(x, n, m: tl.constexpr):
    for i in range(n):
        tl.store(x + i, 0.0)

def source(fn, **constants):
    return ASTSource(fn, {"x": "*fp32", **more[fn]}, constants)

more = {add: {"y": "*fp32"}, loop: {"n": "i32"}}
target = parse_target("toy:one")

def refusal(call):
    try:
        call()
    except tile.TileError as error:
        return str(error)
    return "no refusal"
"""


def run(program: str, tmp_path: Path, **environment: str) -> str:
    # Kernels are read from their file.
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + program)
    done = subprocess.run(
        [sys.executable, path],
        env={**os.environ, "TILE_BACKENDS": str(FOLDER), "TILE_CACHE_DIR": str(tmp_path / "cache"),
             **environment},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_compile(tmp_path):
    printed = run(
        """
kernel = tile.compile(source(add, n=64), target=target)
print(*kernel.asm)
print(kernel.asm["toyasm"])
print(kernel.kernel == kernel.asm["toybin"], kernel.assembly == kernel.asm["toyasm"], kernel.n_regs)
kernel.src = None
copy = pickle.loads(pickle.dumps(kernel))
print(copy.asm["toybin"] == kernel.asm["toybin"], type(copy.asm["toybin"]).__name__)
print(kinds())
""",
        tmp_path,
    )
    assert "ttir toyasm toybin" in printed
    assert ".machine one\n.kernel add\n" in printed
    assert "= tt.load" in printed and "= arith.addf" in printed and "tt.store" in printed
    count = sum(" = " in line for line in printed.splitlines())
    assert f"True True {count}" in printed
    assert "True bytes" in printed
    assert "['cuda', 'hip', 'toy']" in printed


def test_cache_keeps_text_and_bytes(tmp_path):
    program = """
kernel = tile.compile(source(add, n=64), target=target)
print(sorted(kernel.asm), kernel.asm["toybin"][:2], kernel.asm["toyasm"][:8])
"""
    first, second = (run(program, tmp_path) for _ in range(2))
    assert first.replace("'source', ", "") == second.replace("'source', ", "")
    assert ".machine" in second and "b'x" in second
    third = run(
        program.replace(', kernel.asm["toyasm"][:8]', ""), tmp_path,
        TILE_CACHE_DIR=str(tmp_path / "binary"), TILE_STORE_BINARY_ONLY="1",
    )  # fmt: skip
    assert "toybin" in third
    stored = [p.name for p in (tmp_path / "binary").rglob("add.*")]
    assert "add.toybin" in stored and "add.toyasm" not in stored


def test_start_from_its_text(tmp_path):
    printed = run(
        """
from pathlib import Path
text = Path(sys.argv[0]).with_name("k.toyasm")
text.write_text(tile.compile(source(add, n=64), target=target).asm["toyasm"])
kernel = tile.compile(str(text), target=target)
print(kernel.name, *kernel.asm)
print(refusal(lambda: tile.compile(str(text), target=parse_target("toy:two"))))
print(refusal(lambda: tile.compile(str(text), target=GPUTarget("cuda", 90, 32))))
""",
        tmp_path,
    )
    assert "add toyasm toybin" in printed
    assert "k.toyasm: the file is for toy:one, the target is toy:two" in printed
    assert "k.toyasm: the file is for toy:one, the target is cuda:90" in printed


def test_options_settings_and_refusals(tmp_path):
    printed = run(
        """
import numpy as np
x = np.zeros(64, np.float32)
print(tile.compile(source(add, n=64), target=target).asm["toyasm"].count("w0"))
kernel = tile.compile(source(add, n=64), target=target, options={"toy_prefix": "q"})
print(kernel.asm["toyasm"].count("q0"), tile.knobs.toy.prefix)
print(refusal(lambda: tile.compile(source(loop, m=1), target=target)))
print(refusal(lambda: parse_target("toy:three")))
print(refusal(lambda: add.warmup(x, x, n=64, grid=(1,), toy_prefix="q")))
""",
        tmp_path,
        TILE_TOY_PREFIX="w",
        TILE_SIM_TARGET="cuda:90",
    ).splitlines()
    assert int(printed[0]) > 0 and printed[1].endswith(" w") and int(printed[1].split()[0]) > 0
    assert "the toy machine has no `scf.for`" in printed[2]
    assert any("unknown target toy:three" in line for line in printed)
    # A launch for another target may not say it, and learns what that has.
    assert "unknown option `toy_prefix`; the options are" in printed[-1]


def test_programs_with_layouts_are_refused(tmp_path):
    out = run(
        """
from tile.experimental import gluon
from tile.experimental.gluon import language as gl

@gluon.jit
def explicit(x, n):
    gl.barrier()

source = gluon.GluonASTSource(explicit, {"x": "*fp32", "n": "i32"})
print(refusal(lambda: tile.compile(source, target=target)))
""",
        tmp_path,
    )
    assert "tile does not compile Gluon programs for it yet" in out


def test_a_folder_without_a_backend(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "import tile.backends as b; b.folders()"],
        env={**os.environ, "TILE_BACKENDS": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert f"TILE_BACKENDS names {tmp_path}, which has no compiler.py" in done.stderr


def test_stages_of_the_backends():
    """Names of stages are the keys of `kernel.asm`: each means one thing in a backend."""
    seen = [(kind, stage.name) for kind, stage in all_stages()]
    assert len(set(seen)) == len(seen)
    for name in folders():
        stages = sys.modules[f"tile.backends.{name}.stages"].STAGES
        assert stages[0].name == "ttir" and any(s.is_code for s in stages)
        made = tile.backends.backends()[name].STAGES
        assert made is stages
