"""scripts/check_layers.py finds what breaks the layering, and the tree has none of it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def check(root: Path) -> list[str]:
    run = subprocess.run(
        [sys.executable, root / "scripts/check_layers.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode != 0) == bool(run.stderr)
    return run.stderr.splitlines()


def test_tree_keeps_to_its_layers():
    assert check(ROOT) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "lib/Layout/Bad.cpp",
            '// A comment.\n#include "tile/Analysis/AxisInfo.h"\n',
            "lib/Layout/Bad.cpp:2: lib/Layout may not use lib/Analysis",
        ),
        (
            "lib/Conversion/Bad.cpp",
            '#include "nvidia/Register.h"\n',
            "lib/Conversion/Bad.cpp:1: lib/Conversion may not use third_party/nvidia",
        ),
        (
            "include/tile/Dialect/Triton/IR/Bad.td",
            'include "tile/Dialect/TritonGPU/IR/TritonGPUDialect.td"\n',
            "include/tile/Dialect/Triton/IR/Bad.td:1: "
            "lib/Dialect/Triton/IR may not use lib/Dialect/TritonGPU/IR",
        ),
        (
            "lib/Dialect/TritonGPU/Transforms/Bad.cpp",
            "auto copy = scf::ForOp::create(b, loop.getLowerBound());\n"
            "Value last = arith::AddIOp::create(\n    b, loop.getLowerBound(), loop.getStep());\n",
            "lib/Dialect/TritonGPU/Transforms/Bad.cpp:3: "
            "ask TripCount, which computes with bounds of loops",
        ),
        ("lib/Nowhere/Bad.cpp", "", "lib/Nowhere/Bad.cpp: in no layer of docs/architecture.md"),
        (
            "lib/Analysis/CMakeLists.txt",
            "tile_add_library(A\n  A.cpp\n  LINK_LIBS B MLIRIR)\n",
            "lib/Analysis/CMakeLists.txt: A in lib/Analysis may not link B in lib/Conversion",
        ),
        (
            "lib/Simulator/Checkers/Bad.cpp",
            '\n#include "../PTX/Decoder.h"\n',
            "lib/Simulator/Checkers/Bad.cpp:2: lib/Simulator may not use lib/Simulator/PTX",
        ),
        (
            "lib/Simulator/AMDGCN/Bad.cpp",
            '#include "../PTX/Decoder.h"\n#include "../Machine.h"\n',
            "lib/Simulator/AMDGCN/Bad.cpp:1: lib/Simulator/AMDGCN may not use lib/Simulator/PTX",
        ),
        (
            "lib/Dialect/TritonGPU/Transforms/Bad.cpp",
            '\n  if (target.starts_with("cuda:"))\n',
            "lib/Dialect/TritonGPU/Transforms/Bad.cpp:2: "
            "ask the TargetModel, not the name of the target",
        ),
        (
            "python/tile/interpreter/bad.py",
            '"""The cuda."""\nfrom ..sim import launcher\n',
            "python/tile/interpreter/bad.py:2: python/tile/interpreter may not use python/tile/sim",
        ),
        (
            "python/tile/language/bad.py",
            "def f():\n    from ..compiler import x\nimport tile.compiler.errors\n",
            "python/tile/language/bad.py:3: python/tile/language may not use python/tile/compiler",
        ),
        (
            "python/tile/runtime/bad.py",
            'x = {"ptx": "cuda, say"}\n',
            "python/tile/runtime/bad.py:1: 'ptx' belongs to third_party/nvidia; ask the backend",
        ),
        (
            "python/tile/backends/bad.py",
            'x = "hip:gfx942"\n',
            "python/tile/backends/bad.py:1: "
            "'hip:gfx942' belongs to third_party/amd; ask the backend",
        ),
        (
            "python/tile/compiler/bad.py",
            'x = "tile-nvidia-ttir"\n',
            "python/tile/compiler/bad.py:1: "
            "'tile-nvidia-ttir' belongs to third_party/nvidia; ask the backend",
        ),
    ],
)
def test_planted(tmp_path, path, text, expected):
    backends = [f"third_party/{b}/backend/{f}.py" for b in ("amd", "nvidia")
                for f in ("__init__", "stages")]  # fmt: skip
    modules = [f"python/tile/{m}" for m in ("sim/launcher.py", "compiler/errors.py")]
    for name in ("scripts/check_layers.py", "docs/architecture.md", *backends, *modules):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "lib/Conversion").mkdir(parents=True)
    (tmp_path / "lib/Conversion/CMakeLists.txt").write_text(
        "tile_add_library(B\n  B.cpp\n  LINK_LIBS MLIRIR)\n"
    )
    for header in ("PTX/Decoder.h", "Machine.h"):
        (tmp_path / "lib/Simulator" / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib/Simulator" / header).write_text("")
    assert check(tmp_path) == []
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
    assert check(tmp_path) == [f"error: {expected}"]
