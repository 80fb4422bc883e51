"""Text of one target that is compiled for another: refused in a sentence, at every stage."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.backends import parse_target

pytestmark = sim_only

TARGETS = ["cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100", "hip:gfx1250"]
STAGES = {"cuda": ["ttgir", "llir", "ptx"], "hip": ["ttgir", "llir", "amdgcn"]}


@tile.jit
def add_one(x_ptr, out_ptr, n, B: tl.constexpr = 128):
    offsets = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, offsets < n) + 1, offsets < n)


_texts: dict[str, dict[str, str]] = {}


def texts(target: str) -> dict[str, str]:
    """The stages of a kernel, compiled for a target."""
    if target not in _texts:
        source = tile.compiler.ASTSource(
            add_one, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"B": 128}
        )
        last = STAGES[target.split(":")[0]][-1]
        kernel = tile.compile(source, target=parse_target(target), stop_at=last)
        _texts[target] = {stage: kernel.asm[stage] for stage in kernel.asm}
    return _texts[target]


def compile_text(text: str, stage: str, target: str, folder):
    path = folder / f"kernel.{stage}"
    path.write_text(text)
    last = STAGES[target.split(":")[0]][-1]
    return tile.compile(str(path), target=parse_target(target), stop_at=last)


CASES = [
    (of, stage, to)
    for of in TARGETS
    for stage in STAGES[of.split(":")[0]]
    for to in TARGETS
    # PTX of sm_80 is for all that came later.
    if of != to and not (stage == "ptx" and of == "cuda:80" and "cuda" in to)
]


@pytest.mark.parametrize(("of", "stage", "to"), CASES)
def test_the_wrong_target(of, stage, to, tmp_path):
    text = texts(of)[stage]
    with pytest.raises(tile.TileError) as caught:
        compile_text(text, stage, to, tmp_path)
    assert str(caught.value) == f"kernel.{stage}: the file is for {of}, the target is {to}"


@pytest.mark.parametrize("target", TARGETS)
def test_the_right_target(target, tmp_path):
    last = STAGES[target.split(":")[0]][-1]
    for stage in STAGES[target.split(":")[0]]:
        again = compile_text(texts(target)[stage], stage, target, tmp_path)
        assert add_one.__name__ in again.asm[last]
    # What is for all targets.
    for other in TARGETS:
        compile_text(texts(other)["ttir"], "ttir", target, tmp_path)


def test_ptx_goes_on_to_later_targets(tmp_path):
    old = texts("cuda:80")["ptx"]
    for target in ("cuda:90", "cuda:100"):
        assert compile_text(old, "ptx", target, tmp_path).asm["ptx"] == old
    for suffix in "af":
        only = re.sub(r"^\.target sm_80$", f".target sm_80{suffix}", old, flags=re.M)
        with pytest.raises(tile.TileError, match="the file is for cuda:80, the target is cuda:90"):
            compile_text(only, "ptx", "cuda:90", tmp_path)


@pytest.mark.parametrize(
    ("of", "to", "fits"),
    [
        ("sm_100f", 100, True), ("sm_100f", 103, True), ("sm_100f", 110, False),
        ("sm_103f", 100, False), ("sm_103f", 103, True), ("sm_110f", 120, False),
        ("sm_120f", 121, True), ("sm_121f", 120, False), ("sm_100a", 103, False),
        ("sm_103a", 103, True),
    ],
)  # fmt: skip
def test_ptx_of_a_family_goes_on_in_it(of, to, fits, tmp_path):
    number = of[3:6]
    text = re.sub(r"^\.target .*$", f".target {of}", texts("cuda:103")["ptx"], flags=re.M)
    if fits:
        again = compile_text(text, "ptx", f"cuda:{to}", tmp_path)
        assert again.asm["ptx"] == text
        assert again.asm.get("cubin", b"\x7fELF")[:4] == b"\x7fELF"
    else:
        with pytest.raises(tile.TileError, match=f"for cuda:{number}, the target is cuda:{to}"):
            compile_text(text, "ptx", f"cuda:{to}", tmp_path)


def test_text_without_a_target(tmp_path):
    """The triple of LLVM IR still says the kind; without it, code generation does."""
    text = re.sub(r"^!\d+ = .*ttg\.target.*\n", "", texts("cuda:90")["llir"], flags=re.M)
    with pytest.raises(tile.TileError, match="the file is for cuda, the target is hip:gfx942"):
        compile_text(re.sub(r"!llvm.module.flags = .*\n", "", text), "llir", "hip:gfx942", tmp_path)


def test_overrides(tmp_path):
    path = tmp_path / "other.ttgir"
    path.write_text(texts("cuda:80")["ttgir"])
    x = np.zeros(8, np.float32)
    with pytest.raises(tile.TileError, match="the override of ttgir is for cuda:80, the target is"):
        add_one.warmup(x, x, 8, grid=(1,), ir_override=str(path))
