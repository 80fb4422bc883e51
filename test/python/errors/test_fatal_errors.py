"""Errors at which LLVM ends the process: an error of the compile, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from reference import sim_only

from tile import _C

pytestmark = sim_only

#: Compiles LLVM IR that the target cannot, and other kernels after each, in several threads.
PROGRAM = """
import re, sys, threading
import tile, tile.language as tl
from tile.backends import parse_target

target = parse_target(sys.argv[1])
last = "ptx" if target.backend == "cuda" else "amdgcn"

@tile.jit
def product(x, out, B: tl.constexpr):
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    a = tl.load(x + at)
    tl.store(out + at, tl.dot(a, a))

@tile.jit
def add(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, tl.load(x + at) + 1)

def make(fn, size, **options):
    source = tile.compiler.ASTSource(fn, {"x": "*fp16", "out": "*fp32"}, {"B": size})
    return tile.compile(source, target=target, options=options, stop_at=last)

bad = []
for i, (fn, size) in enumerate([(add, 64), (product, 32)]):
    text = make(fn, size).asm["llir"]
    other = "amdgcn.s.barrier" if target.backend == "cuda" else "nvvm.barrier0"
    text = text.replace("ret void", f"call void @llvm.{other}()\\n  ret void")
    path = f"{sys.argv[2]}/bad{i}.llir"
    open(path, "w").write(text + f"\\ndeclare void @llvm.{other}()\\n")
    bad.append(path)

def work(seed):
    for i in range(3):
        try:
            tile.compile(bad[(seed + i) % 2], target=target, stop_at=last)
        except Exception as error:
            refused.append(str(error))
        # Of both kinds, which LLVM schedules by different options.
        make(product, 64, num_warps=4 + 4 * (seed % 2))
        make(add, 128 << (seed + i))

refused = []
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
assert len(refused) == 9, refused
assert all("LLVM cannot compile this: Cannot select" in text for text in refused), refused
make(product, 16)
print("done")
"""


@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx1100", "cuda:90"])
def test_the_next_compile_goes_on(target, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, script, target, tmp_path], capture_output=True, text=True, timeout=300,
        env={**os.environ, "TILE_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.stdout == "done\n", done.stderr


def test_llvm_ir_of_another_machine():
    text = 'target triple = "nvptx64-nvidia-cuda"\ndefine void @f() {\n  ret void\n}\n'
    options = _C.amd.AMDGCNOptions()
    options.processor = "gfx942"
    with pytest.raises(_C.ir.MLIRError, match="the LLVM IR is for nvptx64-nvidia-cuda, the target"):
        _C.amd.emit_assembly(text, _C.ir.Context(), options)
    ptx = _C.llvm.PTXOptions()
    ptx.compute_capability = 90
    text = text.replace("nvptx64-nvidia-cuda", "amdgcn-amd-amdhsa")
    for optimize in (False, True):
        with pytest.raises(_C.ir.MLIRError, match="the LLVM IR is for amdgcn-amd-amdhsa"):
            _C.llvm.emit_ptx(text, _C.ir.Context(), ptx, optimize=optimize)
